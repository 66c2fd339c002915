// @ts-check
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { alternating, random } from './order.mjs';
import { replaceBlock } from './report.mjs';
import { openRows, readMachine, readRows } from './rows.mjs';
import { quantile, ratioOfMedians } from './stats.mjs';
import { markdownTable, textTable } from './table.mjs';

test('a row is on disk at once, and one with the same key takes its place', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-rows-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const first = openRows('sample', ['case'], ['ky'], folder);
  first.add({ case: 'a', value: 1 });
  assert.deepEqual(readRows('sample', folder), [{ case: 'a', value: 1 }]);
  first.add({ case: 'b', value: 2 });
  first.close();
  const second = openRows('sample', ['case'], ['ky'], folder);
  assert.ok(second.has({ case: 'a' }));
  assert.ok(!second.has({ case: 'c' }));
  second.add({ case: 'a', value: 3 });
  second.close();
  assert.deepEqual(readRows('sample', folder), [
    { case: 'a', value: 3 },
    { case: 'b', value: 2 },
  ]);
  assert.match(readMachine('sample', folder)?.packages.ky ?? '', /^\d+\.\d+/);
});

test('a line that is no JSON is named', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-rows-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const rows = openRows('sample', ['case'], [], folder);
  rows.add({ case: 'a' });
  rows.close();
  const file = join(folder, 'sample.jsonl');
  assert.ok(readFileSync(file, 'utf8').endsWith('\n'));
  // A run that was killed in the middle of a line.
  openRows('sample', ['case'], [], folder).add(/** @type {any} */ ({ toJSON: () => undefined }));
  assert.throws(() => readRows('sample', folder), /sample\.jsonl:2 is no JSON/);
});

test('quantiles lie between values', () => {
  assert.equal(quantile([4, 1, 3, 2], 0.5), 2.5);
  assert.equal(quantile([4, 1, 3, 2], 1), 4);
  assert.throws(() => quantile([], 0.5), /nothing/);
});

test('the interval of a ratio holds the true one and excludes others', () => {
  const next = random(7);
  const ours = Array.from({ length: 200 }, () => 2 + next());
  const theirs = Array.from({ length: 200 }, () => 1 + next());
  const { ratio, low, high } = ratioOfMedians(ours, theirs, next);
  assert.ok(low < ratio && ratio < high);
  assert.ok(low > 1.5 && low < 2.5 / 1.5 && high > 2.5 / 1.5 && high < 1.9);
});

test('each round has every side once, and not always in the same order', () => {
  const order = alternating(['a', 'b', 'c'], 20, random(1));
  const rounds = Array.from({ length: 20 }, (_, round) => order.slice(round * 3, round * 3 + 3));
  for (const round of rounds) assert.deepEqual([...round].sort(), ['a', 'b', 'c']);
  assert.ok(new Set(rounds.map(String)).size > 3);
});

const columns = [
  { title: 'name', cell: (/** @type {any} */ row) => row.name },
  { title: 's', cell: (/** @type {any} */ row) => row.s, digits: 2 },
];
const rows = [
  { name: 'x|y', s: 1 },
  { name: 'z', s: null },
];

test('tables align numbers to the right and show what is missing', () => {
  assert.equal(textTable(columns, rows), 'name     s\n────  ────\nx|y   1.00\nz        –');
  assert.equal(markdownTable(columns, rows).split('\n')[2], '| x\\|y | 1.00 |');
});

test('only what stands between the marks of a block is replaced', () => {
  const text = 'a\n<!-- bench:size -->\nold\n<!-- /bench:size -->\nb';
  const marked = 'a\n<!-- bench:size -->\n\nnew\n\n<!-- /bench:size -->\nb';
  assert.equal(replaceBlock(text, 'size', 'new'), marked);
  assert.equal(replaceBlock(text, 'fleet', 'new'), text);
});
