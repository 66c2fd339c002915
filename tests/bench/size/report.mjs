// @ts-check
/** The page of sizes. */
import { svg } from '../chart.mjs';
import { markdownTable } from '../table.mjs';

/** @typedef {{ entry: string, package: string, version: string, kind: string, rawB: number, gzipB: number, brotliB: number, limitB: number | null, laterB: number | null }} Size */

/** @param {number} bytes */
const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

const COLUMNS = [
  { title: 'entry', cell: (/** @type {Size} */ { entry }) => `\`${entry}\`` },
  { title: 'minified', cell: (/** @type {Size} */ { rawB }) => rawB, digits: 0 },
  { title: 'gzip', cell: (/** @type {Size} */ { gzipB }) => gzipB, digits: 0 },
  { title: 'brotli', cell: (/** @type {Size} */ { brotliB }) => brotliB, digits: 0 },
];
const OURS = [
  ...COLUMNS,
  { title: 'limit', cell: (/** @type {Size} */ { limitB }) => limitB, digits: 0 },
  { title: 'later', cell: (/** @type {Size} */ { laterB }) => laterB, digits: 0 },
];
const PEERS = [
  COLUMNS[0],
  { title: 'version', cell: (/** @type {Size} */ { version }) => version },
  ...COLUMNS.slice(1),
];

/** What most people load, of each. */
const PLOTTED = [
  ...['hls.min.js', 'hls.light.min.js', 'shaka-player.compiled.js', 'dash.all.min.js'],
  ...['videojs-http-streaming.min.js', 'rx-player: everything', '@videojs/spf: its HLS player'],
  ...['axios-retry: with axios', 'cockatiel: everything', 'ky', 'p-retry', 'fetch-retry'],
];

/**
 * @param {readonly Size[]} rows
 * @returns {import('../report.mjs').Page}
 */
export function report(rows) {
  const of = (/** @type {string} */ kind) => rows.filter((row) => row.kind === kind);
  const ours = of('ours');
  const limited = ours.filter(({ limitB }) => limitB !== null);
  const over = limited.filter(({ brotliB, limitB }) => brotliB > Number(limitB));
  const body = `
Bytes that a page transfers. "gzip" is level 9, "brotli" is level 11; each file is compressed by
itself. Kilobytes are of 1000 bytes.

## Holdfast

Each entry is bundled as an application's bundler does (esbuild: minified, tree-shaken, ES2022), and the
wasm module is added where the entry loads it. An adapter is what comes on top of the engine. "later" is what is loaded
only by who needs it (hooks, rarely used parts of an adapter), in brotli, and not in the sum.

${markdownTable(OURS, ours)}

${verdict(over)}

## Players

The file that each ships for pages, or the same kind of bundle where it ships none.

${markdownTable(PEERS, of('player'))}

## What else adds retries to fetch

Bundled with the flags that Holdfast is bundled with.

${markdownTable(PEERS, of('retries'))}

All of these are smaller than Holdfast, most of them by more than ten times: a retry loop is not much code. None of
them has a stall detector, resumes bodies, checks what it delivers, or knows of a player.

![Sizes in brotli](size-brotli.svg)

The same, drawn: what each adds to a page, in brotli.
`;
  return { title: 'Sizes', body, plots: plots(rows), headline: headline(rows, over) };
}

/** @param {readonly Size[]} over */
function verdict(over) {
  if (over.length === 0) return 'Every limit is met.';
  return over
    .map(
      ({ entry, brotliB, limitB }) =>
        `**\`${entry}\` is over its limit**: ${brotliB} of ${limitB}.`,
    )
    .join('\n');
}

/** @param {readonly Size[]} rows */
function plots(rows) {
  const main = rows.find(isMain);
  const hls = rows.find(({ entry, kind }) => kind === 'ours' && entry === './hls');
  const bars = rows
    .filter(({ entry, kind }) => kind !== 'ours' && PLOTTED.includes(entry))
    .map(({ entry, brotliB, kind }) => ({ name: entry, value: brotliB, color: COLOR[kind] }));
  if (main) {
    const value = main.brotliB + (hls?.brotliB ?? 0);
    bars.push({ name: 'Holdfast, with an adapter', value, color: COLOR.ours });
  }
  bars.sort((a, b) => a.value - b.value);
  const drawn = svg({
    grid: { left: 230, right: 90, top: 20, bottom: 40 },
    xAxis: { type: 'value', name: 'kB', nameLocation: 'middle', nameGap: 25 },
    yAxis: { type: 'category', data: bars.map(({ name }) => name) },
    series: [
      {
        type: 'bar',
        label: { show: true, position: 'right', formatter: '{c} kB' },
        data: bars.map(({ value, color }) => ({
          value: Number((value / 1000).toFixed(1)),
          itemStyle: { color },
        })),
      },
    ],
  });
  return { 'size-brotli.svg': drawn };
}

/** @type {Record<string, string>} */
const COLOR = { ours: '#0072b2', player: '#777777', retries: '#e69f00' };

const isMain = (/** @type {Size} */ { entry, kind }) => kind === 'ours' && entry === '.';

/**
 * @param {readonly Size[]} rows
 * @param {readonly Size[]} over
 */
function headline(rows, over) {
  const main = rows.find(isMain);
  if (!main) return undefined;
  const adapters = rows.filter((row) => row.limitB !== null && !isMain(row));
  const largest = Math.max(...adapters.map(({ brotliB }) => brotliB));
  const peer = (/** @type {string} */ name) => rows.find(({ entry }) => entry === name)?.brotliB;
  const others = ['hls.min.js', 'hls.light.min.js', 'ky', 'cockatiel: everything']
    .map((name) => ({ name, size: peer(name) }))
    .filter(({ size }) => size !== undefined)
    .map(({ name, size }) => `${name} ${kB(Number(size))}`);
  const met = over.length === 0 ? 'Both limits are met.' : verdict(over);
  return `In brotli: main entry ${main.brotliB} B (limit ${main.limitB} B), the largest
adapter ${largest} B (limit ${adapters[0].limitB} B). ${met}
Beside it: ${others.join(', ')}. Libraries that only retry are far smaller.`;
}
