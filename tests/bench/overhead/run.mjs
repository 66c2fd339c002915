// @ts-check
/** All measurements, one after another, each in its turn at each speed of the processor. */
import { launchUnwatched } from './chromium.mjs';
import { CLIENTS, MODULES, bundleClients } from './clients.mjs';
import { measureCold } from './cold.mjs';
import { heapRows, medianOf, samplesOf, timeRows } from './figures.mjs';
import { measureHeap } from './heap.mjs';
import { serveOrigin } from './origin.mjs';
import { measureWarm } from './warm.mjs';

/** @typedef {import('../command.mjs').Context} Context */
/** @typedef {import('../rows.mjs').Row} Row */

/**
 * @typedef {object} Bench
 * @property {import('./chromium.mjs').Browser} browser
 * @property {Awaited<ReturnType<typeof serveOrigin>>} origin
 * @property {number} slowness
 * @property {Amounts} amounts
 * @property {() => number} random
 */

/**
 * How much is measured. Small and large: blocks of each client, and requests in each; heap: pages,
 * and small requests in each.
 *
 * @typedef {{ small: number[], large: number[], cold: number, heap: number[] }} Amounts
 * @type {Record<'fast' | 'slow' | 'smoke', Amounts>}
 */
const AMOUNTS = {
  fast: { small: [40, 30], large: [40, 1], cold: 30, heap: [5, 100] },
  slow: { small: [30, 8], large: [30, 1], cold: 30, heap: [3, 30] },
  smoke: { small: [2, 4], large: [2, 1], cold: 1, heap: [1, 4] },
};

const NAMES = Object.keys(CLIENTS);

/** By part: its rows, whose cases have no suffix yet. @type {Record<string, (bench: Bench) => Promise<Row[]>>} */
const MEASURED = {
  small: (bench) => warm(bench, '/small.m4s', bench.amounts.small, ['small', 'mainThread']),
  '8MiB': (bench) => warm(bench, '/8MiB.m4s', bench.amounts.large, ['8MiB', 'mainThread-8MiB']),
  async cold({ browser, origin, slowness, amounts, random }) {
    const starts = await measureCold(browser, origin, { rounds: amounts.cold, slowness }, random);
    const first = samplesOf(MODULES, starts, ({ firstMs }) => [firstMs]);
    const ready = samplesOf(MODULES, starts, ({ readyMs }) => (readyMs === null ? [] : [readyMs]));
    return timeRows('cold', first, random).map((row) => {
      return { ...row, readyMs: medianOf(ready.get(row.impl)?.flat()) };
    });
  },
  async heap({ browser, origin, slowness, amounts, random }) {
    const [rounds, count] = amounts.heap;
    const kept = await measureHeap(browser, origin.url, { rounds, count, slowness }, random);
    return heapRows(
      samplesOf(NAMES, kept, ({ heapKB, wasmKB }) => [heapKB + wasmKB]),
      samplesOf(NAMES, kept, ({ wasmKB }) => [wasmKB]),
    );
  },
};

/**
 * @param {Bench} bench
 * @param {'/small.m4s' | '/8MiB.m4s'} path
 * @param {readonly number[]} amount
 * @param {readonly [string, string]} names of the cases: of time, and of the main thread's
 */
async function warm({ browser, origin, slowness, random }, path, [blocks, count], names) {
  const plan = { path, blocks, count, slowness };
  const measured = await measureWarm(browser, origin.url, plan, random);
  return [
    ...timeRows(
      names[0],
      samplesOf(NAMES, measured, ({ times }) => times),
      random,
    ),
    ...timeRows(
      names[1],
      samplesOf(NAMES, measured, ({ threadMs }) => [threadMs]),
      random,
    ),
  ];
}

/** @param {Context} context */
export async function measureAll({ only, smoke, values, random, emit, progress }) {
  const origin = await serveOrigin(await bundleClients());
  const browser = await launchUnwatched();
  try {
    for (const text of String(values.cpu).split(',')) {
      const slowness = Number(text);
      if (!(slowness >= 1)) throw new Error('--cpu is a list of numbers from 1 on');
      const suffix = slowness === 1 ? '' : `-cpu${slowness}`;
      const amounts = AMOUNTS[smoke ? 'smoke' : slowness === 1 ? 'fast' : 'slow'];
      for (const [part, measure] of Object.entries(MEASURED)) {
        // Slowed, one part shows that it works.
        if (!only.has(part) || (smoke && slowness > 1 && part !== 'small')) continue;
        progress(`${part}${suffix}`);
        const rows = await measure({ browser, origin, slowness, amounts, random });
        for (const row of rows) emit({ ...row, case: `${row.case}${suffix}` });
      }
    }
  } finally {
    await browser.close();
    await origin.close();
  }
}
