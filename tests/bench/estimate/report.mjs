// @ts-check
/** docs/benchmarks/estimate.md. */
import { COLORS, svg } from '../chart.mjs';
import { markdownTable } from '../table.mjs';
import { CASES } from './cases.mjs';
import { OURS, misses, movedPct } from './rows.mjs';

/** @typedef {import('./rows.mjs').Row} Row */

/** @param {number | undefined} value */
const signed = (value) => value && `${value > 0 ? '+' : ''}${value.toFixed(1)}`;

/** @param {readonly Row[]} rows @param {string} name */
function table(rows, name) {
  /** @type {import('../table.mjs').Column<Row>[]} */
  const columns = [
    { title: 'estimate of', cell: ({ impl }) => impl },
    { title: 'p50 %', cell: ({ p50Pct }) => p50Pct },
    { title: 'p95 %', cell: ({ p95Pct }) => p95Pct },
    { title: 'worst %', cell: ({ maxPct }) => maxPct },
    { title: 'over 25 % too high', cell: ({ overEstimates }) => overEstimates, digits: 0 },
    { title: 'samples', cell: ({ samples }) => samples, digits: 0 },
    { title: 'at the end, kbit/s', cell: ({ lastKbps }) => lastKbps, digits: 0 },
    {
      title: 'lowest–highest run',
      cell: ({ minLastKbps: low, maxLastKbps: high }) =>
        low === null || high === null ? null : `${low.toFixed(0)}–${high.toFixed(0)}`,
    },
    { title: 'beside clean, %', cell: (row) => signed(movedPct(rows, row)) },
    { title: 'unfinished runs', cell: ({ unfinished }) => unfinished || null, digits: 0 },
  ];
  return markdownTable(
    columns,
    rows.filter((row) => row.case === name),
  );
}

/** Estimates after each segment. @param {readonly Row[]} rows @param {string} name */
function track(rows, name) {
  const all = rows.filter((row) => row.case === name);
  const [{ truthKbps }] = all;
  const isWide = name === 'cached';
  return svg({
    title: { text: CASES[name].title, left: 'center' },
    legend: { bottom: 0 },
    grid: { left: 80, right: 30, top: 50, bottom: 90 },
    xAxis: {
      type: 'category',
      name: 'segment',
      nameLocation: 'middle',
      nameGap: 28,
      data: truthKbps.map((_, index) => String(index + 1)),
    },
    yAxis: { type: isWide ? 'log' : 'value', name: 'kbit/s' },
    series: [
      {
        name: 'the link',
        type: 'line',
        data: truthKbps,
        symbol: 'none',
        lineStyle: { color: '#000000', type: 'dashed' },
        itemStyle: { color: '#000000' },
      },
      ...all.map(({ impl, trackKbps }, index) => ({
        name: impl,
        type: /** @type {const} */ ('line'),
        data: trackKbps,
        symbolSize: 4,
        lineStyle: { color: COLORS[index % COLORS.length], width: impl === OURS ? 3 : 1.5 },
        itemStyle: { color: COLORS[index % COLORS.length] },
      })),
    ],
  });
}

/** @param {readonly Row[]} rows */
function summary(rows) {
  const names = Object.keys(CASES).filter((name) => rows.some((row) => row.case === name));
  const impls = [...new Set(rows.map(({ impl }) => impl))];
  const at = (/** @type {string} */ impl, /** @type {string} */ name) =>
    rows.find((row) => row.impl === impl && row.case === name);
  return markdownTable(
    [
      { title: 'p95 of the error, %', cell: (/** @type {string} */ impl) => impl },
      ...names.map((name) => ({
        title: CASES[name].isExtra ? `(${name})` : name,
        cell: (/** @type {string} */ impl) => at(impl, name)?.p95Pct,
      })),
    ],
    impls,
  );
}

/** Holdfast's own first, then each player alone and on Holdfast. @param {readonly Row[]} rows */
const ordered = (rows) =>
  [...rows].sort((a, b) =>
    a.impl === OURS ? -1 : b.impl === OURS ? 1 : a.impl.localeCompare(b.impl),
  );

/** @type {import('../report.mjs').Report} */
export function report(all) {
  const rows = ordered(all);
  const short = misses(rows);
  const names = Object.keys(CASES).filter((name) => rows.some((row) => row.case === name));
  const plotted = ['cached', 'step'].filter((name) => names.includes(name));
  const bars = names.filter((name) => !CASES[name].isExtra);
  const met = bars.filter((name) => !short.some((sentence) => sentence.startsWith(`${name}:`)));
  const verdict = `Holdfast’s own estimate meets its bar in ${met.length} of ${bars.length} cases${
    met.length > 0 ? ` (${met.join(', ')})` : ''
  }.`;
  const body = [
    'A page downloads 20 segments of 175 kB one after another from another origin, over a link of 4 Mbit/s whose answers begin after 40 ms. After each segment the estimate is compared with the rate of the token bucket that the link is made of. The error is |estimate / rate − 1|; an estimate more than 25 % too high is counted apart, as it makes a player ask for what the link cannot carry. Before it has measured anything an estimator has no opinion, and none is counted. The server sends `Timing-Allow-Origin: *`.',
    '*Holdfast* is the estimate in `engine.state.bandwidth` while `engine.fetch` downloads. The players are the real ones, which load and buffer the same segments into a media element, with a buffer goal longer than the stream and otherwise their defaults; their estimates are what they give out: `hls.bandwidthEstimate`, Shaka’s `getStats().estimatedBandwidth`, dash.js’s `getAverageThroughput`. *On Holdfast* it is still the player that estimates, from what Holdfast’s adapter tells it.',
    'No player and no part of Holdfast hedges. In *hedged*, the application does so over `engine.fetch`; players wait for their time-outs. After a step of the link, two segments are left out, that of the step included. *Beside clean* is the last estimate against that of runs without faults. *pause* is no part of the bar: a body that pauses for less than any time-out cannot be told from a slow link.',
    '## The bar',
    'p95 of the error below 15 %, and no estimate more than 25 % too high, in seven cases; after a retry or a resume on a constant link, within 3 % of the estimate without faults. In virtual time it is the same to the last bit: `tests/core/ladder.rs` and `tests/core/resume_engine.rs`, tests `r64_…`.',
    verdict,
    short.length > 0 && `Where it falls short:\n\n${short.map((s) => `- ${s}`).join('\n')}`,
    summary(rows),
    ...plotted.map((name) => `![${CASES[name].title}](estimate-${name}.svg)`),
    ...names.flatMap((name) => [`## ${name}: ${CASES[name].title}`, table(rows, name)]),
  ];
  return {
    title: 'Bandwidth estimates',
    body: body.filter(Boolean).join('\n\n'),
    plots: Object.fromEntries(plotted.map((name) => [`estimate-${name}.svg`, track(rows, name)])),
    headline: `${verdict} Bar: p95 of the error below 15 %, none more than 25 % too high.\n\n${summary(rows)}`,
  };
}
