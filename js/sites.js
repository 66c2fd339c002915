// @ts-check
/**
 * The defaults of each fetch site, in milliseconds. The core has the same table
 * (`src/core/site.rs`); `tests/vectors/sites.json` holds both to it.
 */

/** @typedef {import('./index.d.ts').SitePolicy} SitePolicy */

const LONG_WAIT = 300_000;
/** @type {Partial<SitePolicy>} */
const REJECT = { onExhausted: 'reject' };

/**
 * One row of the table, in seconds.
 *
 * @param {number} headers
 * @param {number} stall
 * @param {number} attempts
 * @param {number} base
 * @param {number} cap
 * @param {number} deadline
 * @param {number} [maxWait] in milliseconds
 * @param {Partial<SitePolicy>} [rest]
 * @returns {SitePolicy}
 */
const row = (headers, stall, attempts, base, cap, deadline, maxWait = LONG_WAIT, rest) =>
  Object.freeze({
    headersTimeout: headers * 1000,
    firstHeadersTimeout: headers * 1000,
    stallTimeout: stall * 1000,
    attempts,
    backoff: Object.freeze({ base: base * 1000, factor: 2, cap: cap * 1000 }),
    deadline: deadline * 1000,
    maxWait,
    onExhausted: 'auto',
    rotateAfter: 0,
    ...rest,
  });

const key = row(8, 5, 3, 0.5, 4, 15, 15_000);

/** @type {Readonly<Record<import('./index.d.ts').Site, Readonly<SitePolicy>>>} */
export const DEFAULT_SITES = Object.freeze({
  manifest: row(10, 6, 6, 0.5, 8, 60, LONG_WAIT, { firstHeadersTimeout: 3500 }),
  playlist: row(10, 8, 3, 0.5, 4, 20, 20_000),
  'playlist-reload': row(10, 8, 3, 0.5, 4, 20),
  init: row(6, 5, 4, 0.4, 3, 15),
  segment: row(8, 5, 4, 0.4, 3, 15),
  key,
  license: row(15, 10, 3, 1, 4, 20, 20_000, REJECT),
  certificate: row(8, 5, 3, 0.5, 4, 15, 15_000, REJECT),
  'text-segment': row(8, 5, 3, 0.5, 4, 10, LONG_WAIT, REJECT),
  steering: row(10, 10, 2, 1, 4, 300, LONG_WAIT, REJECT),
  other: row(30, 30, 1, 1, 4, 30, 0, REJECT),
});

/** The retry budget, in retries; the order is that of `src/web/options.rs`. */
export const DEFAULT_BUDGET = Object.freeze({
  host: 10,
  source: 20,
  session: 20,
  earn: 0.1,
  episode: 200,
});

/** The breaker of a host, in milliseconds; the order is that of `src/web/options.rs`. */
export const DEFAULT_BREAKER = Object.freeze({
  consecutive: 5,
  window: 30_000,
  minRequests: 10,
  ratio: 0.5,
  base: 4000,
  factor: 1.5,
  cap: 30_000,
  decay: 30_000,
  exhausted: false,
});

/**
 * The site of an URL that came without one: by the ending of its path, and `other`, which
 * never retries, for all that is not known.
 *
 * @param {string} path
 * @returns {import('./index.d.ts').Site}
 */
export function siteOf(path) {
  const ending = /\.(\w+)$/.exec(path)?.[1].toLowerCase() ?? '';
  if (/^m3u8?$/.test(ending)) return 'playlist';
  if (/^(vtt|webvtt)$/.test(ending)) return 'text-segment';
  if (/^(mp4|m4[sva]|cmf[va]|ts|aac|mp3|webm)$/.test(ending)) return 'segment';
  return ending === 'key' ? 'key' : 'other';
}
