// @ts-check
/**
 * The small ladder: plain `fetch` with 1, 2 and 4 s between four attempts, on 5xx and network
 * failures. It carries a request while the module is not there yet, and to the end where the
 * module cannot be had. No hooks, no budget, no time-outs: playback must start, and the
 * player's own bounds still stand.
 */

const DELAYS = [1000, 2000, 4000];

/** The sites where a page is certainly not what was asked for. */
const INSPECTED = /^(manifest|playlist|init|segment|text)/;

export class Ladder {
  #transfer;
  #attempts = 0;
  #stopped = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {AbortController} */
  controller = new AbortController();
  /** @type {Promise<Response> | undefined} the attempt under way */
  promise;
  /** When the attempt under way was sent. */
  sentAt = 0;

  /**
   * @param {import('./transfer.js').Transfer} transfer
   * @param {Promise<boolean>} mayGoOn resolves to whether the ladder, and not the engine,
   *   deals with a failure
   * @param {boolean} isCold whether the engine takes over when it is ready
   */
  constructor(transfer, mayGoOn, isCold) {
    this.#transfer = transfer;
    this.mayGoOn = mayGoOn;
    this.isCold = isCold;
    transfer.link = this;
  }

  /** Sends an attempt. */
  send() {
    this.#attempts += 1;
    this.controller = new AbortController();
    this.sentAt = performance.now();
    const promise = this.#transfer.fetch(this.controller.signal);
    this.promise = promise;
    const attempt = this.#transfer.attempts + 1;
    this.#transfer.sent(attempt, this.sentAt);
    promise.then(
      (response) => this.#respond(response),
      (error) => this.failed('transport', error),
    );
  }

  /** @param {Response} response */
  #respond(response) {
    if (this.#stopped) return;
    if (response.ok || response.status === 304) {
      this.#transfer.accept(this.#transfer.attempts, response, INSPECTED.test(this.#transfer.request.site));
    } else {
      this.failed('server', undefined, response);
    }
  }

  /**
   * An attempt came to nothing.
   *
   * @param {import('./index.d.ts').FailureClass} kind
   * @param {unknown} error
   * @param {Response} [response]
   */
  async failed(kind, error, response) {
    if (this.#stopped || !(await this.mayGoOn) || this.#stopped) return;
    const delay = DELAYS[this.#attempts - 1];
    const status = response?.status ?? 0;
    const final = (status > 0 && status < 500) || this.#transfer.isFinal;
    if (final || delay === undefined) {
      /** @type {import('./index.d.ts').Reason} */
      const reason = final ? 'terminal' : 'attempts';
      const { attempts } = this.#transfer;
      const facts = { class: kind, reason, status, attempts, elapsed: 0, svta: 3000 + status };
      this.#transfer.refuse(facts, response, error);
      return;
    }
    response?.body?.cancel().catch(() => {});
    this.#transfer.cut();
    this.#timer = setTimeout(() => this.send(), delay);
  }

  /** Lets go without touching the attempt under way: somebody else takes it on. */
  release() {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** The caller aborted. */
  abort() {
    this.release();
    this.controller.abort();
  }

  /** @returns {import('./body.js').Monitor} */
  monitor() {
    return {
      reading() {},
      chunk: () => true,
      end: () => true,
      lost: (error) => void this.failed('truncated', error),
      page: () => void this.failed('intercepted', undefined),
    };
  }
}
