// @ts-check
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { TARGETS, parseArguments } from './fuzz.mjs';
import { ROOT } from './setup.mjs';

test('each target runs for a minute, or as long as was asked for', () => {
  assert.deepEqual(parseArguments([]), { seconds: 60, targets: TARGETS });
  assert.deepEqual(parseArguments(['--seconds', '5', '--only', 'engine']), {
    seconds: 5,
    targets: ['engine'],
  });
  assert.throws(() => parseArguments(['--seconds', 'many']), /unknown arguments --seconds many/);
  assert.throws(() => parseArguments(['--only', 'all']), /there are --seconds <n> and --only/);
});

test('every target is one of the package of targets', () => {
  const manifest = readFileSync(join(ROOT, 'tests/fuzz/Cargo.toml'), 'utf8');
  const names = [...manifest.matchAll(/\[\[bin\]\]\nname = "(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(names, TARGETS);
});
