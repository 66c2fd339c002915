// @ts-check
/** Runs the benchmarks of tests/micro, and reads what criterion has made of them. */
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runStreaming } from '../../tools/processes.mjs';
import { ROOT, toolEnvironment } from '../../tools/setup.mjs';

/**
 * @typedef {object} Row
 * @property {string} case
 * @property {number} live     requests under way meanwhile
 * @property {number} medianNs of one
 * @property {number} lowNs    95 % interval of the median
 * @property {number} highNs
 * @property {number} n        samples, of many iterations each
 * @property {number} iterations
 */

const TARGET = join(ROOT, 'target', 'micro');
const LIMIT_MS = 1_200_000;

/** Little of it, within a minute. */
const SMOKE = {
  env: { HOLDFAST_MICRO_MOST: '100' },
  args: ['--sample-size', '10', '--warm-up-time', '0.1', '--measurement-time', '0.3'],
};
/** Few samples of what takes milliseconds, enough of what takes nanoseconds. */
const WHOLE = {
  env: {},
  args: ['--sample-size', '20', '--warm-up-time', '0.5', '--measurement-time', '2'],
};

/**
 * @param {string} bench of tests/micro
 * @param {boolean} smoke
 */
export async function measure(bench, smoke) {
  const results = join(TARGET, 'criterion', bench);
  rmSync(results, { recursive: true, force: true });
  const { env, args } = smoke ? SMOKE : WHOLE;
  const { code } = await runStreaming(
    'sh',
    ['-c', 'exec cargo "$@" 1>&2', 'cargo', ...COMMAND, '--bench', bench, '--', ...args],
    {
      cwd: ROOT,
      env: { ...toolEnvironment(), ...env, CARGO_TARGET_DIR: TARGET, CRITERION_HOME: results },
      limitMs: LIMIT_MS,
    },
  );
  if (code !== 0) throw new Error(`cargo bench ended with ${code}`);
  return readResults(results);
}

const COMMAND = ['bench', '--locked', '--manifest-path', 'tests/micro/Cargo.toml'];

/**
 * A row for each benchmark under this folder, in the order of their numbers of requests.
 * @param {string} folder
 * @returns {Row[]}
 */
export function readResults(folder) {
  const files = /** @type {string[]} */ (readdirSync(folder, { recursive: true }));
  return files
    .filter((file) => /(^|[\\/])new[\\/]estimates\.json$/.test(file))
    .map((file) => rowOf(dirname(join(folder, file))))
    .sort((a, b) => a.live - b.live || a.medianNs - b.medianNs);
}

/** @param {string} folder with what criterion has left of one benchmark */
function rowOf(folder) {
  const read = (/** @type {string} */ name) =>
    JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
  const { function_id: fact, group_id: group, value_str: value } = read('benchmark');
  const { point_estimate: medianNs, confidence_interval: interval } = read('estimates').median;
  /** @type {number[]} */
  const iterations = read('sample').iters;
  return {
    case: fact === null ? group : `${fact}, ${Number(value).toLocaleString('en')} under way`,
    live: Number(value ?? 1),
    medianNs,
    lowNs: interval.lower_bound,
    highNs: interval.upper_bound,
    n: iterations.length,
    iterations: iterations.reduce((sum, count) => sum + count, 0),
  };
}
