// @ts-check
/** The head that a caller expects, where the engine asked for another part than the caller did. */

import { placeOf } from './representation.js';
import { takingAfter } from './taking-after.js';

/**
 * @param {Response} response
 * @param {Pick<import('./transfer.js').Request, 'range' | 'last'>} request
 * @returns {Response}
 */
export function presented(response, { range, last }) {
  const { body, status } = response;
  const headers = new Headers(response.headers);
  const [first, , total] = placeOf(headers);
  if (status !== 206 || Number.isNaN(first)) return response;
  // Where neither end is known, nothing is said of it.
  const end = Math.min(last, (total || Infinity) - 1);
  if (end < Infinity) headers.set('content-length', String(end - first + 1));
  else headers.delete('content-length');
  if (range === null || end === Infinity) headers.delete('content-range');
  else headers.set('content-range', `bytes ${first}-${end}/${total || '*'}`);
  const statusText = range === null ? 'OK' : response.statusText;
  const init = { status: range === null ? 200 : 206, statusText, headers };
  return takingAfter(response, new Response(body, init));
}
