// @ts-check
/** What is downloaded at fetch level, over which link, and what goes wrong meanwhile. */

/** @typedef {import('../../lab/rules.mjs').Rule} Rule */

/**
 * @typedef {object} Fault
 * @property {string} title
 * @property {Rule[]} rules
 */

/** Two segments of video, then one of audio, and again, in the order of playback. */
export const SEGMENTS = Array.from({ length: 30 }, (_, index) => {
  const turn = Math.floor(index / 3);
  const [track, number] = [
    ['mid', 2 * turn + 1],
    ['mid', 2 * turn + 2],
    ['audio', turn + 1],
  ][index % 3];
  return `${track}-${String(number).padStart(2, '0')}.m4s`;
});

/** Without faults, all segments come in about 5 s. */
export const LINK = { kbps: 8000, delayMs: 20 };

/** A segment that takes longer has failed; one that was not begun in time has failed too. */
export const LIMITS = { segmentMs: 30_000, runMs: 60_000 };

/** Windows open here: in the middle of a run without faults. */
const FROM = 2000;
const ONE = '^mid-08\\.m4s$';
const ANY = '\\.m4s$';

/** @param {number} seconds @returns {[number, number]} */
const lasting = (seconds) => [FROM, FROM + seconds * 1000];

/** @param {number} status @param {number} seconds @returns {Pick<Rule, 'act' | 'status' | 'headers'>} */
const comeBackIn = (status, seconds) => ({
  act: 'status',
  status,
  headers: { 'Retry-After': String(seconds) },
});

/** By their names in the lab's taxonomy. @type {Record<string, Fault>} */
export const FAULTS = {
  N1: { title: 'no fault', rules: [] },
  F01: {
    title: 'reset before the headers, once',
    rules: [{ match: ONE, nth: 1, act: 'resetHeaders' }],
  },
  F02: {
    title: 'reset in the middle of a body, once',
    rules: [{ match: ONE, nth: 1, act: 'resetBody', at: 0.5 }],
  },
  F03: {
    title: 'resets before the headers for 10 s',
    rules: [{ match: ANY, window: lasting(10), act: 'resetHeaders' }],
  },
  F04: {
    title: 'headers never come, once',
    rules: [{ match: ONE, nth: 1, act: 'stallHeaders', ms: 'inf' }],
  },
  F05: {
    title: 'a body stops in the middle, once',
    rules: [{ match: ONE, nth: 1, act: 'stallBody', at: 0.5, ms: 'inf' }],
  },
  F06: {
    title: 'a body goes on at 2 kB/s, once',
    rules: [{ match: ONE, nth: 1, act: 'drip', at: 0.5, rate: 2000 }],
  },
  F07: {
    title: 'a body is cut short of its length, once',
    rules: [{ match: ONE, nth: 1, act: 'truncate', at: 0.5 }],
  },
  F08: {
    title: 'a body without a length is cut short, once',
    rules: [{ match: ONE, nth: 1, act: 'truncateSilent', at: 0.5 }],
  },
  F09: {
    title: '503 for 10 s',
    rules: [{ match: ANY, window: lasting(10), act: 'status', status: 503 }],
  },
  F10: {
    title: '503 for 10 s, with Retry-After: 5',
    rules: [{ match: ANY, window: lasting(10), ...comeBackIn(503, 5) }],
  },
  F13: {
    title: '429 for 10 s, with Retry-After: 10',
    rules: [{ match: ANY, window: lasting(10), ...comeBackIn(429, 10) }],
  },
  F14: {
    title: '503 for 25 s',
    rules: [{ match: ANY, window: lasting(25), act: 'status', status: 503 }],
  },
  F18: {
    title: 'one segment is 404 for good',
    rules: [{ match: ONE, act: 'status', status: 404 }],
  },
  F22: {
    title: '200 with a page of HTML, once',
    rules: [{ match: ONE, nth: 1, act: 'html200' }],
  },
  F28: {
    title: 'the host takes requests and never answers, for 10 s',
    rules: [{ match: ANY, window: lasting(10), act: 'stallHeaders', ms: 'inf' }],
  },
  N2: {
    title: 'ten segments are 403 for good',
    rules: [{ match: '^mid-(1[1-9]|20)\\.m4s$', act: 'status', status: 403 }],
  },
  N4: {
    title: 'the last eighteen segments are 503 for good, with Retry-After: 120',
    rules: [{ match: '^(mid-(09|1.|20)|audio-(0[5-9]|10))\\.m4s$', ...comeBackIn(503, 120) }],
  },
  N4b: {
    title: 'one segment is 503 for good, with Retry-After: 120',
    rules: [{ match: ONE, ...comeBackIn(503, 120) }],
  },
};
