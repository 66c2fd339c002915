// @ts-check
/** Whether a response says something besides: the server's advice, and what CORS hides of it. */

/**
 * The two fields in which a server advises; empty where there is none.
 *
 * @param {Headers} headers
 * @param {import('./index.d.ts').EngineOptions} options
 */
export const adviceIn = (headers, { adviceHeader = 'x-capsule-advice', cmsd }) => [
  (adviceHeader && headers.get(adviceHeader)) || '',
  (cmsd && headers.get('cmsd-dynamic')) || '',
];

/** Whether CORS hides what would have been of use. @param {Response} response */
export function isVeiled({ type, status, headers }) {
  const isHidden = (/** @type {string} */ name) => !headers.has(name);
  return (
    type === 'cors' &&
    // Every server sends a date; where that cannot be read, most likely nothing was exposed.
    ((isHidden('date') && isHidden('etag')) ||
      (status === 206 && isHidden('content-range')) ||
      ([429, 503].includes(status) && isHidden('retry-after')))
  );
}
