// @ts-check
/** The engine as callers see it. */
import { headOf } from './representation.js';
import { load } from './load.js';
import { Deferred } from './deferred.js';
import { Ladder } from './ladder.js';
import { adviceIn, isVeiled } from './hear.js';
import { Slots } from './state.js';
import { driverLink, flagsOf, saidOffline, sayOnline } from './link.js';
import { Hosts, numberOfUrl, plain } from './hosts.js';
import { exhaustedEvent, readSlots, tellHealth } from './watch.js';
import { flatten, parseOptions } from './options.js';
import { attempt } from './attempt.js';
import { Transfer } from './transfer.js';
import { HoldfastError, requestError } from './errors.js';
import { Driver, isReady, onTrap, startOver } from './module.js';
import { FACT, HOOKS, SITES, VIEW } from './names.js';
import { chunksOf, MIN_CHUNK_SIZE } from './chunks.js';
import { describe, resourceToFetch } from './request.js';
import { attemptOf, entryOf, failureOf, rowsOf } from './records.js';
import { hasHooks, hooksFor } from './hooks.js';
import { parseSample, watchPath } from './path.js';
import { stitch } from './response.js';

/** @typedef {import('./index.d.ts').EngineOptions} EngineOptions */
/** @typedef {import('./index.d.ts').EngineState} EngineState */
/** @typedef {import('./index.d.ts').Site} Site */

/** How a count of alternatives crosses: not declared, none, some. */
const alternativesCode = (/** @type {number | undefined} */ count) =>
  count === undefined ? 0 : count > 0 ? 2 : 1;
/** How long a failed request waits for the module, in milliseconds. */
const MODULE_PATIENCE = 3000;
/** Every engine of a page fails open for the same reason; it is said once. */
let hasWarned = false;
/** Only who has hooks needs it, and has it loaded. @type {typeof import('./counsel.js') | undefined} */
let counsel;
/** What it shares with this file. */
const KIT = { FACT, HOOKS, HoldfastError, attempt, attemptOf, requestError };
/** Playback goes on without the hooks where they cannot be had. */
const loadCounsel = async () => {
  try {
    counsel ??= await import('./counsel.js');
  } catch (error) {
    if (hasWarned) return;
    hasWarned = true;
    console.warn('Holdfast: js/counsel.js could not be loaded; hooks are not asked.', error);
  }
};
/** So many of the last exhaustions are kept. */
const EXHAUSTIONS = 100;

export class Engine {
  #options;
  /** Policies by site. */
  #sites;
  /** The options as they cross. */
  #numbers = new Float64Array();
  /** @type {Driver | undefined} */
  #driver;
  #destroyed = false;
  #lastId = 0;
  #hosts;
  /** @type {import('./counsel.js').Counsel | undefined} */
  #counsel;
  /** Who decides whether this tab probes a host. @type {((host: string) => Promise<boolean>) | undefined} */
  #elect;
  /** @type {import('./index.d.ts').SourceOptions | undefined} */
  #source;
  /** The number of the first request of this source. */
  #sourceStart = 0;
  /** @type {Map<import('./index.d.ts').Site, import('./hooks.js').Hooks>} */
  #hooks = new Map();
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
  /** @type {Deferred<boolean>} whether the module is too late for what failed without it */
  #late = new Deferred();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #lateTimer;
  #offTrap;
  /** What the embedder knows of the path, over what the browser says. */
  #said = {};
  #seen = {};
  /** When its time in the background is over, negative where it is not. */
  #until = -1;
  #consent = false;
  #offPath = () => {};
  /** Whether new requests go through the engine; `false` sends them on the small ladder. */
  enabled = true;

  /**
   * @param {EngineOptions} options
   * @param {() => Promise<void>} load loads the module
   */
  constructor(options, load) {
    this.#sites = parseOptions(options);
    this.#options = options;
    this.#hosts = new Hosts(options.getCdnId);
    this.#slots = new Slots(
      {
        mode: 'starting',
        retryState: {},
        retryExhausted: [],
        hostHealth: {},
        throttle: {},
        excludedBytes: 0,
        diagnostics: [],
      },
      () => this.#readSlots(),
      tellHealth(options.onHostHealth),
    );
    const isThere = isReady() && (counsel !== undefined || !hasHooks(options));
    if (isThere) {
      this.#prepare();
      this.#takeCharge();
    }
    /** Resolves to whether the engine is in charge, or has failed open. */
    this.ready = isThere ? Promise.resolve(true) : this.#boot(load);
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
    // What is asked for at once does not wait for all this.
    await undefined;
    if (this.#destroyed) return false;
    this.#prepare();
    this.#lateTimer = setTimeout(() => this.#late.resolve(true), MODULE_PATIENCE);
    try {
      await Promise.all([load(), hasHooks(this.#options) && loadCounsel()]);
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

  #prepare() {
    this.#numbers = flatten(this.#options, this.#sites, this.#source?.recovery);
    this.#offPath = watchPath((sample) => {
      this.#seen = sample;
      this.#call(sayOnline);
      this.#tellPath();
    });
  }

  #takeCharge() {
    if (this.#destroyed) return;
    this.#driver = new Driver(this.#numbers, this.#sink(), 'document' in globalThis);
    this.#meetCounsel();
    this.#setMode('engine');
    for (const [name, count] of this.#declared) this.declareAlternatives(name, count);
    this.reportPlayback(this.#playback);
    this.electProbes(this.#elect);
    this.#tellPath();
    this.setUserConsent(this.#consent);
    for (const [transfer, ladder] of this.#laddered) {
      if (ladder.isCold) this.#adopt(transfer, ladder);
    }
    this.#call(sayOnline);
  }

  /** Whoever has hooks has a counsel, once that is loaded. */
  #meetCounsel() {
    if (!counsel || this.#counsel) return;
    const call = (/** @type {any} */ use) => this.#call(use);
    this.#counsel = new counsel.Counsel(call, this.#transfers, this.#hosts, this.#options, KIT);
  }

  /** @param {string} what @param {unknown} error */
  #failOpen(what, error) {
    if (this.#destroyed) return;
    this.#setMode('plain');
    if (hasWarned) return;
    hasWarned = true;
    console.warn(
      `Holdfast: ${what}; requests go to plain fetch with a few retries. Check that core_bg.wasm is served, and that the policy has 'wasm-unsafe-eval'.`,
      error,
    );
  }

  /** @param {EngineState['mode']} mode */
  #setMode(mode) {
    this.#slots.set({ mode });
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

  /** A fact that is nothing but numbers. @param {number} fact */
  #tell(fact, subject = 0, number = 0, x = 0, y = 0, z = 0) {
    this.#call((driver) => void driver.tell(fact, subject, number, x, y, z));
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
      ...describe(input, { ...init, site: init?.site ?? this.#siteFor(input, init) }),
      fetch: transport,
      streaming: true,
      keepsRefusal: true,
    });
    return stitch(transfer, await transfer.head);
  };

  /** @param {import('./index.d.ts').LoadRequest} request */
  load = async (request) => {
    const { url, site, signal, init, optional, purpose, onAttempt, onResponse } = request;
    const { fetch: own } = this.#options;
    const { fetch: send } = request;
    const transfer = this.#begin({
      ...describe(request.request ?? url, {
        ...init,
        ...{ site: site ?? this.#siteFor(request.request ?? url, init), optional, purpose },
        signal: signal ?? init?.signal,
      }),
      fetch: send ? (input, init) => send(input, init, own ?? fetch) : own,
      streaming: false,
      keepsRefusal: false,
      observer: {
        sent: (number, at) => attempt(() => onAttempt?.({ attempt: number, at })),
        accepted: (response, at) => attempt(() => onResponse?.({ response, at })),
      },
    });
    return load(transfer, request);
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

  /** @type {import('./index.d.ts').Engine['fetchBytes']} */
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
   * @param {Omit<import('./transfer.js').Request, 'id' | 'hooks' | 'policy'>} request
   * @returns {Transfer}
   */
  #begin(request) {
    if (this.#destroyed) throw destroyed();
    const { site, url } = request;
    const hooks = this.#hooksFor(site);
    // Not after the number is taken: this calls the embedder, who may begin requests too.
    const host = this.#hosts.nameOf(url, request.host);
    const id = (this.#lastId += 1);
    const own = { ...request, host, hooks, id, policy: this.#sites[site] };
    if (hooks.singleUse) own.once = true;
    const transfer = new Transfer(own, (settled) => {
      this.#transfers.delete(settled.request.id);
      this.#laddered.delete(settled);
    });
    if (request.signal?.aborted) transfer.fail(request.signal.reason);
    else if (this.#driver && this.enabled) this.#drive(transfer);
    else {
      this.#carry(transfer, this.enabled && this.state.mode === 'starting');
    }
    return transfer;
  }

  /** @param {Site} site */
  #hooksFor(site) {
    let hooks = this.#hooks.get(site);
    if (!hooks) {
      hooks = hooksFor(this.#options, this.#source, site);
      this.#hooks.set(site, hooks);
    }
    return hooks;
  }

  /** What the embedder says an URL is. @param {string | URL | Request} input @param {RequestInit} [init] */
  #siteFor(input, init = {}) {
    const { getSite } = this.#options;
    const url = input instanceof Request ? input.url : String(input);
    const said = getSite && attempt(() => getSite(url, init));
    return SITES.find((site) => site === said);
  }

  /**
   * @param {Transfer} transfer
   * @param {Ladder} [cold] whose attempt is taken over
   */
  #drive(transfer, cold) {
    const { request } = transfer;
    const { id, site, host, url, range, fetch, hooks, first, last } = request;
    const credential = hooks.bits & 2 ? this.#counsel?.dress(transfer) : undefined;
    const { input, init } = request;
    const resource = numberOfUrl(url, null);
    this.#transfers.set(id, transfer);
    transfer.link = driverLink((use) => this.#call(use), id);
    if (credential) this.#counsel?.tellExpiry(credential);
    this.#call((driver) =>
      driver.start(
        id,
        SITES.indexOf(site),
        this.#hosts.numberOf(host),
        flagsOf(request),
        alternativesCode(this.#declared.get(url)),
        range === null ? resource : numberOfUrl(url, range),
        transfer.credential,
        this.#hosts.prefixOf(url),
        this.#counsel ? hooks.bits : 0,
        input,
        { ...init },
        fetch,
        cold?.controller,
        cold?.sentAt ?? performance.now(),
        resource,
        first,
        last,
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
    transfer.cut();
    if (transfer.isFinal && transfer.attempts > 0) {
      ladder.abort();
      transfer.fail(new HoldfastError('TRAPPED', 'the module trapped, and this is sent only once'));
    } else ladder.send();
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
    // What comes as numbers only, in the order of `src/web/sink.rs`.
    const told = [
      () => this.#tell(FACT.wake),
      () => this.#slots.touch(),
      to((transfer) => transfer.cut()),
      to((transfer, hook, number) => this.#ask(transfer, hook, number)),
      to((transfer) => {
        transfer.isPlain = true;
        transfer.readdress(plain(transfer.url), (use) => this.#call(use));
      }),
      (/** @type {number} */ id, /** @type {any} */ credential, /** @type {any} */ number) => {
        const usual = this.#hooksFor('segment');
        const transfer = this.#transfers.get(id);
        attempt(() => this.#counsel?.refresh(credential, transfer, number, usual));
      },
    ];
    return {
      sent: to((transfer, number, at, promise) => {
        this.#follow(transfer.request.id, number, promise);
        transfer.sent(number, at);
      }),
      dress: to((transfer, init, first, last) => transfer.dress(init, first, last)),
      accept: to((transfer, attempt, flags, skip, take) => {
        const [inspect, resumed, part] = [1, 2, 4].map((bit) => (flags & bit) > 0);
        const response = /** @type {Response} */ (transfer.arrival.response);
        transfer.accept(attempt, response, { inspect, resumed, part, skip, take });
      }),
      failed: to((transfer, record) => {
        this.#counsel?.failed(transfer, record, transfer.arrival.response);
      }),
      fail: to((transfer, record) => {
        const { response, error } = transfer.arrival;
        transfer.refuse(failureOf(record), response, error);
      }),
      exhausted: to((transfer, record) => this.#exhausted(transfer, record)),
      told: (/** @type {number} */ what, /** @type {[any, any, any]} */ ...rest) =>
        told[what](...rest),
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
    /** @type {(response: Response | undefined, error?: unknown, judged?: { scope?: number, wait?: number, expiry?: number }) => void} */
    const settle = (response, error, { scope = 0, wait = -1, expiry = 0 } = {}) => {
      if (this.#driver !== sender) return;
      this.#call((driver) => {
        if (!response?.ok || saidOffline(driver)) sayOnline(driver);
        const transfer = this.#transfers.get(id);
        if (transfer && response) this.#hear(transfer.request, response).catch(() => {});
        const facts = response ? [...headOf(response), scope, wait, expiry] : [];
        transfer?.arrived(number, response, error);
        driver.settled(id, number, new Float64Array(facts), performance.now());
      });
    };
    promise.then(
      (response) => {
        // A fetch that resolves with something else has failed as one that rejects.
        if (typeof response?.status !== 'number' || !response.headers?.get)
          return settle(undefined, new TypeError('no response'));
        const transfer = this.#transfers.get(id);
        const look = transfer && attempt(() => this.#counsel?.look(transfer, number, response));
        if (!look) return settle(response);
        look.then(
          (judged) => settle(judged.response, undefined, judged),
          () => settle(response),
        );
      },
      (error) => settle(undefined, error),
    );
  }

  /**
   * What a response says besides. The words for it are loaded where they are needed.
   *
   * @param {import('./transfer.js').Request} request
   * @param {Response} response
   */
  async #hear({ url, host }, response) {
    const fields = adviceIn(response.headers, this.#options);
    if (fields.some(Boolean)) {
      const { heed } = await import('./advice.js');
      const numbers = heed(response, url, fields);
      const number = this.#hosts.numberOf(host);
      if (numbers) this.#call((driver) => driver.advise(number, Float64Array.from(numbers)));
    }
    if (!isVeiled(response)) return;
    const { diagnose } = await import('./diagnostics.js');
    const { diagnostics } = this.state;
    const event = diagnose(response, url, diagnostics);
    if (!event) return;
    this.#slots.set({ diagnostics: Object.freeze([...diagnostics, event]) }, () =>
      this.#options.onDiagnostic?.(event),
    );
  }

  #tellPath() {
    const codes = parseSample({ ...this.#seen, ...this.#said });
    codes.pop();
    const left = this.#until < 0 ? -1 : Math.max(0, this.#until - performance.now());
    const packed = codes.reduceRight((sum, code) => sum * 8 + code, 0);
    this.#tell(FACT.path, 0, packed, left);
  }

  /** @param {Transfer} transfer @param {number} hook @param {number} number */
  #ask(transfer, hook, number) {
    const { id, host } = transfer.request;
    const answer = (may = true) => this.#tell(FACT.answer, id, number, may ? 2 : 1);
    if (HOOKS[hook] !== 'probe') this.#counsel?.ask(transfer, hook, number);
    else if (this.#elect) this.#elect(host).then(answer, () => answer());
    else answer();
  }

  /** @param {Transfer} transfer @param {number[]} record */
  #exhausted(transfer, record) {
    const event = exhaustedEvent(transfer, record);
    const retryExhausted = [...this.state.retryExhausted, event].slice(-EXHAUSTIONS);
    const { onExhausted } = this.#options;
    this.#slots.set({ retryExhausted: Object.freeze(retryExhausted) }, () => {
      if (typeof onExhausted === 'function') onExhausted(event);
    });
  }

  /** @returns {Partial<EngineState>} */
  #readSlots() {
    /** @type {Partial<EngineState>} */
    let slots = { retryState: {} };
    this.#call((driver) => {
      slots = readSlots(driver, this.#transfers, this.#sourceStart, this.#hosts);
    });
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
      entries = rowsOf(driver.view(VIEW.log), 6).map(entryOf);
    });
    return entries;
  };

  retryNow = () => this.#tell(FACT.retryNow);

  /** @param {import('./index.d.ts').PlaybackReport} report */
  reportPlayback = (report) => {
    this.#playback = report ?? {};
    const { bufferAhead, targetDuration, live } = this.#playback;
    this.#tell(FACT.playback, Number(live === true), 0, ms(bufferAhead), ms(targetDuration));
  };

  /** @param {Partial<import('./index.d.ts').PathSample>} sample */
  reportPath = (sample) => {
    const left = /** @type {number} */ (parseSample(sample).pop());
    this.#until = left < 0 ? left : performance.now() + left;
    this.#said = { ...sample };
    this.#tellPath();
  };

  /** @param {boolean} consent */
  setUserConsent = (consent) => {
    this.#consent = consent === true;
    this.#tell(FACT.consent, Number(this.#consent));
  };

  /** @param {import('./index.d.ts').SourceOptions} [source] */
  startSource = async (source = {}) => {
    this.#sites = parseOptions(this.#options, source);
    this.#numbers = flatten(this.#options, this.#sites, source.recovery);
    this.#source = source;
    this.#sourceStart = this.#lastId + 1;
    this.#hooks.clear();
    this.#declared.clear();
    this.#call((driver) => driver.source(this.#numbers));
    for (const site of SITES.keys()) this.#tell(FACT.alternatives, site);
    this.#slots.set({ retryExhausted: Object.freeze([]) });
    if (!counsel && hasHooks(this.#options, source)) await loadCounsel();
    this.#meetCounsel();
  };

  /** @param {string} [host] */
  resetHealth = (host) => {
    if (host === undefined) this.#tell(FACT.resetHealth, 0, 0, 1);
    else if (this.#hosts.has(host)) this.#tell(FACT.resetHealth, this.#hosts.numberOf(host));
  };

  /** @param {string} host */
  rotate = (host) => {
    if (this.#hosts.has(host)) this.#tell(FACT.rotate, this.#hosts.numberOf(host));
  };

  /** @param {Record<string, string>} pathways */
  setPathways = (pathways) => {
    this.#hosts.pathways = { ...pathways };
  };

  /**
   * For `holdfast/cross-tab`: who decides whether this tab probes a host.
   *
   * @param {((host: string) => Promise<boolean>) | undefined} elect
   */
  electProbes = (elect) => {
    this.#elect = elect;
    this.#tell(FACT.elect, Number(elect !== undefined));
  };

  /**
   * For `holdfast/cross-tab`: what another tab knows of a host, in this page's time.
   *
   * @param {string} host
   * @param {{ openUntil?: number, trips?: number, blockedUntil?: number, rate?: number }} news
   */
  adoptHealth = (host, { openUntil = -1, trips = 0, blockedUntil = -1, rate = 1 }) => {
    const number = this.#hosts.numberOf(host);
    this.#tell(FACT.adopt, number, trips, openUntil, blockedUntil, rate);
  };

  /** @param {Site | string} siteOrUrl @param {number | undefined} count */
  declareAlternatives = (siteOrUrl, count) => {
    if (count === undefined) this.#declared.delete(siteOrUrl);
    else this.#declared.set(siteOrUrl, count);
    const site = SITES.indexOf(/** @type {Site} */ (siteOrUrl));
    if (site >= 0) this.#tell(FACT.alternatives, site, alternativesCode(count));
  };

  destroy = () => {
    if (this.#destroyed) return;
    // What is to be seen from now on.
    void this.state;
    this.#destroyed = true;
    clearTimeout(this.#lateTimer);
    const underWay = [...this.#laddered.keys(), ...this.#transfers.values()];
    for (const transfer of underWay) transfer.cancel(destroyed());
    this.#call((driver) => {
      driver.close();
      // Whoever calls this from within a callback of the driver still stands on its stack.
      queueMicrotask(() => driver.free());
    });
    this.#driver = undefined;
    this.#offTrap();
    this.#offPath();
    this.#slots.touch();
  };
}

const destroyed = () => new HoldfastError('DESTROYED', 'the engine was destroyed');

/** Seconds to milliseconds; negative stands for unknown. @param {number | undefined} seconds */
const ms = (seconds) =>
  typeof seconds === 'number' && seconds >= 0 ? Math.min(seconds, 1e6) * 1000 : -1;

/** For service workers, which can load nothing later. @param {typeof import('./counsel.js')} module */
export const bringCounsel = (module) => void (counsel = module);
