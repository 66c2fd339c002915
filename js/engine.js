// @ts-check
/** The engine as callers see it. */
import { concat } from './bytes.js';
import { chunksOf, MIN_CHUNK_SIZE } from './chunks.js';
import { Deferred } from './deferred.js';
import { HoldfastError } from './errors.js';
import { Ladder } from './ladder.js';
import { driverLink, isOnline } from './link.js';
import { Driver, isReady, onTrap, startOver } from './module.js';
import { SITES } from './names.js';
import { flatten, parseOptions } from './options.js';
import { entryOf, failureOf, retryOf } from './records.js';
import { describe, resourceToFetch } from './request.js';
import { stitch } from './response.js';
import { attempt, Slots } from './state.js';
import { RESTART, Transfer } from './transfer.js';

/** @typedef {import('./index.d.ts').EngineOptions} EngineOptions */
/** @typedef {import('./index.d.ts').EngineState} EngineState */
/** @typedef {import('./index.d.ts').Site} Site */

const FLAGS = { streaming: 1, once: 2, noBody: 4, blocking: 8 };
/** How a count of alternatives crosses: not declared, none, some. */
const alternativesCode = (/** @type {number | undefined} */ count) =>
  count === undefined ? 0 : count > 0 ? 2 : 1;
/** How long a failed request waits for the module, in milliseconds. */
const MODULE_PATIENCE = 3000;
/** Every engine of a page fails open for the same reason; it is said once. */
let hasWarned = false;
/** So many of the last exhaustions are kept. */
const EXHAUSTIONS = 100;

export class Engine {
  #options;
  #numbers;
  /** @type {Driver | undefined} */
  #driver;
  #destroyed = false;
  #lastId = 0;
  /** @type {Map<string, number>} */
  #hosts = new Map();
  /** @type {Map<number, Transfer>} what the driver decides for */
  #transfers = new Map();
  /** @type {Map<Transfer, Ladder>} what the small ladder carries */
  #laddered = new Map();
  /** @type {Map<string, number>} alternatives declared, by site or URL */
  #declared = new Map();
  /** @type {import('./index.d.ts').PlaybackReport} */
  #playback = {};
  /** @type {Slots} */
  #slots;
  #onNetwork = () => {
    this.#call((driver) => driver.online(isOnline()));
  };
  /** @type {Deferred<boolean>} whether the module is too late for what failed without it */
  #late = new Deferred();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #lateTimer;
  #offTrap;
  /** Whether new requests go through the engine; `false` sends them on the small ladder. */
  enabled = true;

  /**
   * @param {EngineOptions} options
   * @param {() => Promise<void>} load loads the module
   */
  constructor(options, load) {
    this.#numbers = flatten(options, parseOptions(options));
    this.#options = options;
    this.#slots = new Slots(
      { mode: 'starting', retryState: {}, retryExhausted: [], excludedBytes: 0 },
      () => this.#readSlots(),
    );
    if (isReady()) this.#takeCharge();
    /** Resolves to whether the engine is in charge, or has failed open. */
    this.ready = isReady() ? Promise.resolve(true) : this.#boot(load);
    for (const type of ['online', 'offline']) {
      globalThis.addEventListener?.(type, this.#onNetwork);
    }
    this.#offTrap = onTrap({
      abandon: () => this.#abandon(),
      restarted: (failure) => {
        if (failure === undefined) this.#takeCharge();
        else this.#failOpen('the WebAssembly module cannot be started again', failure);
      },
    });
  }

  /** @param {() => Promise<void>} load */
  async #boot(load) {
    this.#lateTimer = setTimeout(() => this.#late.resolve(true), MODULE_PATIENCE);
    try {
      await load();
      this.#takeCharge();
      return true;
    } catch (error) {
      this.#failOpen('the WebAssembly module could not be loaded', error);
      return false;
    } finally {
      clearTimeout(this.#lateTimer);
      this.#late.resolve(this.#driver === undefined);
    }
  }

  #takeCharge() {
    if (this.#destroyed) return;
    this.#driver = new Driver(this.#numbers, this.#sink());
    this.#setMode('engine');
    for (const [name, count] of this.#declared) this.declareAlternatives(name, count);
    this.reportPlayback(this.#playback);
    for (const [transfer, ladder] of this.#laddered) {
      if (ladder.isCold) this.#adopt(transfer, ladder);
    }
    this.#onNetwork();
  }

  /** @param {string} what @param {unknown} error */
  #failOpen(what, error) {
    if (this.#destroyed) return;
    this.#setMode('plain');
    if (hasWarned) return;
    hasWarned = true;
    console.warn(
      `Holdfast: ${what}; requests go to plain fetch with a few retries. ` +
        "Check that core_bg.wasm is served (with esbuild or Rollup use holdfast/inline or holdfast/slim), and that the content security policy has script-src 'wasm-unsafe-eval'.",
      error,
    );
  }

  /** @param {EngineState['mode']} mode */
  #setMode(mode) {
    this.#slots.state = Object.freeze({ ...this.#slots.state, mode });
    this.#slots.touch();
  }

  /**
   * Calls the driver. One that has trapped is replaced, and what it carried goes on without
   * it; the answer is then `true`, which lets bodies finish.
   *
   * @param {(driver: Driver) => boolean | void} use
   * @returns {boolean}
   */
  #call(use) {
    const driver = this.#driver;
    if (!driver) return true;
    try {
      return use(driver) ?? true;
    } catch (error) {
      // A call from within that call may have found out before.
      if (this.#driver === driver) this.#reportTrap(error);
      return true;
    }
  }

  /** @param {unknown} error */
  #reportTrap(error) {
    console.error('Holdfast: the WebAssembly module trapped; a fresh one takes over.', error);
    startOver();
  }

  /** Lets go of a driver whose instance has trapped; what it carried goes on without it. */
  #abandon() {
    const driver = this.#driver;
    this.#driver = undefined;
    try {
      // Its timer must not outlive it.
      driver?.close();
    } catch {
      // It cannot even do that; it was reported as it is.
    }
    const orphans = [...this.#transfers.values()];
    this.#transfers.clear();
    for (const transfer of orphans) this.#carry(transfer);
  }

  // Requests.

  /**
   * @param {string | URL | Request} input
   * @param {import('./index.d.ts').FetchInit} [init]
   * @param {typeof fetch} [transport] instead of `fetch`
   */
  fetch = async (input, init = {}, transport = this.#options.fetch) => {
    const transfer = this.#begin({
      ...describe(input, init ?? {}),
      fetch: transport,
      streaming: true,
      keepsRefusal: true,
    });
    return stitch(transfer, await transfer.head);
  };

  /** @param {import('./index.d.ts').LoadRequest} request */
  load = async (request) => {
    const { responseType = 'arraybuffer', onAttempt, onResponse, onProgress, onChunk } = request;
    const { url, site, signal, init } = request;
    const transfer = this.#begin({
      ...describe(request.request ?? url, { ...init, site, signal: signal ?? init?.signal }),
      fetch: this.#options.fetch,
      streaming: onChunk !== undefined,
      keepsRefusal: false,
      observer: {
        sent: (number, at) => attempt(() => onAttempt?.({ attempt: number, at })),
        accepted: (response, at) => attempt(() => onResponse?.({ response, at })),
      },
    });
    /** @type {Uint8Array[]} */
    let chunks = [];
    let loaded = 0;
    for (;;) {
      const chunk = await transfer.read(Infinity);
      if (chunk === null) break;
      if (chunk === RESTART) {
        chunks = [];
        loaded = 0;
      } else {
        loaded += chunk.byteLength;
        if (onChunk) attempt(() => onChunk(chunk));
        else chunks.push(chunk);
      }
      const at = performance.now();
      attempt(() => onProgress?.({ loaded, total: totalOf(transfer.response, loaded), at }));
    }
    const { response, timing, attempts } = transfer;
    const { url: finalUrl, status, headers } = response;
    const data = decode(concat(chunks), responseType);
    const end = performance.now();
    return {
      ...{ url: finalUrl, status, headers, response, data },
      ...{ bytes: loaded, attempts, timing: { ...timing, end } },
    };
  };

  /** @type {import('./index.d.ts').FetchText} */
  fetchText = async (resource, init = {}) => {
    const [url, options] = resourceToFetch(resource, init);
    const { site = describe(url, {}).site, signal, ...rest } = options;
    const { data } = await this.load({
      url,
      site: site === 'other' ? 'playlist' : site,
      init: rest,
      signal: signal ?? undefined,
      responseType: 'text',
    });
    return /** @type {string} */ (data);
  };

  /** @type {import('./index.d.ts').FetchBytes} */
  fetchBytes = async (resource, init = {}) => {
    const { transfer, minChunkSize } = await this.beginBytes(resource, init);
    return chunksOf(transfer, minChunkSize);
  };

  /**
   * The first of the two stages of `fetchBytes`: resolves once headers are accepted.
   *
   * @param {import('./index.d.ts').Resource} resource
   * @param {import('./index.d.ts').FetchBytesInit} init
   * @param {Partial<import('./transfer.js').Request>} [own] what the caller knows better
   */
  async beginBytes(resource, init, own) {
    const { minChunkSize = MIN_CHUNK_SIZE, site = 'segment', ...rest } = init;
    const [url, options] = resourceToFetch(resource, rest);
    const transfer = this.#begin({
      ...describe(url, { ...options, site }),
      fetch: this.#options.fetch,
      streaming: minChunkSize !== Infinity,
      keepsRefusal: false,
      ...own,
    });
    await transfer.head;
    return { transfer, minChunkSize };
  }

  /**
   * Begins a transfer.
   *
   * @param {Omit<import('./transfer.js').Request, 'id'>} request
   * @returns {Transfer}
   */
  #begin(request) {
    if (this.#destroyed) throw destroyed();
    this.#lastId += 1;
    const transfer = new Transfer({ ...request, id: this.#lastId }, (settled) => {
      this.#transfers.delete(settled.request.id);
      this.#laddered.delete(settled);
    });
    if (request.signal?.aborted) transfer.fail(request.signal.reason);
    else if (this.#driver && this.enabled) this.#drive(transfer);
    else {
      this.#carry(transfer, this.enabled && this.#slots.state.mode === 'starting');
    }
    return transfer;
  }

  /**
   * @param {Transfer} transfer
   * @param {Ladder} [cold] whose attempt is taken over
   */
  #drive(transfer, cold) {
    const { id, site, host, url, input, init, fetch, streaming, once, noBody } = transfer.request;
    const blocking = site === 'playlist-reload' && /[?&]_HLS_msn=/.test(url);
    const flags =
      (streaming ? FLAGS.streaming : 0) |
      (once ? FLAGS.once : 0) |
      (noBody ? FLAGS.noBody : 0) |
      (blocking ? FLAGS.blocking : 0);
    this.#transfers.set(id, transfer);
    transfer.link = driverLink((use) => this.#call(use), id);
    this.#call((driver) =>
      driver.start(
        id,
        SITES.indexOf(site),
        this.#hostOf(host, url),
        flags,
        alternativesCode(this.#declared.get(url)),
        input,
        { ...init },
        fetch,
        cold?.controller,
        cold?.sentAt ?? performance.now(),
      ),
    );
    if (cold?.promise) this.#follow(id, 1, cold.promise);
  }

  /** @param {Transfer} transfer @param {Ladder} ladder */
  #adopt(transfer, ladder) {
    ladder.release();
    this.#laddered.delete(transfer);
    this.#drive(transfer, ladder);
  }

  /**
   * Puts a transfer on the small ladder.
   *
   * @param {Transfer} transfer
   * @param {boolean} [cold] whether the engine takes it over when it is ready
   */
  #carry(transfer, cold = false) {
    const ladder = new Ladder(transfer, cold ? this.#late.promise : true, cold);
    this.#laddered.set(transfer, ladder);
    if (transfer.relink(ladder)) return;
    if (transfer.isFinal && transfer.attempts > 0) {
      ladder.abort();
      transfer.fail(new HoldfastError('TRAPPED', 'the module trapped, and this is sent only once'));
    } else ladder.send();
  }

  /** @param {string} origin @param {string} url */
  #hostOf(origin, url) {
    const { getCdnId } = this.#options;
    const name = (getCdnId && attempt(() => getCdnId(url))) || origin;
    let host = this.#hosts.get(name);
    if (host === undefined) this.#hosts.set(name, (host = this.#hosts.size));
    return host;
  }

  // What the driver reports. Nothing here may throw: it would unwind through the module.

  #sink() {
    /** @type {(tell: (transfer: Transfer, ...rest: any[]) => void) => (id: number, ...rest: any[]) => void} */
    const to =
      (tell) =>
      (id, ...rest) => {
        const transfer = this.#transfers.get(id);
        if (transfer) attempt(() => tell(transfer, ...rest));
      };
    return {
      sent: to((transfer, number, at, promise) => {
        this.#follow(transfer.request.id, number, promise);
        transfer.sent(number, at);
      }),
      accept: to((transfer, ...rest) => transfer.accept(.../** @type {[any, any, any]} */ (rest))),
      cut: to((transfer) => transfer.cut()),
      fail: to((transfer, record, response, error) => {
        transfer.refuse(failureOf(record), response, error);
      }),
      exhausted: to((transfer, record) => this.#exhausted(transfer, record)),
      changed: () => this.#slots.touch(),
      ring: () => void this.#call((driver) => driver.wake()),
    };
  }

  /**
   * Tells the driver how the promise of an attempt settles, unless it is another by then.
   *
   * @param {number} id
   * @param {number} number
   * @param {Promise<Response>} promise
   */
  #follow(id, number, promise) {
    const sender = this.#driver;
    const settle = (/** @type {Response | undefined} */ response, /** @type {unknown} */ error) => {
      if (this.#driver !== sender) return;
      this.#call((driver) => {
        driver.online(isOnline());
        driver.settled(id, number, response, error, performance.now());
      });
    };
    promise.then(
      (response) => {
        // A fetch that resolves with something else has failed as one that rejects.
        const usable = typeof response?.status === 'number';
        settle(usable ? response : undefined, usable ? undefined : new TypeError('no response'));
      },
      (error) => settle(undefined, error),
    );
  }

  /** @param {Transfer} transfer @param {number[]} record */
  #exhausted({ request: { site, url, host } }, record) {
    const { onExhausted } = this.#options;
    const failure = failureOf(record);
    const event = Object.freeze({
      ...failure,
      site,
      url,
      host,
      at: performance.now(),
      terminal: failure.reason === 'terminal',
    });
    const { state } = this.#slots;
    const retryExhausted = Object.freeze([...state.retryExhausted, event].slice(-EXHAUSTIONS));
    this.#slots.state = Object.freeze({ ...state, retryExhausted });
    this.#slots.touch(() => {
      if (typeof onExhausted === 'function') onExhausted(event);
    });
  }

  /** @returns {Partial<EngineState>} */
  #readSlots() {
    /** @type {Record<string, any>} */
    const retryState = {};
    /** @type {{ -readonly [slot in keyof EngineState]?: EngineState[slot] }} */
    const slots = { retryState };
    this.#call((driver) => {
      for (const row of driver.retryStates()) {
        const { request, ...state } = retryOf(row);
        const transfer = this.#transfers.get(request);
        if (!transfer) continue;
        const { site, url, host } = transfer.request;
        retryState[request] = Object.freeze({ site, url, host, ...state });
      }
      const bandwidth = driver.bandwidth();
      slots.bandwidth = Number.isNaN(bandwidth) ? undefined : bandwidth;
      slots.excludedBytes = driver.excludedBytes();
    });
    Object.freeze(retryState);
    return slots;
  }

  // What callers ask and say.

  get state() {
    return this.#slots.state;
  }

  /** @param {(state: EngineState) => void} listener */
  subscribe = (listener) => this.#slots.subscribe(listener);

  /** @returns {import('./index.d.ts').LogEntry[]} */
  log = () => {
    /** @type {import('./index.d.ts').LogEntry[]} */
    let entries = [];
    this.#call((driver) => {
      entries = driver.log().map(entryOf);
    });
    return entries;
  };

  retryNow = () => {
    this.#call((driver) => driver.retryNow());
  };

  /** @param {import('./index.d.ts').PlaybackReport} report */
  reportPlayback = (report) => {
    this.#playback = report ?? {};
    const { bufferAhead, targetDuration } = this.#playback;
    this.#call((driver) => driver.playback(ms(bufferAhead), ms(targetDuration)));
  };

  /** @param {Site | string} siteOrUrl @param {number | undefined} count */
  declareAlternatives = (siteOrUrl, count) => {
    if (count === undefined) this.#declared.delete(siteOrUrl);
    else this.#declared.set(siteOrUrl, count);
    const site = SITES.indexOf(/** @type {Site} */ (siteOrUrl));
    if (site >= 0) this.#call((driver) => driver.alternatives(site, alternativesCode(count)));
  };

  destroy = () => {
    if (this.#destroyed) return;
    this.#destroyed = true;
    clearTimeout(this.#lateTimer);
    for (const type of ['online', 'offline']) {
      globalThis.removeEventListener?.(type, this.#onNetwork);
    }
    for (const [transfer, ladder] of [...this.#laddered]) {
      ladder.abort();
      transfer.fail(destroyed());
    }
    for (const transfer of [...this.#transfers.values()]) transfer.fail(destroyed());
    this.#call((driver) => {
      driver.close();
      // Whoever calls this from within a callback of the driver still stands on its stack.
      queueMicrotask(() => driver.free());
    });
    this.#driver = undefined;
    this.#offTrap();
    this.#slots.touch();
  };
}

const destroyed = () => new HoldfastError('DESTROYED', 'the engine was destroyed');

/** Seconds to milliseconds; negative stands for unknown. @param {number | undefined} seconds */
const ms = (seconds) =>
  typeof seconds === 'number' && seconds >= 0 ? Math.min(seconds, 1e6) * 1000 : -1;

/**
 * The announced length, or 0 where it is unknown or is not the length of what is seen.
 *
 * @param {Response} response
 * @param {number} loaded
 */
function totalOf({ headers }, loaded) {
  const total = Number(headers.get('content-length'));
  return total >= loaded && !headers.has('content-encoding') ? total : 0;
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {'arraybuffer' | 'text' | 'json'} type */
function decode(bytes, type) {
  if (type === 'arraybuffer') {
    const whole = bytes.byteLength === bytes.buffer.byteLength;
    return whole ? bytes.buffer : bytes.slice().buffer;
  }
  const text = new TextDecoder().decode(bytes);
  return type === 'json' ? JSON.parse(text) : text;
}
