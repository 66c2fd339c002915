// @ts-check
/** What the runs come to, and how Holdfast stands beside the best library. */
import { median } from '../stats.mjs';

/**
 * @typedef {object} Row
 * @property {string} fault
 * @property {string} client
 * @property {import('./run.mjs').Runner} runner
 * @property {number} n
 * @property {number} ok
 * @property {number} failed
 * @property {number} seconds
 * @property {number} requests
 * @property {number} wastedKB
 * @property {number} retryAfterViolations
 * @property {number} minOk
 * @property {number} maxOk
 * @property {number} minSeconds
 * @property {number} maxSeconds
 * @property {number} minRequests
 * @property {number} maxRequests
 */

export const OURS = 'holdfast';
/** What the browser does alone is shown, but it is no library. */
const NONE = 'fetch';

/**
 * Medians, and between what they lie.
 *
 * @param {Pick<Row, 'fault' | 'client' | 'runner'>} of
 * @param {readonly import('./run.mjs').Run[]} runs
 * @returns {Row}
 */
export function rowOf(of, runs) {
  const all = (/** @type {keyof import('./run.mjs').Run} */ field) => runs.map((run) => run[field]);
  const mid = (/** @type {keyof import('./run.mjs').Run} */ field) =>
    Math.round(median(all(field)) * 10) / 10;
  return {
    ...of,
    n: runs.length,
    ok: mid('ok'),
    failed: mid('failed'),
    seconds: mid('seconds'),
    requests: mid('requests'),
    wastedKB: mid('wastedKB'),
    retryAfterViolations: mid('retryAfterViolations'),
    minOk: Math.min(...all('ok')),
    maxOk: Math.max(...all('ok')),
    minSeconds: Math.round(Math.min(...all('seconds')) * 10) / 10,
    maxSeconds: Math.round(Math.max(...all('seconds')) * 10) / 10,
    minRequests: Math.min(...all('requests')),
    maxRequests: Math.max(...all('requests')),
  };
}

/**
 * Whether something goes wrong that a client can do something about. The others are controls, where
 * who asks more may get more and should not.
 *
 * @param {Pick<Row, 'fault'>} row
 */
export const isFault = ({ fault }) => fault.startsWith('F');

/** @typedef {Pick<Row, 'client' | 'ok' | 'failed' | 'seconds' | 'requests' | 'wastedKB' | 'retryAfterViolations'>} Sum */

/**
 * Each client over all faults that every one of them has met.
 *
 * @param {readonly Row[]} rows
 * @param {import('./run.mjs').Runner} runner
 * @returns {Sum[]}
 */
export function sums(rows, runner) {
  const mine = rows.filter((row) => row.runner === runner);
  const clients = [...new Set(mine.map(({ client }) => client))];
  const faults = [...new Set(mine.map(({ fault }) => fault))];
  const shared = faults.filter((fault) =>
    clients.every((client) => mine.some((row) => row.client === client && row.fault === fault)),
  );
  return clients.map((client) => {
    const own = mine.filter((row) => row.client === client && shared.includes(row.fault));
    const sum = (/** @type {Exclude<keyof Sum, 'client'>} */ field) =>
      own.reduce((total, row) => total + row[field], 0);
    return {
      client,
      ok: sum('ok'),
      failed: sum('failed'),
      seconds: sum('seconds'),
      requests: sum('requests'),
      wastedKB: sum('wastedKB'),
      retryAfterViolations: sum('retryAfterViolations'),
    };
  });
}

/**
 * The library that got most, and of those the one that asked least.
 *
 * @template {Pick<Sum, 'client' | 'ok' | 'requests'>} T
 * @param {readonly T[]} of
 * @returns {T | undefined}
 */
export const bestLibrary = (of) =>
  of
    .filter(({ client }) => client !== OURS && client !== NONE)
    .sort((a, b) => b.ok - a.ok || a.requests - b.requests)[0];

/**
 * @typedef {object} Verdict
 * @property {Pick<Sum, 'client' | 'ok' | 'requests'>} ours
 * @property {Pick<Sum, 'client' | 'ok' | 'requests'>} best
 * @property {boolean} isMet at least as many segments, with at most as many requests; each segment that
 *   the library has lost takes one request more to get
 */

/**
 * @param {readonly Pick<Sum, 'client' | 'ok' | 'requests'>[]} of
 * @returns {Verdict | undefined} undefined where a side is missing
 */
export function compare(of) {
  const ours = of.find(({ client }) => client === OURS);
  const best = bestLibrary(of);
  if (!ours || !best) return undefined;
  const more = ours.ok - best.ok;
  return { ours, best, isMet: more >= 0 && ours.requests <= best.requests + more };
}

const RUNNERS = /** @type {const} */ (['browser', 'node']);

/** @param {readonly any[]} rows @returns {{ name: string, verdict: Verdict }[]} of each fault by itself */
export const singles = (rows) =>
  RUNNERS.flatMap((runner) => {
    const mine = rows.filter((row) => row.runner === runner);
    return [...new Set(mine.map(({ fault }) => fault))].flatMap((fault) => {
      const verdict = compare(mine.filter((row) => row.fault === fault));
      return verdict ? [{ name: `${fault} (${runner})`, verdict }] : [];
    });
  });

/** @param {readonly any[]} rows @returns {string[]} */
export function misses(rows) {
  const sum = RUNNERS.flatMap((runner) => {
    const verdict = compare(sums(rows.filter(isFault), runner));
    return verdict ? [{ name: `all faults together (${runner})`, verdict }] : [];
  });
  return [...sum, ...singles(rows)]
    .filter(({ verdict }) => !verdict.isMet)
    .map(
      ({ name, verdict: { ours, best } }) =>
        `${name}: Holdfast ${ours.ok} with ${ours.requests} requests, ` +
        `${best.client} ${best.ok} with ${best.requests}`,
    );
}
