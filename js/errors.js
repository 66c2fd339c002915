// @ts-check
/** The errors of this package: stable codes for programs, sentences for people. */

/**
 * The base of all of them.
 */
export class HoldfastError extends Error {
  /**
   * @param {import('./index.d.ts').ErrorCode} code
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    this.name = 'HoldfastError';
    this.code = code;
  }
}

/** An option that cannot be: the message names the field. */
export class OptionsError extends HoldfastError {
  /**
   * @param {string} field
   * @param {string} expected
   * @param {unknown} value
   */
  constructor(field, expected, value) {
    super('INVALID_OPTION', `${field} must be ${expected}, but is ${show(value)}`);
    this.name = 'OptionsError';
    this.field = field;
  }
}

/** A request that was given up: the verdict. */
export class RequestError extends HoldfastError {
  /**
   * @param {import('./index.d.ts').RequestErrorFacts} facts
   * @param {unknown} [cause]
   */
  constructor(facts, cause) {
    const code = /** @type {import('./index.d.ts').ErrorCode} */ (
      facts.class.toUpperCase().replaceAll('-', '_')
    );
    super(code, sentence(facts), cause === undefined ? undefined : { cause });
    this.name = 'RequestError';
    Object.assign(this, facts);
  }
}

/**
 * Typed with the fields that its class gets from its facts.
 *
 * @param {import('./index.d.ts').RequestErrorFacts} facts
 * @param {unknown} [cause]
 */
export const requestError = (facts, cause) =>
  /** @type {import('./index.d.ts').RequestError} */ (
    /** @type {unknown} */ (new RequestError(facts, cause))
  );

/**
 * Whether a value is an error of this package, also one from another copy of it or another
 * realm.
 *
 * @param {unknown} value
 * @returns {value is HoldfastError}
 */
export function isHoldfastError(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    'name' in value &&
    /^(Holdfast|Options|Request)Error$/.test(String(value.name))
  );
}

/** What each class says after "the server" or instead of it. */
const WHAT = /** @type {Record<string, string>} */ ({
  'bad-range': 'another part came than the one that was asked for, or none',
  changed: 'it changed while it was fetched, or cannot be shown to be the same',
  empty: 'the body was empty',
  intercepted: 'a page came where media was asked for (a captive portal?)',
  offline: 'there is no network',
  opaque: 'the response is opaque: the request needs CORS',
  stall: 'the body fell silent',
  timeout: 'no response headers came in time',
  transport: 'the network failed, or CORS refused (a page cannot tell which)',
  truncated: 'the body broke off',
});

/** Why there was no further attempt. */
const WHY = /** @type {Record<string, string>} */ ({
  'not-idempotent': 'it is not declared safe to send twice',
  released: 'bytes of it were delivered already',
  'retry-after': 'the server asks for a longer wait than this site may hold',
  'hold-limit': 'the longest hold is over',
  budget: 'the retry budget is spent',
  breaker: 'the host is down',
  vetoed: 'shouldRetry said so',
  refresh: 'its credential could not be refreshed',
  rotated: 'the player turned to another host',
  retired: 'the server said never to ask for it again',
  'rate-limited': 'the server asks for less',
});

/** @param {import('./index.d.ts').RequestErrorFacts} facts */
function sentence({ site, url, class: kind, status, attempts, reason }) {
  const what = WHAT[kind] ?? `the server answered ${status}`;
  const why = WHY[reason] ? `; given up because ${WHY[reason]}` : '';
  return `${site} ${url}: ${what} (attempts: ${attempts}${why})`;
}

/** @param {unknown} value */
function show(value) {
  if (typeof value === 'function') return 'a function';
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
