// @ts-check
/**
 * One shaped link: a token bucket shared fairly by the responses in flight.
 *
 * Pacing at the server is exact on the loopback interface and needs no
 * privileges. Tokens are earned by elapsed time, not by ticks, so a late timer
 * does not slow the link down. The rate is constant, or that of a trace by the
 * clock of the session.
 */
import { Trace } from './trace.mjs';

const TICK_MS = 5;
const QUANTUM = 4096;

/** Traces have rates at which a whole quantum would come as a burst after seconds of silence. */
const PACKET = 1448;

/** A late tick may catch up on this much time; more would let a burst through. */
const MAX_CATCH_UP_MS = 250;

/** "No limit", still finite so that sums of it stay numbers: 1 GB/s. */
const UNLIMITED = 1e6;

/** What the headers of a response weigh on a link with a trace: in an outage not even they pass. */
const HEADERS_BYTES = 300;

/** A response whose client does not read is skipped instead of filling memory. */
const MAX_UNSENT = 256 * 1024;

/**
 * @typedef {object} Transfer
 * @property {import('node:http').ServerResponse} response
 * @property {Uint8Array} data
 * @property {number} offset
 * @property {number} rate     own limit in bytes per ms
 * @property {number} tokens   own tokens in bytes
 * @property {(bytes: number) => void} onBytes
 * @property {(whole: boolean) => void} done
 */

export class Link {
  /** @type {Transfer[]} */
  #transfers = [];
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #tokens = 0;
  #lastTick = 0;
  #rate = 0;
  /** @type {Trace | undefined} */
  #trace;
  #clock;
  #quantum = QUANTUM;

  /**
   * @param {number | readonly import('./trace.mjs').TraceStep[]} rate kilobits per second, Infinity
   *   for no limit; or a trace
   * @param {() => number} [clock] ms; a trace begins at zero
   */
  constructor(rate, clock = () => performance.now()) {
    this.#clock = clock;
    if (typeof rate !== 'number') {
      this.#trace = new Trace(rate);
      this.#quantum = PACKET;
      return;
    }
    if (!(rate > 0)) throw new RangeError('a link needs a positive rate');
    this.#rate = Math.min(rate / 8, UNLIMITED);
  }

  /**
   * The truth about the link, whether anybody used it or not.
   * @param {number} from ms on its clock
   * @param {number} to   ms on its clock
   * @returns {number} bytes that it could have sent between the two
   */
  capacity(from, to) {
    return this.#trace ? this.#trace.bytes(from, to) : (to - from) * this.#rate;
  }

  /** @returns {number} ms that the headers of a response take by a trace, from now */
  headerDelay() {
    if (!this.#trace) return 0;
    const now = this.#clock();
    return this.#trace.latency(now) + this.#trace.timeFor(HEADERS_BYTES, now);
  }

  /**
   * Sends `data` at the pace of the link.
   * @param {import('node:http').ServerResponse} response
   * @param {Uint8Array} data
   * @param {{ rate?: number, onBytes: (bytes: number) => void }} options rate: own limit, bytes per second
   * @returns {Promise<boolean>} false when the client went away
   */
  send(response, data, { rate = Infinity, onBytes }) {
    if (response.destroyed) return Promise.resolve(false);
    if (data.length === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      /** @type {Transfer} */
      const transfer = {
        response,
        data,
        offset: 0,
        rate: Math.min(rate / 1000, UNLIMITED),
        tokens: 0,
        onBytes,
        done: (whole) => {
          response.off('close', closed);
          this.#transfers = this.#transfers.filter((other) => other !== transfer);
          if (this.#transfers.length === 0) this.#stop();
          resolve(whole);
        },
      };
      const closed = () => transfer.done(false);
      response.on('close', closed);
      this.#transfers.push(transfer);
      this.#start();
    });
  }

  #start() {
    if (this.#timer) return;
    // An idle link saves nothing up.
    this.#tokens = 0;
    this.#lastTick = this.#clock();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  #stop() {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick() {
    const now = this.#clock();
    const since = Math.max(this.#lastTick, now - MAX_CATCH_UP_MS);
    this.#lastTick = now;
    this.#tokens += this.capacity(since, now);
    const elapsed = now - since;
    for (const transfer of this.#transfers) {
      transfer.tokens = Math.min(transfer.tokens + elapsed * transfer.rate, MAX_UNSENT);
    }
    // Round robin: every waiting response gets one quantum a turn, until a whole
    // round moves nothing.
    let turns = this.#transfers.length;
    while (turns > 0 && this.#transfers.length > 0) {
      const transfer = /** @type {Transfer} */ (this.#transfers.shift());
      this.#transfers.push(transfer);
      turns = this.#sendQuantum(transfer) ? this.#transfers.length : turns - 1;
    }
    // Unspent tokens of a link that nobody could use are lost, as on a real one.
    this.#tokens = Math.min(this.#tokens, this.#quantum);
  }

  /**
   * @param {Transfer} transfer
   * @returns {boolean} whether anything was sent
   */
  #sendQuantum(transfer) {
    const left = transfer.data.length - transfer.offset;
    // A slow drip sends what it may; the link itself deals in whole quanta.
    const allowed = Math.min(this.#quantum, left, Math.floor(transfer.tokens));
    if (allowed < 1 || this.#tokens < allowed) return false;
    if (transfer.response.writableLength > MAX_UNSENT) return false;
    transfer.response.write(transfer.data.subarray(transfer.offset, transfer.offset + allowed));
    transfer.offset += allowed;
    transfer.tokens -= allowed;
    this.#tokens -= allowed;
    transfer.onBytes(allowed);
    if (transfer.offset === transfer.data.length) transfer.done(true);
    return true;
  }
}
