// @ts-check
/**
 * What reaches a player is what it asked for (R28): pages, wrong containers, and bodies that
 * break off where no length tells. Only what is certain counts: servers label playlists and
 * segments with all sorts of types.
 */
import { LOST } from './body.js';
import { concat } from './bytes.js';
import { attempt } from './attempt.js';

/** @typedef {import('./index.d.ts').SitePolicy} SitePolicy */

/** Few need it, and they have it loaded. @type {typeof import('./scrutiny.js') | undefined} */
let scrutiny;
/** Where it cannot be had, less is checked. */
export const loadScrutiny = async () => {
  scrutiny = await import('./scrutiny.js');
};

const NOTHING = new Uint8Array();
/** So many bytes tell what a body is, behind white space and the like. */
const ENOUGH = 16;
/** Nobody waits longer for white space and the like to end, in bytes. */
const PATIENCE = 1024;
/** What neither a page nor what may come before one begins with, as most bodies do. */
const MEDIA = /[^\s<[{ï]/;
/** What may come before the first element of a page; the last of it may still be under way. */
const PROLOG = /^(<(\?xml|!--)[^>]*(>\s*|$))*/i;

/**
 * @typedef {object} Facts
 * @property {boolean} inspect whether HTML and JSON pages are refused
 * @property {string} type the content type, for that
 * @property {SitePolicy['container']} [container] what the body must start like
 * @property {boolean} boxes whether the last ISO-BMFF box must be whole: no length is known
 * @property {import('./index.d.ts').BodyValidator} [validate]
 */

/**
 * Judges one representation from its first byte, over however many attempts deliver it. Bytes are
 * held back only before any was passed on: an attempt that goes on is behind them, and one that
 * starts over needs a new judge.
 */
export class Integrity {
  #facts;
  /** @type {Uint8Array | undefined} the first bytes, until they are enough to be judged */
  #start;
  /** @type {import('./scrutiny.js').Boxes | undefined} */
  #boxes;
  /** @type {Promise<unknown> | undefined} nothing may be pushed before it is over */
  ready;
  /** Bytes that were passed on. */
  #size = 0;

  /** @param {Facts} facts */
  constructor(facts) {
    this.#facts = facts;
    const { boxes, container } = facts;
    if (facts.inspect || container) this.#start = NOTHING;
    if (boxes || container) {
      const begin = () => {
        if (boxes) this.#boxes = new /** @type {any} */ (scrutiny).Boxes();
        this.ready = undefined;
      };
      if (scrutiny) begin();
      else
        this.ready = loadScrutiny()
          .then(begin)
          .catch(() => (this.ready = undefined));
    }
  }

  get #container() {
    const { container } = this.#facts;
    return container && scrutiny?.CONTAINERS[container];
  }

  /** Whether the declared type is reason enough to look before the head is passed on. */
  get suspicious() {
    const { inspect, type } = this.#facts;
    return inspect && this.#start !== undefined && /html|json/i.test(type);
  }

  /**
   * What may be passed on now, with what was held back, or `LOST`: it is not what was asked for.
   *
   * @param {Uint8Array | undefined} chunk
   * @param {boolean} done whether nothing follows
   * @returns {Uint8Array | undefined | import('./body.js').Lost}
   */
  push(chunk, done) {
    const passed = this.#start ? this.#first(this.#start, chunk, done) : chunk;
    if (passed === LOST || !passed?.byteLength) return passed;
    if (this.#refuses(passed)) return LOST;
    this.#boxes?.push(passed);
    this.#size += passed.byteLength;
    return passed;
  }

  /** What is to be said of a body that has ended. @returns {'whole' | 'cut' | 'wrong'} */
  end() {
    const { packet = 1 } = this.#container ?? {};
    if (this.#size % packet > 0 || this.#boxes?.isCut) return 'cut';
    return this.#refuses(null) ? 'wrong' : 'whole';
  }

  /**
   * Holds the first bytes back until there are enough to judge them.
   *
   * @param {Uint8Array} held
   * @param {Uint8Array} [chunk]
   * @param {boolean} [done]
   * @returns {Uint8Array | undefined | import('./body.js').Lost}
   */
  #first(held, chunk = NOTHING, done) {
    const { inspect, type } = this.#facts;
    const start = held.byteLength > 0 ? concat([held, chunk]) : chunk;
    this.#start = start;
    const container = this.#container;
    const enough = Math.max(ENOUGH, (container?.packet ?? 0) + 1);
    const isMedia = MEDIA.test(String.fromCharCode(start[0]));
    const { length } = isMedia ? start : textOf(start).replace(PROLOG, '');
    const isShort = start.byteLength < PATIENCE && length < enough;
    // Nothing at all is no page: that it is empty is for others to say.
    if (start.byteLength === 0 || (isShort && !done)) return undefined;
    this.#start = undefined;
    const isRight = container
      ? container.starts(start, textOf(start))
      : isMedia || !(inspect && isPage(start, type));
    return isRight ? start : LOST;
  }

  /** @param {Uint8Array | null} chunk */
  #refuses(chunk) {
    const { validate } = this.#facts;
    return validate !== undefined && attempt(() => validate(chunk)) === false;
  }
}

/**
 * The judge of a response that starts from the first byte of what was asked for; `undefined`
 * where there is nothing to check.
 *
 * @param {object} request
 * @param {import('./index.d.ts').Site} request.site
 * @param {string} request.url
 * @param {Pick<SitePolicy, 'container' | 'validate'>} request.policy
 * @param {string | null} [request.range] the caller's own: it may end within a box
 * @param {boolean} [request.noBody] a success has no body
 * @param {Response} response
 * @param {boolean} inspect whether pages are refused at this site
 */
export function integrityFor({ site, url, policy, range, noBody }, response, inspect) {
  const { ok, status, headers } = response;
  if (!ok || noBody) return undefined;
  const made = attempt(() => policy.validate?.({ site, url, status, headers }));
  const validate = typeof made === 'function' ? made : undefined;
  const boxes = /^(init|segment)$/.test(site) && !range && !headers.has('content-length');
  const { container } = policy;
  if (!(inspect || container || validate || boxes)) return undefined;
  const type = headers.get('content-type') ?? '';
  return new Integrity({ inspect, type, container, boxes, validate });
}

const latin1 = (/** @type {Uint8Array} */ bytes) =>
  new TextDecoder('latin1').decode(bytes.subarray(0, 2 * PATIENCE));

/** The beginning, a character a byte, behind the byte order mark of UTF-8 and white space. */
const textOf = (/** @type {Uint8Array} */ bytes) => latin1(bytes).replace(/^(ï»¿)?\s*/, '');

/**
 * Whether bytes are the start of an HTML page or, where the type says so, of a JSON document.
 *
 * @param {Uint8Array} bytes
 * @param {string} type
 */
export function isPage(bytes, type) {
  const start = textOf(bytes).toLowerCase();
  const element = start.replace(PROLOG, '');
  if (/^<(!doctype html|html|head|body|script|title)\b/.test(element)) return true;
  if (/html/i.test(type)) return start.startsWith('<');
  return /json/i.test(type) && /^[{[]/.test(start);
}
