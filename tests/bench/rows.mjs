// @ts-check
/**
 * The rows of a benchmark: docs/benchmarks/<name>.jsonl, one JSON object a line.
 *
 * A row is written the moment it is measured, so a run that is stopped loses nothing and may go
 * on where it was. A row with the same key as an older one takes its place.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  const file = join(folder, `${name}.jsonl`);
  const keyOf = (/** @type {Row} */ row) => JSON.stringify(key.map((field) => row[field] ?? null));
  /** @type {Map<string, Row>} */
  const rows = new Map(readRows(name, folder).map((row) => [keyOf(row), row]));
  mkdirSync(folder, { recursive: true });
  let added = 0;
  return {
    /** @param {Row} row of which only the key counts */
    has: (row) => rows.has(keyOf(row)),
    /** @param {Row} row */
    add(row) {
      rows.set(keyOf(row), row);
      appendFileSync(file, `${JSON.stringify(row)}\n`);
      added += 1;
    },
    /** Leaves each key once, and says where and with what it was measured. */
    close() {
      if (added === 0) return;
      writeFileSync(file, [...rows.values()].map((row) => `${JSON.stringify(row)}\n`).join(''));
      const stamp = JSON.stringify(machine(packages), null, 2);
      writeFileSync(join(folder, `${name}.machine.json`), `${stamp}\n`);
    },
  };
}
