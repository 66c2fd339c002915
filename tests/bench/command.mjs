// @ts-check
/**
 * What all `npm run bench:*` commands have in common: their options, their progress, their rows.
 */
import os from 'node:os';
import { parseArgs } from 'node:util';
import { log, namesIn, runCommand } from '../lab/jobs.mjs';
import { ensureReady } from '../tools/setup.mjs';
import { openRows } from './rows.mjs';
import { random } from './order.mjs';
import { textTable } from './table.mjs';

/** @typedef {import('./rows.mjs').Row} Row */

/**
 * @typedef {object} Context
 * @property {ReadonlySet<string>} only   the parts that were asked for; all of them by default
 * @property {boolean} smoke              take as little as shows that it works
 * @property {() => number} random        in [0, 1), from the seed
 * @property {number} seed
 * @property {Record<string, string | boolean | undefined>} values the benchmark's own options
 * @property {(row: Row) => void} emit    one result, at once
 * @property {(row: Row) => boolean} has  whether an earlier run has left this result
 * @property {(row: Row) => void} recall  shows such a result with those of this run
 * @property {(text: string) => void} progress one line, on stderr
 */

/**
 * @typedef {object} Bench
 * @property {string} name                of the command and of its files
 * @property {string} about               what it measures and how long it takes, for --help
 * @property {Record<string, string>} parts what --only may name, and what each is
 * @property {readonly string[]} key      the fields that tell two rows apart
 * @property {readonly string[]} packages peers whose versions are stamped
 * @property {readonly import('../tools/setup.mjs').Part[]} needs
 * @property {import('node:util').ParseArgsConfig['options']} [options]
 * @property {string} [optionHelp]        a line for each of them
 * @property {readonly import('./table.mjs').Column<any>[]} columns of the table
 * @property {(context: Context) => Promise<void>} run
 * @property {(rows: readonly Row[]) => readonly string[]} [misses] what these rows fall short of
 */

/** @param {Bench} bench */
function helpOf({ name, about, parts, optionHelp = '' }) {
  const names = [...Object.entries(parts), ['smoke', 'a little of it, within a minute']];
  const width = Math.max(...names.map(([part]) => part.length));
  return `Usage: npm run bench:${name} -- [options]

${about}

  --only a,b   parts of it:
${names.map(([part, says]) => `                 ${part.padEnd(width)}  ${says}`).join('\n')}
  --seed n     of the order in which things are measured (default 1)
${optionHelp}  --json       one JSON object a row on stdout, progress on stderr
  --help       this text

Rows are left in docs/benchmarks/${name}.jsonl; npm run bench:report makes pages of them.`;
}

/** Runs a benchmark as a command. @param {Bench} bench */
export function runBench(bench) {
  runCommand(() => main(bench));
}

/**
 * @param {Bench} bench
 * @returns {Promise<number>} exit status
 */
async function main(bench) {
  const { values } = parseArgs({
    options: {
      ...bench.options,
      only: { type: 'string' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(helpOf(bench));
    return 0;
  }
  const parts = Object.keys(bench.parts);
  const asked = namesIn(
    /** @type {string | undefined} */ (values.only),
    [...parts, 'smoke'],
    'part',
  );
  const smoke = asked?.includes('smoke') ?? false;
  const named = asked?.filter((part) => part !== 'smoke') ?? [];
  const seed = Number(values.seed);
  if (!Number.isSafeInteger(seed)) throw new Error('--seed is a whole number');
  await ensureReady([...bench.needs]);
  if (os.loadavg()[0] > os.cpus().length) {
    log(`bench:${bench.name}: this machine is busy; what is measured in seconds will scatter`);
  }
  const stored = openRows(bench.name, [...bench.key, 'smoke'], bench.packages);
  /** @type {Row[]} */
  const rows = [];
  const show = (/** @type {Row} */ row) => {
    rows.push(row);
    if (values.json) console.log(JSON.stringify(row));
  };
  const started = performance.now();
  // A smoke run measures too little to be published: its rows never replace a whole run's.
  const mark = smoke ? { smoke } : {};
  await bench.run({
    only: new Set(named.length > 0 ? named : parts),
    smoke,
    seed,
    random: random(seed),
    values: /** @type {Context['values']} */ (values),
    has: (row) => stored.find({ ...row, ...mark }) !== undefined,
    recall(row) {
      const left = stored.find({ ...row, ...mark });
      if (left) show(left);
    },
    emit(row) {
      show(stored.add({ ...row, ...mark }));
    },
    progress(text) {
      const seconds = ((performance.now() - started) / 1000).toFixed(0);
      log(`[${seconds} s] ${text}`);
    },
  });
  if (!values.json) console.log(`\n${textTable(bench.columns, rows)}\n`);
  const misses = bench.misses?.(rows) ?? [];
  for (const sentence of misses) log(`Falls short: ${sentence}`);
  return misses.length > 0 ? 1 : 0;
}
