// @ts-check
/** The page of npm run bench:faults. */
import { markdownTable } from '../table.mjs';
import { MEDIA_S } from './cells.mjs';
import { stallPlot } from './plot.mjs';
import { scenarios } from './scenarios.mjs';
import { beside, cellsIn } from './summary.mjs';
import * as tables from './tables.mjs';
import { VARIANTS, figure, outcomeOf } from './tables.mjs';
import * as bars from './verdicts.mjs';

/** @typedef {import('./summary.mjs').Cell} Cell */

/** Taxonomy order. */
const places = new Map(scenarios.map(({ id }, place) => [id, place]));

/** @param {readonly any[]} rows @returns {import('../report.mjs').Page} */
export function report(rows) {
  const cells = cellsIn(rows).sort(
    (a, b) =>
      a.mode.localeCompare(b.mode) * (a.mode === 'vod' ? -1 : b.mode === 'vod' ? 1 : 1) ||
      (places.get(a.scenario) ?? 0) - (places.get(b.scenario) ?? 0) ||
      a.player.localeCompare(b.player),
  );
  const vod = cells.filter(({ mode }) => mode === 'vod');
  const players = [...new Set(vod.map(({ player }) => player))];
  const plots = Object.fromEntries(
    players.map((player) => [`faults-${player.replace(/\W/g, '')}.svg`, stallPlot(vod, player)]),
  );
  const body = [
    intro(rows),
    '## The bars',
    verdicts(cells),
    '## Fault by fault',
    legend,
    ...Object.keys(plots).map((file) => `![Rebuffering by fault](${file})`),
    tables.faultTable(vod),
    '## With other ways of delivery',
    tables.modes(cells.filter(({ mode }) => mode !== 'vod')),
    '## Negative controls',
    tables.controls(vod),
    '## Requests, bytes and manners',
    tables.mannersTable(vod),
    '## Bandwidth estimates',
    tables.estimates(vod),
    '## In sum',
    tables.aggregates(vod, players),
    '## What is not covered',
    limits,
  ];
  return {
    title: 'Faults',
    body: body.filter(Boolean).join('\n\n'),
    plots,
    headline: headline(cells, players),
  };
}

/** @param {readonly any[]} rows */
function intro(rows) {
  const counts = cellsIn(rows).map(({ runs }) => runs);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const ends = [...new Set(rows.map(({ untilS }) => untilS))].sort((a, b) => a - b);
  return `hls.js, Shaka Player and dash.js play ${ends.join(' or ')} s of ${MEDIA_S} s of media in a headless Chromium from a
server on the same machine: 2 s segments, one video rendition of 700 kbit/s and one of audio, over a link that is
shaped to 1600 kbit/s with 40 ms before each answer, HTTP/1.1, responses that may be cached. What
goes wrong is a script of the server, by file and clock, the same for everybody. Each player runs
as it comes, **tuned** (\`www/players/tuned.js\`: all that its documented options and the usual
recovery of an application can do, committed before Holdfast was tuned by these runs), and **with
Holdfast**, with its defaults. Buffer goals are the player's own in all three, so compare within a
player: how much is buffered decides who has to wait, and hls.js buffers most.

The **oracle** is a simulation of a perfect client with the same buffer goal, on the same link: it
notices each fault at once and knows when it ends. Nothing can do better. Rebuffering counts every
pause after the start. A run ends when so much was played, 12 s after the player gave up
(**dead**), or at 75 s (**hung**; 130 s for the longest faults). Each row is ${
    most === 1 ? 'one run' : `the median of ${least === most ? most : `${least} to ${most}`} runs`
  },
in an order by seed; if they differ by more than 0.5 s, the range is given.`;
}

const legend = `A fault is *single* (one request or one file) or it *lasts* (a window of time). Of dead and hung
runs the rebuffering is what was seen until the end, with \`+\`. *Skips* are seconds that were never seen:
jumped over, or passed with a picture that stood still. In faults of the start-up
(F26, F29, F31 to F33) the figure that counts is the start, given in brackets; they are left out
where rebuffering is held against the oracle's.`;

const limits = `- F30 (licenses): the test stream of the players is clear; retries of licenses are held by
  \`tests/browser/license.test.mjs\`.
- Live streams, \`no-store\` and HTTP/2: ten faults and a control each, once. The live stream ends after 28 s; how far
  behind the edge a player is then is not measured, and its oracle begins three segments behind it and
  never jumps ahead: a player that begins earlier has more to live on than that.
- F23 to F25 show that playback survives; that bytes are exact is held by tests of the engine.
- HTTP/3, packet loss, and other browsers than Chromium.
- Retry-After is exposed by CORS in F10 to F13 and N4; where it is not, no player can obey it. The
  oracle does not obey it either: it knows the end of the fault, so F10, F11 and F13 may cost an obedient
  client more than it.
- N3 has the seek 4 s into the fault, and a perfect client waits for none of it.`;

/** @param {readonly Cell[]} cells */
function verdicts(cells) {
  const { lost, near, worse, checks } = judged(cells);
  const list = (/** @type {readonly string[]} */ items) =>
    items.length > 0 ? `\n${items.map((item) => `  - ${item}`).join('\n')}` : '';
  const name = (/** @type {Cell} */ { scenario, mode, player }) =>
    `${scenario}${mode === 'vod' ? '' : ` (${mode})`}, ${player}`;
  return [
    `- **Nothing that the oracle survives is dead or hung with Holdfast**: ${met(lost.length === 0)}${list(lost.map((cell) => `${name(cell)}: ${outcomeOf(cell)}`))}`,
    `- **Rebuffering within 1 s of the oracle's (single faults), within 2 s or 10 % (lasting ones), in at least 90 % of rows**: ${met(near.holds)}, ${percent(near.near.length, near.of)} of ${near.of} rows (${near.others})${list(near.far.map((cell) => `${name(cell)}: ${figure(cell)}, oracle ${cell.oracleStallS.toFixed(1)}`))}`,
    `- **In no row worse than the player's own default or tuned run by more than 0.5 s**: ${met(worse.length === 0)}${list(worse.map(({ ours, theirs }) => `${name(ours)}: ${figure(ours)}, ${VARIANTS[theirs.variant]} ${figure(theirs)}${early(theirs)}`))}`,
    `- **The negative controls hold**: ${met(checks.length === 0)}${list(checks.map(({ cell, what, measured }) => `${name(cell)}: ${what}: ${measured}`))}`,
    better(cells),
  ].join('\n');
}

/** Who asks before a server wants it may well be there first. @param {Cell} cell */
const early = ({ earlyRetries }) =>
  earlyRetries ? ` (asked ${earlyRetries} times before its Retry-After)` : '';

/** @param {readonly Cell[]} cells */
function judged(cells) {
  const of = (/** @type {string} */ variant) =>
    bars.nearRows(cells.filter((cell) => cell.variant === variant));
  const ours = of('holdfast');
  const others = ['tuned', 'plain'].map((variant) => {
    const { near, of: all } = of(variant);
    return `${VARIANTS[variant]} ${percent(near.length, all)}`;
  });
  return {
    lost: bars.lostRows(cells),
    near: {
      ...ours,
      holds: ours.near.length >= ours.of * bars.NEAR_SHARE && ours.of > 0,
      others: others.join(', '),
    },
    worse: bars.worseRows(cells),
    checks: bars
      .controlChecks(cells)
      .filter(({ cell, holds }) => cell.variant === 'holdfast' && !holds),
  };
}

/** @param {readonly Cell[]} cells */
function better(cells) {
  const [tuned, plain] = ['tuned', 'plain'].map(
    (variant) => bars.betterRows(cells, variant).length,
  );
  const all = cells.filter(({ fault, variant }) => fault.kind && variant === 'holdfast').length;
  return `- Better than tuned by more than 0.5 s, or played where tuned is not: ${tuned} of ${all} rows; than default: ${plain}.`;
}

/** @param {boolean} holds */
const met = (holds) => (holds ? 'met' : '**not met**');

/** @param {number} part @param {number} all */
const percent = (part, all) => (all === 0 ? '–' : `${Math.round((100 * part) / all)} %`);

/** @param {readonly Cell[]} cells @param {readonly string[]} players */
function headline(cells, players) {
  const { lost, near, worse, checks } = judged(cells);
  const faults = cells.filter(({ fault, mode }) => fault.kind && mode === 'vod' && !fault.extra);
  const table = markdownTable(
    [
      { title: 'faults played to their end', cell: ({ player }) => player },
      ...Object.entries(VARIANTS).map(([variant, title]) => ({
        title,
        cell: (/** @type {{ player: string }} */ { player }) => {
          const of = faults.filter((cell) => cell.player === player && cell.variant === variant);
          return `${of.filter(({ outcome }) => outcome === 'ended').length} of ${of.length}`;
        },
      })),
      {
        title: 'Holdfast beside tuned: better, alike, worse',
        cell: ({ player }) => {
          const of = faults.filter((cell) => cell.player === player && cell.variant === 'holdfast');
          const both = of.filter((cell) => beside(faults, cell, 'tuned'));
          const among = faults.filter((cell) => cell.player === player);
          const up = bars.betterRows(among, 'tuned').length;
          const down = bars
            .worseRows(among)
            .filter(({ theirs }) => theirs.variant === 'tuned').length;
          return `${up}, ${both.length - up - down}, ${down}`;
        },
      },
    ],
    players.map((player) => ({ player })),
  );
  return `${table}

Bars: nothing dead or hung that can be survived, ${met(lost.length === 0)}; near the perfect client in 90 % of rows,
${met(near.holds)} (${percent(near.near.length, near.of)}; ${near.others}); no row worse by more than 0.5 s, ${
    worse.length === 0 ? 'met' : `**not met** (${new Set(worse.map(({ ours }) => ours)).size} rows)`
  }; negative controls,
${checks.length === 0 ? 'met' : `**not met** (${checks.length})`}. [All rows](docs/benchmarks/faults.md).`;
}
