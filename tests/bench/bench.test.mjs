// @ts-check
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { playsOf } from './options.mjs';
import { alternating, random } from './order.mjs';
import { parallel } from './parallel.mjs';
import { replaceBlock, stampOf } from './report.mjs';
import { openRows, readMachine, readRows } from './rows.mjs';
import { quantile, ratioOfMedians } from './stats.mjs';
import { markdownTable, textTable } from './table.mjs';

/** @param {import('node:test').TestContext} t */
function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-rows-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a row is on disk at once, and one with the same key takes its place', (t) => {
  const folder = temporaryFolder(t);
  const first = openRows('sample', ['case'], ['ky'], folder);
  assert.deepEqual(readRows('sample', folder), []);
  assert.equal(readMachine('sample', folder), undefined, 'nothing was measured');
  first.add({ case: 'a', value: 1 });
  const [{ commit, ...row }] = readRows('sample', folder);
  assert.deepEqual(row, { case: 'a', value: 1 });
  assert.equal(commit, readMachine('sample', folder)?.holdfast, 'which code it is of');
  assert.match(readMachine('sample', folder)?.packages.ky ?? '', /^\d+\.\d+/);
  first.add({ case: 'b', value: 2 });
  const second = openRows('sample', ['case'], ['ky'], folder);
  assert.ok(second.find({ case: 'a' }));
  assert.equal(second.find({ case: 'c' }), undefined);
  second.add({ case: 'a', value: 3 });
  assert.deepEqual(
    readRows('sample', folder).map((row) => [row.case, row.value]),
    [
      ['a', 3],
      ['b', 2],
    ],
  );
});

test('two runs of one benchmark at a time keep what the other one adds', (t) => {
  const folder = temporaryFolder(t);
  const [one, other] = [1, 2].map(() => openRows('sample', ['case'], [], folder));
  one.add({ case: 'a', value: 1 });
  other.add({ case: 'b', value: 2 });
  one.add({ case: 'c', value: 3 });
  const cases = readRows('sample', folder).map((row) => row.case);
  assert.deepEqual(cases, ['a', 'b', 'c']);
});

/** Measures four cases for ever; its rows take so long to write that it is killed meanwhile. */
const ENDLESS = `
import { openRows } from ${JSON.stringify(new URL('rows.mjs', import.meta.url))};
const rows = openRows('sample', ['case'], [], process.argv[1]);
for (let run = 0; ; run += 1) {
  for (const name of 'abcd') rows.add({ case: name, run, filler: 'x'.repeat(500_000) });
}`;

test('rows are whole, each once, whenever the process is killed', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'sample.jsonl');
  let [count, runs] = [1, 0];
  for (let kill = 0; kill < 16; kill += 1) {
    const before = existsSync(file) ? statSync(file).mtimeMs : 0;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', ENDLESS, folder], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const exit = once(child, 'exit');
    for (let waits = 0; !existsSync(file) || statSync(file).mtimeMs === before; waits += 1) {
      assert.ok(waits < 2000 && child.exitCode === null, 'the child writes');
      await sleep(10);
    }
    await sleep(kill * 5);
    child.kill('SIGKILL');
    assert.deepEqual(await exit, [null, 'SIGKILL']);
    const rows = readRows('sample', folder);
    const cases = rows.map((row) => row.case);
    assert.equal(new Set(cases).size, cases.length, `each once: ${cases}`);
    assert.ok(cases.length >= count, 'none is lost');
    count = cases.length;
    for (const { filler } of rows) assert.equal(String(filler).length, 500_000);
    assert.equal(readMachine('sample', folder)?.node, process.versions.node);
    runs = Math.max(runs, ...rows.map(({ run }) => Number(run)));
  }
  assert.ok(runs > 0, 'a row took the place of an older one');
});

test('a line that is no JSON is named', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'sample.jsonl');
  writeFileSync(file, '{"case":"a"}\n{"case":\n');
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
  const units = { title: 's', cell: (/** @type {any} */ { s }) => `${s ?? 'no'} s`, right: true };
  assert.equal(
    textTable([columns[0], units], rows),
    'name     s\n────  ────\nx|y    1 s\nz     no s',
  );
});

test('what several benchmarks ask for is checked before anything is measured', () => {
  const known = ['hls', 'shaka', 'dash'];
  const values = { n: '3', workers: '2' };
  const plays = (/** @type {object} */ more, smoke = false) =>
    playsOf({ values: { ...values, ...more }, smoke }, known, ['hls', 'dash']);
  assert.deepEqual(plays({}), { n: 3, workers: 2, players: ['hls', 'dash'] });
  assert.deepEqual(plays({ player: 'shaka,hls' }).players, ['shaka', 'hls']);
  assert.deepEqual(plays({ n: '5' }, true), { n: 1, workers: 2, players: ['hls'] });
  assert.deepEqual(plays({ player: 'dash' }, true).players, ['dash']);
  assert.throws(() => plays({ player: 'vlc' }), /no player "vlc"; there are hls, shaka, dash/);
  for (const n of ['0', '1.5', 'two']) {
    assert.throws(() => plays({ n }), /--n is a whole number above 0/);
  }
  assert.throws(() => plays({ workers: '5' }), /--workers is a whole number from 1 to 4/);
});

test('workers take the jobs in their order, and begin apart', async () => {
  /** @type {Array<[job: number, at: number]>} */
  const began = [];
  const start = performance.now();
  const run = async (/** @type {number} */ job) => {
    began.push([job, performance.now() - start]);
    await sleep(150);
  };
  await parallel([1, 2, 3], 2, run, 100);
  assert.deepEqual(
    began.map(([job]) => job),
    [1, 2, 3],
  );
  assert.ok(began[1][1] > 95, `the second worker after ${began[1][1]} ms`);
  await assert.rejects(parallel([1], 0, run), RangeError);
});

test('after a job that throws no worker begins another', async () => {
  /** @type {number[]} */
  const began = [];
  const run = async (/** @type {number} */ job) => {
    began.push(job);
    await sleep(job * 20);
    if (job === 1) throw new Error('no');
  };
  await assert.rejects(parallel([1, 2, 3, 4], 2, run), /no/);
  await sleep(100);
  assert.deepEqual(began, [1, 2]);
});

test('only what stands between the marks of a block is replaced', () => {
  const text = 'a\n<!-- bench:size -->\nold\n<!-- /bench:size -->\nb';
  const marked = 'a\n<!-- bench:size -->\n\nnew\n\n<!-- /bench:size -->\nb';
  assert.equal(replaceBlock(text, 'size', 'new'), marked);
  assert.equal(replaceBlock(text, 'fleet', 'new'), text);
});

test('a stamp names the code that the rows are of, all of it', () => {
  const machine = readMachine('size');
  assert.ok(machine);
  const stamp = (/** @type {(string | undefined)[]} */ ...commits) =>
    /Holdfast ([^;]+);/.exec(
      stampOf(
        { ...machine, holdfast: 'later' },
        commits.map((commit) => ({ commit })),
      ),
    )?.[1];
  assert.equal(stamp('aaa', 'aaa'), 'aaa');
  assert.equal(stamp(undefined), 'later');
  assert.equal(
    stamp('aaa', 'bbb', 'aaa', undefined),
    'aaa (2 rows), bbb (1 rows), earlier (1 rows)',
  );
});
