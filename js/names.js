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
  'changed',
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
  'budget',
  'breaker',
  'vetoed',
  'refresh',
  'rotated',
  'retired',
  'rate-limited',
];

/** @type {readonly import('./index.d.ts').WaitReason[]} */
export const WAITS = [
  'backoff',
  'hold',
  'offline',
  'retry-after',
  'breaker',
  'budget',
  'vrlt',
  'token-refresh',
  'cooldown',
  'not-ready',
  'held',
  'window',
  'catch-up',
];

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
  'asked',
  'answered',
  'refresh-asked',
  'refreshed',
  'health',
  'throttled',
  'plain',
  'path',
  'advised',
];

/**
 * The facts that are nothing but numbers, by code (`src/web/fact.rs`).
 *
 * @type {Readonly<Record<string, number>>}
 */
export const FACT = Object.fromEntries(
  `reading chunk bodyEnd page refusalHead abort wake online playback alternatives retryNow answer refreshed expiry reassign prefix resetHealth rotate elect adopt path consent bodyLost`
    .split(/\s+/)
    .map((name, code) => [name, code]),
);

/** What the engine shows, by code (`src/web/records.rs`). */
export const VIEW = { requests: 0, hosts: 1, log: 2, estimate: 3, path: 4 };

/** What a request does when its ladder is spent, by code. */
export const EXHAUSTED = /** @type {const} */ (['auto', 'hold', 'reject']);

/** Why waits were cut short, by code. */
export const HURRIES = /** @type {const} */ (['caller', 'host-back', 'network-back', 'turn']);

/** What is done about a failure, by code. @type {readonly import('./index.d.ts').Recovery[]} */
export const RECOVERIES = ['retry', 'fail', 'once', 'grace', 'not-ready', 'refresh'];

/** What a host's breaker says, by code. @type {readonly import('./index.d.ts').Health[]} */
export const HEALTHS = ['closed', 'open', 'half-open'];

/** The kinds of connections, by code. @type {readonly import('./index.d.ts').ConnectionClass[]} */
export const CONNECTIONS = ['unmetered', 'metered', 'constrained', 'adverse', 'offline'];

/** What the path allows, by code. @type {readonly import('./index.d.ts').Allowed[]} */
export const ALLOWED = ['nothing', 'needed', 'all'];

/** What is asked of hooks, by code. */
export const HOOKS = /** @type {const} */ (['should-retry', 'refresh-license', 'probe']);

/** What hooks answer, by code. */
export const ANSWERS = /** @type {const} */ (['default', 'no', 'yes', 'after']);

/** What a rate limit is about, by code. */
export const SCOPES = /** @type {const} */ (['session', 'host', 'prefix']);
