// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { random } from '../order.mjs';
import { held, misses } from './bars.mjs';
import { differenceOfMedians, heapRows, samplesOf, timeRows } from './figures.mjs';

test('the interval of a difference holds the true one', () => {
  const next = random(3);
  const theirs = Array.from({ length: 200 }, () => 5 + next());
  const ours = Array.from({ length: 200 }, () => 5.2 + next());
  const { difference, low, high } = differenceOfMedians(ours, theirs, next);
  assert.ok(low < difference && difference < high);
  assert.ok(low < 0.2 && 0.2 < high);
});

test('a row compares the medians of blocks, and counts all samples', () => {
  const blocks = [
    { client: 'plain', times: [1, 2, 9] },
    { client: 'holdfast', times: [2, 4, 9] },
    { client: 'plain', times: [2, 2, 2] },
    { client: 'holdfast', times: [4, 4, 4] },
  ];
  const samples = samplesOf(['plain', 'holdfast'], blocks, ({ times }) => times);
  const [plain, holdfast] = timeRows('small', samples, random(1));
  assert.deepEqual([plain.impl, plain.ratioToPlain, plain.addedMs], ['plain', 1, 0]);
  assert.deepEqual([holdfast.ratioToPlain, holdfast.addedMs, holdfast.n], [2, 2, 6]);
  assert.deepEqual([holdfast.minRatio, holdfast.maxRatio], [2, 2]);
});

test('a bar is missed by what is beyond it, and by nobody else', () => {
  const rows = [
    { case: 'small', impl: 'holdfast', addedMs: 0.3 },
    { case: '8MiB', impl: 'holdfast', ratioToPlain: 1.06 },
    { case: 'cold', impl: 'plain', medianMs: 99 },
    { case: 'cold-cpu6', impl: 'holdfast', medianMs: 99 },
  ];
  assert.deepEqual(
    held(rows).map(({ met }) => met),
    [true, false],
  );
  assert.match(misses(rows).join(), /^time for 8 MiB, of plain: 1\.060 ×; 1\.053 at most$/);
});

test('memory is compared with that of plain fetch', () => {
  const totals = new Map([
    ['plain', [[700], [720]]],
    ['holdfast', [[2000], [2200]]],
  ]);
  const wasm = new Map([
    ['plain', [[0], [0]]],
    ['holdfast', [[1180], [1180]]],
  ]);
  const [, { medianKB, minKB, maxKB, wasmKB, addedKB, n }] = heapRows(totals, wasm);
  const got = { medianKB, minKB, maxKB, wasmKB, addedKB, n };
  const kB = { medianKB: 2100, minKB: 2000, maxKB: 2200, wasmKB: 1180, addedKB: 1390 };
  assert.deepEqual(got, { ...kB, n: 2 });
});
