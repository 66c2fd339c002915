// @ts-check
// Runs everything that must hold, a fresh process per step, and goes on after a failure so that
// one run reports all of them. The last line is `N passed, N failed`.
//
//   npm test                             all
//   npm test -- --quick                  without the browser demo
//   npm test -- --only lint,cargo        some; `lint` stands for all the checks without tests

import { runAsProgram } from './main.mjs';
import { runStreaming } from './processes.mjs';
import { hashOfTree, keepResults } from './results.mjs';
import { ROOT, ensureReady, toolEnvironment } from './setup.mjs';
import { limitOf, selectSteps } from './steps.mjs';

/** @typedef {import('./steps.mjs').Step} Step */
/** @typedef {import('./totals.mjs').Totals} Totals */
/** @typedef {{ name: string, totals?: Totals, problem?: string, seconds: number }} Outcome */

/** @param {string[]} args */
export function parseArguments(args) {
  /** @type {{ only?: string[], quick?: boolean }} */
  const options = {};
  for (let i = 0; i < args.length; i += 1) {
    if (args[i] === '--quick') options.quick = true;
    else if (args[i] === '--only' && args[i + 1]) options.only = args[(i += 1)].split(',');
    else throw new Error(`unknown argument ${args[i]}; there are --quick and --only <step,...>`);
  }
  return options;
}

/**
 * @param {Step} step
 * @param {boolean} buildFailed
 * @returns {Promise<Outcome>}
 */
async function run(step, buildFailed) {
  const started = performance.now();
  const outcome = (/** @type {string | undefined} */ problem, /** @type {Totals} */ totals) => ({
    name: step.name,
    totals,
    problem,
    seconds: (performance.now() - started) / 1000,
  });
  const nothing = { passed: 0, failed: 0, skipped: 0 };
  if (step.afterBuild && buildFailed) return outcome('not run, because the build failed', nothing);
  try {
    await ensureReady(step.needs);
    const tree = step.results && (await hashOfTree());
    const [program, ...args] = step.command();
    const { code, output, timedOut } = await runStreaming(program, args, {
      cwd: ROOT,
      env: { ...toolEnvironment(), ...plain(), ...step.environment },
      limitMs: limitOf(step),
    });
    // Not if a file was changed meanwhile: nobody knows then what was tested.
    if (step.results && tree !== undefined && tree === (await hashOfTree())) {
      keepResults(step.name, tree, step.results(output));
    }
    const totals = step.count?.(output) ?? nothing;
    if (timedOut) return outcome(`ended after ${limitOf(step) / 60_000} minutes`, totals);
    if (code !== 0) return outcome(`exit code ${code}`, totals);
    if (totals.failed) return outcome('tests failed', totals);
    if (step.count && totals.passed === 0) return outcome('no test ran', totals);
    return outcome(undefined, totals);
  } catch (error) {
    return outcome(error instanceof Error ? error.message : String(error), nothing);
  }
}

/** Programs that colour their output whenever CI is set are asked not to, unless at a terminal. */
function plain() {
  return process.stdout.isTTY ? {} : { NO_COLOR: '1', CARGO_TERM_COLOR: 'never' };
}

/**
 * What is counted at the end: every test, and one failure for each step that failed without a
 * failed test of its own, such as a lint.
 * @param {Outcome[]} outcomes
 */
export function grandTotal(outcomes) {
  let passed = 0;
  let failed = 0;
  for (const { totals, problem } of outcomes) {
    passed += totals?.passed ?? 0;
    failed += totals?.failed || (problem ? 1 : 0);
  }
  return { passed, failed };
}

/** @param {Outcome} outcome */
function describe({ name, totals, problem, seconds }) {
  const counts = [];
  if (totals?.passed || totals?.failed)
    counts.push(`${totals.passed} passed, ${totals.failed} failed`);
  if (totals?.skipped) counts.push(`${totals.skipped} skipped`);
  if (problem) counts.push(problem);
  const verdict = problem ? 'FAILED' : 'ok';
  return `${verdict.padEnd(7)}${name.padEnd(12)}${seconds.toFixed(1).padStart(7)} s  ${counts.join('; ')}`.trimEnd();
}

runAsProgram(import.meta.url, async (args) => {
  const steps = selectSteps(parseArguments(args));
  /** @type {Outcome[]} */
  const outcomes = [];
  for (const step of steps) {
    console.log(`\n=== ${step.name}: ${step.says}\n`);
    const buildFailed = outcomes.some(({ name, problem }) => name === 'build' && problem);
    const outcome = await run(step, buildFailed);
    outcomes.push(outcome);
    console.log(`\n--- ${describe(outcome)}`);
  }
  console.log(`\n=== summary\n\n${outcomes.map(describe).join('\n')}\n`);
  const { passed, failed } = grandTotal(outcomes);
  console.log(`${passed} passed, ${failed} failed`);
  if (failed) process.exitCode = 1;
});
