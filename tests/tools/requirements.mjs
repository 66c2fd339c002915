// @ts-check
// What must hold, by number: tests/requirements.json says it, tests hold it by their names, and
// docs/requirements.md is written from both. Fails where a requirement that is said to be held
// has no passing test for the tree as it is. What `npm test` ran on this tree is not run again.
//
//   npm run requirements             writes docs/requirements.md, and runs tests that are missing
//   npm run requirements -- --check  the same, but fails where the document is another

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findHolders, isOf } from './holders.mjs';
import { runAsProgram } from './main.mjs';
import { runMissing } from './missing.mjs';
import { log } from './processes.mjs';
import { hashOfTree, keptResults } from './results.mjs';
import { ROOT } from './setup.mjs';

/** @typedef {import('./holders.mjs').Holder} Holder */
/** @typedef {import('./results.mjs').TestResult} TestResult */
/** @typedef {{ id: string, status: 'held' | 'later', text: string }} Requirement */
/** @typedef {Requirement & { holders: Holder[] }} Held */
/** @typedef {{ passed: number, failed: number }} Tally */

export const COUNT = 92;
const LIST = 'tests/requirements.json';
const DOCUMENT = 'docs/requirements.md';
const SHOWN = 4;

const INTRODUCTION = `# Requirements

What must hold, by number, and the tests that hold it. This page is written by
\`npm run requirements\` from \`tests/requirements.json\` and the names of the tests: Rust functions
\`r17_…\` and titles \`R17: …\`. It fails where one that is *held* has no passing test; those to come
*later* are not built yet, or not in full.

`;

/**
 * The list, or an error that says what is wrong with it.
 * @param {string} json
 * @returns {Requirement[]}
 */
export function parseRequirements(json) {
  /** @type {Requirement[]} */
  const list = JSON.parse(json);
  list.forEach(({ id, status, text }, index) => {
    if (id !== `R${index + 1}`)
      throw new Error(`${LIST}: ${id} stands where R${index + 1} belongs`);
    if (status !== 'held' && status !== 'later')
      throw new Error(`${LIST}: the status of ${id} is ${status}, not held or later`);
    if (typeof text !== 'string' || !/^\S[^\n|]*$/.test(text))
      throw new Error(`${LIST}: the text of ${id} must be one line, without |`);
  });
  if (list.length !== COUNT) throw new Error(`${LIST} has ${list.length} entries, not ${COUNT}`);
  return list;
}

/**
 * Each requirement with its tests. A test that names a number beyond the list is an error.
 * @param {Requirement[]} requirements
 * @param {Holder[]} holders
 * @returns {Held[]}
 */
export function assign(requirements, holders) {
  for (const { numbers, file, name } of holders) {
    const unknown = numbers.find((number) => number < 1 || number > requirements.length);
    if (unknown !== undefined) throw new Error(`${file}: there is no R${unknown}: ${name}`);
  }
  return requirements.map((requirement, index) => ({
    ...requirement,
    holders: holders.filter(({ numbers }) => numbers.includes(index + 1)),
  }));
}

/** The page. @param {Held[]} requirements */
export function documentOf(requirements) {
  const lines = requirements.map(
    ({ id, text, status, holders }) => `| ${id} | ${text} | ${status} | ${cell(holders)} |`,
  );
  const head = '| | What must hold | | Held by |\n| --- | --- | --- | --- |';
  return `${INTRODUCTION}${head}\n${lines.join('\n')}\n`;
}

/** The first tests, by file. @param {Holder[]} holders */
function cell(holders) {
  const shown = holders.slice(0, SHOWN);
  const files = [...new Set(shown.map(({ file }) => file))].map((file) => {
    const names = shown.filter((holder) => holder.file === file).map(nameIn);
    return `\`${file}\`: ${names.join('; ')}`;
  });
  const more = holders.length - shown.length;
  return [...files, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** @param {Holder} holder */
const nameIn = ({ name, parts }) => (parts ? name.replaceAll('|', '\\|') : `\`${name}\``);

/**
 * How many of the tests of a requirement passed and failed.
 * @param {Held} requirement
 * @param {TestResult[]} results
 * @returns {Tally}
 */
export function tally({ holders }, results) {
  const own = results.filter((result) => holders.some((holder) => isOf(holder, result)));
  const count = (/** @type {TestResult['outcome']} */ outcome) =>
    own.filter((result) => result.outcome === outcome).length;
  return { passed: count('passed'), failed: count('failed') };
}

/** Whether it is held: by one test at least, and refuted by none. @param {Tally} tally */
export const isHeld = ({ passed, failed }) => passed > 0 && failed === 0;

/** @param {Held} requirement @param {Tally} counts */
function line({ id, status, holders }, { passed, failed }) {
  const counts = [];
  if (passed) counts.push(`${passed} passed`);
  if (failed) counts.push(`${failed} FAILED`);
  const verdict = status === 'held' && !isHeld({ passed, failed }) ? 'NOT HELD' : status;
  const tests = holders.length ? `named by ${holders.length}` : 'no test';
  return `${id.padEnd(5)}${verdict.padEnd(10)}${tests.padEnd(14)}${counts.join(', ')}`.trimEnd();
}

/**
 * The results of this tree, with those of the tests that had to be run for it.
 * @param {Held[]} requirements
 */
async function resultsFor(requirements) {
  const tree = await hashOfTree();
  let results = keptResults(tree);
  const missing = () =>
    requirements.filter(
      (requirement) => requirement.status === 'held' && !sum(tally(requirement, results)),
    );
  await runMissing(missing, tree, (more) => (results = [...results, ...more]));
  return results;
}

/** @param {Tally} tally */
const sum = ({ passed, failed }) => passed + failed;

/** Compares the page on disk with what it should be, or writes it. @param {string} page @param {boolean} check */
function settle(page, check) {
  const file = join(ROOT, DOCUMENT);
  if (readFileSync(file, 'utf8') === page) return true;
  if (check) return false;
  writeFileSync(file, page);
  log(`holdfast: ${DOCUMENT} is written anew`);
  return true;
}

runAsProgram(import.meta.url, async (args) => {
  const unknown = args.find((arg) => arg !== '--check');
  if (unknown) throw new Error(`unknown argument ${unknown}; there is --check`);
  const list = parseRequirements(readFileSync(join(ROOT, LIST), 'utf8'));
  const requirements = assign(list, findHolders(ROOT));
  const isCurrent = settle(documentOf(requirements), args.includes('--check'));
  const results = await resultsFor(requirements);
  const tallies = requirements.map((requirement) => tally(requirement, results));
  console.log(requirements.map((requirement, i) => line(requirement, tallies[i])).join('\n'));

  const said = requirements.filter(({ status }) => status === 'held');
  const failing = said.filter((requirement) => !isHeld(tallies[requirements.indexOf(requirement)]));
  if (!isCurrent) log(`\n${DOCUMENT} is not what it should be: run \`npm run requirements\``);
  if (failing.length) {
    log(`\nsaid to be held, without a passing test: ${failing.map(({ id }) => id).join(', ')}`);
  }
  console.log(`\nrequirements held: ${said.length - failing.length} of ${COUNT}`);
  if (!isCurrent || failing.length) process.exitCode = 1;
});
