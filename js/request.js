// @ts-check
/** From what a caller passes to `fetch` to what a transfer needs. */
import { HoldfastError, OptionsError } from './errors.js';
import { SITES } from './names.js';
import { redact } from './redact.js';
import { siteOf } from './sites.js';

/** @typedef {import('./index.d.ts').Site} Site */

/**
 * @param {string | URL | Request} input
 * @param {import('./index.d.ts').FetchInit} options
 * @returns {Pick<import('./transfer.js').Request,
 *   'site' | 'url' | 'host' | 'input' | 'init' | 'once' | 'noBody' | 'optional' | 'ahead' | 'range' | 'first' | 'last' | 'inOne' | 'signal'>}
 * @throws {HoldfastError} INVALID_URL, INVALID_OPTION
 */
export function describe(input, options) {
  const { site, signal, idempotent, optional = false, purpose, ...init } = options;
  if (site !== undefined && !SITES.includes(site)) {
    throw new OptionsError('site', `one of ${SITES.join(', ')}`, site);
  }
  if (purpose !== undefined && !/^(needed|ahead)$/.test(purpose)) {
    throw new OptionsError('purpose', 'needed or ahead', purpose);
  }
  const request = typeof input !== 'string' && input instanceof Request ? input : undefined;
  const url = request ? request.url : String(input);
  const host = originOf(url);
  const method = (init.method ?? request?.method ?? 'GET').toUpperCase();
  const streamed = /** @type {any} */ (init.body)?.getReader !== undefined;
  const kind = site ?? (method === 'GET' ? siteOf(parse(url).pathname) : 'other');
  const safe = /^(GET|HEAD)$/.test(method) || (idempotent ?? kind === 'license');
  const given = init.headers ?? request?.headers;
  // What is touched first is made then: a cold start has no time for it.
  const headers = given && new Headers(given);
  // Some can be read only once.
  if (/** @type {any} */ (init.headers)?.[Symbol.iterator]) init.headers = headers;
  // `fetch` refuses a malformed init as it refuses a dead network; told apart here, once.
  if (request?.bodyUsed) throw new TypeError('The body of the request has been used');
  if (!request && !streamed && Object.keys(init).length > 0) new Request(parse(url), init);
  const ahead = purpose === 'ahead';
  // Where the browser knows how: it yields to what is needed (Fetch, "priority").
  if (ahead) init.priority ??= 'low';
  // Any init takes these from a request (Fetch, 5.4).
  if (request) {
    init.referrer ??= request.referrer;
    init.referrerPolicy ??= request.referrerPolicy;
  }
  const range = headers?.get('range') ?? null;
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range ?? 'bytes=0-') ?? [];
  const whole = init.integrity || request?.integrity || headers?.has('if-range');
  return {
    site: kind,
    url,
    host,
    input: request ?? url,
    init,
    once: !safe || streamed,
    noBody: method !== 'GET' && kind !== 'license',
    optional,
    ahead,
    range,
    first: Number(first ?? 0),
    last: Number(last || Infinity),
    inOne: first === undefined || method !== 'GET' || Boolean(whole),
    signal: signal === undefined ? request?.signal : signal,
  };
}

/** What is a URL whatever path follows: to parse it each time is slow. */
const AUTHORITY = /^https?:\/\/[\w.-]+(:\d+)?(?=[/?#]|$)/;
/** @type {Map<string, string>} */
const origins = new Map();

/** @param {string} url as a caller writes it */
function originOf(url) {
  const start = AUTHORITY.exec(/^\/[\w.-]/.test(url) ? String(base()) : url)?.[0];
  const origin = origins.get(start ?? '') ?? parse(url).origin;
  if (start) origins.set(start, origin);
  return origin;
}

const base = () => globalThis.document?.baseURI ?? globalThis.location?.href;

/** @param {string} url as a caller writes it */
export function parse(url) {
  try {
    return new URL(url, base());
  } catch {
    // Browsers' own words repeat the URL.
    const message = `not a URL: ${redact(url)} (outside a page it must be absolute)`;
    throw new HoldfastError('INVALID_URL', message);
  }
}

/**
 * SPF's resource as the arguments of `fetch`. The range is inclusive at both ends, and goes
 * beside the caller's own headers, not instead of them.
 *
 * @template {RequestInit} T
 * @param {import('./index.d.ts').Resource} resource
 * @param {T} init
 * @returns {[url: string, init: T]}
 */
export function resourceToFetch({ url, byteRange }, init) {
  if (!byteRange) return [url, init];
  const headers = new Headers(init.headers);
  headers.set('Range', `bytes=${byteRange.start}-${byteRange.end}`);
  return [url, { ...init, headers }];
}
