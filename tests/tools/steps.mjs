// @ts-check
// The steps of `npm test`, in order: what each runs, what it needs, how its tests are counted.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { nodeReporters, nodeResults, rustResults } from './results.mjs';
import { ROOT, findChromedriver } from './setup.mjs';
import { nodeTotals, rustTotals } from './totals.mjs';

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} says what it checks, for the heading
 * @property {() => [program: string, ...args: string[]]} command
 * @property {import('./setup.mjs').Part[]} needs
 * @property {boolean} [afterBuild] it needs js/pkg, so the build step must have passed
 * @property {(output: string) => import('./totals.mjs').Totals} [count] given for a step that
 *   runs tests: one that runs none has failed
 * @property {(output: string) => import('./results.mjs').TestResult[]} [results] what its tests
 *   came to, one by one
 * @property {Record<string, string>} [environment]
 * @property {number} [limitMinutes]
 */

const DEFAULT_LIMIT_MINUTES = 10;
const WASM = ['--target', 'wasm32-unknown-unknown', '--lib'];
const DENY_WARNINGS = ['--', '-D', 'warnings'];

/** @type {Step[]} */
export const STEPS = [
  {
    name: 'fmt',
    says: 'Rust is formatted',
    command: () => ['cargo', 'fmt', '--check'],
    needs: ['rust'],
  },
  {
    name: 'clippy',
    says: 'Rust has no warnings, native, all targets',
    command: () => ['cargo', 'clippy', '--locked', '--all-targets', ...DENY_WARNINGS],
    needs: ['rust'],
  },
  {
    name: 'clippy-wasm',
    says: 'Rust has no warnings, wasm library',
    command: () => ['cargo', 'clippy', '--locked', ...WASM, ...DENY_WARNINGS],
    needs: ['rust'],
  },
  {
    name: 'doc',
    says: 'Rust documentation builds without warnings',
    command: () => ['cargo', 'doc', '--locked', '--no-deps'],
    environment: { RUSTDOCFLAGS: '-D warnings' },
    needs: ['rust'],
  },
  {
    name: 'purity',
    says: 'the core names nothing of the browser or the machine',
    command: () => ['node', 'tests/tools/purity.mjs'],
    needs: [],
  },
  {
    name: 'prettier',
    says: 'JavaScript is formatted',
    command: () => ['prettier', '--check', '.'],
    needs: ['npm'],
  },
  {
    name: 'eslint',
    says: 'JavaScript has no lint',
    command: () => ['eslint', '--max-warnings', '0', '.'],
    needs: ['npm'],
  },
  {
    name: 'cargo',
    says: 'Rust tests, native',
    command: () => ['cargo', 'test', '--locked', '--no-fail-fast'],
    count: rustTotals,
    results: (output) => rustResults(output, 'native'),
    needs: ['rust'],
    limitMinutes: 20,
  },
  {
    name: 'fleet',
    says: 'Rust tests of the fleet simulation, native',
    command: () => ['cargo', 'test', '--locked', '--manifest-path', 'tests/fleet/Cargo.toml'],
    count: rustTotals,
    needs: ['rust'],
    limitMinutes: 20,
  },
  {
    name: 'micro',
    says: 'the microbenchmarks compile without warnings',
    command: () => [
      'cargo',
      'clippy',
      '--locked',
      ...['--manifest-path', 'tests/micro/Cargo.toml', '--all-targets'],
      ...DENY_WARNINGS,
    ],
    needs: ['rust'],
  },
  {
    name: 'build',
    says: 'the wasm module builds',
    command: () => ['node', 'tests/tools/setup.mjs', 'build'],
    needs: ['npm', 'rust', 'wasm-tools'],
  },
  {
    name: 'imports',
    says: 'the module imports what it may; the native build is free of the browser',
    command: () => ['node', 'tests/tools/imports.mjs'],
    needs: ['rust'],
    afterBuild: true,
  },
  {
    name: 'tsc',
    says: 'JavaScript is well typed',
    command: () => ['tsc', '--project', 'tsconfig.json'],
    needs: ['npm'],
    afterBuild: true,
  },
  {
    name: 'publint',
    says: 'the package is well formed',
    command: () => ['publint', '--strict'],
    needs: ['npm'],
    afterBuild: true,
  },
  {
    name: 'wasm',
    says: 'Rust tests, in headless Chromium',
    command: () => [
      'wasm-pack',
      ...['test', '--mode', 'no-install', '--headless', '--chrome'],
      ...['--chromedriver', String(findChromedriver())],
    ],
    count: rustTotals,
    results: (output) => rustResults(output, 'wasm'),
    needs: ['npm', 'rust', 'wasm-tools', 'browser'],
  },
  {
    name: 'node',
    says: 'JavaScript tests, in Node',
    command: () => nodeTests('node', ['tests/node', 'tests/tools', 'tests/lab', 'tests/bench'], 2),
    count: nodeTotals,
    results: () => nodeResults('node'),
    needs: ['npm', 'media'],
    afterBuild: true,
  },
  {
    name: 'types',
    says: 'the published types, as TypeScript code uses them',
    command: () => ['node', 'tests/tools/types.mjs'],
    needs: ['npm'],
    afterBuild: true,
  },
  {
    name: 'size',
    says: 'every entry is within its size',
    command: () => ['node', 'tests/tools/size.mjs'],
    needs: ['npm'],
    afterBuild: true,
  },
  {
    name: 'browser',
    says: 'players, demo and package in headless Chromium; transport in Firefox and WebKit too',
    command: () => nodeTests('browser', ['tests/browser'], 1),
    count: nodeTotals,
    results: () => nodeResults('browser'),
    needs: ['npm', 'browsers', 'media'],
    afterBuild: true,
    limitMinutes: 45,
  },
  {
    name: 'requirements',
    says: 'what is said to be held has a passing test, and the page says which',
    command: () => ['node', 'tests/tools/requirements.mjs', '--check'],
    needs: [],
    limitMinutes: 30,
  },
];

/** Names that stand for several steps. @type {Record<string, string[]>} */
const GROUPS = {
  lint: ['fmt', 'clippy', 'clippy-wasm', 'doc', 'purity', 'prettier', 'eslint', 'tsc', 'publint'],
};

/** Steps that `--quick` leaves out. */
const SLOW = ['browser'];

/**
 * The steps that these arguments ask for, in order, with the build if one of them needs it.
 * @param {{ only?: string[], quick?: boolean }} options
 */
export function selectSteps({ only, quick = false }) {
  const names = only?.flatMap((name) => GROUPS[name] ?? [name]) ?? STEPS.map(({ name }) => name);
  const unknown = names.filter((name) => !STEPS.some((step) => step.name === name));
  if (unknown.length) {
    const known = [...Object.keys(GROUPS), ...STEPS.map(({ name }) => name)];
    throw new Error(`no step is called ${unknown.join(', ')}; steps: ${known.join(', ')}`);
  }
  const wanted = STEPS.filter(
    ({ name }) => names.includes(name) && !(quick && SLOW.includes(name)),
  );
  const needsBuild = wanted.some(({ afterBuild }) => afterBuild);
  return STEPS.filter((step) => wanted.includes(step) || (needsBuild && step.name === 'build'));
}

/** @param {Step} step */
export function limitOf(step) {
  return (step.limitMinutes ?? DEFAULT_LIMIT_MINUTES) * 60_000;
}

/**
 * `node --test` over every test file directly in these folders.
 * @param {string} step
 * @param {string[]} folders
 * @param {number} atOnce
 * @returns {[string, ...string[]]}
 */
function nodeTests(step, folders, atOnce) {
  const files = folders.flatMap(testFilesIn);
  if (files.length === 0) throw new Error(`no test files in ${folders.join(', ')}`);
  return ['node', '--test', ...nodeReporters(step), `--test-concurrency=${atOnce}`, ...files];
}

/** @param {string} folder */
function testFilesIn(folder) {
  const names = readdirSync(join(ROOT, folder), { encoding: 'utf8', recursive: true }).sort();
  return names.filter((name) => /\.test\.m?js$/.test(name)).map((name) => `${folder}/${name}`);
}
