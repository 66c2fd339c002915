// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { pickRule } from '../../lab/rules.mjs';
import { downloadAll } from './download.mjs';
import { FAULTS, SEGMENTS } from './faults.mjs';
import { tooEarly } from './retry-after.mjs';
import { compare, misses, rowOf, sums } from './rows.mjs';

const run = { ok: 30, failed: 0, seconds: 5, requests: 30, wastedKB: 0, retryAfterViolations: 0 };

test('there are thirty segments, each once, and each fault but the control meets one', () => {
  assert.equal(new Set(SEGMENTS).size, 30);
  for (const [id, { rules }] of Object.entries(FAULTS)) {
    const met = SEGMENTS.filter((file) => pickRule(rules, file, 1, 2500));
    assert.equal(met.length > 0, id !== 'N1', id);
  }
});

test('what a client gives, what it fails with, and what comes too late', async () => {
  /** @type {import('./download.mjs').Client} */
  const client = async (url) => {
    if (url === 'bad') throw new Error('no');
    if (url === 'slow') return new Promise(() => {});
    return new TextEncoder().encode(url).buffer;
  };
  const { hashes, reasons } = await downloadAll(client, ['abc', 'bad', 'slow'], {
    segmentMs: 20,
    runMs: 1000,
  });
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  assert.deepEqual(hashes, [abc, null, null]);
  assert.deepEqual(reasons, [null, 'Error: no', 'Error: it took too long']);
  const late = await downloadAll(client, ['abc'], { segmentMs: 20, runMs: 0 });
  assert.deepEqual(late.hashes, [null]);
});

test('requests before the time that was named are counted, for files of the rule alone', () => {
  const rule = { match: 'a', act: 'status', status: 503, headers: { 'Retry-After': '5' } };
  const entry = (/** @type {string} */ file, /** @type {number} */ t, status = 503) => ({
    ...{ t, end: t, file, attempt: 1, range: null, act: 'status', status, from: null, bytes: 0 },
    how: /** @type {const} */ ('sent'),
  });
  const log = [entry('a', 0), entry('b', 10, 200), entry('a', 4000), entry('a', 9000, 200)];
  assert.equal(tooEarly(log, [/** @type {any} */ (rule)]), 1);
  assert.equal(tooEarly(log, []), 0);
});

test('Holdfast is measured against the library that got most with least', () => {
  const row = (
    /** @type {string} */ client,
    /** @type {number} */ ok,
    /** @type {number} */ requests,
    fault = 'F09',
  ) => rowOf({ fault, client, runner: 'browser' }, [{ ...run, ok, failed: 30 - ok, requests }]);
  const rows = [row('holdfast', 30, 33), row('ky', 29, 30), row('p-retry', 30, 34)];
  const verdict = compare(rows);
  assert.deepEqual([verdict?.best.client, verdict?.isMet], ['p-retry', true]);
  assert.deepEqual(misses(rows), []);
  assert.equal(compare([row('holdfast', 30, 31), row('ky', 29, 30)])?.isMet, true);
  assert.equal(compare([row('holdfast', 30, 32), row('ky', 29, 30)])?.isMet, false);
  assert.equal(compare([row('holdfast', 28, 28), row('ky', 29, 30)])?.isMet, false);
  const worse = [...rows, row('fetch', 30, 30), row('axios-retry', 30, 32)];
  assert.equal(misses(worse).length, 2, 'in this fault, and over all faults');
  const controls = [
    row('holdfast', 12, 20, 'N4'),
    row('ky', 30, 30, 'N4'),
    row('p-retry', 30, 30, 'N4'),
  ];
  assert.equal(misses([...rows, ...controls]).length, 1, 'a control is told by itself');
  // A fault that not all have met says nothing about the sum.
  const partial = sums([...rows, row('ky', 30, 30, 'F10')], 'browser');
  assert.equal(partial.find(({ client }) => client === 'ky')?.ok, 29);
});

test('a row holds medians, and between what they lie', () => {
  const { ok, minOk, maxOk, n } = rowOf({ fault: 'F09', client: 'ky', runner: 'browser' }, [
    { ...run, ok: 20 },
    { ...run, ok: 30 },
    { ...run, ok: 29 },
  ]);
  assert.deepEqual({ ok, minOk, maxOk, n }, { ok: 29, minOk: 20, maxOk: 30, n: 3 });
});
