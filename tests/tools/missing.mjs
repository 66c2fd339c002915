// @ts-check
// Runs the tests that requirements lack for the tree as it is: the quickest kind first, and of the
// next only what is then still missing.

import { KINDS } from './holders.mjs';
import { log, runStreaming } from './processes.mjs';
import { hashOfTree, keepResults, nodeReporters, nodeResults, rustResults } from './results.mjs';
import { ROOT, ensureReady, findChromedriver, findChromium, toolEnvironment } from './setup.mjs';

/** @typedef {import('./holders.mjs').Holder} Holder */
/** @typedef {import('./results.mjs').TestResult} TestResult */
/** @typedef {{ id: string, holders: Holder[] }} Lacking */

const LIMIT_MS = 20 * 60_000;

/** @type {Record<Holder['kind'], (holders: Holder[]) => Promise<TestResult[]>>} */
const RUN = { native: runNative, wasm: runWasm, node: runNode, browser: runBrowser };

const WHERE = {
  native: 'Rust tests, native',
  wasm: 'Rust tests in Chromium',
  node: 'test files in Node',
  browser: 'test files with Chromium',
};

/**
 * @param {() => Lacking[]} missing the requirements without a result as things stand
 * @param {string | undefined} tree what is kept is kept for
 * @param {(results: TestResult[]) => void} add
 */
export async function runMissing(missing, tree, add) {
  for (const kind of KINDS) {
    const lacking = missing();
    const holders = lacking.flatMap((one) => one.holders).filter((one) => one.kind === kind);
    if (holders.length === 0) continue;
    if (kind === 'wasm' || kind === 'browser') {
      if (!findChromium() || !findChromedriver()) {
        log(`holdfast: there is no Chromium, so no ${WHERE[kind]}`);
        continue;
      }
    }
    const isByFile = kind === 'node' || kind === 'browser';
    const count = isByFile ? filesOf(holders).length : new Set(holders).size;
    log(
      `holdfast: ${lacking.length} requirements have no result for this tree yet: ` +
        `running ${count} ${WHERE[kind]} …`,
    );
    const results = await RUN[kind](holders).catch((error) => {
      log(`holdfast: ${error instanceof Error ? error.message : error}`);
      return /** @type {TestResult[]} */ ([]);
    });
    if (tree !== undefined && tree === (await hashOfTree())) {
      keepResults(`missing-${kind}`, tree, results);
    }
    add(results);
  }
}

/** @param {Holder[]} holders */
const filesOf = (holders) => [...new Set(holders.map(({ file }) => file))];

/** @param {Holder[]} holders */
async function runNative(holders) {
  await ensureReady(['rust']);
  const binaries = [...new Set(holders.map(({ file }) => binaryOf(file)))];
  // A name is that of a function in some module: the harness knows it by its end.
  const names = holders.map(({ name }) => name);
  const args = ['test', '--locked', '--no-fail-fast', ...binaries.flat(), '--', ...names];
  return rustResults(await outputOf('cargo', args), 'native');
}

/** The arguments of cargo that choose the binary with this file. @param {string} file */
function binaryOf(file) {
  const [, test] = /^tests\/(\w+)/.exec(file) ?? [];
  return test ? `--test=${test}` : '--lib';
}

async function runWasm() {
  await ensureReady(['npm', 'rust', 'wasm-tools', 'browser']);
  const { STEPS } = await import('./steps.mjs');
  const [program, ...args] = /** @type {import('./steps.mjs').Step} */ (
    STEPS.find(({ name }) => name === 'wasm')
  ).command();
  return rustResults(await outputOf(program, args), 'wasm');
}

/** @param {Holder[]} holders */
async function runNode(holders) {
  await ensureReady(['npm', 'media', 'build']);
  return runFiles('missing-node', filesOf(holders), 2);
}

/** @param {Holder[]} holders */
async function runBrowser(holders) {
  await ensureReady(['npm', 'browser', 'media', 'build']);
  return runFiles('missing-browser', filesOf(holders), 1);
}

/**
 * Whole files: the tests of a file may share what it sets up.
 * @param {string} step
 * @param {string[]} files
 * @param {number} atOnce
 */
async function runFiles(step, files, atOnce) {
  const reporters = nodeReporters(step);
  const args = ['--test', ...reporters, `--test-concurrency=${atOnce}`, ...files];
  await outputOf('node', args);
  return nodeResults(step);
}

/** @param {string} program @param {string[]} args */
async function outputOf(program, args) {
  const env = { ...toolEnvironment(), NO_COLOR: '1', CARGO_TERM_COLOR: 'never' };
  const { output } = await runStreaming(program, args, { cwd: ROOT, env, limitMs: LIMIT_MS });
  return output;
}
