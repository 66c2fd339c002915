// @ts-check
/** The page of what the engine costs on top of fetch. */
import { svg } from '../chart.mjs';
import { markdownTable } from '../table.mjs';
import { BARS, held } from './bars.mjs';
import { CLIENTS } from './clients.mjs';

/** @typedef {Record<string, any>} Row */

const client = { title: 'client', cell: (/** @type {Row} */ row) => CLIENTS[row.impl] };
const number = (/** @type {string} */ title, /** @type {string} */ field, digits = 2) => ({
  title,
  cell: (/** @type {Row} */ row) => row[field],
  digits,
});
const interval = (
  /** @type {string} */ title,
  /** @type {string} */ low,
  /** @type {string} */ high,
  digits = 2,
) => ({
  title,
  cell: (/** @type {Row} */ row) =>
    // Against itself it says nothing.
    row.impl === 'plain' && low !== 'minKB'
      ? null
      : `${row[low].toFixed(digits)} … ${row[high].toFixed(digits)}`,
});

const TIMES = [
  client,
  number('median, ms', 'medianMs'),
  number('p95, ms', 'p95Ms'),
  number('added, ms', 'addedMs'),
  interval('its 95 %', 'minAddedMs', 'maxAddedMs'),
  number('ratio', 'ratioToPlain'),
  interval('its 95 %', 'minRatio', 'maxRatio'),
  number('n', 'n', 0),
];
const STARTS = [...TIMES.slice(0, -1), number('module ready, ms', 'readyMs'), number('n', 'n', 0)];
const HEAPS = [
  client,
  number('median, kB', 'medianKB', 0),
  interval('from … to', 'minKB', 'maxKB', 0),
  number('of it wasm memory', 'wasmKB', 0),
  number('more than plain', 'addedKB', 0),
  number('pages', 'n', 0),
];

/** The cases, in the order of the page. @type {{ name: string, title: string, says: string, columns: any[] }[]} */
const CASES = [
  {
    name: 'small',
    title: 'A small request',
    says: `1 KiB, one request after another, each for a URL of its own, from the call to the end of the body.
Most of it is the way through the browser's processes, which all of them share.`,
    columns: TIMES,
  },
  {
    name: 'mainThread',
    title: "The main thread's work for a small request",
    says: `Processor time of the page's main thread during a block, divided by its requests (CDP,
\`ThreadTime\`). This is what the page notices; the latency above also holds waits.`,
    columns: TIMES,
  },
  {
    name: '8MiB',
    title: '8 MiB',
    says: `The whole body, read by a loop, or into one buffer. A buffer of 8 MiB costs more than all else, so
\`engine.load\` is to be compared with \`arrayBuffer()\`. 0.95 of plain throughput is a ratio of ${(1 / BARS.throughput).toFixed(3)}.`,
    columns: TIMES,
  },
  {
    name: 'mainThread-8MiB',
    title: "The main thread's work for 8 MiB",
    says: 'As above. A loop wakes the page for each chunk, `arrayBuffer()` only at the end.',
    columns: TIMES,
  },
  {
    name: 'cold',
    title: 'Cold start',
    says: `Each time a fresh browser context and page, in which one module is imported that asks for one body at
once. Measured at the server: from the request for the module to the request for the body. Holdfast does
not wait for its WebAssembly with the first request; "module ready" is when it is in charge, from
\`import()\` on, by the page's clock.`,
    columns: STARTS,
  },
  {
    name: 'heap',
    title: 'Memory',
    says: `In a page of its own, after small requests and two of 8 MiB, and after collecting garbage: the
JavaScript heap (CDP, \`Runtime.getHeapUsage\`) and the module's memory. The compiled code of a module is not in it.`,
    columns: HEAPS,
  },
];

/**
 * @param {readonly Row[]} rows
 * @returns {import('../report.mjs').Page}
 */
export function report(rows) {
  const names = Object.keys(CLIENTS);
  const of = (/** @type {string} */ name) =>
    rows
      .filter((row) => row.case === name)
      .sort((a, b) => names.indexOf(a.impl) - names.indexOf(b.impl));
  const suffixes = ['', '-cpu6'].filter((suffix) =>
    CASES.some(({ name }) => of(name + suffix).length > 0),
  );
  const sections = CASES.map(({ name, title, says, columns }) => {
    const tables = suffixes
      .map((suffix) => ({ rows: of(name + suffix), slow: suffix !== '' }))
      .filter(({ rows }) => rows.length > 0)
      .map(
        ({ rows, slow }) => `${slow ? 'Slowed six-fold:\n\n' : ''}${markdownTable(columns, rows)}`,
      );
    return `## ${title}\n\n${says}\n\n${tables.join('\n\n')}`;
  });
  const body = `
All clients run in one page of headless Chromium, against one server on the same machine, over
connections that are kept alive. They take turns in blocks, in an order by seed; "added" and "ratio" compare the
medians of the blocks with those of plain \`fetch\`, and the intervals hold 95 of 100 resampled ones. A difference
whose interval has 0 within (a ratio: 1) is none that this run can show.

ky and cockatiel have their retries on, cockatiel a breaker and a time-out too. The tables that are
"slowed six-fold" are with CDP's \`Emulation.setCPUThrottlingRate\`, about a phone of the lower middle class.

## The bars

${barTable(rows)}

${sections.join('\n\n')}

![What is added to a small request](overhead-small.svg)

What is added to a small request, with its 95 % interval.
`;
  const plots = { 'overhead-small.svg': plot(of('small')) };
  return { title: 'Overhead', body, plots, headline: barTable(rows) };
}

/** Who does less than Holdfast, and costs less. */
const PEERS = { spf: 'SPF', ky: 'ky', cockatiel: 'cockatiel' };

/** @param {readonly Row[]} rows */
function barTable(rows) {
  return markdownTable(
    [
      { title: 'Holdfast', cell: ({ says }) => says },
      { title: 'measured', cell: ({ value, unit }) => `${value.toFixed(2)} ${unit}` },
      { title: 'bar', cell: ({ most, unit }) => `at most ${Number(most.toFixed(3))} ${unit}` },
      { title: 'met', cell: ({ met }) => (met ? 'yes' : '**no**') },
      ...Object.entries(PEERS).map(([impl, title]) => ({
        title,
        cell: (/** @type {ReturnType<typeof held>[number]} */ { of, unit }) => {
          const value = of(impl);
          return value === undefined ? '–' : `${value.toFixed(2)} ${unit}`;
        },
      })),
    ],
    held(rows),
  );
}

/** @param {readonly Row[]} rows of one case */
function plot(rows) {
  const shown = rows.filter(({ impl }) => impl !== 'plain').reverse();
  const range = (/** @type {any} */ params, /** @type {any} */ api) => {
    const [from, to] = [1, 2].map((place) => api.coord([api.value(place), api.value(0)]));
    const style = { stroke: '#333333', lineWidth: 1.5 };
    const line = (/** @type {number[]} */ [x1, y1, x2, y2]) => ({
      type: 'line',
      shape: { x1, y1, x2, y2 },
      style,
    });
    const tick = (/** @type {number[]} */ [x, y]) => line([x, y - 5, x, y + 5]);
    return {
      type: 'group',
      children: [line([from[0], from[1], to[0], to[1]]), tick(from), tick(to)],
    };
  };
  return svg({
    grid: { left: 260, right: 30, top: 20, bottom: 45 },
    xAxis: {
      type: 'value',
      name: 'ms added to a request of 1 KiB',
      nameLocation: 'middle',
      nameGap: 28,
    },
    yAxis: {
      type: 'category',
      axisLine: { onZero: false },
      data: shown.map(({ impl }) => CLIENTS[impl]),
    },
    series: [
      {
        type: 'bar',
        data: shown.map(({ impl, addedMs }) => ({
          value: addedMs,
          itemStyle: { color: impl.startsWith('holdfast') ? '#0072b2' : '#777777' },
        })),
        markLine: {
          symbol: 'none',
          lineStyle: { color: '#d55e00' },
          label: { formatter: 'the bar' },
          data: [{ xAxis: BARS.addedMs }],
        },
      },
      {
        type: 'custom',
        clip: true,
        z: 10,
        encode: { x: [1, 2], y: 0 },
        renderItem: /** @type {any} */ (range),
        data: shown.map(({ minAddedMs, maxAddedMs }, place) => [place, minAddedMs, maxAddedMs]),
      },
    ],
  });
}
