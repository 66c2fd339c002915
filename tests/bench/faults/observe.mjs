// @ts-check
/** What the log of the server says about the manners of a client. */

/** @typedef {import('../../lab/session.mjs').LogEntry} LogEntry */
/** @typedef {import('./scenarios.mjs').Fault} Fault */

/** Requests that were under way cannot be called back. */
const ON_THEIR_WAY_MS = 100;

/** Clocks of two machines differ, and so may roundings. */
const ROUNDING_MS = 50;

/**
 * @param {Fault} fault
 * @param {readonly LogEntry[]} log
 * @param {{ fatalS: number | null }} row
 */
export function observe({ kind, retryAfterS, play }, log, { fatalS }) {
  const seek = play.page?.find((action) => action.seek !== undefined);
  const refused = log.find(({ status, act }) => act === 'status' && status >= 400);
  return {
    ...(retryAfterS !== undefined && { earlyRetries: earlyRetries(log, retryAfterS * 1000) }),
    ...(seek && { lateRequests: lateRequests(log, seek.at) }),
    ...(play.token && { tokenRequests: log.filter(({ file }) => file === 'token').length }),
    // From the first refusal to the player's giving up; null when it never did.
    ...(kind === undefined &&
      refused &&
      play.rules.some(({ window }) => window?.[1] === Infinity) && {
        surfacedS: fatalS === null ? null : Number((fatalS - refused.t / 1000).toFixed(1)),
      }),
  };
}

/**
 * Repetitions of a request before the server wanted it.
 * @param {readonly LogEntry[]} log
 * @param {number} retryAfterMs
 */
export function earlyRetries(log, retryAfterMs) {
  return log.filter(({ file, t }, i) =>
    log.slice(0, i).some(
      (earlier) =>
        earlier.file === file &&
        (earlier.status === 429 || earlier.status === 503) &&
        earlier.end !== null &&
        // A preflight and its request are one.
        t >= earlier.end &&
        t < earlier.end + retryAfterMs - ROUNDING_MS,
    ),
  ).length;
}

/**
 * Requests, after a seek, for segments that were refused before it.
 * @param {readonly LogEntry[]} log
 * @param {number} at ms
 */
export function lateRequests(log, at) {
  const left = new Set(
    log.filter(({ t, status }) => t < at && status >= 400).map(({ file }) => file),
  );
  return log.filter(({ file, t }) => left.has(file) && t > at + ON_THEIR_WAY_MS).length;
}
