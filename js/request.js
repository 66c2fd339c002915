// @ts-check
/** From what a caller passes to `fetch` to what a transfer needs. */
import { HoldfastError, OptionsError } from './errors.js';
import { SITES } from './names.js';
import { redact } from './redact.js';
import { siteOf } from './sites.js';

/** @typedef {import('./index.d.ts').Site} Site */

/**
 * @param {string | URL | Request} input
 * @param {import('./index.d.ts').FetchInit} init
 * @returns {Pick<import('./transfer.js').Request,
 *   'site' | 'url' | 'host' | 'input' | 'init' | 'once' | 'noBody' | 'optional' | 'range' | 'signal'>}
 * @throws {HoldfastError} INVALID_URL, INVALID_OPTION
 */
export function describe(input, { site, signal, idempotent, optional = false, ...init }) {
  if (site !== undefined && !SITES.includes(site)) {
    throw new OptionsError('site', `one of ${SITES.join(', ')}`, site);
  }
  const request = input instanceof Request ? input : undefined;
  const url = request ? request.url : String(input);
  const parsed = parse(url);
  const method = (init.method ?? request?.method ?? 'GET').toUpperCase();
  const streamed = init.body instanceof ReadableStream;
  const kind = site ?? (method === 'GET' ? siteOf(parsed.pathname) : 'other');
  const safe = /^(GET|HEAD)$/.test(method) || (idempotent ?? kind === 'license');
  // `fetch` refuses a malformed init as it refuses a dead network; told apart here, once.
  if (request?.bodyUsed) throw new TypeError('The body of the request has been used');
  if (!request && !streamed && Object.keys(init).length > 0) new Request(parsed, init);
  return {
    site: kind,
    url,
    host: parsed.origin,
    input: request ?? url,
    init,
    once: !safe || streamed,
    noBody: method !== 'GET' && kind !== 'license',
    optional,
    range: rangeOf(request?.headers ?? init.headers),
    signal: signal === undefined ? request?.signal : signal,
  };
}

/** @param {HeadersInit | undefined} headers */
const rangeOf = (headers) => (headers ? new Headers(headers).get('range') : null);

/** @param {string} url */
function parse(url) {
  try {
    return new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href);
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
