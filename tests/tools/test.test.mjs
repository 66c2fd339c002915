// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { runStreaming } from './processes.mjs';
import { STEPS, selectSteps } from './steps.mjs';
import { grandTotal, parseArguments } from './test.mjs';

/** @param {Parameters<typeof selectSteps>[0]} options */
const names = (options) => selectSteps(options).map(({ name }) => name);

test('without arguments every step runs, in order', () => {
  assert.deepEqual(
    names({}),
    STEPS.map(({ name }) => name),
  );
});

test('--quick leaves the browser demo out', () => {
  assert.deepEqual(
    names({ quick: true }),
    names({}).filter((name) => name !== 'browser'),
  );
});

test('--only keeps the order of the steps and brings the build where it is needed', () => {
  assert.deepEqual(names({ only: ['size', 'cargo'] }), ['cargo', 'build', 'size']);
  assert.deepEqual(names({ only: ['cargo'] }), ['cargo']);
});

test('lint stands for every check without tests', () => {
  const lint = names({ only: ['lint'] });
  assert.ok(lint.includes('fmt') && lint.includes('tsc') && lint.includes('publint'));
  assert.ok(!lint.includes('cargo') && !lint.includes('node'));
});

test('an unknown step or argument is refused by name', () => {
  assert.throws(() => selectSteps({ only: ['lnt'] }), /no step is called lnt; steps: lint, fmt/);
  assert.throws(() => parseArguments(['--fast']), /unknown argument --fast/);
  assert.throws(() => parseArguments(['--only']), /unknown argument --only/);
});

test('arguments are read', () => {
  assert.deepEqual(parseArguments(['--quick', '--only', 'fmt,cargo']), {
    quick: true,
    only: ['fmt', 'cargo'],
  });
});

test('tests are added up, and a step that broke without a failed test counts as one failure', () => {
  const seconds = 0;
  const total = grandTotal([
    { name: 'fmt', seconds },
    { name: 'clippy', seconds, problem: 'exit code 1' },
    { name: 'cargo', seconds, totals: { passed: 5, failed: 0, skipped: 1 } },
    { name: 'node', seconds, totals: { passed: 3, failed: 2, skipped: 0 }, problem: 'exit code 1' },
    { name: 'wasm', seconds, totals: { passed: 0, failed: 0, skipped: 0 }, problem: 'no test ran' },
  ]);
  assert.deepEqual(total, { passed: 8, failed: 4 });
});

test('a step past its limit is ended with its children', async () => {
  const child = `require('child_process').spawn('sleep', ['60'], { stdio: 'inherit' })`;
  const { timedOut, code } = await runStreaming(process.execPath, ['-e', child], { limitMs: 300 });
  assert.equal(timedOut, true);
  assert.notEqual(code, 0);
});

test('output comes back with the exit code', async () => {
  const script = `console.log('one'); console.error('two'); process.exit(3)`;
  const result = await runStreaming(process.execPath, ['-e', script], { limitMs: 10_000 });
  assert.equal(result.code, 3);
  assert.match(result.output, /one[\s\S]*two/);
});
