// @ts-check
/** How far estimates are from the truth. */
import { median, quantile } from '../stats.mjs';
import { CASES } from './cases.mjs';

/** @typedef {import('./run.mjs').Sample} Sample */

/**
 * @typedef {object} Row
 * @property {string} case
 * @property {string} impl
 * @property {number} n            runs
 * @property {number | null} p50Pct of the error after each segment; null where there was no estimate
 * @property {number | null} p95Pct
 * @property {number | null} maxPct
 * @property {number} overEstimates by more than a quarter
 * @property {number} samples
 * @property {number | null} lastKbps the estimate at the end, median of the runs
 * @property {number | null} minLastKbps
 * @property {number | null} maxLastKbps
 * @property {number} unfinished   runs that did not come to the end of the stream
 * @property {(number | null)[]} trackKbps the estimate after each segment, median of the runs
 * @property {(number | null)[]} truthKbps of the first run
 */

export const OURS = 'Holdfast';
/** An estimate that is higher by more makes a player ask for what the link cannot carry. */
const TOO_HIGH = 0.25;
const MAX_P95_PCT = 15;
const MAX_MOVED_PCT = 3;
/** After these, the estimate is to be as without faults. */
const UNMOVED = ['retry', 'resume'];

/** @param {readonly Sample[]} samples @returns {number[]} est/truth − 1, where both are known */
export const errors = (samples) =>
  samples.flatMap(({ kbps, truth }) => (kbps === null || truth === null ? [] : [kbps / truth - 1]));

/** @param {number} value */
const tenth = (value) => Math.round(value * 10) / 10;

/**
 * @param {string} name
 * @param {string} impl
 * @param {readonly (readonly Sample[])[]} runs
 * @param {number} length of a whole run
 * @returns {Row}
 */
export function rowOf(name, impl, runs, length) {
  const all = runs.flatMap(errors);
  const off = all.map((error) => Math.abs(error) * 100);
  const lasts = runs.flatMap((samples) => samples.at(-1)?.kbps ?? []);
  const of = (/** @type {number[]} */ values, /** @type {(values: number[]) => number} */ sum) =>
    values.length > 0 ? tenth(sum(values)) : null;
  return {
    case: name,
    impl,
    n: runs.length,
    p50Pct: of(off, median),
    p95Pct: of(off, (values) => quantile(values, 0.95)),
    maxPct: of(off, (values) => Math.max(...values)),
    overEstimates: all.filter((error) => error > TOO_HIGH).length,
    samples: all.length,
    lastKbps: of(lasts, median),
    minLastKbps: of(lasts, (values) => Math.min(...values)),
    maxLastKbps: of(lasts, (values) => Math.max(...values)),
    unfinished: runs.filter((samples) => samples.length < length).length,
    trackKbps: Array.from({ length }, (_, index) =>
      of(
        runs.flatMap((samples) => samples[index]?.kbps ?? []),
        median,
      ),
    ),
    truthKbps: runs[0].map(({ truth }) => truth),
  };
}

/**
 * How far the last estimate is from the one of runs without faults, in per cent.
 *
 * @param {readonly Row[]} rows
 * @param {Row} row
 */
export function movedPct(rows, row) {
  const clean = rows.find((other) => other.case === 'clean' && other.impl === row.impl);
  if (!clean?.lastKbps || !row.lastKbps) return undefined;
  return (row.lastKbps / clean.lastKbps - 1) * 100;
}

/** @param {readonly Row[]} rows @returns {string[]} where Holdfast's own estimate misses its bar */
export function misses(rows) {
  return rows
    .filter(({ impl, case: name }) => impl === OURS && !CASES[name]?.isExtra)
    .flatMap((row) => {
      const moved = UNMOVED.includes(row.case) ? movedPct(rows, row) : 0;
      return [
        moved === undefined && `${row.case}: held against nothing; measure clean with it`,
        row.p95Pct === null && `${row.case}: nothing was measured`,
        (row.p95Pct ?? 0) >= MAX_P95_PCT && `${row.case}: p95 of the error is ${row.p95Pct} %`,
        row.overEstimates > 0 &&
          `${row.case}: ${row.overEstimates} of ${row.samples} estimates are more than 25 % too high`,
        Math.abs(moved ?? 0) > MAX_MOVED_PCT &&
          `${row.case}: the estimate is moved by ${moved?.toFixed(1)} %`,
      ].filter((sentence) => typeof sentence === 'string');
    });
}
