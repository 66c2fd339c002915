// @ts-check
/** Where and with what something was measured: the stamp of every table. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { ROOT, findChromium } from '../tools/setup.mjs';

/**
 * @typedef {object} Machine
 * @property {string} date        of the last run, YYYY-MM-DD
 * @property {number} cores
 * @property {number} memoryGiB
 * @property {string} node
 * @property {string | null} chromium
 * @property {string} holdfast    the commit, with `+` if files were changed since
 * @property {Record<string, string>} packages versions, by npm name as it is installed
 */

/**
 * @param {readonly string[]} packages
 * @returns {Machine}
 */
export function machine(packages) {
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: os.cpus().length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    node: process.versions.node,
    chromium: chromiumVersion(),
    holdfast: commit(),
    packages: Object.fromEntries(packages.map((name) => [name, versionOf(name)])),
  };
}

/** @param {string} name */
export function versionOf(name) {
  return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function chromiumVersion() {
  const program = findChromium();
  if (!program) return null;
  const said = execFileSync(program, ['--version'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'], // its start script may complain of the machine
  });
  return /[\d.]+/.exec(said)?.[0] ?? said.trim();
}

function commit() {
  try {
    const git = (/** @type {string[]} */ ...args) =>
      execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
    const changed = git('status', '--porcelain', '--', 'src', 'js', 'Cargo.toml') !== '';
    return git('rev-parse', '--short', 'HEAD') + (changed ? '+' : '');
  } catch {
    return 'unknown'; // a copy without its history
  }
}
