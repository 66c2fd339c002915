// @ts-check
/** The bars, held against what was measured. */
import { beside } from './summary.mjs';

/** @typedef {import('./summary.mjs').Cell} Cell */

/** Beyond the oracle: of a single fault, and of one that lasts, whichever is more. */
const SINGLE_S = 1;
const LASTING_S = 2;
const LASTING_SHARE = 0.1;

/** So many of the rows have to be that near to the oracle. */
export const NEAR_SHARE = 0.9;

/** More than this is worse than what the player does without us. */
const WORSE_S = 0.5;

/** A denied stream is to be given up within this. */
const SURFACE_S = 5;

/** Start-up of a clean run, beside the player's own. */
const START_S = 0.1;

/** @param {Cell} cell seconds that a fault costs the viewer */
export function costOf({ fault, startS, stallS, skippedS }) {
  return stallS + skippedS + (fault.startup ? (startS ?? Infinity) : 0);
}

/** @param {Cell} cell */
const isOurs = ({ variant }) => variant === 'holdfast';

/** @param {Cell} cell a fault that can be survived, and not a control */
const isFault = ({ fault, oracleOutcome }) => fault.kind !== undefined && oracleOutcome === 'ended';

/** Rows with Holdfast that are not played to their end, though the oracle is. @param {readonly Cell[]} cells */
export function lostRows(cells) {
  return cells.filter((cell) => isOurs(cell) && isFault(cell) && cell.endedRuns < cell.runs);
}

/** @param {Cell} cell the most that a row may wait to be near the oracle */
export function nearOf({ fault, oracleStallS }) {
  if (!fault.lasts) return oracleStallS + SINGLE_S;
  return oracleStallS + Math.max(LASTING_S, oracleStallS * LASTING_SHARE);
}

/**
 * Rows as near to the oracle as the bar wants them. Faults of the start-up, in which nothing plays
 * that could stop, are none of them: a row that cannot be far says nothing.
 *
 * @param {readonly Cell[]} cells of any variant
 */
export function nearRows(cells) {
  const faults = cells.filter((cell) => isFault(cell) && !cell.fault.startup);
  // Floating point, of figures with one digit.
  const near = faults.filter(
    (cell) => cell.outcome === 'ended' && cell.stallS <= nearOf(cell) + 1e-6,
  );
  return { near, far: faults.filter((cell) => !near.includes(cell)), of: faults.length };
}

/**
 * Rows with Holdfast that are worse than the player's own or tuned run.
 * @param {readonly Cell[]} cells
 * @returns {{ ours: Cell, theirs: Cell, byS: number }[]}
 */
export function worseRows(cells) {
  return cells
    .filter((cell) => isOurs(cell) && cell.fault.kind !== undefined)
    .flatMap((ours) =>
      ['plain', 'tuned'].flatMap((variant) => {
        const theirs = beside(cells, ours, variant);
        if (!theirs || theirs.outcome !== 'ended') return [];
        const byS = ours.outcome === 'ended' ? costOf(ours) - costOf(theirs) : Infinity;
        return byS > WORSE_S + 1e-6 ? [{ ours, theirs, byS }] : [];
      }),
    );
}

/**
 * Rows with Holdfast that are better than the other variant by the same margin.
 * @param {readonly Cell[]} cells
 * @param {string} variant
 */
export function betterRows(cells, variant) {
  return cells.filter((ours) => {
    if (!isOurs(ours) || ours.fault.kind === undefined || ours.outcome !== 'ended') return false;
    const theirs = beside(cells, ours, variant);
    if (!theirs) return false;
    return theirs.outcome !== 'ended' || costOf(theirs) - costOf(ours) > WORSE_S + 1e-6;
  });
}

/**
 * @typedef {object} Check of a negative control
 * @property {Cell} cell
 * @property {string} what
 * @property {string} measured
 * @property {boolean} holds
 */

/**
 * What the controls say of each variant; only Holdfast's are a bar.
 * @param {readonly Cell[]} cells
 * @returns {Check[]}
 */
export function controlChecks(cells) {
  return cells
    .filter(({ fault }) => fault.kind === undefined)
    .flatMap((cell) => checksOf(cell, cells));
}

/** @param {Cell} cell @param {readonly Cell[]} cells @returns {Check[]} */
function checksOf(cell, cells) {
  /** @type {Check[]} */
  const checks = [];
  const add = (
    /** @type {string} */ what,
    /** @type {string} */ measured,
    /** @type {boolean} */ holds,
  ) => checks.push({ cell, what, measured, holds });
  const plain = beside(cells, cell, 'plain');
  if (cell.scenario === 'N1' && plain && plain !== cell) {
    const { requests, kB, startS } = cell;
    add('equal requests', `${requests}, alone ${plain.requests}`, requests === plain.requests);
    add('equal bytes', `${kB} kB, alone ${plain.kB} kB`, kB === plain.kB);
    const later = (startS ?? Infinity) - (plain.startS ?? Infinity);
    add('start-up within 0.1 s', `${signed(later)} s`, later <= START_S + 1e-6);
  }
  if (cell.surfacedS !== null) {
    const says = Number.isFinite(cell.surfacedS) ? `after ${cell.surfacedS} s` : 'never';
    add('given up within 5 s', says, cell.surfacedS <= SURFACE_S);
  }
  if (cell.lateRequests !== null) {
    add('nothing for what was left', `${cell.lateRequests} requests`, cell.lateRequests === 0);
  }
  if (cell.earlyRetries !== null) {
    add('Retry-After obeyed', `${cell.earlyRetries} early requests`, cell.earlyRetries === 0);
  }
  return checks;
}

/** @param {number} value */
const signed = (value) => `${value >= 0 ? '+' : '−'}${Math.abs(value).toFixed(1)}`;
