// @ts-check
/** What is lost where CORS hides header fields, in words (R22). */

/** @typedef {import('./index.d.ts').EngineState} EngineState */

/** What there is to gain from each. @type {Record<string, string>} */
const GAINS = {
  'Content-Encoding': 'bodies that stopped are fetched on by their missing bytes alone',
  'Content-Range': 'parts of bodies can be told to be the right ones',
  Date: 'the times of Retry-After are free of the skew of clocks',
  ETag: 'bodies that stopped can be shown to be still the same',
  'Retry-After': 'requests come when the server wants them to',
};

/** So many origins are told of; where each segment has its own, the first say it all. */
const ORIGINS = 100;

/**
 * @param {Response} response that hides some of it, or does not send it
 * @param {string} url that was asked for
 * @param {EngineState['diagnostics']} told so far
 * @returns {import('./index.d.ts').Diagnostic | undefined} nothing where the origin is told of
 */
export function diagnose({ headers, status, url: answered }, url, told) {
  const { origin } = new URL(answered || url, globalThis.document?.baseURI);
  if (told.length >= ORIGINS || told.some((event) => event.origin === origin)) return undefined;
  const isAll = !headers.has('date') && !headers.has('etag');
  const of = isAll ? Object.keys(GAINS) : [status === 206 ? 'Content-Range' : 'Retry-After'];
  const missing = of.filter((name) => !headers.has(name));
  const names = missing.join(', ');
  const gains = missing.map((name) => GAINS[name]).join('; ');
  return Object.freeze({
    origin,
    missing: Object.freeze(missing),
    message: `${origin} hides ${names} from pages, or does not send them. With "Access-Control-Expose-Headers: *" in its responses (or these names and its own, where there are credentials) ${gains}.`,
  });
}
