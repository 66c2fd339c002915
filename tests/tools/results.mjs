// @ts-check
// What the tests of each step came to, kept with a hash of the tree that they were run on:
// target/test-results/<step>.json.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOutput } from './processes.mjs';
import { ROOT } from './setup.mjs';

/**
 * @typedef {object} TestResult
 * @property {'native' | 'wasm' | 'node'} kind who ran it: cargo, wasm-bindgen's runner, Node
 * @property {string} [file] relative to the clone; Rust's runners do not say
 * @property {string[]} path from the outermost module or describe() to the test itself
 * @property {'passed' | 'failed' | 'skipped'} outcome
 */

const FOLDER = join('target', 'test-results');
/** Written from what was found, so they are no part of it. */
const GENERATED = ['docs/requirements.md', 'docs/mutants.md'];

// eslint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-9;]*m/g;
const RUST = /^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|FAIL|ignored)/gm;
const WORDS = /** @type {const} */ ({ ok: 'passed', ignored: 'skipped' });

/**
 * A hash over the names and contents of all files of the clone that Git does not ignore, as they
 * are on the disk. Undefined where there is no Git to ask.
 * @param {string} [root]
 */
export async function hashOfTree(root = ROOT) {
  const list = ['-C', root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const output = await readOutput('git', list);
  if (!output) return undefined;
  const paths = [...new Set(output.split('\0'))].filter(
    (path) => path && !GENERATED.includes(path),
  );
  const hash = createHash('sha256');
  for (const path of paths.sort()) {
    try {
      const content = readFileSync(join(root, path));
      hash.update(`${path}\0${content.length}\0`).update(content);
    } catch {
      // It was deleted, and that is not committed yet; or it is a link to a folder.
    }
  }
  return hash.digest('hex');
}

/**
 * The tests that Rust's runners name in their output.
 * @param {string} output
 * @param {'native' | 'wasm'} kind
 * @returns {TestResult[]}
 */
export function rustResults(output, kind) {
  return [...output.replace(COLOURS, '').matchAll(RUST)].map(([, name, word]) => ({
    kind,
    path: name.split('::'),
    outcome: WORDS[/** @type {keyof typeof WORDS} */ (word)] ?? 'failed',
  }));
}

/** The arguments that make `node --test` print as usual and keep its results. @param {string} step */
export function nodeReporters(step) {
  mkdirSync(join(ROOT, FOLDER), { recursive: true });
  writeFileSync(linesOf(step), '');
  return [
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    '--test-reporter=./tests/tools/reporter.mjs',
    `--test-reporter-destination=${linesOf(step)}`,
  ];
}

/** What they kept. @param {string} step @returns {TestResult[]} */
export function nodeResults(step) {
  const lines = readFileSync(linesOf(step), 'utf8').split('\n');
  return lines.filter(Boolean).map((line) => ({ kind: 'node', ...JSON.parse(line) }));
}

/** @param {string} step */
function linesOf(step) {
  return join(ROOT, FOLDER, `${step}.lines`);
}

/**
 * Keeps what the tests of a step came to, beside what it kept before for the same tree.
 * @param {string} step
 * @param {string} tree
 * @param {TestResult[]} tests
 */
export function keepResults(step, tree, tests, root = ROOT) {
  const kept = join(root, FOLDER, `${step}.json`);
  mkdirSync(join(root, FOLDER), { recursive: true });
  const idOf = (/** @type {TestResult} */ { kind, file, path }) =>
    JSON.stringify([kind, file, path]);
  const again = new Set(tests.map(idOf));
  const before = readKept(kept, tree).filter((test) => !again.has(idOf(test)));
  const lines = [...before, ...tests].map((test) => JSON.stringify(test)).join(',\n');
  writeFileSync(kept, `{"tree":"${tree}","tests":[\n${lines}\n]}\n`);
}

/** All that is kept for this tree. @param {string | undefined} tree @returns {TestResult[]} */
export function keptResults(tree, root = ROOT) {
  const folder = join(root, FOLDER);
  if (tree === undefined || !existsSync(folder)) return [];
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => readKept(join(folder, name), tree));
}

/** @param {string} file @param {string} tree @returns {TestResult[]} */
function readKept(file, tree) {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    return kept.tree === tree ? kept.tests : [];
  } catch {
    // There is none, or a run was ended while it wrote.
    return [];
  }
}
