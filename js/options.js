// @ts-check
/** The options of an engine: checked at construction, defaulted, and flattened to numbers. */
import { OptionsError } from './errors.js';
import { EXHAUSTED, SITES } from './names.js';
import { DEFAULT_SITES } from './sites.js';

/** @typedef {import('./index.d.ts').EngineOptions} EngineOptions */
/** @typedef {import('./index.d.ts').Site} Site */
/** @typedef {import('./index.d.ts').SitePolicy} SitePolicy */
/** @typedef {(field: string, value: unknown) => void} Check */

/**
 * @param {(value: any) => boolean} test
 * @param {string} expected
 * @returns {Check}
 */
const must = (test, expected) => (field, value) => {
  if (!test(value)) throw new OptionsError(field, expected, value);
};

/** @param {number} low @param {number} high */
const between = (low, high) => (/** @type {unknown} */ value) =>
  typeof value === 'number' && value >= low && value <= high;

const DAY = 86_400_000;
const span = must(between(1, DAY), `a number of milliseconds between 1 and ${DAY}`);
const wait = must(between(0, DAY), `a number of milliseconds between 0 and ${DAY}`);
const mode = must((value) => EXHAUSTED.includes(value), `one of ${EXHAUSTED.join(', ')}`);
const flag = must((value) => typeof value === 'boolean', 'true or false');
const hook = must((value) => typeof value === 'function', 'a function');
const record = must(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'an object',
);
const seconds = must(between(0.01, 3600), 'a number of seconds between 0.01 and 3600');
const count = must(
  (value) => Number.isInteger(value) && between(1, 100)(value),
  'a whole number between 1 and 100',
);

/** @type {Record<string, Check>} */
const BACKOFF = {
  base: span,
  factor: must(between(1, 100), 'a number between 1 and 100'),
  cap: span,
};

/** @type {Record<string, Check>} */
const SITE = {
  headersTimeout: span,
  firstHeadersTimeout: span,
  stallTimeout: span,
  attempts: count,
  backoff: fields(BACKOFF),
  deadline: span,
  maxWait: wait,
  onExhausted: mode,
  allowOverride: flag,
};

/** @type {Record<string, Check>} */
const BANDWIDTH = {
  fastHalfLife: seconds,
  slowHalfLife: seconds,
};

/** @type {Record<string, Check>} */
const ENGINE = {
  sites: fields(Object.fromEntries(SITES.map((site) => [site, fields(SITE)]))),
  onExhausted: (field, value) => (typeof value === 'string' ? mode : hook)(field, value),
  bandwidth: fields(BANDWIDTH),
  fetch: hook,
  getCdnId: hook,
  holdLimit: wait,
  logCapacity: must(
    (value) => Number.isInteger(value) && between(0, 100_000)(value),
    'a whole number between 0 and 100000',
  ),
  wasm: must(
    (value) => value && /string|object/.test(typeof value),
    'a URL, a response, bytes or a module',
  ),
};

/**
 * A check of an object by its fields; one that nobody knows is refused, as it would be
 * ignored otherwise.
 *
 * @param {Record<string, Check>} checks
 * @returns {Check}
 */
function fields(checks) {
  return (path, value) => {
    record(path, value);
    for (const [name, inner] of Object.entries(/** @type {object} */ (value))) {
      const field = path ? `${path}.${name}` : name;
      if (!Object.hasOwn(checks, name)) {
        throw new OptionsError(field, `one of ${Object.keys(checks).join(', ')}`, name);
      }
      if (inner !== undefined) checks[name](field, inner);
    }
  };
}

/** Sites whose class is `interactive`: somebody waits, so at most two retries. */
const INTERACTIVE = ['playlist', 'key', 'license', 'certificate', 'other'];

/**
 * Checks the options and merges each site's over its defaults.
 *
 * @param {EngineOptions} options
 * @returns {Record<Site, SitePolicy>}
 */
export function parseOptions(options) {
  record('options', options);
  fields(ENGINE)('', options);
  const everywhere = typeof options.onExhausted === 'string' && options.onExhausted;
  /** @type {Partial<Record<Site, SitePolicy>>} */
  const sites = {};
  for (const site of SITES) {
    const usual = DEFAULT_SITES[site];
    const given = defined(options.sites?.[site]);
    const policy = {
      ...usual,
      ...(everywhere && { onExhausted: everywhere }),
      ...given,
      backoff: { ...usual.backoff, ...defined(given.backoff) },
    };
    // A shorter bound for all headers bounds the first ones too.
    policy.firstHeadersTimeout = Math.min(policy.firstHeadersTimeout, policy.headersTimeout);
    checkClass(site, policy);
    sites[site] = policy;
  }
  return /** @type {Record<Site, SitePolicy>} */ (sites);
}

/**
 * An object without the fields that are undefined: they leave the default alone.
 *
 * @template {object} T
 * @param {T | undefined} value
 * @returns {Partial<T>}
 */
function defined(value = /** @type {T} */ ({})) {
  return /** @type {Partial<T>} */ (
    Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined))
  );
}

/** @param {Site} site @param {SitePolicy} policy */
function checkClass(site, { attempts, backoff, allowOverride }) {
  const field = `sites.${site}`;
  if (backoff.base > backoff.cap) {
    throw new OptionsError(`${field}.backoff.base`, `at most its cap ${backoff.cap}`, backoff.base);
  }
  if (INTERACTIVE.includes(site) && attempts > 3 && !allowOverride) {
    throw new OptionsError(
      `${field}.attempts`,
      'at most 3 at this site (allowOverride: true lifts this)',
      attempts,
    );
  }
}

/**
 * The options as the core takes them; the order is that of `src/web/options.rs`.
 *
 * @param {EngineOptions} options
 * @param {Record<Site, SitePolicy>} sites
 */
export function flatten({ holdLimit = 300_000, logCapacity = 256, bandwidth = {} }, sites) {
  return Float64Array.of(
    holdLimit,
    logCapacity,
    bandwidth.fastHalfLife ?? 2,
    bandwidth.slowHalfLife ?? 5,
    ...SITES.flatMap((site) => {
      const { backoff, ...policy } = sites[site];
      return [
        policy.headersTimeout,
        policy.firstHeadersTimeout,
        policy.stallTimeout,
        policy.attempts,
        backoff.base,
        backoff.factor,
        backoff.cap,
        policy.deadline,
        policy.maxWait,
        EXHAUSTED.indexOf(policy.onExhausted),
      ];
    }),
  );
}
