// @ts-check
/** Names for the numbers that the core's records are made of (`src/web/records.rs`). */
import { CLASSES, EVENTS, HURRIES, REASONS, SITES, WAITS } from './names.js';

/** NaN stands for absent. @param {number} value */
const known = (value) => (Number.isNaN(value) ? undefined : value);

/**
 * @param {number[]} record
 */
export function failureOf(record) {
  const [kind, reason, status, attempts, elapsed, retryAt, limit, svta, holding] = record;
  return {
    class: CLASSES[kind],
    reason: REASONS[reason],
    status,
    attempts,
    elapsed,
    retryAt: known(retryAt),
    limit: known(limit),
    svta,
    holding: holding === 1,
  };
}

/**
 * @param {number[]} record
 */
export function retryOf([request, attempt, maxAttempts, kind, status, nextAt, wait, exhausted]) {
  return {
    request,
    attempt,
    maxAttempts,
    class: CLASSES[kind],
    lastStatus: status || undefined,
    nextAt: known(nextAt),
    waitReason: known(wait) === undefined ? undefined : WAITS[wait],
    exhausted: exhausted === 1,
  };
}

/** What the detail of each event is a code of. */
const DETAILS = /** @type {Record<string, readonly string[] | undefined>} */ ({
  started: SITES,
  failed: CLASSES,
  waiting: WAITS,
  exhausted: REASONS,
  'given-up': REASONS,
  hurried: HURRIES,
  network: ['offline', 'online'],
});

/**
 * @param {number[]} record
 * @returns {import('./index.d.ts').LogEntry}
 */
export function entryOf([at, request, attempt, code, detail, value]) {
  const event = EVENTS[code];
  return { at, request, attempt, event, detail: DETAILS[event]?.[detail] ?? detail, value };
}
