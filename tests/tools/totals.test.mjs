// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { nodeTotals, rustTotals } from './totals.mjs';

test('cargo: every binary is added up', () => {
  const output = `running 2 tests
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: FAILED. 3 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s
`;
  assert.deepEqual(rustTotals(output), { passed: 5, failed: 4, skipped: 1 });
});

test('wasm-bindgen: the same line, without measurements', () => {
  const output =
    'test result: ok. 7 passed; 0 failed; 0 ignored; 0 filtered out; finished in 0.02s\n';
  assert.deepEqual(rustTotals(output), { passed: 7, failed: 0, skipped: 0 });
});

test('colours are read through', () => {
  const output = 'test result: \u001b[32mok\u001b[0m. 1 passed; 0 failed; 0 ignored;\n';
  assert.equal(rustTotals(output).passed, 1);
});

test('node: the spec reporter; a cancelled test has failed', () => {
  const output = 'ℹ tests 9\nℹ pass 4\nℹ fail 1\nℹ cancelled 2\nℹ skipped 1\nℹ todo 1\n';
  assert.deepEqual(nodeTotals(output), { passed: 4, failed: 3, skipped: 2 });
});

test('node: the tap reporter', () => {
  const output = '# tests 3\n# pass 3\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n';
  assert.deepEqual(nodeTotals(output), { passed: 3, failed: 0, skipped: 0 });
});

test('node: a file without tests is not a test', () => {
  const output = '✔ a.test.mjs works (1.2ms)\n✔ /repo/tests/b.test.mjs (143.4ms)\nℹ pass 2\n';
  assert.equal(nodeTotals(output).passed, 1);
});

test('a runner that broke before its summary counts nothing', () => {
  assert.deepEqual(nodeTotals('SyntaxError: bad'), { passed: 0, failed: 0, skipped: 0 });
  assert.deepEqual(rustTotals('error[E0433]: bad'), { passed: 0, failed: 0, skipped: 0 });
});
