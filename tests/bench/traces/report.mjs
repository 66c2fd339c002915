// @ts-check
/** The page of recorded links. */
import { mean } from '../stats.mjs';
import { markdownTable } from '../table.mjs';
import { CASES } from './cases.mjs';
import { timePlot, tradePlot } from './plots.mjs';
import { bitrateWord, pairs, stallWord, startWord } from './summary.mjs';

/** @typedef {import('./summary.mjs').TraceRow} TraceRow */
/** @typedef {ReturnType<typeof pairs>[number]} Pair */

/**
 * @param {number | null} value
 * @param {number | null} min
 * @param {number | null} max
 * @param {number} [digits]
 */
function spread(value, min, max, digits = 1) {
  if (value === null || min === null || max === null) return '–';
  const shown = value.toFixed(digits);
  return min === max ? shown : `${shown} (${min.toFixed(digits)} to ${max.toFixed(digits)})`;
}

/** @param {TraceRow} row */
function stallCell(row) {
  const { outcome, n, ended, playedS, stallS, minStallS, maxStallS } = row;
  const stall = spread(stallS, minStallS, maxStallS);
  if (ended === n) return stall;
  const count = n > 1 ? ` ${n - ended} of ${n}` : '';
  const end = outcome === 'ended' ? '' : `, at ${playedS.toFixed(0)} s`;
  return `${stall}, **${outcome === 'ended' ? 'failed' : outcome}${count}**${end}`;
}

/**
 * One column for both sides of a pair.
 * @param {string} title
 * @param {(row: TraceRow) => string} cell
 */
const both = (title, cell) => [
  { title: `${title} alone`, cell: (/** @type {Pair} */ { plain }) => cell(plain) },
  { title: 'with Holdfast', cell: (/** @type {Pair} */ { holdfast }) => cell(holdfast) },
];

/** @type {import('../table.mjs').Column<Pair>[]} */
const COLUMNS = [
  { title: 'link', cell: ({ trace }) => `\`${trace}\`` },
  { title: 'player', cell: ({ player }) => player },
  ...both('start s', ({ startS, minStartS, maxStartS }) => spread(startS, minStartS, maxStartS)),
  { title: 'start', cell: ({ plain, holdfast }) => startWord(plain, holdfast) },
  ...both('rebuffering s', stallCell),
  { title: 'rebuffering', cell: ({ plain, holdfast }) => stallWord(plain, holdfast) },
  ...both('kbit/s', ({ meanKbps, minMeanKbps, maxMeanKbps }) =>
    spread(meanKbps, minMeanKbps, maxMeanKbps, 0),
  ),
  { title: 'bitrate', cell: ({ plain, holdfast }) => bitrateWord(plain, holdfast) },
];

/** @type {import('../table.mjs').Column<Pair>[]} */
const MORE = [
  ...COLUMNS.slice(0, 2),
  ...both('longest s', ({ longestStallS }) => longestStallS.toFixed(1)),
  ...both('switches', ({ switches, minSwitches, maxSwitches }) =>
    spread(switches, minSwitches, maxSwitches, 0),
  ),
  ...both('requests', ({ requests }) => requests.toFixed(0)),
  ...both('wasted kB', ({ wastedKB }) => wastedKB.toFixed(0)),
];

/** @param {readonly Pair[]} found */
const named = (found) => found.map(({ trace, player }) => `${player} on \`${trace}\``).join(', ');

/** @param {readonly Pair[]} found */
function verdictOf(found) {
  const by = (/** @type {string} */ word, /** @type {typeof bitrateWord} */ of) =>
    found.filter(({ plain, holdfast }) => of(plain, holdfast) === word);
  const [less, more] = [by('better', stallWord), by('worse', stallWord)];
  const [sooner, later] = [by('better', startWord), by('worse', startWord)];
  const [higher, lower] = [by('better', bitrateWord), by('worse', bitrateWord)];
  const comparable = found.filter(({ plain, holdfast }) => bitrateWord(plain, holdfast) !== null);
  const ratio = comparable.map(
    ({ plain, holdfast }) => Number(holdfast.meanKbps) / Number(plain.meanKbps),
  );
  const ended = (/** @type {'plain' | 'holdfast'} */ side) =>
    found.filter((pair) => pair[side].outcome === 'ended').length;
  const switches = (/** @type {'plain' | 'holdfast'} */ side) =>
    mean(found.map((pair) => pair[side].switches));
  const count = found.length;
  return {
    more,
    later,
    lower,
    lines: [
      `Played to the end: ${ended('plain')} of ${count} alone, ${ended('holdfast')} of ${count} with Holdfast.`,
      `Start with Holdfast: sooner in ${sooner.length}, later in ${later.length}${later.length > 0 ? ` (${named(later)})` : ''}.`,
      `Rebuffering with Holdfast: less in ${less.length}, the same in ${count - less.length - more.length}, more in ${more.length}${more.length > 0 ? ` (${named(more)})` : ''}.`,
      comparable.length > 0
        ? `Bitrate where both play to the end: higher in ${higher.length}, lower in ${lower.length}${lower.length > 0 ? ` (${named(lower)})` : ''}; on average ${(mean(ratio) * 100).toFixed(0)} % of the player's alone.`
        : 'Nowhere did both play to the end, so bitrates cannot be compared.',
      `Switches, on average: ${switches('plain').toFixed(1)} alone, ${switches('holdfast').toFixed(1)} with Holdfast.`,
    ],
  };
}

/** @type {import('../report.mjs').Report} */
export function report(/** @type {TraceRow[]} */ rows) {
  const order = CASES.map(({ name }) => name);
  const sorted = [...rows].sort((a, b) => order.indexOf(a.trace) - order.indexOf(b.trace));
  const found = pairs(sorted);
  const { lines, more, later, lower } = verdictOf(found);
  const measured = CASES.filter(({ name }) => sorted.some(({ trace }) => trace === name));
  const plots = Object.fromEntries([
    ['traces-trade.svg', tradePlot(sorted)],
    ...measured.map(({ name }) => [
      `traces-${name}.svg`,
      timePlot(
        name,
        sorted.filter(({ trace }) => trace === name),
      ),
    ]),
  ]);
  const met = (/** @type {readonly Pair[]} */ missed) => (missed.length === 0 ? 'met' : 'missed');
  const bars = [
    `On none of these links a player rebuffers more than alone: **${met(more)}**.`,
    `On none it starts later: **${met(later)}**.`,
    `On none it shows less bitrate: **${met(lower)}**.`,
  ];
  const bullets = (/** @type {readonly string[]} */ texts) =>
    texts.map((text) => `- ${text}`).join('\n');
  return {
    title: 'Recorded links',
    headline: bullets([...lines, ...bars]),
    plots,
    body: `A minute of media in four renditions (300, 700, 1500 and 3000 kbit/s, and audio at 64) over links
as they were recorded, outages included. The player chooses the rendition and has its own defaults;
Holdfast is put under it and nothing else is changed. The server paces its answers by the
recording; in an outage not even headers pass. No other fault is injected.

${bullets(lines)}

What it is held to:

${bullets(bars)}

The links, and where in each a run begins (chosen from the recording alone; sources and licences in
\`tests/bench/traces/data\`):

${bullets(measured.map(({ name, beginS, what }) => `\`${name}\` from ${beginS} s: ${what}.`))}

## Rebuffering and bitrate

Each arrow is one link, from the player alone to the player with Holdfast; up and to the left is
better. An empty mark did not play to its end: its rebuffering is a lower bound.

![Mean bitrate against rebuffering](traces-trade.svg)

Medians of runs (n = ${Math.max(...rows.map(({ n }) => n))}), in brackets from the lowest to the highest. *Start* is from load to the first
picture. *kbit/s* is the mean bitrate of the video that was shown. A difference is *better* or
*worse* when it is more than 0.5 s, or 5 % of the bitrate, and the runs of the two
sides do not overlap; else it is the *same*.

${markdownTable(COLUMNS, found)}

*Longest* is the longest single wait. *Switches* are changes of rendition along what was shown.
*Wasted* was sent twice, or of a rendition in which the segment was not shown.

${markdownTable(MORE, found)}

## Over time

The link (drawn up to 4 Mbit/s), and the buffer of each player over it: where it lies on the
ground, the viewer waits.

${measured.map(({ name, what }) => `### ${name}\n\n${what[0].toUpperCase()}${what.slice(1)}.\n\n![${name}](traces-${name}.svg)`).join('\n\n')}

## What this does not say

One minute of media is less than many buffers hold: on a fast link a player that buffers greedily
has it all before the outage comes. The picture is small and software-decoded. Latency is a delay
before headers; there is no packet loss, and TCP sees the loopback interface.`,
  };
}
