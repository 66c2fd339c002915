// @ts-check
/**
 * The small ladder: plain `fetch` with 1, 2 and 4 s between four attempts, on 5xx and network
 * failures. It carries a request while the module is not there yet, and to the end where the
 * module cannot be had. No hooks, no policies: playback must start.
 */

const DELAYS = [1000, 2000, 4000];
/** The refusals that may be taken back. */
const AGAIN = [408, 413, 425, 429];
/** Headers, and each chunk that somebody waits for, come within so many milliseconds. */
const PATIENCE = 15_000;

/** @type {Record<number, import('./index.d.ts').FailureClass | undefined>} */
const CLASSES = {
  401: 'denied',
  403: 'denied',
  404: 'not-found',
  410: 'gone',
  429: 'rate-limited',
  451: 'legal',
};
/** @type {Record<string, number | undefined>} */
const SVTA = { timeout: 3002, stall: 3002, intercepted: 3011 };
/** The sites where a page is certainly not what was asked for. */
const INSPECTED = /^(manifest|playlist|init|segment|text)/;

export class Ladder {
  #transfer;
  #attempts = 0;
  /** The last attempt that failed. */
  #failed = -1;
  #stopped = false;
  #mayGoOn;
  #startedAt = performance.now();
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
   * @param {Promise<boolean> | true} mayGoOn resolves to whether the ladder, and not the engine,
   *   deals with a failure
   * @param {boolean} isCold whether the engine takes over when it is ready
   */
  constructor(transfer, mayGoOn, isCold) {
    this.#transfer = transfer;
    this.#mayGoOn = mayGoOn;
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
    // The caller may have aborted from within its own `fetch`.
    if (!this.#stopped) this.#await('timeout');
    promise.then(
      (response) => this.#respond(response),
      (error) => this.failed('transport', error),
    );
  }

  /** Fails the attempt if nothing comes. @param {'timeout' | 'stall'} kind */
  #await(kind) {
    clearTimeout(this.#timer);
    const { controller } = this;
    this.#timer = setTimeout(() => {
      void this.failed(kind, undefined);
      controller.abort();
    }, PATIENCE);
  }

  /** @param {Response} response */
  #respond(response) {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    if (response.ok || response.status === 304) {
      const inspect = INSPECTED.test(this.#transfer.request.site);
      this.#transfer.accept(this.#transfer.attempts, response, { inspect });
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
    // What was cut reports its end too; an attempt fails once.
    if (this.#stopped || this.#failed === this.#attempts) return;
    this.#failed = this.#attempts;
    clearTimeout(this.#timer);
    const status = response?.status ?? 0;
    const final = status > 0 && status < 500 && !AGAIN.includes(status);
    // What is final for everybody needs nobody's leave, unless a hook may think otherwise.
    if ((!final || this.#transfer.request.hooks.bits) && (!(await this.#mayGoOn) || this.#stopped))
      return;
    // One that goes on with a body has sent nothing itself.
    const delay = DELAYS[Math.max(this.#attempts - 1, 0)];
    if (!final && !this.#transfer.isFinal && delay !== undefined) {
      response?.body?.cancel().catch(() => {});
      this.#transfer.cut();
      this.#timer = setTimeout(() => this.send(), delay);
      return;
    }
    this.#transfer.refuse(
      {
        class: status ? (CLASSES[status] ?? (status < 500 ? 'contract' : 'server')) : kind,
        reason: delay === undefined ? 'attempts' : 'terminal',
        status,
        attempts: this.#transfer.attempts,
        elapsed: performance.now() - this.#startedAt,
        svta: status ? 3000 + status : (SVTA[kind] ?? 3007),
      },
      response,
      error,
    );
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
      reading: () => this.#await('stall'),
      chunk: () => (clearTimeout(this.#timer), true),
      end: (whole) => {
        clearTimeout(this.#timer);
        if (!whole) void this.failed('truncated', undefined);
        return whole;
      },
      lost: (error) => void this.failed('truncated', error),
      page: () => void this.failed('intercepted', undefined),
    };
  }
}
