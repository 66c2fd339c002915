// @ts-check
/** What several runs of the same thing come to, and what is said of two variants. */
import { median } from '../stats.mjs';

/** @typedef {'ended' | 'dead' | 'hung'} Outcome */

/**
 * @typedef {object} Measured one run
 * @property {Outcome} outcome
 * @property {number | null} startS null when playback never began
 * @property {number} stallS        a lower bound unless it ended
 * @property {number} longestStallS
 * @property {number} playedS       of the media
 * @property {number | null} meanKbps
 * @property {number} switches
 * @property {number} requests
 * @property {number} wastedKB
 * @property {number[]} ahead       seconds of buffer, one a second from the beginning of the run
 *
 * @typedef {Measured & {
 *   trace: string, player: string, variant: 'plain' | 'holdfast', n: number, ended: number,
 *   minStartS: number | null, maxStartS: number | null, minStallS: number, maxStallS: number,
 *   minMeanKbps: number | null, maxMeanKbps: number | null,
 *   minSwitches: number, maxSwitches: number, smoke?: boolean
 * }} TraceRow medians with their spread; `ahead` is of the run whose stall is the median
 */

/** From the worst on. @type {readonly Outcome[]} */
const OUTCOMES = ['dead', 'hung', 'ended'];

/** @param {number} value @param {number} digits */
const rounded = (value, digits) => Number(value.toFixed(digits));

/**
 * @param {{ trace: string, player: string, variant: 'plain' | 'holdfast' }} what
 * @param {readonly Measured[]} runs at least one
 * @returns {TraceRow}
 */
export function summary(what, runs) {
  /** @param {(run: Measured) => number | null} of @param {number} digits */
  const three = (of, digits) => {
    const values = runs.map(of).filter((value) => value !== null);
    if (values.length === 0) return { mid: null, min: null, max: null };
    const shown = [median(values), Math.min(...values), Math.max(...values)];
    const [mid, min, max] = shown.map((value) => rounded(value, digits));
    return { mid, min, max };
  };
  /** @param {(run: Measured) => number} of @param {number} digits */
  const all = (of, digits) => {
    const { mid, min, max } = three(of, digits);
    return { mid: Number(mid), min: Number(min), max: Number(max) };
  };
  const start = three((run) => run.startS, 1);
  const kbps = three((run) => run.meanKbps, 0);
  const stall = all((run) => run.stallS, 1);
  const switches = all((run) => run.switches, 1);
  const count = (/** @type {Outcome} */ outcome) =>
    runs.filter((run) => run.outcome === outcome).length;
  const outcome = OUTCOMES.reduce((most, one) => (count(one) > count(most) ? one : most));
  const off = (/** @type {Measured} */ run) => Math.abs(run.stallS - stall.mid);
  const typical = runs.reduce((best, run) => (off(run) < off(best) ? run : best));
  return {
    ...what,
    startS: start.mid,
    stallS: stall.mid,
    longestStallS: all((run) => run.longestStallS, 1).mid,
    meanKbps: kbps.mid,
    switches: switches.mid,
    outcome,
    requests: all((run) => run.requests, 0).mid,
    wastedKB: all((run) => run.wastedKB, 0).mid,
    n: runs.length,
    ended: count('ended'),
    playedS: all((run) => run.playedS, 1).mid,
    minStartS: start.min,
    maxStartS: start.max,
    minStallS: stall.min,
    maxStallS: stall.max,
    minMeanKbps: kbps.min,
    maxMeanKbps: kbps.max,
    minSwitches: switches.min,
    maxSwitches: switches.max,
    ahead: typical.ahead.map((seconds) => rounded(seconds, 1)),
  };
}

/** Less of a difference in time is none: runs of the same thing differ by as much. */
const TIME_MARGIN_S = 0.5;

/** The same of a bitrate, as a share. */
const KBPS_MARGIN = 0.05;

/** @typedef {'better' | 'worse' | 'same'} Word */
/** @typedef {{ mid: number, min: number, max: number }} Spread */

/**
 * Which of two times is shorter. A difference counts when it is beyond the margin and the runs of
 * the two sides do not overlap.
 * @param {Spread} alone
 * @param {Spread} ours
 * @returns {Word}
 */
function timeWord(alone, ours) {
  if (alone.mid - ours.mid > TIME_MARGIN_S && ours.max < alone.min) return 'better';
  if (ours.mid - alone.mid > TIME_MARGIN_S && ours.min > alone.max) return 'worse';
  return 'same';
}

/**
 * What Holdfast makes of a player's start.
 * @param {TraceRow} plain
 * @param {TraceRow} holdfast
 * @returns {Word}
 */
export function startWord(plain, holdfast) {
  const spread = (/** @type {TraceRow} */ { startS, minStartS, maxStartS }) => ({
    mid: startS ?? Number.MAX_VALUE,
    min: minStartS ?? Number.MAX_VALUE,
    max: maxStartS ?? Number.MAX_VALUE,
  });
  return timeWord(spread(plain), spread(holdfast));
}

/**
 * What it makes of its rebuffering; playing to the end beats any figure.
 * @param {TraceRow} plain
 * @param {TraceRow} holdfast
 * @returns {Word}
 */
export function stallWord(plain, holdfast) {
  if (plain.outcome !== holdfast.outcome) {
    if (holdfast.outcome === 'ended') return 'better';
    if (plain.outcome === 'ended') return 'worse';
  }
  // Two that did not play to the end: the one that showed more is ahead.
  if (plain.outcome !== 'ended') {
    const gained = holdfast.playedS - plain.playedS;
    return Math.abs(gained) <= TIME_MARGIN_S ? 'same' : gained > 0 ? 'better' : 'worse';
  }
  const spread = (/** @type {TraceRow} */ { stallS, minStallS, maxStallS }) => ({
    ...{ mid: stallS, min: minStallS, max: maxStallS },
  });
  return timeWord(spread(plain), spread(holdfast));
}

/**
 * The same of the mean bitrate, where both were played to the end.
 * @param {TraceRow} plain
 * @param {TraceRow} holdfast
 * @returns {Word | null} null where they cannot be compared
 */
export function bitrateWord(plain, holdfast) {
  if (plain.outcome !== 'ended' || holdfast.outcome !== 'ended') return null;
  const [ours, theirs] = [Number(holdfast.meanKbps), Number(plain.meanKbps)];
  const isClear =
    Math.abs(ours / theirs - 1) > KBPS_MARGIN &&
    (ours > theirs
      ? Number(holdfast.minMeanKbps) > Number(plain.maxMeanKbps)
      : Number(holdfast.maxMeanKbps) < Number(plain.minMeanKbps));
  return isClear ? (ours > theirs ? 'better' : 'worse') : 'same';
}

/**
 * Both variants of each trace and player.
 * @param {readonly TraceRow[]} rows
 * @returns {{ trace: string, player: string, plain: TraceRow, holdfast: TraceRow }[]}
 */
export function pairs(rows) {
  return rows.flatMap((plain) => {
    if (plain.variant !== 'plain') return [];
    const { trace, player } = plain;
    const holdfast = rows.find(
      (row) => row.variant === 'holdfast' && row.trace === trace && row.player === player,
    );
    return holdfast ? [{ trace, player, plain, holdfast }] : [];
  });
}
