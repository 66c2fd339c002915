// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { CASES, linkOf, rateAt, truths } from './cases.mjs';
import { errors, misses, movedPct, rowOf } from './rows.mjs';

test('seven cases are held to the bar', () => {
  const held = Object.keys(CASES).filter((name) => !CASES[name].isExtra);
  assert.deepEqual(held, ['clean', 'retry', 'resume', 'cached', 'hedged', 'stalled', 'step']);
});

test('the rate is that of the step in which the time lies', () => {
  const { trace = [] } = linkOf('step');
  assert.deepEqual(rateAt({ trace }, 2999), { kbps: 4000, since: 0 });
  assert.deepEqual(rateAt({ trace }, 3000), { kbps: 2000, since: 3000 });
  assert.deepEqual(rateAt(linkOf('clean'), 1e6), { kbps: 4000, since: 0 });
});

test('two segments after each step have no truth', () => {
  const ends = [1000, 2900, 3100, 4000, 5000, 7600, 7700, 8000];
  const expected = [4000, 4000, null, null, 2000, null, null, 4000];
  assert.deepEqual(truths(linkOf('step'), ends), expected);
});

const sample = (/** @type {number | null} */ kbps, /** @type {number | null} */ truth = 4000) => ({
  file: 'mid-01.m4s',
  kbps,
  truth,
});

test('what was not measured, and what has no truth, is no error', () => {
  assert.deepEqual(errors([sample(null), sample(4000, null), sample(5000)]), [0.25]);
});

test('a row pools its runs, and counts what is too high', () => {
  const row = rowOf('clean', 'Holdfast', [[sample(4000), sample(6000)], [sample(3000)]], 2);
  assert.equal(row.p50Pct, 25);
  assert.equal(row.maxPct, 50);
  assert.equal(row.overEstimates, 1);
  assert.equal(row.samples, 3);
  assert.equal(row.unfinished, 1);
  assert.deepEqual(row.trackKbps, [3500, 6000]);
});

test('an estimate that is moved, far off, too high or missing misses the bar', () => {
  const row = (/** @type {string} */ name, /** @type {(number | null)[]} */ kbps) =>
    rowOf(name, 'Holdfast', [kbps.map((value) => sample(value))], kbps.length);
  const clean = row('clean', [4000, 4000]);
  assert.deepEqual(misses([clean, row('retry', [4000, 4100])]), []);
  const retry = row('retry', [4000, 3800]);
  assert.equal(Math.round(movedPct([clean, retry], retry) ?? 0), -5);
  assert.equal(misses([clean, retry]).length, 1);
  assert.match(misses([row('retry', [4000, 4000])])[0], /measure clean with it/);
  assert.equal(misses([row('cached', [4000, 9000])]).length, 2);
  assert.equal(misses([row('hedged', [null])]).length, 1);
  assert.deepEqual(misses([row('pause', [9000])]), []);
});
