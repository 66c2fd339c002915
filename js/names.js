// @ts-check
/**
 * The names of the core's codes, by position. `tests/node/names.test.mjs` holds them against
 * the enums in `src/core/`.
 */

/** @typedef {import('./index.d.ts').Site} Site */
/** @typedef {import('./index.d.ts').FailureClass} FailureClass */

/** @type {readonly Site[]} */
export const SITES = [
  'manifest',
  'playlist',
  'playlist-reload',
  'init',
  'segment',
  'key',
  'license',
  'certificate',
  'text-segment',
  'steering',
  'other',
];

/** @type {readonly FailureClass[]} */
export const CLASSES = [
  'success',
  'aborted',
  'bad-range',
  'contract',
  'denied',
  'empty',
  'gone',
  'intercepted',
  'legal',
  'misdirected',
  'not-found',
  'offline',
  'opaque',
  'range-ignored',
  'rate-limited',
  'request-timeout',
  'server',
  'server-busy',
  'stall',
  'timeout',
  'too-early',
  'transport',
  'truncated',
  'unexpected',
];

/** @type {readonly import('./index.d.ts').Reason[]} */
export const REASONS = [
  'attempts',
  'deadline',
  'hold-limit',
  'not-idempotent',
  'terminal',
  'released',
  'retry-after',
];

/** @type {readonly import('./index.d.ts').WaitReason[]} */
export const WAITS = ['backoff', 'hold', 'offline', 'retry-after'];

/** @type {readonly import('./index.d.ts').LogEvent[]} */
export const EVENTS = [
  'started',
  'sent',
  'accepted',
  'failed',
  'waiting',
  'stall-suspect',
  'exhausted',
  'given-up',
  'succeeded',
  'aborted',
  'network',
  'hurried',
];

/** What a request does when its ladder is spent, by code. */
export const EXHAUSTED = /** @type {const} */ (['auto', 'hold', 'reject']);

/** Why waits were cut short, by code. */
export const HURRIES = /** @type {const} */ (['caller', 'host-back', 'network-back']);
