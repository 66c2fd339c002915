// @ts-check
/** What a bandwidth estimate meets, and what the truth is meanwhile. */

/** @typedef {import('../../lab/session.mjs').LinkOptions} LinkOptions */
/** @typedef {import('../../lab/rules.mjs').Rule} Rule */

/**
 * @typedef {object} Case
 * @property {string} title
 * @property {Rule[]} [rules]
 * @property {LinkOptions} [link] the constant one when absent
 * @property {number} [warm]      so many segments are in the browser's cache already
 * @property {boolean} [hedges]    the application sends a second request, where it can
 * @property {boolean} [isExtra]  shown, and no part of the bar
 */

/** Of one rendition, in the order of playback, about 175 kB each. */
export const FILES = Array.from(
  { length: 20 },
  (_, index) => `mid-${String(index + 1).padStart(2, '0')}.m4s`,
);

const CONSTANT = { kbps: 4000, delayMs: 40 };
/** About seven segments, six, and the rest. */
const STEP = [
  { ms: 3000, kbps: 4000, latencyMs: 40 },
  { ms: 4500, kbps: 2000, latencyMs: 40 },
  { ms: 600_000, kbps: 4000, latencyMs: 40 },
];
/** Segments after a step in which no estimate is held to the truth, that of the step included. */
const SETTLING = 2;

const TWO = '^mid-(06|11)\\.m4s$';
const ONE = '^mid-06\\.m4s$';

/** @type {Record<string, Case>} */
export const CASES = {
  clean: { title: 'no fault' },
  retry: {
    title: 'two segments are refused once, with 503',
    rules: [{ match: TWO, nth: 1, act: 'status', status: 503 }],
  },
  resume: {
    title: 'two bodies are reset in the middle, once',
    rules: [{ match: TWO, nth: 1, act: 'resetBody', at: 0.5 }],
  },
  cached: { title: 'the first ten segments are in the browser’s cache', warm: 10 },
  hedged: {
    title: 'the headers of two segments never come, and a second request is sent after 1 s',
    rules: [{ match: TWO, nth: 1, act: 'stallHeaders', ms: 'inf' }],
    hedges: true,
  },
  stalled: {
    title: 'a body stops in the middle for 20 s, once',
    rules: [{ match: ONE, nth: 1, act: 'stallBody', at: 0.5, ms: 20_000 }],
  },
  step: { title: 'the link halves its rate for 4.5 s', link: { trace: STEP } },
  pause: {
    title: 'two bodies pause in the middle for 2 s, once',
    rules: [{ match: TWO, nth: 1, act: 'stallBody', at: 0.5, ms: 2000 }],
    isExtra: true,
  },
};

/** @param {string} name @returns {LinkOptions} */
export const linkOf = (name) => CASES[name].link ?? CONSTANT;

/**
 * The rate of the token bucket at a time of the session.
 *
 * @param {LinkOptions} link
 * @param {number} at ms
 * @returns {{ kbps: number, since: number }} and since when
 */
export function rateAt({ kbps = Infinity, trace }, at) {
  let since = 0;
  for (const step of trace ?? []) {
    if (at < since + step.ms) return { kbps: step.kbps, since };
    since += step.ms;
  }
  return { kbps, since: 0 };
}

/**
 * The truth for each segment; none where the link is just changing.
 *
 * @param {LinkOptions} link
 * @param {readonly number[]} ends when each was there, in order, ms of the session
 * @returns {(number | null)[]} kbit/s
 */
export function truths(link, ends) {
  let last = 0;
  let settling = 0;
  return ends.map((end) => {
    const { kbps, since } = rateAt(link, end);
    if (since !== last) settling = SETTLING;
    last = since;
    settling -= 1;
    return settling >= 0 ? null : kbps;
  });
}
