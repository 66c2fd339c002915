// @ts-check
/** What is lost where CORS hides header fields, in words (R22). */

/** What there is to gain from each. @type {Record<string, string>} */
const GAINS = {
  'Content-Encoding': 'bodies that stopped are fetched on by their missing bytes alone',
  'Content-Range': 'parts of bodies can be told to be the right ones',
  Date: 'the times of Retry-After are free of the skew of clocks',
  ETag: 'bodies that stopped can be shown to be still the same',
  'Retry-After': 'requests come when the server wants them to',
};

/**
 * @param {string} origin
 * @param {Response} response that hides some of it, or does not send it
 * @returns {import('./index.d.ts').Diagnostic}
 */
export function diagnose(origin, { headers }) {
  const isAll = !headers.has('date') && !headers.has('etag');
  const of = isAll ? Object.keys(GAINS) : ['Content-Range'];
  const missing = of.filter((name) => !headers.has(name));
  const names = missing.join(', ');
  const gains = missing.map((name) => GAINS[name]).join('; ');
  return Object.freeze({
    origin,
    missing: Object.freeze(missing),
    message: `${origin} hides ${names} from pages, or does not send them. With "Access-Control-Expose-Headers: *" in its responses (or these names and its own, where there are credentials) ${gains}.`,
  });
}
