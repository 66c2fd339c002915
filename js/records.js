// @ts-check
/** Names for the numbers that the core's records are made of (`src/web/records.rs`). */
import {
  ALLOWED,
  ANSWERS,
  CLASSES,
  CONNECTIONS,
  EVENTS,
  HEALTHS,
  HOOKS,
  HURRIES,
  REASONS,
  SCOPES,
  SITES,
  WAITS,
} from './names.js';

/**
 * The rows that numbers stand one after the other for.
 *
 * @param {number[]} numbers
 * @param {number} width
 */
export const rowsOf = (numbers, width) =>
  Array.from({ length: numbers.length / width }, (_, row) =>
    numbers.slice(row * width, (row + 1) * width),
  );

/** NaN stands for absent. @param {number} value */
const known = (value) => (Number.isNaN(value) ? undefined : value);

/**
 * @param {number[]} record
 */
export function failureOf(record) {
  const [kind, reason, status, attempts, elapsed, retryAt, limit, svta, holding, minor, suspect] =
    record;
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
    severity: /** @type {import('./index.d.ts').Severity} */ (minor ? 'warning' : 'error'),
    suspectCors: suspect === 1,
  };
}

/**
 * @param {number[]} record
 */
export function attemptOf([attempt, kind, status, svta, duration, bytes]) {
  return { attempt, class: CLASSES[kind], status, svta, duration, bytes };
}

/**
 * @param {number[]} record
 */
export function hostOf([host, health, failures, openedAt, retryAt, trips, blockedUntil, rate]) {
  return {
    host,
    health: {
      state: HEALTHS[health],
      failures,
      openedAt: known(openedAt),
      retryAt: known(retryAt),
      trips,
    },
    throttle: Number.isNaN(rate) ? undefined : { blockedUntil, rate },
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
    class: known(kind) === undefined ? undefined : CLASSES[kind],
    lastStatus: status || undefined,
    nextAt: known(nextAt),
    waitReason: known(wait) === undefined ? undefined : WAITS[wait],
    exhausted: exhausted === 1,
  };
}

/**
 * @param {number[]} record
 * @returns {import('./index.d.ts').PathState}
 */
export function pathOf([kind, generation, allowed, maxInFlight, rangeWindow, abrCap, buffer]) {
  return {
    class: CONNECTIONS[kind],
    generation,
    allowed: ALLOWED[allowed],
    maxInFlight,
    rangeWindow: known(rangeWindow),
    abrCapHint: known(abrCap),
    maxBufferAheadHint: known(buffer),
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
  asked: HOOKS,
  answered: ANSWERS,
  health: HEALTHS,
  throttled: SCOPES,
  path: CONNECTIONS,
});

/**
 * @param {number[]} record
 * @returns {import('./index.d.ts').LogEntry}
 */
export function entryOf([at, request, attempt, code, detail, value]) {
  const event = EVENTS[code];
  return { at, request, attempt, event, detail: DETAILS[event]?.[detail] ?? detail, value };
}
