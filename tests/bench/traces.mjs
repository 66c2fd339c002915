// @ts-check
/**
 * npm run bench:traces: recorded links, four renditions, the player chooses: each player alone
 * and with Holdfast.
 */
import { players } from '../../www/players/index.js';
import { runBench } from './command.mjs';
import { PLAY_OPTIONS, playHelp, playsOf } from './options.mjs';
import { alternating } from './order.mjs';
import { APART_MS, parallel } from './parallel.mjs';
import { CASES } from './traces/cases.mjs';
import { bitrateWord, pairs, stallWord, startWord, summary } from './traces/summary.mjs';

/** @typedef {import('./traces/summary.mjs').TraceRow} TraceRow */
/** @typedef {import('./traces/summary.mjs').Measured} Measured */
/** @typedef {import('./traces/measure.mjs').Job} Job */

/** What a smoke run plays. */
const SMOKE = { untilS: 20, trace: 'fcc-hd-typical' };
const PLAYERS = ['hls', 'shaka', 'dash'];

runBench({
  name: 'traces',
  about: `Plays a minute of media in four renditions over recorded links, with each player alone and
with Holdfast: start-up, rebuffering, bitrate, switches. The player chooses the rendition and
has its own defaults. Takes about 35 minutes times n.`,
  parts: Object.fromEntries(CASES.map(({ name, what }) => [name, what])),
  key: ['trace', 'player', 'variant'],
  packages: ['hls.js', 'shaka-player', 'dashjs'],
  needs: ['npm', 'media', 'browser', 'build'],
  options: { ...PLAY_OPTIONS, resume: { type: 'boolean', default: false } },
  optionHelp: `${playHelp(Object.keys(players), PLAYERS)}  --resume     only what an earlier run has not measured
`,
  columns: [
    { title: 'trace', cell: (/** @type {TraceRow} */ row) => row.trace },
    { title: 'player', cell: (row) => row.player },
    { title: 'variant', cell: (row) => row.variant },
    { title: 'start s', cell: (row) => row.startS },
    { title: 'rebuffering s', cell: (row) => row.stallS },
    { title: 'min', cell: (row) => row.minStallS },
    { title: 'max', cell: (row) => row.maxStallS },
    { title: 'longest s', cell: (row) => row.longestStallS },
    { title: 'kbit/s', cell: (row) => row.meanKbps, digits: 0 },
    { title: 'switches', cell: (row) => row.switches, digits: 0 },
    { title: 'outcome', cell: (row) => row.outcome },
    { title: 'requests', cell: (row) => row.requests, digits: 0 },
    { title: 'wasted kB', cell: (row) => row.wastedKB, digits: 0 },
    { title: 'n', cell: (row) => row.n, digits: 0 },
  ],
  run,
  misses: (rows) =>
    pairs(/** @type {any} */ (rows)).flatMap(({ trace, player, plain, holdfast }) => {
      const where = `${player} on ${trace}`;
      return [
        ...(stallWord(plain, holdfast) === 'worse'
          ? [`${where} rebuffers ${holdfast.stallS} s, alone ${plain.stallS} s`]
          : []),
        ...(startWord(plain, holdfast) === 'worse'
          ? [`${where} starts after ${holdfast.startS ?? '∞'} s, alone ${plain.startS} s`]
          : []),
        ...(bitrateWord(plain, holdfast) === 'worse'
          ? [`${where} shows ${holdfast.meanKbps} kbit/s, alone ${plain.meanKbps} kbit/s`]
          : []),
      ];
    }),
});

/** @param {import('./command.mjs').Context} context */
async function run(context) {
  const { only, smoke, random, values, emit, has, progress } = context;
  const { n, workers, players: chosen } = playsOf(context, Object.keys(players), PLAYERS);
  const traces = smoke && only.size === CASES.length ? [SMOKE.trace] : [...only];
  const variants = /** @type {const} */ (['plain', 'holdfast']);
  const titled = (/** @type {Job} */ job) => ({ ...job, player: players[job.player].title });
  const cells = traces.flatMap((trace) => chosen.map((player) => ({ trace, player })));
  // Both variants of a cell run at the same time or one after the other, so that what disturbs
  // one disturbs the other.
  const jobs = cells
    .filter(
      (cell) => !values.resume || !variants.every((variant) => has(titled({ ...cell, variant }))),
    )
    .flatMap((cell) =>
      alternating(variants, n, random).map((variant) => /** @type {Job} */ ({ ...cell, variant })),
    );
  const untilS = smoke ? SMOKE.untilS : undefined;
  await play(jobs, { n, workers, untilS, titled, emit, progress });
}

/**
 * @param {readonly Job[]} jobs
 * @param {object} options
 * @param {number} options.n runs of each
 * @param {number} options.workers
 * @param {number} [options.untilS] how much of the media is played
 * @param {(job: Job) => Job} options.titled
 * @param {(row: TraceRow) => void} options.emit
 * @param {(text: string) => void} options.progress
 */
async function play(jobs, { n, workers, untilS, titled, emit, progress }) {
  const { createRunner } = await import('../lab/runner.mjs');
  const { ensureAbrMedia } = await import('../lab/abr-media.mjs');
  const { readSizes } = await import('./traces/played.mjs');
  const { measure } = await import('./traces/measure.mjs');
  const { dir } = await ensureAbrMedia({ log: progress });
  const media = { dir, sizes: await readSizes(dir), untilS };
  const runner = await createRunner({ log: progress });
  /** @type {Map<string, (Measured | null)[]>} */
  const done = new Map();
  /** @type {string[]} */
  const failures = [];
  let left = jobs.length;

  const run = async (/** @type {Job} */ job) => {
    const { trace, player, variant } = job;
    const measured = await measure(runner, media, job).catch((error) => {
      failures.push(error instanceof Error ? error.message : String(error));
      progress(/** @type {string} */ (failures.at(-1)));
      return null;
    });
    left -= 1;
    const cell = [trace, player, variant].join();
    const runs = [...(done.get(cell) ?? []), measured];
    done.set(cell, runs);
    if (measured) {
      const { outcome, stallS, meanKbps, switches } = measured;
      progress(
        `${trace}, ${player} ${variant}: ${outcome}, rebuffering ${stallS.toFixed(1)} s, ` +
          `${meanKbps?.toFixed(0) ?? 'no'} kbit/s, switches: ${switches}; ${left} to go`,
      );
    }
    const whole = runs.filter((each) => each !== null);
    if (runs.length === n && whole.length > 0) emit(summary(titled(job), whole));
  };

  try {
    await parallel(jobs, workers, run, APART_MS);
  } finally {
    await runner.close();
  }
  if (failures.length > 0) throw new Error(`${failures.length} runs could not be measured`);
}
