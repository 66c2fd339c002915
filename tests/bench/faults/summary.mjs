// @ts-check
/** The runs of a cell as one: medians with their spread. */
import { median } from '../stats.mjs';
import { MEDIA_S } from './cells.mjs';
import { scenarioOf } from './scenarios.mjs';

/** @typedef {'ended' | 'dead' | 'hung'} Outcome */

/**
 * @typedef {object} Cell
 * @property {string} scenario
 * @property {string} mode
 * @property {string} player
 * @property {string} variant
 * @property {import('./scenarios.mjs').Fault} fault
 * @property {number} runs
 * @property {number} endedRuns
 * @property {Outcome} outcome  that of most runs; the worse one of a tie
 * @property {number | null} startS  null when fewer than half of them began
 * @property {number} stallS
 * @property {number} minStallS
 * @property {number} maxStallS
 * @property {number} longestStallS
 * @property {number} skippedS
 * @property {number} lostS     seconds waited or never seen: start, stalls, what was skipped or not played
 * @property {number} requests
 * @property {number} amplification
 * @property {number} kB
 * @property {number} wastedKB
 * @property {number | null} estimateError of the player's bandwidth, as a share of the truth
 * @property {number} oracleStallS
 * @property {number | null} oracleStartS
 * @property {number} oracleSkippedS
 * @property {Outcome} oracleOutcome
 * @property {number | null} earlyRetries most of any run; null where nothing was asked for
 * @property {number | null} lateRequests most of any run
 * @property {number | null} tokenRequests most of any run
 * @property {number | null} surfacedS    longest of any run; Infinity when one never gave up
 */

/** From best to worst. @type {readonly Outcome[]} */
const OUTCOMES = ['ended', 'hung', 'dead'];

/**
 * @param {readonly any[]} rows
 * @returns {Cell[]} in the order of the taxonomy
 */
export function cellsIn(rows) {
  /** @type {Map<string, any[]>} */
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.scenario, row.mode, row.player, row.variant]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].map((runs) => cellOf(alike(runs)));
}

/** Those that played as far as most did: others have asked for more, or for less. @param {any[]} runs */
function alike(runs) {
  const of = (/** @type {any} */ { untilS }) => runs.filter((run) => run.untilS === untilS);
  return runs.map(of).reduce((most, others) => (others.length > most.length ? others : most));
}

/** @param {any[]} runs @returns {Cell} */
function cellOf(runs) {
  const [{ scenario, mode, player, variant, oracleStallS, oracleOutcome }] = runs;
  const [{ oracleStartS, oracleSkippedS }] = runs;
  const of = (/** @type {string} */ field) => runs.map((run) => run[field]);
  const known = (/** @type {string} */ field) => of(field).filter((value) => value !== undefined);
  const most = (/** @type {string} */ field) =>
    known(field).length > 0 ? Math.max(...known(field)) : null;
  const starts = of('startS').filter((value) => value !== null);
  const estimates = runs.flatMap(({ estimateKbps, truthKbps }) =>
    estimateKbps && truthKbps ? [estimateKbps / truthKbps - 1] : [],
  );
  const surfaced = known('surfacedS').map((value) => value ?? Infinity);
  return {
    scenario,
    mode,
    player,
    variant,
    fault: scenarioOf(scenario),
    runs: runs.length,
    endedRuns: runs.filter(({ outcome }) => outcome === 'ended').length,
    outcome: usual(of('outcome')),
    startS: starts.length * 2 < runs.length ? null : median(starts),
    stallS: median(of('stallS')),
    minStallS: Math.min(...of('stallS')),
    maxStallS: Math.max(...of('stallS')),
    longestStallS: Math.max(...of('longestStallS')),
    skippedS: median(of('skippedS')),
    lostS: median(runs.map(lost)),
    requests: median(of('requests')),
    amplification: median(of('amplification')),
    kB: median(of('kB')),
    wastedKB: median(of('wastedKB')),
    estimateError: estimates.length > 0 ? median(estimates) : null,
    oracleStallS,
    oracleStartS,
    oracleSkippedS,
    oracleOutcome,
    earlyRetries: most('earlyRetries'),
    lateRequests: most('lateRequests'),
    tokenRequests: most('tokenRequests'),
    surfacedS: surfaced.length > 0 ? Math.max(...surfaced) : null,
  };
}

/** @param {Outcome[]} outcomes @returns {Outcome} */
function usual(outcomes) {
  const count = (/** @type {Outcome} */ one) => outcomes.filter((other) => other === one).length;
  return [...OUTCOMES].sort(
    (a, b) => count(b) - count(a) || OUTCOMES.indexOf(b) - OUTCOMES.indexOf(a),
  )[0];
}

/** @param {any} run a viewer who never saw the picture lost all of it */
function lost({ startS, stallS, skippedS, playedS, outcome, untilS = MEDIA_S }) {
  const unseen = outcome === 'ended' ? 0 : Math.max(0, untilS - playedS);
  return (startS ?? 0) + stallS + skippedS + unseen;
}

/**
 * @param {readonly Cell[]} cells
 * @param {Cell} cell
 * @param {string} variant
 * @returns {Cell | undefined} the same with another variant
 */
export function beside(cells, { scenario, mode, player }, variant) {
  return cells.find(
    (other) =>
      other.scenario === scenario &&
      other.mode === mode &&
      other.player === player &&
      other.variant === variant,
  );
}
