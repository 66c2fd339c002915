// @ts-check
/**
 * npm run demo: plays one stream over broken networks with hls.js alone and with
 * Holdfast, in a real browser, and prints what a viewer would have noticed.
 */
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureReady } from '../tools/setup.mjs';
import { missedBars } from './bars.mjs';
import { finishedLine, liveText, table, variantName } from './report.mjs';
import { demoScenarios, scenarios } from './scenarios.mjs';

const help = `Usage: npm run demo -- [options]

Plays each scenario with hls.js alone and with hls.js with Holdfast in a headless
Chromium and prints one table. Takes about four minutes; one run of hls.js alone
waits for two of them.

  --only a,b      scenarios: ${scenarios.map((scenario) => scenario.name).join(', ')}
  --variant v     plain or holdfast only
  --workers n     runs at a time, 1 or 2 (default 2)
  --json          one JSON object a run on stdout, progress on stderr
  --verbose       also the player's errors and the engine's decisions, on stderr
  --help          this text

start        from load to the picture moving
rebuffering  time the viewer waits after that; with + it was never over
oracle       rebuffering of a perfect client, from a simulation of the same link
outcome      ended, dead (fatal error) or hung (not over after three minutes)
requests     as the server counts them
wasted kB    bytes sent more than once or for nothing

Exit status 1: a run could not be measured, or one with Holdfast missed its bar.`;

/** @typedef {{ scenario: string, variant: 'plain' | 'holdfast' }} Job */

function readArguments() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      variant: { type: 'string' },
      workers: { type: 'string', default: '2' },
      json: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const names = values.only?.split(',') ?? demoScenarios;
  const unknown = names.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) {
    const known = scenarios.map(({ name }) => name).join(', ');
    throw new Error(`there is no scenario "${unknown}"; there are ${known}`);
  }
  if (values.variant !== undefined && !['plain', 'holdfast'].includes(values.variant)) {
    throw new Error('--variant is plain or holdfast');
  }
  if (!['1', '2'].includes(values.workers)) throw new Error('--workers is 1 or 2');
  const variants = /** @type {Job['variant'][]} */ (
    values.variant ? [values.variant] : ['plain', 'holdfast']
  );
  const jobs = names.flatMap((scenario) => variants.map((variant) => ({ scenario, variant })));
  return { ...values, workers: Number(values.workers), jobs };
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

/**
 * @param {import('./runner.mjs').Run} run
 * @param {(line: string) => void} log
 */
function explain({ playerErrors, requests, decisions }, log) {
  for (const error of playerErrors) log(`  player  ${error}`);
  for (const entry of requests) log(`  server  ${JSON.stringify(entry)}`);
  for (const record of decisions ?? []) log(`  engine  ${JSON.stringify(record)}`);
}

/** @returns {Promise<number>} exit status */
async function main() {
  const options = readArguments();
  if (options.help) {
    console.log(help);
    return 0;
  }
  const log = (/** @type {string} */ line) => process.stderr.write(`${line}\n`);
  const withHoldfast = options.jobs.some(({ variant }) => variant === 'holdfast');
  await ensureReady([
    'npm',
    'media',
    'browser',
    ...(withHoldfast ? /** @type {const} */ (['build']) : []),
  ]);
  const { createRunner } = await import('./runner.mjs');
  const runner = await createRunner({ log });
  const live = createLiveLine();

  /** @type {Map<Job, import('./runner.mjs').Row>} */
  const rows = new Map();
  /** @type {string[]} */
  const failures = [];
  // The slow runs first, so that two workers finish at about the same time.
  const queue = [...options.jobs].sort((a, b) => slowness(b) - slowness(a));
  if (os.loadavg()[0] > os.cpus().length) {
    log('demo: this machine is busy; start-up times will be longer than they should be');
  }
  log(`demo: runs: ${queue.length}, at a time: ${options.workers}`);

  const worker = async (/** @type {number} */ index) => {
    // Two pages starting at the same moment would delay each other's start.
    await sleep(index * 3000);
    for (let job = queue.shift(); job; job = queue.shift()) {
      const current = job;
      try {
        const run = await runner.run({
          ...current,
          onLive: (state) => live.update(current, state),
        });
        live.remove(current);
        rows.set(current, run.row);
        log(`[${rows.size + failures.length}/${options.jobs.length}] ${finishedLine(run.row)}`);
        if (options.verbose) explain(run, log);
        if (options.json) console.log(JSON.stringify(run.row));
      } catch (error) {
        live.remove(current);
        failures.push(error instanceof Error ? error.message : String(error));
        log(`[${rows.size + failures.length}/${options.jobs.length}] ${failures.at(-1)}`);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: options.workers }, (_, index) => worker(index)));
  } finally {
    live.clear();
    await runner.close();
  }

  const ordered = options.jobs.flatMap((job) => rows.get(job) ?? []);
  const missed = ordered.flatMap((row) => {
    const scenario = scenarios.find(({ name }) => name === row.scenario);
    return row.variant === 'holdfast' && scenario ? missedBars(row, scenario) : [];
  });
  if (!options.json && ordered.length > 0) console.log(`\n${table(ordered)}\n`);
  for (const failure of failures) log(`Error: ${failure}`);
  for (const sentence of missed) log(`Bar missed: ${sentence}`);
  if (failures.length > 0 || missed.length > 0) return 1;
  if (withHoldfast) log(`Every run ${variantName('holdfast')} reached its bar.`);
  return 0;
}

/** @param {Job} job */
function slowness({ scenario, variant }) {
  if (variant === 'holdfast') return 0;
  return scenario === 'stall-body' ? 2 : 1;
}

main().then(
  (status) => (process.exitCode = status),
  (error) => {
    process.stderr.write(`Error: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  },
);
