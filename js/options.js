// @ts-check
/** The options of an engine: checked at construction, defaulted, and flattened to numbers. */
import { OptionsError } from './errors.js';
import { CLASSES, EXHAUSTED, RECOVERIES, SITES } from './names.js';
import { DEFAULT_BREAKER, DEFAULT_BUDGET, DEFAULT_SITES } from './sites.js';

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
/** @param {number} low @param {number} high @param {string} [of] */
const number = (low, high, of = '') =>
  must(between(low, high), `a number${of} between ${low} and ${high}`);
const span = number(1, DAY, ' of milliseconds');
const wait = number(0, DAY, ' of milliseconds');
/** @param {readonly any[]} words */
const oneOf = (words) => must((value) => words.includes(value), `one of ${words.join(', ')}`);
const mode = oneOf(EXHAUSTED);
const flag = must((value) => typeof value === 'boolean', 'true or false');
const hook = must((value) => typeof value === 'function', 'a function');
const record = must(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'an object',
);
const seconds = number(0.01, 3600, ' of seconds');
const whole = (/** @type {number} */ low, /** @type {number} */ high) =>
  must(
    (value) => Number.isInteger(value) && between(low, high)(value),
    `a whole number between ${low} and ${high}`,
  );
const count = whole(1, 100);

/** Sites whose class is `interactive`: somebody waits, so at most two retries. */
const INTERACTIVE = ['playlist', 'key', 'license', 'certificate', 'other'];
/** Sites whose class is `bulk-transfer`: a body that stopped is fetched on, not anew. */
const BULK = ['init', 'segment', 'text-segment'];
/** Sites that licenses are asked for at. */
const LICENSED = ['license', 'certificate'];
/** Sites whose bodies have a container. */
const CONTAINED = ['manifest', 'playlist', 'playlist-reload', ...BULK];
const CONTAINERS = ['hls', 'webvtt', 'mpeg-ts', 'mp4'];

/** What is final whatever anybody says, and what is no failure. */
const FIXED = ['451', 'legal', 'aborted', 'success'];
const action = oneOf(RECOVERIES);

/** @type {Check} */
function recovery(field, value) {
  record(field, value);
  for (const [matter, what] of Object.entries(/** @type {object} */ (value))) {
    const isStatus = /^[1-5]\d\d$/.test(matter);
    if (FIXED.includes(matter) || !(isStatus || CLASSES.includes(/** @type {any} */ (matter)))) {
      throw new OptionsError(
        `${field}.${matter}`,
        `a status from 100 to 599 except 451, or a class of failures except ${FIXED.slice(1).join(', ')}`,
        matter,
      );
    }
    if (what !== undefined) action(`${field}.${matter}`, what);
  }
}

/** The hooks that may be set for the engine, for a site and for a source. @type {Record<string, Check>} */
const HOOKS = {
  shouldRetry: hook,
  refreshPlaybackToken: hook,
  refreshLicenseRequest: hook,
  detectRateLimit: hook,
  detectExpiry: hook,
};

/** @type {Record<string, Check>} */
const BACKOFF = {
  base: span,
  factor: number(1, 100),
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
  rotateAfter: whole(0, 100),
  recovery,
  resume: flag,
  assumeIdentity: flag,
  trustUnexposedRange: flag,
  rangeFirst: flag,
  container: only(CONTAINED, oneOf(CONTAINERS)),
  validate: hook,
  singleUse: only(LICENSED, flag),
  refreshBeforeRetry: only(LICENSED, flag),
  ...HOOKS,
};

const SITES_CHECK = fields(Object.fromEntries(SITES.map((site) => [site, fields(SITE)])));

/**
 * A check of a field that means something at these sites alone.
 *
 * @param {string[]} sites
 * @param {Check} check
 * @returns {Check}
 */
function only(sites, check) {
  const absent = must(() => false, `left out: it is for ${sites.join(', ')}`);
  return (field, value) =>
    (sites.includes(field.split('.').at(-2) ?? '') ? check : absent)(field, value);
}

/** @type {Record<string, Check>} */
const BANDWIDTH = {
  fastHalfLife: seconds,
  slowHalfLife: seconds,
};

/** @type {Record<string, Check>} */
const ENGINE = {
  sites: SITES_CHECK,
  preset: oneOf(['full', 'naive']),
  recovery,
  ...HOOKS,
  refreshScope: oneOf(['credential', 'url']),
  onAttemptFailed: hook,
  onHostHealth: hook,
  getSite: hook,
  budget: fields({
    host: number(0, 1e6),
    source: number(0, 1e6),
    session: number(0, 1e6),
    earn: number(0, 1e6),
    episode: whole(0, 1e6),
  }),
  breaker: fields({
    consecutive: whole(1, 1e6),
    window: span,
    minRequests: whole(1, 1e6),
    ratio: number(0.01, 1),
    base: span,
    factor: number(1, 100),
    cap: span,
    decay: span,
    exhausted: flag,
  }),
  onExhausted: (field, value) => (typeof value === 'string' ? mode : hook)(field, value),
  bandwidth: fields(BANDWIDTH),
  fetch: hook,
  getCdnId: hook,
  onDiagnostic: hook,
  adviceHeader: must(
    (value) =>
      value === false || (typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value)),
    'the name of a header field, or false',
  ),
  cmsd: flag,
  holdLimit: wait,
  logCapacity: whole(0, 100_000),
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

/** What the naive preset makes of every site. @type {Partial<SitePolicy>} */
const NAIVE = { attempts: 4, onExhausted: 'reject', allowOverride: true, resume: false };

/**
 * Checks the options and merges each site's over its defaults.
 *
 * @param {EngineOptions} options
 * @param {import('./index.d.ts').SourceOptions} [source] laid over the options
 * @returns {Record<Site, SitePolicy>}
 */
export function parseOptions(options, source) {
  record('options', options);
  fields(ENGINE)('', options);
  if (source !== undefined) {
    fields({ sites: SITES_CHECK, hooks: fields(HOOKS), recovery })('source', source);
  }
  const breaker = { ...DEFAULT_BREAKER, ...defined(options.breaker) };
  checkSpan('breaker', breaker);
  const everywhere = typeof options.onExhausted === 'string' && options.onExhausted;
  /** @type {Partial<Record<Site, SitePolicy>>} */
  const sites = {};
  for (const site of SITES) {
    const usual = DEFAULT_SITES[site];
    const given = { ...defined(options.sites?.[site]), ...defined(source?.sites?.[site]) };
    const policy = {
      ...usual,
      ...(everywhere && { onExhausted: everywhere }),
      ...(options.preset === 'naive' && site !== 'other' && NAIVE),
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

/** @param {string} field @param {{ base: number, cap: number }} span */
function checkSpan(field, { base, cap }) {
  if (base > cap) throw new OptionsError(`${field}.base`, `at most its cap ${cap}`, base);
}

/** @param {Site} site @param {SitePolicy} policy */
function checkClass(site, { attempts, backoff, allowOverride, resume }) {
  const field = `sites.${site}`;
  checkSpan(`${field}.backoff`, backoff);
  if (BULK.includes(site) && resume === false && !allowOverride) {
    throw new OptionsError(
      `${field}.resume`,
      'true at this site (allowOverride: true lifts this)',
      resume,
    );
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
 * @param {import('./index.d.ts').RecoveryMatrix} [own] laid over that of the options
 */
export function flatten(options, sites, own) {
  const { holdLimit = 600_000, logCapacity = 256, bandwidth, budget, breaker } = options;
  return Float64Array.of(
    holdLimit,
    logCapacity,
    bandwidth?.fastHalfLife ?? 2,
    bandwidth?.slowHalfLife ?? 5,
    Number(options.preset === 'naive'),
    ...over(DEFAULT_BUDGET, budget),
    ...over(DEFAULT_BREAKER, breaker),
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
        policy.rotateAfter,
        rangesOf(policy),
      ];
    }),
    ...rules(-1, { ...options.recovery, ...own }),
    ...SITES.flatMap((site, code) => rules(code, sites[site].recovery)),
  );
}

/** What a site does with ranges, as bits. @param {Omit<SitePolicy, 'backoff'>} policy */
const rangesOf = ({ resume, assumeIdentity, trustUnexposedRange, rangeFirst }) =>
  (resume === false ? 1 : 0) |
  (assumeIdentity ? 2 : 0) |
  (trustUnexposedRange ? 4 : 0) |
  (rangeFirst ? 8 : 0);

/** @param {object} defaults @param {object} [given] @returns {number[]} */
const over = (defaults, given) => Object.values({ ...defaults, ...defined(given) });

/**
 * @param {number} site
 * @param {import('./index.d.ts').RecoveryMatrix} [matrix]
 */
const rules = (site, matrix) =>
  Object.entries(defined(matrix)).flatMap(([matter, what]) => [
    site,
    Number(matter) || 1000 + CLASSES.indexOf(/** @type {any} */ (matter)),
    RECOVERIES.indexOf(/** @type {any} */ (what)),
  ]);
