// @ts-check
/** What a response says of the representation that its body is made from, as numbers. */
import { retryAfterOf } from './retry-after.js';

/** A whole number. @param {string | null | undefined} text @returns {number} NaN where it is none */
const count = (text) => (/^\d+$/.test(text ?? '') ? Number(text) : NaN);

/**
 * A number that tells texts apart: 53 bits of two rounds of FNV-1a. NaN for none.
 *
 * @param {string | null} text
 */
export function tag(text) {
  if (text === null) return NaN;
  let low = 0x811c9dc5;
  let high = 0x1000193;
  for (let i = 0; i < text.length; i += 1) {
    low = Math.imul(low ^ text.charCodeAt(i), 0x01000193);
    high = Math.imul(high ^ text.charCodeAt(i) ^ (low >>> 15), 0x85ebca6b);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}

/**
 * In the order of `src/web/fetch.rs`; NaN for what is not known. A refusal adds its wait.
 *
 * @param {Response} response
 */
export function representationOf({ headers, ok, type, url }) {
  // RFC 9110, 14.4. What makes no sense is not there.
  const place = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/i.exec(headers.get('content-range') ?? '');
  const [first, last, total] = [1, 2, 3].map((group) => count(place?.[group]));
  const isPlace = !(first > last || last >= total);
  const etag = headers.get('etag');
  const coding = headers.get('content-encoding');
  const kind = (headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase();
  const isOpen = type !== 'cors';
  return [
    ...(isPlace ? [first, last, total] : [NaN, NaN, NaN]),
    count(headers.get('content-length')),
    tag(etag),
    Number(etag?.startsWith('W/') ?? false),
    tag(headers.get('last-modified')),
    tag(`${/^\w+:\/\/[^/?#]*/.exec(url)?.[0]} ${kind}`),
    coding === null ? (isOpen ? 0 : 2) : Number(!/^(identity)?$/i.test(coding)),
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
