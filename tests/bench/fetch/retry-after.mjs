// @ts-check

/** Timers in pages and in Node may be a little early. */
const TOLERANCE_MS = 50;

/**
 * How many requests came before the time that a server had named, among those for files that the
 * refusing rule is about.
 *
 * @param {readonly import('../../lab/session.mjs').LogEntry[]} log in the order of arrival
 * @param {readonly import('../../lab/rules.mjs').Rule[]} rules
 */
export function tooEarly(log, rules) {
  let count = 0;
  for (const { match, headers, status } of rules) {
    const seconds = Number(headers?.['Retry-After'] ?? 0);
    if (!(seconds > 0)) continue;
    let until = -Infinity;
    for (const entry of log.filter(({ file }) => new RegExp(match).test(file))) {
      if (entry.t < until - TOLERANCE_MS) count += 1;
      if (entry.status === status) until = (entry.end ?? entry.t) + seconds * 1000;
    }
  }
  return count;
}
