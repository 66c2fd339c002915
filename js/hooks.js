// @ts-check
/** The embedder's hooks: which one counts for a request. */

/** @typedef {import('./index.d.ts').HookSet} HookSet */
/** @typedef {import('./index.d.ts').EngineOptions} EngineOptions */

const LICENSED = ['license', 'certificate'];

/**
 * The hooks of one request: the source's own for its site, then the source's, then the site's,
 * then the engine's. The most specific one counts, alone; what it leaves open the built-in
 * decision decides.
 *
 * @param {EngineOptions} options
 * @param {import('./index.d.ts').SourceOptions | undefined} source
 * @param {import('./index.d.ts').Site} site
 */
export function hooksFor(options, source, site) {
  const none = options.preset === 'naive' || site === 'other';
  const levels = none
    ? []
    : [options, options.sites?.[site], source?.hooks, source?.sites?.[site]].map(
        (level) => level ?? {},
      );
  /** @type {HookSet & { singleUse?: boolean, refreshBeforeRetry?: boolean }} */
  const set = Object.assign({}, ...levels.map(pick));
  const licensed = LICENSED.includes(site);
  const { shouldRetry, refreshPlaybackToken, refreshLicenseRequest, refreshBeforeRetry } = set;
  return {
    ...set,
    // What a request is started with (`src/core/hook.rs`).
    bits:
      (shouldRetry ? 1 : 0) |
      (refreshPlaybackToken && !licensed ? 2 : 0) |
      (refreshLicenseRequest && licensed ? (refreshBeforeRetry ? 4 | 8 : 4) : 0),
  };
}

const NAMES = /** @type {const} */ ([
  'shouldRetry',
  'refreshPlaybackToken',
  'refreshLicenseRequest',
  'detectRateLimit',
  'detectExpiry',
  'singleUse',
  'refreshBeforeRetry',
]);

/** @param {Record<string, any>} level */
const pick = (level) =>
  Object.fromEntries(
    NAMES.flatMap((name) => (level[name] === undefined ? [] : [[name, level[name]]])),
  );

/** @typedef {ReturnType<typeof hooksFor>} Hooks */

/**
 * Whether there is any hook, or anybody to be told of attempts, so that `counsel.js` is needed.
 *
 * @param {EngineOptions} options
 * @param {import('./index.d.ts').SourceOptions} [source]
 */
export const hasHooks = ({ preset, onAttemptFailed, sites = {}, ...options }, source) =>
  preset !== 'naive' &&
  (onAttemptFailed !== undefined ||
    [options, source?.hooks, ...Object.values(sites), ...Object.values(source?.sites ?? {})].some(
      (level) => NAMES.slice(0, 5).some((name) => level && name in level),
    ));
