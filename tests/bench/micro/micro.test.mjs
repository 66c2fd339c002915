// @ts-check
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { readResults } from './criterion.mjs';

test("criterion's files become rows, by their number of requests", (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-micro-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const leave = (
    /** @type {string} */ name,
    /** @type {object} */ id,
    /** @type {number} */ ns,
  ) => {
    const interval = { lower_bound: ns - 1, upper_bound: ns + 1 };
    const median = { point_estimate: ns, confidence_interval: interval };
    const files = { benchmark: id, estimates: { median }, sample: { iters: [10, 20] } };
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(join(folder, name, 'new'), { recursive: true });
      writeFileSync(join(folder, name, 'new', `${file}.json`), JSON.stringify(content));
    }
  };
  leave('many/start', { group_id: 'g', function_id: 'start', value_str: '100000' }, 9);
  leave('chunk', { group_id: 'chunk', function_id: null, value_str: null }, 7);
  assert.deepEqual(readResults(folder), [
    { case: 'chunk', live: 1, medianNs: 7, lowNs: 6, highNs: 8, n: 2, iterations: 30 },
    {
      ...{ case: 'start, 100,000 under way', live: 100_000 },
      ...{ medianNs: 9, lowNs: 8, highNs: 10, n: 2, iterations: 30 },
    },
  ]);
});
