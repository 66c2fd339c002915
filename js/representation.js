// @ts-check
/** What the head of a response says, as numbers. */
import { hash } from './hosts.js';
import { retryAfterOf } from './retry-after.js';

/** A whole number. @param {string | null | undefined} text @returns {number} NaN where it is none */
const count = (text) => (/^\d+$/.test(text ?? '') ? Number(text) : NaN);

/** A number that tells texts apart, in 53 bits; NaN for none. @param {string | null} text */
export const tag = (text) =>
  text === null ? NaN : hash(text) * 2 ** 21 + (hash(`${text.length} ${text}`) >>> 11);

/**
 * The first byte, the last and the length of the whole (RFC 9110, 14.4); NaN for what is not
 * there.
 *
 * @param {Headers} headers
 */
export function placeOf(headers) {
  const place = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/i.exec(headers.get('content-range') ?? '');
  return [1, 2, 3].map((group) => count(place?.[group]));
}

/**
 * The status, what the body is made from, and what a refusal asks to wait; in the order of
 * `src/web/fetch.rs`, NaN for what is not known.
 *
 * @param {Response} response
 */
export function headOf({ headers, ok, redirected, status, type, url }) {
  const [first, last, total] = placeOf(headers);
  // What makes no sense is not there.
  const isPlace = !(first > last || last >= total);
  const etag = headers.get('etag');
  const coding = headers.get('content-encoding');
  const kind = (headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase();
  const isOpen = type === 'basic';
  // With `*` this field can be read as well, and what is not there is not hidden.
  const exposed = headers.get('access-control-expose-headers') ?? '';
  const isTold = isOpen || /\*|content-encoding/i.test(exposed);
  return [
    status,
    ...(isPlace ? [first, last, total] : [NaN, NaN, NaN]),
    // Of a response that was made here, it may be the length of what it was made from.
    type === 'default' ? NaN : count(headers.get('content-length')),
    tag(etag),
    Number(etag?.startsWith('W/') ?? false),
    tag(headers.get('last-modified')),
    // Validators are those of one resource (RFC 9110, 8.8), and a redirection may lead to another.
    tag(`${(redirected ? /^[^?#]*/ : /^\w+:\/\/[^/?#]*/).exec(url)?.[0]} ${kind}`),
    coding === null ? (isTold ? 0 : 2) : Number(!/^(identity)?$/i.test(coding)),
    Number(isOpen),
    ok ? NaN : retryAfterOf(headers, Date.now()),
  ];
}

/**
 * Makes an init ask for a part, past the cache, which may have a part of something else. In this
 * form a range needs no leave of CORS (Fetch, "CORS-safelisted request-header"); `If-Range` does.
 *
 * @param {RequestInit} init changed in place
 * @param {string | URL | Request} input
 * @param {number} first
 * @param {number} last
 * @param {string | null | undefined} etag of the bytes that were delivered, where nothing is asked
 *   of CORS
 */
export function askForPart(init, input, first, last, etag) {
  const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : {}));
  headers.set('range', `bytes=${first}-${last < Infinity ? last : ''}`);
  if (etag && !etag.startsWith('W/')) headers.set('if-range', etag);
  init.headers = headers;
  init.cache = 'no-store';
}
