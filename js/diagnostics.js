// @ts-check
/** What CORS hides of responses, and what that costs: said once an origin (R22). */

/** @typedef {import('./index.d.ts').Diagnostic} Diagnostic */

/** What there is to gain from each header field. */
const GAINS = {
  'Content-Encoding': 'bodies that stopped are fetched on by their missing bytes',
  'Content-Range': 'parts of bodies can be placed',
  Date: 'times of Retry-After are free of the skew of clocks',
  ETag: 'bodies that stopped can be shown to be the same',
  'Retry-After': 'the server is asked again when it wants to be',
};

export class Diagnostics {
  /** @type {readonly Diagnostic[]} */
  #all = Object.freeze([]);
  #tell;

  /** @param {(all: readonly Diagnostic[], event: Diagnostic) => void} tell */
  constructor(tell) {
    this.#tell = tell;
  }

  /** @param {Response} response @param {import('./index.d.ts').Site} site */
  look({ type, url, status, headers }, site) {
    if (type !== 'cors' || site === 'other') return;
    const isHidden = (/** @type {string} */ name) => !headers.has(name);
    // Every server sends a date; where that cannot be read, most likely nothing was exposed.
    const missing = ['Date', 'ETag'].every(isHidden)
      ? Object.keys(GAINS)
      : [status === 206 && 'Content-Range', /^(429|503)$/.test(`${status}`) && 'Retry-After'].filter(
          (name) => typeof name === 'string' && isHidden(name),
        );
    const { origin } = new URL(url);
    if (missing.length === 0 || this.#all.some((event) => event.origin === origin)) return;
    const names = /** @type {Array<keyof typeof GAINS>} */ (missing);
    const event = Object.freeze({
      origin,
      missing: Object.freeze(names),
      message: `${origin} hides ${names.join(', ')} from pages. With "Access-Control-Expose-Headers: ${names.join(', ')}" in its responses ${names.map((name) => GAINS[name]).join('; ')}.`,
    });
    this.#all = Object.freeze([...this.#all, event]);
    this.#tell(this.#all, event);
  }
}
