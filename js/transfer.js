// @ts-check
/**
 * One request on its JavaScript side: the promise of its response, the bodies of its
 * attempts, and its end. What happens next is never decided here: that is the engine's part,
 * or the small ladder's.
 */
import { Body, LOST } from './body.js';
import { Deferred } from './deferred.js';
import { requestError } from './errors.js';
import { integrityFor } from './integrity.js';
import { presented } from './presented.js';
import { redact } from './redact.js';
import { askForPart } from './representation.js';

/** The bytes so far are void: the body starts over. */
export const RESTART = Symbol('restart');

/**
 * @typedef {object} Request What is asked for.
 * @property {number} id
 * @property {import('./index.d.ts').Site} site
 * @property {string} url
 * @property {string} host
 * @property {string | URL | globalThis.Request} input
 * @property {RequestInit} init without a signal; the driver sets one for each attempt
 * @property {((input: any, init?: any) => Promise<Response>) | undefined} fetch
 * @property {boolean} streaming bytes are released as they come
 * @property {boolean} once not safe to send twice
 * @property {boolean} noBody a success has no body
 * @property {boolean} optional nothing is lost if it fails
 * @property {boolean} ahead nobody waits for it yet
 * @property {string | null} range as the caller wrote it
 * @property {number} first the first byte of it
 * @property {number} last the last byte of it
 * @property {boolean} inOne not to be asked for in parts
 * @property {Pick<import('./index.d.ts').SitePolicy, 'container' | 'validate'>} policy
 * @property {import('./hooks.js').Hooks} hooks
 * @property {boolean} keepsRefusal a refusal resolves with its response
 * @property {AbortSignal | null | undefined} signal
 * @property {{ sent?(attempt: number, at: number): void,
 *   accepted?(response: Response, at: number): void }} [observer]
 */

/**
 * @typedef {object} Link Who decides: the driver, or the ladder.
 * @property {(transfer: Transfer, attempt: number) => import('./body.js').Monitor} monitor
 * @property {() => void} abort
 */

/**
 * @typedef {object} Acceptance How an accepted response is read.
 * @property {boolean} inspect whether pages are refused
 * @property {boolean} resumed it goes on where the body before broke off
 * @property {boolean} part it answers for a part that only the engine asked for
 * @property {number} skip so many first bytes are with the caller already
 * @property {number} take so many are passed on then at most
 */

export class Transfer {
  /** @type {Deferred<Response>} */
  #head = new Deferred();
  /** @type {Deferred<Body>} the body to read from */
  #body = new Deferred();
  /** @type {Body | undefined} the body of the attempt that was accepted last */
  #current;
  /** @type {Response | undefined} the response of that attempt */
  #source;
  /** @type {Response | undefined} the response that counts: of the attempt that began the body */
  #response;
  /** @type {import('./integrity.js').Integrity | undefined} */
  #integrity;
  /** @type {Uint8Array | undefined} what a body that was cut had not passed on yet */
  #left;
  /** The time that bodies before the current one took, and when the last chunk came. */
  #carried = 0;
  #lastAt = 0;
  #sentAt = 0;
  /** The attempt under way. */
  #flying = 0;
  #released = false;
  /** @type {Body | undefined} the body that was read from last, and whether bytes were given since it started */
  #from;
  #gave = false;
  /** @type {string | undefined} */
  #shown;
  #settled = false;
  // Chrome 96 and 97 know no reason.
  #onAbort = () => this.#abort(this.request.signal?.reason ?? aborted());
  #onSettled;
  /** @type {Link | undefined} */
  link;
  /** @type {((error: unknown) => void) | undefined} told of a failure, for a stream nobody reads */
  onFailure;
  /** What the request ended with, once it has failed. @type {{ error: unknown } | undefined} */
  failure;
  /** Attempts sent. */
  attempts = 0;
  /** The attempts that failed, for hooks. @type {readonly import('./index.d.ts').FailedAttempt[]} */
  history = Object.freeze([]);
  /** The last failure as an error. */
  error = () => requestError(NOTHING);
  /** The beginning of the last refusal's body, where somebody looked. */
  body = '';
  /** Why its credential could not be refreshed. @type {unknown} */
  refreshError;
  /** The number of its credential, from 1; 0 if it has none. */
  credential = 0;
  /** Whether its directives were given up (R33). */
  isPlain = false;
  /** The URL that attempts are sent to. */
  url;
  startedAt = performance.now();
  /** When an attempt failed last. */
  failedAt = 0;
  /** How long the attempt under way was waited for after the one before. */
  pause = 0;
  /** Whether an attempt was cut: what follows is a repetition. */
  isRepeat = false;
  /** What came of the attempt under way, or broke the last one. @type {{ response?: Response, error?: unknown }} */
  arrival = {};
  /** The winning attempt: when it was sent, and when its headers came. */
  timing = { start: 0, first: 0 };

  /**
   * @param {Request} request
   * @param {(transfer: Transfer) => void} onSettled
   */
  constructor(request, onSettled) {
    this.request = request;
    this.url = request.url;
    this.#onSettled = onSettled;
    request.signal?.addEventListener('abort', this.#onAbort);
  }

  /** The URL as it may be shown: without its credential (R57). */
  get shown() {
    this.#shown ??= redact(this.request.url);
    return this.#shown;
  }

  /** The head of the response that counts; rejects with the verdict. @returns {Promise<Response>} */
  get head() {
    return this.#head.promise;
  }

  /** The response that was accepted last; there is one once a body can be read. */
  get response() {
    return /** @type {Response} */ (this.#response);
  }

  /** Whether bytes were released, so that no attempt can start over. */
  get isFinal() {
    return this.request.once || this.request.site === 'other' || this.#released;
  }

  /**
   * The next attempts are sent to another URL.
   *
   * @param {string} url
   * @param {(use: (driver: import('./pkg/core.js').Driver) => void) => void} [call] tells the driver
   * @param {RequestInit} [init]
   */
  readdress(url, call, init) {
    const { request } = this;
    this.url = url;
    request.input = request.input instanceof Request ? new Request(url, request.input) : url;
    call?.((driver) => driver.readdress(request.id, request.input, init));
  }

  /** Sends one attempt without the module. @param {AbortSignal} signal */
  async fetch(signal) {
    const { input, init, fetch = globalThis.fetch } = this.request;
    return fetch(/** @type {any} */ (input).clone?.() ?? input, { ...init, signal });
  }

  /**
   * The next chunk, `null` at the end, or `RESTART` where a body was lost and the next one
   * starts from its first byte; rejects with the verdict.
   *
   * @param {number} wanted bytes; after a chunk with fewer the next one is waited for at once
   * @returns {Promise<Uint8Array | null | typeof RESTART>}
   */
  async read(wanted) {
    for (;;) {
      // Not a turn of the queue for each chunk.
      const body = this.#body.value ?? (await this.#body.promise);
      const isOther = this.#from !== body && !body.follows;
      this.#from = body;
      if (isOther && this.#gave) {
        this.#gave = false;
        return RESTART;
      }
      const left = this.#left;
      this.#left = undefined;
      const chunk = left ?? (await body.read(wanted));
      if (chunk === LOST) {
        // Waits for what is decided: another body, or the verdict.
        if (this.#current === body) this.#expectBody();
        continue;
      }
      this.#lastAt = performance.now();
      this.#gave = true;
      if (chunk === null) this.#settle();
      else if (this.request.streaming) this.#released = true;
      return chunk;
    }
  }

  /** The consumer wants no more. @param {unknown} [reason] */
  cancel(reason) {
    this.#abort(reason ?? aborted());
  }

  /**
   * Makes an attempt ask for a part, or, without one, for what no cache has.
   *
   * @param {RequestInit} init
   * @param {number} first
   * @param {number} last
   */
  dress(init, first, last) {
    if (Number.isNaN(first)) {
      init.cache = 'reload';
      return;
    }
    const { type, headers } = this.#response ?? {};
    const etag = this.#lastAt > 0 && type === 'basic' ? headers?.get('etag') : undefined;
    askForPart(init, this.request.input, first, last, etag);
  }

  // What the driver and the ladder report.

  /**
   * An attempt was answered, or broke. What is cut already does not count.
   *
   * @param {number} attempt
   * @param {Response} [response]
   * @param {unknown} [error]
   */
  arrived(attempt, response, error) {
    if (attempt === this.#flying) this.arrival = { response, error };
  }

  /** @param {number} attempt @param {number} at */
  sent(attempt, at) {
    this.attempts = attempt;
    this.#flying = attempt;
    this.arrival = {};
    this.pause = this.failedAt ? at - this.failedAt : 0;
    this.#sentAt = at;
    this.request.observer?.sent?.(attempt, at);
  }

  /**
   * The headers of an attempt are accepted.
   *
   * @param {number} attempt
   * @param {Response} response
   * @param {Partial<Acceptance>} how
   */
  accept(attempt, response, { inspect = false, resumed = false, part = false, skip, take }) {
    const monitor = this.link?.monitor(this, attempt);
    if (!monitor || this.#settled) return;
    if (this.#current && response === this.#source) {
      handOver(this.#current, monitor);
      return;
    }
    const { request, timing } = this;
    const now = performance.now();
    if (resumed) {
      // As if the bodies before had come right before this one, without the gap between.
      this.#carried = Math.max(0, this.#lastAt - timing.first);
    } else {
      this.#response = part ? presented(response, request) : response;
      this.#integrity = integrityFor(request, response, inspect);
      this.#left = undefined;
      this.#carried = 0;
    }
    this.#source = response;
    this.timing = { start: this.#sentAt - this.#carried, first: now - this.#carried };
    let body;
    try {
      body = new Body(response, monitor, { integrity: this.#integrity, skip, take });
    } catch (error) {
      // Such as a body that the caller's own `fetch` has locked: nobody would ever settle this.
      this.#abort(error);
      return;
    }
    body.follows = resumed;
    body.isPart = part;
    this.#current = body;
    if (body.suspicious) void this.#introduceWhenSafe(body);
    else this.#introduce(body);
  }

  /** @param {Body} body */
  async #introduceWhenSafe(body) {
    if ((await body.look()) && this.#current === body && !this.#settled) this.#introduce(body);
  }

  /** @param {Body} body */
  #introduce(body) {
    const { response } = this;
    if (!body.follows) this.request.observer?.accepted?.(response, this.timing.first);
    this.#expectBody();
    this.#body.resolve(body);
    this.#head.resolve(response);
    // Nobody reads what has no body, but its end is news all the same.
    if (!response.body) void this.read(0).catch(() => {});
  }

  /** The attempt under way is over and does not count. */
  cut() {
    this.isRepeat = true;
    this.#flying = 0;
    this.arrival = { error: this.arrival.error };
    this.#left ??= this.#current?.cut();
    this.#expectBody();
  }

  /** Whoever reads from now on waits for the next body. */
  #expectBody() {
    if (this.#body.isSettled && !this.#settled) this.#body = new Deferred();
  }

  /**
   * The verdict is failure. A refusal's response goes to a caller who wants it.
   *
   * @param {Omit<import('./index.d.ts').RequestErrorFacts, 'site' | 'url'>} facts
   * @param {Response} [response]
   * @param {unknown} [cause]
   */
  refuse(facts, response, cause) {
    if (this.#settled) return;
    const { site, keepsRefusal } = this.request;
    if (response && keepsRefusal && !this.#head.isSettled) {
      // Over as far as anybody decides, whether or not its body is ever read.
      this.#onSettled(this);
      this.link = PLAIN;
      this.accept(this.attempts, response, {});
      return;
    }
    response?.body?.cancel().catch(() => {});
    const headers = response?.headers;
    const { shown: url, body, refreshError } = this;
    this.fail(requestError({ ...facts, site, url, headers, body, refreshError }, cause));
  }

  /** Ends the request with this error. @param {unknown} error */
  fail(error) {
    if (this.#settled) return;
    this.failure = { error };
    this.#current?.cut();
    this.#expectBody();
    this.#head.reject(error);
    this.#body.reject(error);
    this.#settle();
    this.onFailure?.(error);
  }

  /** The body under way goes on, and its fate is told to somebody else. @param {Link} link */
  relink(link) {
    this.link = link;
    const body = this.#current;
    // Nobody else knows what is to follow a part.
    if (!this.#body.isSettled || !body || body.isPart || !/open|whole/.test(body.state)) {
      return false;
    }
    body.monitor = link.monitor(this, this.attempts);
    return true;
  }

  /** @param {unknown} reason */
  #abort(reason) {
    if (this.#settled) return;
    const { link } = this;
    this.fail(reason);
    link?.abort();
  }

  #settle() {
    if (this.#settled) return;
    this.#settled = true;
    this.request.signal?.removeEventListener('abort', this.#onAbort);
    this.#onSettled(this);
  }
}

/**
 * Who decided so far hands a body under way over: the next one is told where it stands.
 *
 * @param {Body} body
 * @param {import('./body.js').Monitor} monitor
 */
function handOver(body, monitor) {
  body.monitor = monitor;
  if (body.isAwaited) monitor.reading();
  if (body.received > 0) monitor.chunk(body.received, body.isAwaited);
  if (body.state === 'whole') monitor.end(true, body.received);
  if (body.state === 'lost') monitor.lost(undefined);
  if (body.state === 'page') monitor.page();
}

/** Before the first failure. @type {import('./index.d.ts').RequestErrorFacts} */
const NOTHING = {
  ...{ class: 'unexpected', reason: 'attempts', status: 0, site: 'other', url: '' },
  ...{ attempts: 0, elapsed: 0, svta: 0 },
};

const aborted = () => new DOMException('The request was aborted', 'AbortError');

/** For the body of a final refusal: nothing is left to decide. @type {Link} */
const PLAIN = {
  monitor: (transfer) => ({
    reading() {},
    chunk: () => true,
    end: () => true,
    lost: (error) => transfer.fail(error),
    page() {},
  }),
  abort() {},
};
