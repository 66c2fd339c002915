// @ts-check
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { TARGET, parseArguments } from './fuzz.mjs';
import { ROOT } from './setup.mjs';

test('it runs for a minute, or as long as was asked for', () => {
  assert.equal(parseArguments([]), 60);
  assert.equal(parseArguments(['--seconds', '5']), 5);
  for (const args of [
    ['--seconds', 'many'],
    ['--seconds', '5', '5'],
    ['--only', 'engine'],
  ]) {
    assert.throws(() => parseArguments(args), /unknown arguments .*; there is --seconds <n>/);
  }
});

test('the target is that of the package', () => {
  const manifest = readFileSync(join(ROOT, 'tests/fuzz/Cargo.toml'), 'utf8');
  const names = [...manifest.matchAll(/\[\[bin\]\]\nname = "(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(names, [TARGET]);
});
