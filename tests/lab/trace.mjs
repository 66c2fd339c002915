// @ts-check
/**
 * What a link lets through as time goes by: steps of constant rate, over and over again.
 *
 * @typedef {object} TraceStep
 * @property {number} ms          how long it lasts
 * @property {number} kbps        kilobits per second; 0 is an outage
 * @property {number} [latencyMs] before the headers of a response
 */

export class Trace {
  /** When each step begins, ms. @type {number[]} */
  #starts = [];
  /** What was let through before each step, bytes. @type {number[]} */
  #sums = [];
  #steps;
  /** One time around. */
  #periodMs = 0;
  #periodBytes = 0;

  /** @param {readonly TraceStep[]} steps */
  constructor(steps) {
    for (const { ms, kbps, latencyMs = 0 } of steps) {
      if (!(ms > 0 && kbps >= 0 && kbps < Infinity && latencyMs >= 0)) {
        throw new RangeError('a step of a trace needs a duration and a rate');
      }
      this.#starts.push(this.#periodMs);
      this.#sums.push(this.#periodBytes);
      this.#periodMs += ms;
      this.#periodBytes += (ms * kbps) / 8;
    }
    if (!(this.#periodBytes > 0)) throw new RangeError('a trace that lets nothing through');
    this.#steps = steps;
  }

  /**
   * @param {number} from ms
   * @param {number} to   ms
   * @returns {number} bytes that could have been sent between the two, exactly
   */
  bytes(from, to) {
    return this.#before(to) - this.#before(from);
  }

  /** @param {number} at ms @returns {number} ms */
  latency(at) {
    return this.#steps[this.#indexAt(at % this.#periodMs)].latencyMs ?? 0;
  }

  /**
   * @param {number} bytes more than none
   * @param {number} at    ms
   * @returns {number} ms until so much could have been sent
   */
  timeFor(bytes, at) {
    const rest = at % this.#periodMs;
    let index = this.#indexAt(rest);
    let into = rest - this.#starts[index];
    let wanted = bytes;
    for (let waited = 0; ;) {
      const { ms, kbps } = this.#steps[index];
      const could = ((ms - into) * kbps) / 8;
      if (could >= wanted) return waited + (wanted * 8) / kbps;
      wanted -= could;
      waited += ms - into;
      into = 0;
      index = (index + 1) % this.#steps.length;
    }
  }

  /** Bytes since the beginning. @param {number} at ms */
  #before(at) {
    const rounds = Math.floor(at / this.#periodMs);
    const rest = at - rounds * this.#periodMs;
    const index = this.#indexAt(rest);
    const inStep = ((rest - this.#starts[index]) * this.#steps[index].kbps) / 8;
    return rounds * this.#periodBytes + this.#sums[index] + inStep;
  }

  /** @param {number} at ms, less than one time around */
  #indexAt(at) {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#starts[middle] <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
