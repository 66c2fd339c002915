// @ts-check
/** What responses say besides: the server's advice, and what CORS hides of them. */

/** @typedef {import('./index.d.ts').EngineOptions} EngineOptions */

/** What CORS hides unless the server says otherwise, and what it is of use for here. */
const EXPOSED = ['Content-Encoding', 'Content-Range', 'Date', 'ETag', 'Retry-After'];

/**
 * The fields of a server's advice, or `undefined` where there are none that count.
 *
 * @param {Response} response
 * @param {string} url as it was asked for
 * @param {EngineOptions} options
 * @returns {[advice: string, dynamic: string] | undefined}
 */
export function adviceIn({ headers, url: from }, url, options) {
  const { adviceHeader = 'x-capsule-advice', cmsd } = options;
  const advice = (adviceHeader && headers.get(adviceHeader)) || '';
  const dynamic = (cmsd && headers.get('cmsd-dynamic')) || '';
  if (!advice && !dynamic) return undefined;
  // What a cache kept is not said now, and another origin speaks for itself alone.
  const isOwn = !from || new URL(from).origin === new URL(url, from).origin;
  return isOwn && !(Number(headers.get('age')) > 0) ? [advice, dynamic] : undefined;
}

/**
 * The header fields that a response lacks though they would be of use: hidden, or not sent.
 *
 * @param {Response} response
 */
export function hiddenOf({ type, status, headers }) {
  const isHidden = (/** @type {string} */ name) => !headers.has(name);
  if (type !== 'cors') return [];
  // Every server sends a date; where that cannot be read, most likely nothing was exposed.
  if (isHidden('date') && isHidden('etag')) return EXPOSED.filter(isHidden);
  if (status === 206) return ['Content-Range'].filter(isHidden);
  return status === 429 || status === 503 ? ['Retry-After'].filter(isHidden) : [];
}
