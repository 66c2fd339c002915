// @ts-check
/** Runs cells, several at a time, and says how long the rest will take. */
import { createRunner } from '../../lab/runner.mjs';
import { APART_MS, parallel } from '../parallel.mjs';
import { MEDIA_S, PLAYERS, endOf, playOf, seeksIn } from './cells.mjs';
import { observe } from './observe.mjs';
import { CAP_S, scenarioOf } from './scenarios.mjs';

/** @typedef {import('./cells.mjs').Cell} Cell */
/** @typedef {import('../rows.mjs').Row} Row */

/** How often a run that could not be measured is tried. */
const TRIES = 2;

/** Less is the last frames of a run. */
const FEW_FRAMES_S = 0.5;

/** What a player said, as far as it helps to understand a row. */
const MOST_ERRORS = 3;

/**
 * @param {object} options
 * @param {readonly Cell[]} options.cells
 * @param {number} options.workers
 * @param {number} options.untilS a run is over once it has played so far
 * @param {(row: Row) => void} options.emit
 * @param {(text: string) => void} options.progress
 * @returns {Promise<string[]>} a sentence for each cell that could not be measured
 */
export async function measure({ cells, workers, untilS, emit, progress }) {
  const runner = await createRunner({
    log: progress,
    h2: cells.some((cell) => playOf(cell).protocol === 'h2'),
  });
  /** @type {string[]} */
  const failures = [];
  const started = performance.now();
  let done = 0;
  const say = (/** @type {string} */ text) => {
    const left = ((performance.now() - started) / done) * (cells.length - done);
    progress(`${done}/${cells.length}, ${span(left)} to go: ${text}`);
  };
  const run = async (/** @type {Cell} */ cell) => {
    const outcome = await runCell(runner, cell, untilS);
    done += 1;
    if (typeof outcome === 'string') failures.push(outcome);
    else emit(outcome);
    say(typeof outcome === 'string' ? outcome : lineOf(outcome));
  };
  try {
    await parallel(cells, workers, run, APART_MS);
  } finally {
    await runner.close();
  }
  return failures;
}

/**
 * @param {Awaited<ReturnType<typeof createRunner>>} runner
 * @param {Cell} cell
 * @param {number} untilS
 * @returns {Promise<Row | string>} why it could not be measured
 */
async function runCell(runner, cell, untilS) {
  const { player, variant } = cell;
  const fault = scenarioOf(cell.scenario);
  const { name, manifest, goalS } = PLAYERS[player];
  const endS = endOf(cell, untilS);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const run = await runner.run({
        player,
        variant,
        scenario: playOf(cell),
        manifest,
        goalS,
        untilS: endS < MEDIA_S ? endS : undefined,
        capS: fault.capS ?? CAP_S,
      });
      const { bytes, unseenS, ...row } = run.row;
      const { oracle } = run;
      return {
        ...row,
        ...cell,
        player: name,
        // Jumped over, or passed with a picture that stood still: both were not seen.
        skippedS: Number((row.skippedS + (unseenS > FEW_FRAMES_S ? unseenS : 0)).toFixed(1)),
        kB: Math.round(bytes / 1000),
        oracleOutcome: oracle.outcome,
        oracleStartS: Number.isFinite(oracle.startS) ? Number(oracle.startS.toFixed(1)) : null,
        oracleSkippedS: Number(oracle.skippedS.toFixed(1)),
        // The oracle does not seek.
        ...(seeksIn(cell) && { oracleStallS: null }),
        ...observe(fault, run.requests, row),
        untilS: endS,
        errors: run.playerErrors.slice(0, MOST_ERRORS),
      };
    } catch (error) {
      if (attempt === TRIES) return error instanceof Error ? error.message : String(error);
    }
  }
}

/** @param {number} ms */
function span(ms) {
  const minutes = Math.round(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** @param {Row} row */
function lineOf({ scenario, mode, player, variant, run, outcome, startS, stallS, oracleStallS }) {
  const never = outcome === 'ended' ? '' : '+';
  return `${scenario} ${mode}, ${player} ${variant} #${run}: ${outcome}, start ${startS ?? 'never'} s, stall ${stallS}${never} s (oracle ${oracleStallS ?? '–'} s)`;
}
