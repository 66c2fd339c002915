// @ts-check
/** Runs many measurements, one or two at a time, and says how they are getting on. */
import os from 'node:os';
import { APART_MS, parallel } from '../bench/parallel.mjs';
import { ensureReady } from '../tools/setup.mjs';
import { finishedLine, liveText, table } from './report.mjs';

/** @typedef {import('./runner.mjs').Row} Row */
/** @typedef {{ player: string, scenario: string, variant: 'plain' | 'holdfast' }} Job */

/**
 * @typedef {object} Options
 * @property {Job[]} jobs
 * @property {number} workers runs at a time
 * @property {boolean} json one row a line on stdout, instead of a table
 * @property {boolean} verbose also what the player, the server and the engine say, on stderr
 * @property {(row: Row) => void} [emit] each row, at once
 */

/** @param {string} line */
export const log = (line) => void process.stderr.write(`${line}\n`);

/**
 * @param {Options} options
 * @returns {Promise<{ rows: Row[], failures: string[] }>} rows in the order of the jobs, and a
 *   sentence for each run that could not be measured
 */
export async function runJobs({ jobs, workers, json, verbose, emit }) {
  const withHoldfast = jobs.some(({ variant }) => variant === 'holdfast');
  // The engine that is bundled under SPF is a build too.
  const bundled = jobs.some(({ player }) => player === 'spf');
  await ensureReady([
    'npm',
    'media',
    'browser',
    ...(withHoldfast || bundled ? /** @type {const} */ (['build']) : []),
  ]);
  const { createRunner } = await import('./runner.mjs');
  const runner = await createRunner({ log });
  const live = createLiveLine();

  /** @type {Map<Job, Row>} */
  const rows = new Map();
  /** @type {string[]} */
  const failures = [];
  // The slow runs first, so that two workers finish at about the same time.
  const queue = [...jobs].sort((a, b) => slowness(b) - slowness(a));
  if (os.loadavg()[0] > os.cpus().length) {
    log('lab: this machine is busy; start-up times will be longer than they should be');
  }
  log(`lab: runs: ${queue.length}, at a time: ${workers}`);

  const run = async (/** @type {Job} */ job) => {
    let line;
    try {
      const onLive = (/** @type {import('./runner.mjs').Live} */ state) => live.update(job, state);
      const ran = await runner.run({ ...job, onLive });
      rows.set(job, ran.row);
      emit?.(ran.row);
      line = finishedLine(ran.row);
      if (verbose) explain(ran);
      if (json) console.log(JSON.stringify(ran.row));
    } catch (error) {
      line = error instanceof Error ? error.message : String(error);
      failures.push(line);
    }
    live.remove(job);
    log(`[${rows.size + failures.length}/${jobs.length}] ${line}`);
  };
  try {
    await parallel(queue, workers, run, APART_MS);
  } finally {
    live.clear();
    await runner.close();
  }
  const ordered = jobs.flatMap((job) => rows.get(job) ?? []);
  if (!json && ordered.length > 0) console.log(`\n${table(ordered)}\n`);
  return { rows: ordered, failures };
}

/** One line on a terminal that is rewritten while runs go on; nothing elsewhere. */
function createLiveLine() {
  const stream = process.stderr;
  /** @type {Map<Job, string>} */
  const running = new Map();
  const clear = () => stream.isTTY && stream.write('\r\x1b[K');
  return {
    /** @param {Job} job @param {import('./runner.mjs').Live} live */
    update(job, live) {
      running.set(job, liveText(job.scenario, job.variant, live));
      if (!stream.isTTY) return;
      const line = [...running.values()].join('  |  ').slice(0, (stream.columns ?? 80) - 1);
      clear();
      stream.write(line);
    },
    /** @param {Job} job */
    remove(job) {
      running.delete(job);
      clear();
    },
    clear,
  };
}

/** @param {import('./runner.mjs').Run} run */
function explain({ playerErrors, requests, decisions }) {
  for (const error of playerErrors) log(`  player  ${error}`);
  for (const entry of requests) log(`  server  ${JSON.stringify(entry)}`);
  for (const record of decisions ?? []) log(`  engine  ${JSON.stringify(record)}`);
}

/** @param {Job} job */
function slowness({ scenario, variant }) {
  if (variant === 'holdfast') return 0;
  return scenario === 'stall-body' ? 2 : 1;
}

/**
 * The names in a comma-separated option, each of which must be known.
 *
 * @param {string | undefined} value
 * @param {readonly string[]} known
 * @param {string} what they are
 * @returns {string[] | undefined}
 */
export function namesIn(value, known, what) {
  const names = value?.split(',');
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`there is no ${what} "${unknown}"; there are ${known.join(', ')}`);
  }
  return names;
}

/** The options that all measurements have. */
export const COMMON_OPTIONS = /** @type {const} */ ({
  only: { type: 'string' },
  variant: { type: 'string' },
  workers: { type: 'string', default: '2' },
  json: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});

/**
 * What the common options ask for.
 *
 * @param {{ variant?: string, workers: string, json: boolean, verbose: boolean }} values
 */
export function commonOptions({ variant, workers, json, verbose }) {
  if (variant !== undefined && !['plain', 'holdfast'].includes(variant)) {
    throw new Error('--variant is plain or holdfast');
  }
  if (!['1', '2'].includes(workers)) throw new Error('--workers is 1 or 2');
  const variants = /** @type {Job['variant'][]} */ (variant ? [variant] : ['plain', 'holdfast']);
  return { variants, workers: Number(workers), json, verbose };
}

/**
 * Runs a command to its exit status, and says in one line why it could not.
 *
 * @param {() => Promise<number>} main
 */
export function runCommand(main) {
  main().then(
    (status) => (process.exitCode = status),
    (error) => {
      log(`Error: ${error instanceof Error ? error.message : error}`);
      process.exitCode = 1;
    },
  );
}
