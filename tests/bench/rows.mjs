// @ts-check
/**
 * The rows of a benchmark: docs/benchmarks/<name>.jsonl, one JSON object a line.
 *
 * A row is written the moment it is measured, so a run that is killed loses nothing and may go
 * on where it was. A row with the same key as an older one takes its place.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../tools/setup.mjs';
import { machine } from './machine.mjs';

export const FOLDER = join(ROOT, 'docs/benchmarks');

/** @typedef {Record<string, unknown>} Row */

/**
 * @param {string} name
 * @param {string} [folder]
 * @returns {Row[]} every line, in the order of the file
 */
export function readRows(name, folder = FOLDER) {
  const file = join(folder, `${name}.jsonl`);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter(Boolean).map((line, index) => {
    try {
      return JSON.parse(line);
    } catch {
      throw new Error(`${file}:${index + 1} is no JSON; remove the line`);
    }
  });
}

/**
 * @param {string} name
 * @param {string} [folder]
 * @returns {import('./machine.mjs').Machine | undefined}
 */
export function readMachine(name, folder = FOLDER) {
  const file = join(folder, `${name}.machine.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/**
 * @param {string} name
 * @param {readonly string[]} key     the fields that tell two rows apart
 * @param {readonly string[]} packages whose versions are stamped
 * @param {string} [folder]
 */
export function openRows(name, key, packages, folder = FOLDER) {
  const keyOf = (/** @type {Row} */ row) => JSON.stringify(key.map((field) => row[field] ?? null));
  const lineOf = (/** @type {Row} */ row) => `${JSON.stringify(row)}\n`;
  const file = join(folder, `${name}.jsonl`);
  /** @type {Map<string, string>} */
  let lines = new Map();
  let state = '-';
  // Another run of the same benchmark may have added to it.
  const refresh = () => {
    const now = stateOf(file);
    if (now !== state) {
      lines = new Map(readRows(name, folder).map((row) => [keyOf(row), lineOf(row)]));
    }
    state = now;
  };
  refresh();
  // Found out now: it takes a moment, which would disturb what is measured beside the first row.
  const where = machine(packages);
  const stamp = `${JSON.stringify(where, null, 2)}\n`;
  let isStamped = false;
  mkdirSync(folder, { recursive: true });
  return {
    /** @param {Row} row of which only the key counts @returns {Row | undefined} */
    find(row) {
      const line = lines.get(keyOf(row));
      return line === undefined ? undefined : JSON.parse(line);
    },
    /** @param {Row} row @returns {Row} as it is kept: with the commit that it is of */
    add(row) {
      const kept = { ...row, commit: where.holdfast };
      // No row is without the word where and with what it was measured.
      if (!isStamped) replaceFile(join(folder, `${name}.machine.json`), stamp);
      isStamped = true;
      refresh();
      lines.set(keyOf(row), lineOf(kept));
      replaceFile(file, [...lines.values()].join(''));
      state = stateOf(file);
      return kept;
    },
  };
}

/** All of it or nothing, whenever the process is killed. @param {string} file @param {string} text */
function replaceFile(file, text) {
  const other = `${file}.${process.pid}.tmp`;
  writeFileSync(other, text);
  renameSync(other, file);
}

/** Tells one state of a file from another. @param {string} file */
function stateOf(file) {
  if (!existsSync(file)) return '';
  const { ino, size, mtimeMs } = statSync(file);
  return `${ino} ${size} ${mtimeMs}`;
}
