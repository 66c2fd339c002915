// @ts-check
/**
 * The dash.js adapter: loaders bound to an engine, laid over dash.js's own through its extension
 * point, the settings that leave retries to the engine alone, and a reporter of playback. dash.js
 * itself is never imported.
 */
import { bufferAhead, createWarn, hostOf, isTimeout, onPlain, watchMedia } from './shared.js';

/** @typedef {import('./dash.d.ts').DashEngine} DashEngine */
/** @typedef {import('./dash.d.ts').DashLoader} DashLoader */
/** @typedef {import('../index.d.ts').Site} Site */
/** @typedef {import('../index.d.ts').Loaded<any>} Loaded */
/** @typedef {import('dashjs').MediaPlayerClass} MediaPlayer */

/**
 * dash.js's own record of a request, where there is one: what it has measured is kept there, too.
 *
 * @typedef {Partial<import('dashjs').FragmentRequest> & { url: string, headers?: object,
 *   traces?: object[], resourceTimingValues?: PerformanceResourceTiming }} Asked
 */

/**
 * What dash.js hands to a loader; `customData` has its callbacks.
 *
 * @typedef {{ url: string, method: string, body?: any, responseType?: string | null, timeout?: number,
 *   headers?: Record<string, string>, credentials?: string | null,
 *   customData: Record<string, any> & { request?: Asked } }} MediaRequest
 * @typedef {{ status?: number | null, statusText?: string, url?: string | null, headers?: object,
 *   data?: any, request?: MediaRequest, resourceTiming?: Record<string, number> | null }} MediaResponse
 */

/** `setTimeout` fires at once beyond this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** dash.js's own limits of one attempt. A limit of the app's own bounds a whole load. */
const LIMITS = { fragmentRequestTimeout: 20_000, manifestRequestTimeout: 10_000 };
/** Not sent by these loaders, or no type at all. */
const NOT_OURS = /^(license|lowLatency)/;
/** So many segments in a row may be missing from a recording before dash.js is told. */
const MOST_HOLES = 3;
/** What the segments around a hole may lack at their ends, in seconds. */
const HOLE_MARGIN_S = 0.5;
/** dash.js hears of progress about as often as from an XMLHttpRequest. */
const PROGRESS_MS = 50;
/** Where dash.js would take a 0 for no time at all. */
const SHORTEST_MS = 0.001;
/** Two clocks of one page differ by less. */
const CLOCK_GRAIN_MS = 1;
const TWO_LAYERS = "two retry layers are on, dash.js's and the engine's, because of";

/**
 * An extension of a player stays for ever; it asks here who is attached now.
 *
 * @typedef {{ session?: Session, used?: boolean }} Slot
 * @type {WeakMap<MediaPlayer, Slot>}
 */
const slots = new WeakMap();

/** @type {typeof import('./dash.d.ts').attachDash} */
export function attachDash(engine, player, { loader } = {}) {
  const warn = createWarn();
  const slot = slots.get(player) ?? {};
  if (!slots.has(player)) {
    if (player.isReady()) {
      warn('dash.js is loading already, without Holdfast; call earlier', ['attachDash']);
      return () => {};
    }
    slots.set(player, slot);
    player.extend('XHRLoader', extension(slot, false), true);
    player.extend('FetchLoader', extension(slot, true), true);
  }

  const session = new Session(engine, player, warn, loader);
  const retries = ownRetries(player);
  const handBack = () => {
    if (slot.session === session) slot.session = undefined;
    player.removeRequestInterceptor(/** @type {any} */ (session.keep));
    retries.giveBack();
  };
  slot.session = session;
  retries.take();
  const release = onPlain(engine, handBack);

  /** @type {Record<string, (event: any) => void>} */
  const listeners = {
    manifestLoadingStarted() {
      if (slot.session === session) retries.take();
    },
    manifestLoadingFinished() {
      if (slot.used) return;
      warn('dash.js loads without Holdfast: it is older than 5, or another extension has', [
        'XHRLoader',
      ]);
      stop();
    },
    manifestLoaded: ({ data }) => session.begin(data),
    baseUrlsUpdated: ({ baseUrls }) => session.found(baseUrls),
    streamInitialized: () => session.follow(player.getVideoElement()),
    streamTeardownComplete: () => session.forget(),
  };
  const events = /** @type {any} */ (player);
  for (const name in listeners) events.on(name, listeners[name]);
  const stop = () => {
    for (const name in listeners) events.off(name, listeners[name]);
    release();
    handBack();
    session.forget();
  };
  return stop;
}

/** Who retries, in the settings of a player. @param {MediaPlayer} player */
function ownRetries(player) {
  /** @type {any} */
  let settings;
  /** What they were. @type {any} */
  let before;
  return {
    /** Also after a reset, which makes another object of them. */
    take() {
      if (settings === player.getSettings()) return;
      settings = player.getSettings();
      const { retryAttempts, fragmentRequestProgressTimeout, ...streaming } = settings.streaming;
      before = { retryAttempts: {}, fragmentRequestProgressTimeout };
      const ours = /** @type {any} */ ({ retryAttempts: {}, fragmentRequestProgressTimeout: -1 });
      for (const type in retryAttempts) {
        if (NOT_OURS.test(type)) continue;
        before.retryAttempts[type] = retryAttempts[type];
        ours.retryAttempts[type] = 0;
      }
      for (const [name, limit] of Object.entries(LIMITS)) {
        if (streaming[name] !== limit) continue;
        before[name] = limit;
        ours[name] = 0;
      }
      player.updateSettings({ streaming: ours });
    },
    giveBack() {
      if (settings && settings === player.getSettings()) {
        player.updateSettings({ streaming: before });
      }
      settings = undefined;
    },
  };
}

/** What one engine knows of one player. */
class Session {
  #player;
  #warn;
  /** @type {string[]} where the media is, by dash.js's names */
  #places = [];
  /** @type {Set<string | undefined>} where it could not be had */
  #failed = new Set();
  /** @type {Map<unknown, number>} segments missing in a row, by the type of their media */
  #holes = new Map();
  /** @type {number | undefined} dash.js's own */
  #gapLimit;
  #live = false;
  #targetDuration = 0;
  /** @type {WeakMap<object, MediaRequest>} */
  #pristine = new WeakMap();

  /**
   * @param {DashEngine} engine
   * @param {MediaPlayer} player
   * @param {ReturnType<typeof createWarn>} warn
   * @param {DashLoader | undefined} loader
   */
  constructor(engine, player, warn, loader) {
    this.engine = engine;
    this.loader = loader;
    this.#player = player;
    this.#warn = warn;
  }

  follow = watchMedia((media) => this.#report({ bufferAhead: bufferAhead(media) }));

  /** Keeps a request as it is before the first interceptor. @param {MediaRequest} request */
  keep = (request) => {
    const { url, headers, customData } = request;
    if (customData.request) {
      this.#pristine.set(customData.request, { ...request, url, headers: { ...headers } });
    }
    return request;
  };

  /** @param {Asked | undefined} asked */
  pristine(asked) {
    return asked && this.#pristine.get(asked);
  }

  /** @param {any} manifest */
  begin(manifest) {
    this.#live = manifest?.type === 'dynamic';
  }

  /** @param {{ url: string, serviceLocation: string }[]} baseUrls */
  found(baseUrls) {
    const absolute = baseUrls.filter(({ url }) => hostOf(url));
    this.#places = [...new Set(absolute.map(({ serviceLocation }) => serviceLocation))];
    // After an error dash.js never reloads again, from wherever.
    this.engine.declareAlternatives('playlist-reload', 0);
  }

  forget() {
    this.follow(null);
    this.#places = [];
    this.#failed.clear();
    this.#holes.clear();
    this.#targetDuration = 0;
    if (this.#gapLimit !== undefined) this.#limitGaps(this.#gapLimit);
    this.#gapLimit = undefined;
    this.engine.declareAlternatives('playlist-reload', undefined);
  }

  /** @param {Asked | undefined} asked @returns {Site} */
  expect(asked) {
    const { type = '', mediaType, duration = 0 } = /** @type {any} */ (asked ?? {});
    const { retryAttempts } = /** @type {any} */ (this.#player.getSettings()).streaming;
    this.#warn(TWO_LAYERS, retryAttempts[type] > 0 ? [`streaming.retryAttempts.${type}`] : []);
    if (duration > this.#targetDuration) {
      this.#targetDuration = duration;
      this.#report({});
    }
    if (type === 'MPD') return this.#player.getManifest() ? 'playlist-reload' : 'manifest';
    if (type === 'XLinkExpansion') return 'playlist';
    if (type === 'ContentSteering') return 'steering';
    if (!/Segment$/.test(type)) return 'other';
    if (mediaType === 'text') return 'text-segment';
    return /^(Media|FragmentInfo)/.test(type) ? 'segment' : 'init';
  }

  /** @param {Asked | undefined} asked @param {Site} site */
  succeeded(asked, site) {
    this.#failed.delete(asked?.serviceLocation);
    if (site === 'segment') this.#holes.delete(asked?.mediaType);
  }

  /**
   * How many other places there are for media; undefined where nobody knows.
   *
   * @param {Asked | undefined} asked
   * @param {Site} site
   */
  elsewhere(asked, site) {
    if (!this.#places.length || !/^(init|segment)$/.test(site)) return undefined;
    const isOther = (/** @type {string} */ place) => place !== asked?.serviceLocation;
    return this.#places.filter((place) => isOther(place) && !this.#failed.has(place)).length;
  }

  /**
   * What dash.js gets instead of a verdict, where that would end more than is lost.
   *
   * @param {any} asked
   * @param {Site} site
   * @param {any} error
   * @returns {MediaResponse | undefined}
   */
  instead(asked, site, { status, reason }) {
    if (site === 'text-segment') {
      // dash.js would leave the place that it came from, with picture and sound.
      const isVtt = /vtt/.test(asked.representation?.mediaInfo?.mimeType);
      return { status: 200, data: new TextEncoder().encode(isVtt ? 'WEBVTT\n\n' : '').buffer };
    }
    if (site === 'playlist-reload' && reason !== 'terminal') {
      // This says that the manifest it has is valid.
      return { status: 204, statusText: 'No Content', data: ' ' };
    }
    if (site !== 'segment' && site !== 'init') return undefined;
    if (site === 'segment' && /^4(04|10)$/.test(status) && !this.elsewhere(asked, site)) {
      const { mediaType, duration } = asked;
      const count = (this.#holes.get(mediaType) ?? 0) + 1;
      if (this.#live || count <= MOST_HOLES) {
        this.#holes.set(mediaType, count);
        this.#span(count * duration + HOLE_MARGIN_S);
        return { status: 200, data: new ArrayBuffer(0) };
      }
    }
    this.#failed.add(asked.serviceLocation);
    return undefined;
  }

  /** Otherwise nothing behind a hole counts as buffered, and dash.js loads on and on. @param {number} gap */
  #span(gap) {
    const { smallGapLimit } = /** @type {any} */ (this.#player.getSettings()).streaming.gaps;
    if (gap <= smallGapLimit) return;
    this.#gapLimit ??= smallGapLimit;
    this.#limitGaps(gap);
  }

  /** @param {number} smallGapLimit in seconds */
  #limitGaps(smallGapLimit) {
    this.#player.updateSettings({ streaming: { gaps: { smallGapLimit } } });
  }

  /** @param {{ bufferAhead?: number }} buffer */
  #report(buffer) {
    const targetDuration = this.#targetDuration || undefined;
    this.engine.reportPlayback({ ...buffer, targetDuration, live: this.#live });
  }
}

/**
 * An extension of one of dash.js's loaders: of the one for whole bodies, or of the one that passes
 * a segment on while it is being made.
 *
 * @param {Slot} slot
 * @param {boolean} streamed
 */
function extension(slot, streamed) {
  /** @this {{ context: object, factory: any, parent: any }} */
  return function HoldfastLoader() {
    const { context, factory, parent } = this;
    const own = { ...parent };
    const interceptors = factory.getSingletonInstance(context, 'CustomParametersModel');
    if (!interceptors?.getRequestInterceptors) return {}; // dash.js 4
    slot.used = true;
    const under = slot.session?.loader?.call({ context, factory, parent: own });
    /** @type {Set<Load>} */
    const loads = new Set();
    const keepFirst = () => {
      const list = interceptors.getRequestInterceptors();
      if (slot.session && !list.includes(slot.session.keep)) list.unshift(slot.session.keep);
    };
    const abort = () => {
      for (const load of loads) load.abort();
    };
    keepFirst();
    return {
      /** @param {MediaRequest} request @param {MediaResponse} response */
      load(request, response) {
        const { session } = slot;
        if (!session) return own.load(request, response);
        keepFirst();
        const load = new Load(session, request, response, { interceptors, under, streamed });
        loads.add(load);
        load.start(own.load, () => loads.delete(load));
        return true;
      },
      abort() {
        abort();
        own.abort();
      },
      reset() {
        abort();
        own.reset();
      },
      resetInitialSettings() {
        abort();
        own.resetInitialSettings();
      },
    };
  };
}

/** One load of dash.js. Whatever comes first settles it, and nothing after that is heard. */
class Load {
  #session;
  #request;
  #response;
  #with;
  #asked;
  #site;
  #controller = new AbortController();
  #settled = false;
  #onSettled = () => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** What the attempt under way is sent as. @type {MediaRequest} */
  #current;
  #sent = 0;
  #sentAt = 0;
  /** @type {Response | undefined} the headers of it */
  #seen;
  /** When the first bytes of it came, and the last ones. */
  #first = 0;
  #last = 0;
  /** Bytes so far, and those that dash.js has heard of, and when. */
  #loaded = 0;
  #told = 0;
  #toldAt = 0;
  /** Whether dash.js has some of the body already. */
  #isGiven = false;

  /**
   * @param {Session} session
   * @param {MediaRequest} request
   * @param {MediaResponse} response
   * @param {{ interceptors: any, under: any, streamed: boolean }} parts
   */
  constructor(session, request, response, parts) {
    this.#session = session;
    this.#request = this.#current = request;
    this.#response = response;
    this.#with = parts;
    this.#asked = request.customData.request;
    this.#site = session.expect(this.#asked);
  }

  /**
   * @param {(request: MediaRequest, response: MediaResponse) => void} fallBack dash.js's own way
   * @param {() => void} onSettled
   */
  start(fallBack, onSettled) {
    const { url, responseType, timeout = 0, customData } = this.#request;
    this.#onSettled = onSettled;
    customData.abort = () => this.abort();
    if (timeout > 0 && timeout <= LONGEST_TIMER_MS) {
      const error = Object.assign(new Error(`No answer in ${timeout} ms`), { class: 'timeout' });
      this.#timer = setTimeout(() => this.#refuse(error), timeout);
    }
    const boxes = this.#with.streamed ? collectBoxes((data) => this.#pass(data)) : undefined;
    const { engine } = this.#session;
    engine.declareAlternatives(url, this.#session.elsewhere(this.#asked, this.#site));
    /** @type {Promise<Loaded>} */
    const loaded = engine.load({
      url,
      site: this.#site,
      init: this.#initOf(this.#request),
      responseType:
        responseType === 'arraybuffer' || responseType === 'json' ? responseType : 'text',
      signal: this.#controller.signal,
      fetch: (/** @type {any} */ input, init, ...send) => this.#attempt(input, init, ...send),
      onAttempt: ({ at }) => {
        this.#sentAt = this.#toldAt = at;
        this.#first = 0;
      },
      onProgress: ({ loaded, total, at }) => this.#progress(loaded, total, at),
      onChunk: boxes && ((chunk) => this.#settled || boxes.push(chunk)),
    });
    loaded.then(
      (loaded) => this.#answer(loaded, boxes),
      (error) => {
        // What dash.js has been given in part cannot begin anew.
        if (error?.code === 'DESTROYED' && !this.#isGiven && this.#settle()) {
          fallBack(this.#request, this.#response);
        } else this.#refuse(error);
      },
    );
  }

  abort() {
    if (!this.#settle()) return;
    this.#controller.abort();
    this.#request.customData.onabort?.();
  }

  /**
   * Sends one attempt, to where the engine says. Every one but the first passes dash.js's interceptors
   * anew, so that what they add is fresh.
   *
   * @param {any} input
   * @param {RequestInit} [init]
   * @param {typeof fetch} [send]
   */
  async #attempt(input, init = {}, send = globalThis.fetch) {
    const to = String(input);
    if (this.#sent++ > 0) await this.#intercept(to);
    else this.#current = { ...this.#request, url: to };
    const own = new Headers(this.#initOf(this.#request).headers);
    const { headers, ...rest } = this.#initOf(this.#current);
    // The range of what is missing.
    for (const [name, value] of new Headers(init.headers)) {
      if (own.get(name) !== value) headers.set(name, value);
    }
    this.#seen = undefined;
    const { url } = this.#current;
    const { under } = this.#with;
    if (under) {
      const { loadUnder } = await import('./dash-under.js');
      const request = { ...this.#current, headers: Object.fromEntries(headers) };
      this.#seen = await loadUnder(under, request, init.signal);
    } else this.#seen = await send(url, { ...init, ...rest, headers });
    return this.#seen;
  }

  /** @param {string} input */
  async #intercept(input) {
    const asked = this.#asked;
    const pristine = this.#session.pristine(asked);
    if (!asked || !pristine) return;
    const { status = 0, statusText = '', url = '', headers = [] } = this.#seen ?? {};
    const refusal = { status, statusText, url, headers: Object.fromEntries(headers), data: null };
    const answer = { ...this.#response, ...refusal, request: this.#current };
    await chain(this.#with.interceptors.getResponseInterceptors(), answer);
    // The engine has another URL where a credential was refreshed, with what interceptors have added.
    const { url: own } = this.#request;
    const added = own.startsWith(pristine.url) ? own.slice(pristine.url.length) : '';
    const bare = input.endsWith(added) ? input.slice(0, input.length - added.length) : input;
    asked.url = input === own ? pristine.url : bare;
    asked.headers = { ...pristine.headers };
    const request = { ...this.#request, url: asked.url, headers: asked.headers };
    const intercepted = await chain(this.#with.interceptors.getRequestInterceptors(), request);
    this.#current = this.#response.request = intercepted ?? this.#current;
  }

  /** @param {MediaRequest} request */
  #initOf({ method, body, headers, credentials }) {
    const given = Object.entries(headers ?? {}).filter(([, value]) => value);
    // An XMLHttpRequest without credentials still has those of its own origin.
    const kept = this.#with.streamed || credentials === 'include' ? credentials : 'same-origin';
    return {
      method,
      body: body ?? undefined,
      headers: new Headers(/** @type {[string, string][]} */ (given)),
      credentials: /** @type {RequestCredentials} */ (kept ?? 'same-origin'),
    };
  }

  /** @param {number} loaded @param {number} total @param {number} at */
  #progress(loaded, total, at) {
    if (this.#settled) return;
    const isFirst = !this.#first;
    if (isFirst) {
      this.#first = at;
      this.#clearTraces(); // Those of a lost attempt.
    }
    this.#loaded = loaded;
    this.#last = at;
    if (!this.#with.streamed && (isFirst || at - this.#toldAt >= PROGRESS_MS)) this.#tell(total);
  }

  /** dash.js makes a trace of this; the first one counts as latency. @param {number} total */
  #tell(total) {
    const time = this.#last - this.#toldAt || SHORTEST_MS;
    this.#told = this.#loaded;
    this.#toldAt = this.#last;
    const size = { loaded: this.#loaded, total, lengthComputable: total > 0 };
    this.#notify({ ...size, time });
  }

  /** @param {ArrayBuffer} data */
  #pass(data) {
    this.#isGiven = true;
    this.#notify({ data, lengthComputable: false, noTrace: true });
  }

  /** @param {object} progress */
  #notify(progress) {
    if (!this.#settled) this.#request.customData.onprogress?.(progress);
  }

  /**
   * @param {Loaded} loaded
   * @param {ReturnType<typeof collectBoxes> | undefined} boxes
   */
  #answer({ data, response, url, bytes }, boxes) {
    if (this.#settled) return;
    if (boxes) {
      data = boxes.rest();
      const time = boxes.timeOf(bytes);
      this.#notify({ loaded: bytes, total: bytes, lengthComputable: true, time });
    } else if (this.#told < this.#loaded) this.#tell(bytes);
    if (!this.#settle()) return;
    this.#session.succeeded(this.#asked, this.#site);
    const { status, statusText } = response;
    const headers = Object.fromEntries(response.headers);
    this.#end({ status, statusText, url: url || this.#current.url, headers, data });
    this.#measure();
  }

  /** @param {any} error */
  #refuse(error) {
    if (!this.#settle()) return;
    this.#controller.abort();
    this.#clearTraces();
    const { customData, url } = this.#request;
    const instead = this.#session.instead(this.#asked, this.#site, error);
    const isLate = isTimeout(error);
    if (isLate && !instead) customData.ontimeout?.({ lengthComputable: false });
    // A page in place of media has a status of success.
    const status = isLate || !(error?.status >= 300) ? 0 : error.status;
    const headers = Object.fromEntries(error?.headers ?? []);
    this.#end({ status, statusText: error?.message ?? '', url, headers, ...instead });
  }

  /** @param {MediaResponse} answer */
  #end(answer) {
    Object.assign(this.#response, answer);
    // Where dash.js loads past its HTTPLoader, it looks for the data there.
    this.#request.customData.onloadend?.({ target: { response: answer.data } });
  }

  #settle() {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#session.engine.declareAlternatives(this.#request.url, undefined);
    this.#onSettled();
    return true;
  }

  /**
   * What dash.js measures by, before it looks: the attempt that won, without the waits. It takes the
   * browser's first record of this URL, which may be that of a lost attempt.
   */
  #measure() {
    const asked = this.#asked;
    if (!asked) return;
    const startTime = this.#sentAt;
    asked.startDate = dateOf(startTime);
    asked.firstByteDate = dateOf(this.#first || this.#last);
    const { resourceTimingValues: record } = asked;
    if (this.#sent < 2 && !(record && record.startTime < startTime - CLOCK_GRAIN_MS)) return;
    asked.resourceTimingValues = undefined;
    const times = { startTime, responseStart: this.#first, responseEnd: this.#last };
    const { resourceTiming } = this.#response;
    if (resourceTiming) Object.assign(resourceTiming, times, { duration: this.#last - startTime });
  }

  #clearTraces() {
    if (this.#asked?.traces) this.#asked.traces.length = 0;
  }
}

/**
 * One after the other, as dash.js has them. One that throws has no say: dash.js itself would never
 * come back.
 *
 * @param {((value: any) => any)[]} interceptors
 * @param {any} value
 * @returns {Promise<any>}
 */
function chain(interceptors, value) {
  const run = interceptors.reduce((before, next) => before.then(next), Promise.resolve(value));
  return run.catch(() => undefined);
}

/**
 * Passes a body on as far as its boxes of media are whole.
 *
 * @param {(data: ArrayBuffer) => void} emit
 */
function collectBoxes(emit) {
  let held = new Uint8Array();
  /** Where the next box begins. */
  let next = 0;
  /** When the first bytes of what is held came, and how many they were. */
  let since = 0;
  let at = 0;
  // The server makes a segment at its own pace, so only the time within a piece counts.
  let bytes = 0;
  let time = 0;
  return {
    /** @param {Uint8Array} chunk */
    push(chunk) {
      const now = performance.now();
      if (!held.length) [since, at] = [now, chunk.length];
      const joined = new Uint8Array(held.length + chunk.length);
      joined.set(held);
      joined.set(chunk, held.length);
      held = joined;
      let whole = 0;
      for (let size; (size = boxSize(held, next)) && next + size <= held.length;) {
        next += size;
        if (
          /mdat|moov/.test(String.fromCharCode(...held.subarray(next - size + 4, next - size + 8)))
        )
          whole = next;
      }
      if (!whole) return;
      bytes += whole - Math.min(at, whole);
      time += now - since;
      emit(held.slice(0, whole).buffer);
      held = held.slice(whole);
      next -= whole;
      [since, at] = [now, held.length];
    },
    rest: () => held.buffer,
    /** How long so many bytes take, in milliseconds; undefined where nothing tells. @param {number} count */
    timeOf: (count) => (bytes && time ? (time * count) / bytes : undefined),
  };
}

/** Of the box that begins there; 0 where its end is not known. @param {Uint8Array} bytes @param {number} from */
function boxSize(bytes, from) {
  if (bytes.length < from + 16) return 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset + from);
  const size = view.getUint32(0);
  return size === 1 ? Number(view.getBigUint64(8)) : size < 8 ? 0 : size;
}

/** @param {number} time on the clock of `performance.now()` */
function dateOf(time) {
  return new Date(Date.now() - (performance.now() - time));
}
