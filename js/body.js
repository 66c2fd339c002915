// @ts-check
/**
 * The body pump: reads a chunk, tells the monitor its length, passes the chunk on. The one
 * hot loop of this package; it knows nothing of policy and would run without the module.
 */

/** The attempt is over; its body does not count. */
export const LOST = Symbol('lost');
/** @typedef {typeof LOST} Lost */

/** A response without a body. @type {ReadableStreamReadResult<Uint8Array>} */
const END = { done: true, value: undefined };

/**
 * Who is told what happens to a body.
 *
 * @typedef {object} Monitor
 * @property {() => void} reading somebody waits for a chunk
 * @property {(bytes: number, more: boolean) => boolean} chunk so many are skipped or passed on,
 *   and whether the next ones are waited for at once; answers whether the attempt still counts
 * @property {(whole: boolean, bytes: number) => boolean} end the stream has ended, whether the bytes
 *   themselves say that it was whole, and how many there were; answers whether it counts as that
 * @property {(error: unknown) => void} lost the stream broke
 * @property {() => void} page the body is not what was asked for
 */

/**
 * @typedef {object} Part What of a body is passed on.
 * @property {import('./integrity.js').Integrity} [integrity] judges what is passed on
 * @property {number} [skip] so many first bytes are with the caller already
 * @property {number} [take] at most so many bytes behind those; more are not waited for
 */

/** The body of one attempt. */
export class Body {
  /** @type {ReadableStreamDefaultReader<Uint8Array> | undefined} */
  #reader;
  /** @type {Uint8Array | undefined} a chunk that was looked at and not yet passed on */
  #held;
  #cut = false;
  #isDraining = false;
  /** @type {Monitor | undefined} who was told with the last chunk that the next one is waited for */
  #expecting;
  #integrity;
  #skip;
  #take;
  /** Whether some bytes are not passed on. */
  #isTrimmed;
  /** @type {Monitor} may be exchanged while the body is under way */
  monitor;
  /** Bytes so far, skipped ones included; the monitor was told of them. */
  received = 0;
  /** @type {'open' | 'whole' | 'lost' | 'page'} */
  state = 'open';
  /** Whether somebody waits for a chunk right now. */
  isAwaited = false;
  /** Whether it goes on where the body before it stopped. */
  follows = false;
  /** Whether it is not the whole body that was asked for. */
  isPart = false;

  /**
   * @param {Response} response
   * @param {Monitor} monitor
   * @param {Part} [part]
   */
  constructor(response, monitor, { integrity, skip = 0, take = Infinity } = {}) {
    this.#reader = response.body?.getReader();
    this.#integrity = integrity;
    this.#skip = skip;
    this.#take = take;
    this.#isTrimmed = skip > 0 || take < Infinity;
    this.monitor = monitor;
  }

  /** Whether the declared type is reason enough to look before the head is passed on. */
  get suspicious() {
    return this.#integrity?.suspicious ?? false;
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
    if (this.#integrity?.ready) await this.#integrity.ready;
    for (;;) {
      if (this.state === 'whole') return null;
      let result = END;
      if (this.#take > 0) {
        this.isAwaited = true;
        if (this.#expecting !== this.monitor) this.monitor.reading();
        this.#expecting = undefined;
        try {
          result = await (this.#reader?.read() ?? END);
        } catch (error) {
          return this.#lose('lost', () => this.monitor.lost(error));
        } finally {
          this.isAwaited = false;
        }
      }
      if (this.#cut) return LOST;
      const { value, done } = result;
      let part = value;
      let skipped = 0;
      if (value && this.#isTrimmed) {
        skipped = Math.min(this.#skip, value.byteLength);
        part = value.subarray(skipped, skipped + this.#take);
        this.#skip -= skipped;
        this.#take -= part.byteLength;
      }
      const isLast = done || this.#take === 0;
      const chunk = this.#integrity ? this.#integrity.push(part, isLast) : part;
      if (chunk === LOST) return this.#lose('page', () => this.monitor.page());
      const size = chunk?.byteLength ?? 0;
      const bytes = skipped + size;
      this.received += bytes;
      const isAwaited = !isLast && size < Math.max(wanted, 1);
      if (isAwaited) this.#expecting = this.monitor;
      // What is held back is no silence.
      if ((value || bytes > 0) && !this.monitor.chunk(bytes, isAwaited)) return LOST;
      if (this.#cut) return LOST;
      if (this.#take === 0) this.#drain();
      if (chunk && size > 0) return chunk;
      if (isLast) return this.#end();
    }
  }

  /** The stream has ended, or all that is wanted of it is there. @returns {null | Lost} */
  #end() {
    // Of two that read at once, where nothing comes to only one.
    if (this.state === 'whole') return null;
    const said = this.#integrity?.end() ?? 'whole';
    if (said === 'wrong') return this.#lose('page', () => this.monitor.page());
    this.state = 'whole';
    // One that ends within what the caller has already is another, shorter one.
    const isThere = this.#skip === 0 || this.#take === 0;
    const counts = this.monitor.end(said === 'whole' && isThere, this.received);
    if (counts && !this.#cut) return null;
    this.state = 'lost';
    return LOST;
  }

  /** @param {'lost' | 'page'} state @param {() => void} tell @returns {Lost} */
  #lose(state, tell) {
    if (!this.#cut) {
      this.state = state;
      tell();
    }
    return LOST;
  }

  /** All that is wanted is there. The connection may serve again, unless the server goes on. */
  #drain() {
    if (this.#isDraining) return;
    this.#isDraining = true;
    const over = (/** @type {{ done: boolean }} */ { done }) => done || this.cancel();
    this.#reader?.read().then(over, () => {});
  }

  /**
   * The attempt is over: whatever still arrives does not count. Gives what was looked at, and so
   * does count, but is not passed on yet.
   *
   * @returns {Uint8Array | undefined}
   */
  cut() {
    const held = this.#held;
    this.#held = undefined;
    this.#cut = true;
    this.cancel();
    return held;
  }

  /** Lets the network go. @param {unknown} [reason] */
  cancel(reason) {
    // A body that has broken already says so again here, to nobody.
    this.#reader?.cancel(reason).catch(() => {});
  }
}
