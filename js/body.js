// @ts-check
/**
 * The body pump: reads a chunk, tells the monitor its length, passes the chunk on. The one
 * hot loop of this package; it knows nothing of policy and would run without the module.
 */

import { concat } from './bytes.js';

/** The attempt is over; its body does not count. */
export const LOST = Symbol('lost');
/** So many bytes tell a page. */
const ENOUGH = 16;
/** @typedef {typeof LOST} Lost */

/**
 * Who is told what happens to a body.
 *
 * @typedef {object} Monitor
 * @property {() => void} reading somebody waits for a chunk
 * @property {(bytes: number, more: boolean) => boolean} chunk whether the attempt still counts
 * @property {() => boolean} end whether the body was whole
 * @property {(error: unknown) => void} lost the stream broke
 * @property {() => void} page the first bytes are a page where media was asked for
 */

/** The body of one attempt. */
export class Body {
  /** @type {ReadableStreamDefaultReader<Uint8Array> | undefined} */
  #reader;
  /** @type {Uint8Array | undefined} a chunk that was looked at and not yet passed on */
  #held;
  #awaited = false;
  /** The first bytes, while they are too few to tell a page by. */
  #start = new Uint8Array();
  #cut = false;
  #type;
  /** @type {Monitor} may be exchanged while the body is under way */
  monitor;
  /** Bytes so far. */
  received = 0;
  /** @type {'open' | 'whole' | 'lost' | 'page'} */
  state = 'open';

  /**
   * @param {Response} response
   * @param {Monitor} monitor
   * @param {boolean} inspect whether a page is refused
   */
  constructor(response, monitor, inspect) {
    this.#reader = response.body?.getReader();
    this.#type = inspect ? (response.headers.get('content-type') ?? '') : undefined;
    this.monitor = monitor;
  }

  /** Whether the declared type is reason enough to look before the head is passed on. */
  get suspicious() {
    return /html|json/i.test(this.#type ?? '');
  }

  /** Whether somebody waits for a chunk right now. */
  get isAwaited() {
    return this.#awaited;
  }

  /** Reads the first chunk and keeps it. Resolves to whether the body may be passed on. */
  async look() {
    const chunk = await this.read(0);
    if (chunk === LOST) return false;
    if (chunk) this.#held = chunk;
    return true;
  }

  /**
   * The next chunk, `null` at the end of a whole body, or `LOST`.
   *
   * @param {number} wanted bytes; after a chunk with fewer the next one is waited for at once
   * @returns {Promise<Uint8Array | null | Lost>}
   */
  async read(wanted) {
    if (this.#held) {
      const held = this.#held;
      this.#held = undefined;
      return held;
    }
    if (this.state === 'whole') return null;
    this.#awaited = true;
    this.monitor.reading();
    let result;
    try {
      result = await (this.#reader?.read() ?? { done: true, value: undefined });
    } catch (error) {
      return this.#lose('lost', () => this.monitor.lost(error));
    } finally {
      this.#awaited = false;
    }
    if (this.#cut) return LOST;
    const { done } = result;
    const chunk = this.#first(result.value, done);
    if (chunk === LOST) return this.#lose('page', () => this.monitor.page());
    if (chunk) {
      this.received += chunk.byteLength;
      return this.monitor.chunk(chunk.byteLength, !done && chunk.byteLength < wanted)
        ? chunk
        : LOST;
    }
    if (!done) return this.read(wanted);
    this.state = 'whole';
    if (this.monitor.end()) return null;
    this.state = 'lost';
    return LOST;
  }

  /**
   * Holds the first bytes back until there are enough to tell a page by; passes others on.
   *
   * @param {Uint8Array | undefined} chunk
   * @param {boolean} done
   * @returns {Uint8Array | undefined | Lost}
   */
  #first(chunk, done) {
    if (this.#type === undefined) return chunk;
    const start = concat([this.#start, chunk ?? new Uint8Array()]);
    this.#start = start;
    if (start.byteLength < ENOUGH && !done) return undefined;
    if (!done && start.byteLength < 1024 && isBlank(start)) return undefined;
    const page = isPage(start, this.#type);
    this.#type = undefined;
    return page ? LOST : start.byteLength > 0 ? start : undefined;
  }

  /** @param {'lost' | 'page'} state @param {() => void} tell @returns {Lost} */
  #lose(state, tell) {
    if (!this.#cut) {
      this.state = state;
      tell();
    }
    return LOST;
  }

  /** The attempt is over: whatever still arrives does not count. */
  cut() {
    this.#cut = true;
    this.cancel();
  }

  /** Lets the network go. @param {unknown} [reason] */
  cancel(reason) {
    // A body that has broken already says so again here, to nobody.
    this.#reader?.cancel(reason).catch(() => {});
  }
}

/** Whether there is nothing but white space yet. @param {Uint8Array} bytes */
const isBlank = (bytes) => bytes.every((byte) => byte === 32 || (byte >= 9 && byte <= 13));

/**
 * Whether bytes are the start of an HTML page or, where the type says so, of a JSON document.
 * Only what is certain counts: servers label playlists and segments with all sorts of types.
 *
 * @param {Uint8Array} chunk
 * @param {string} type
 */
export function isPage(chunk, type) {
  const start = new TextDecoder('latin1')
    .decode(chunk.subarray(0, 1100))
    .replace(/^(ï»¿)?\s+|^ï»¿/, '')
    .toLowerCase();
  if (/^(<(\?xml|!--)[^>]*>\s*)*<(!doctype html|html|head|body|script|title)\b/.test(start))
    return true;
  if (/html/i.test(type)) return start.startsWith('<');
  return /json/i.test(type) && /^[{[]/.test(start);
}
