// @ts-check
/**
 * npm run bench:report: a page with tables and plots for each benchmark that has rows, and the
 * tables of the README.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { log } from '../lab/jobs.mjs';
import { runAsProgram } from '../tools/main.mjs';
import { ROOT, ensureReady } from '../tools/setup.mjs';
import { FOLDER, readMachine, readRows } from './rows.mjs';

/** In the order of the README. Each has `<name>/report.mjs`. */
export const BENCHES = [
  'players',
  'faults',
  'fetch',
  'traces',
  'overhead',
  'size',
  'estimate',
  'fleet',
  'micro',
];

/**
 * What `<name>/report.mjs` exports as `report`.
 *
 * @typedef {object} Page
 * @property {string} title
 * @property {string} body                 Markdown
 * @property {Record<string, string>} plots file name (ends in .svg) → document
 * @property {string} [headline]           Markdown for the README, a few lines
 *
 * @typedef {(rows: any[], machine: import('./machine.mjs').Machine) => Page} Report
 */

/**
 * @param {import('./machine.mjs').Machine} machine of the last run
 * @param {readonly { commit?: string }[]} rows which may be of several
 */
export function stampOf({ date, cores, memoryGiB, node, chromium, holdfast, packages }, rows) {
  const peers = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
  /** @type {Map<string, number>} */
  const commits = new Map();
  for (const { commit = 'earlier' } of rows) commits.set(commit, (commits.get(commit) ?? 0) + 1);
  const [[only]] = commits;
  const shares = [...commits].map(([commit, count]) => `${commit} (${count} rows)`);
  // Rows that do not say what they are of are of the last run.
  const one = only === 'earlier' ? holdfast : only;
  const parts = [
    `Measured ${date} on ${cores} cores, ${memoryGiB} GiB`,
    `Holdfast ${commits.size > 1 ? shares.join(', ') : one}`,
    `Node ${node}`,
    ...(chromium ? [`Chromium ${chromium}`] : []),
    ...peers,
  ];
  return `${parts.join('; ')}.`;
}

/**
 * @param {string} name
 * @returns {Promise<{ headline: string } | undefined>} undefined when nothing was measured
 */
async function write(name) {
  const rows = readRows(name);
  const measured = rows.filter(({ smoke }) => !smoke);
  const machine = readMachine(name);
  if (rows.length === 0 || !machine) return undefined;
  const { report } = await import(`./${name}/report.mjs`);
  /** @type {Page} */
  const {
    title,
    body,
    plots,
    headline = '',
  } = report(measured.length > 0 ? measured : rows, machine);
  for (const [file, document] of Object.entries(plots)) {
    writeFileSync(join(FOLDER, file), document);
  }
  const stamp = stampOf(machine, measured.length > 0 ? measured : rows);
  const made = `<!-- Written by npm run bench:report from ${name}.jsonl. -->`;
  const only = measured.length > 0 ? '' : '\n\n**From a smoke run only.**';
  writeFileSync(
    join(FOLDER, `${name}.md`),
    `${made}\n\n# ${title}\n\n${stamp}${only}\n\n${body.trim()}\n`,
  );
  return { headline: headline && `${headline.trim()}\n\n${stamp}` };
}

/**
 * What stands between `<!-- bench:<name> -->` and `<!-- /bench:<name> -->` is replaced.
 * @param {string} text
 * @param {string} name
 * @param {string} content
 */
export function replaceBlock(text, name, content) {
  const from = `<!-- bench:${name} -->`;
  const to = `<!-- /bench:${name} -->`;
  const start = text.indexOf(from);
  const end = text.indexOf(to);
  if (start < 0 || end < start) return text;
  return `${text.slice(0, start + from.length)}\n\n${content}\n\n${text.slice(end)}`;
}

async function main() {
  await ensureReady(['npm']);
  const readme = join(ROOT, 'README.md');
  let text = readFileSync(readme, 'utf8');
  for (const name of BENCHES) {
    if (!existsSync(new URL(`./${name}/report.mjs`, import.meta.url))) continue;
    const written = await write(name);
    log(written ? `docs/benchmarks/${name}.md` : `no rows of ${name}: run npm run bench:${name}`);
    if (written?.headline) text = replaceBlock(text, name, written.headline);
  }
  writeFileSync(readme, text);
}

runAsProgram(import.meta.url, main);
