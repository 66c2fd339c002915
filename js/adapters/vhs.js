// @ts-check
/**
 * The adapter of video.js's HTTP streaming (VHS). VHS asks for everything through `vhs.xhr` of a
 * player, which runs the hooks and calls `videojs.xhr`; that sets up and sends an XMLHttpRequest, or
 * what it is given instead. It is given one that sends through an engine, so that all that is
 * between VHS and the network stays VHS's own. video.js itself is never imported.
 */
import {
  bufferAhead,
  createWarn,
  hostOf,
  isTimeout,
  onPlain,
  watchMedia,
  withoutParams,
} from './shared.js';

/** @typedef {import('./vhs.d.ts').VhsEngine} VhsEngine */
/** @typedef {import('./vhs.d.ts').VideoJs} VideoJs */
/** @typedef {import('./vhs.d.ts').VideoJsPlayer} VideoJsPlayer */
/** @typedef {import('../index.d.ts').Site} Site */

/**
 * The options of a request, as VHS and the hooks of its users make them. video.js has no types
 * for them.
 *
 * @typedef {{ uri: string, requestType?: string, timeout?: number | null,
 *   headers?: Record<string, string>, xhr?: EngineXhr }} XhrOptions
 * @typedef {(error: any, response: any, body?: unknown) => void} XhrCallback
 * @typedef {(options: XhrOptions, callback: XhrCallback) => object} XhrCall
 */

/**
 * The parts of a `VhsHandler` that are used.
 *
 * @typedef {{ excludeUntil?: number, disabled?: boolean, lastExcludeReason_?: string,
 *   uri?: string, resolvedUri?: string, segments?: { resolvedUri?: string }[],
 *   targetDuration?: number, endList?: boolean }} Playlist
 * @typedef {{ xhr: XhrCall,
 *   playlists?: { main?: { playlists: Playlist[] }, media(): Playlist | undefined } }} VhsHandler
 */

/** VHS is answered after this share of the time that it gives. */
const IN_TIME = 0.95;
/** How long a playlist whose directives were given up is reloaded without them. */
const PLAIN_MS = 60_000;
/** @type {Site[]} */
const MEDIA_SITES = ['playlist', 'playlist-reload', 'init', 'segment', 'key'];

/** @type {Record<string, Site | undefined>} */
const SITES = {
  'segment-media-initialization': 'init',
  'segment-key': 'key',
  'dash-sidx': 'init',
  'dash-clock-sync': 'other',
  'content-steering-manifest': 'steering',
};

/**
 * What replaces a function of VHS, and whether it still does: an uninstalled one only passes on.
 *
 * @type {WeakMap<object, { target: XhrCall, isOpen: boolean }>}
 */
const layers = new WeakMap();

/** @type {typeof import('./vhs.d.ts').installVhs} */
export function installVhs(engine, videojs, player) {
  const warn = createWarn();
  const shared = /** @type {{ xhr: XhrCall }} */ (/** @type {any} */ (videojs).Vhs);
  if (!shared) throw new TypeError('installVhs: videojs.Vhs is missing; import the whole video.js');
  /** @type {Set<() => void>} */
  const undo = new Set();

  const attach = (/** @type {VideoJsPlayer} */ player) => {
    const detach = attachPlayer(engine, player, warn);
    const stop = () => {
      undo.delete(stop);
      player.off('dispose', stop);
      detach();
    };
    player.on('dispose', stop);
    undo.add(stop);
  };
  if (player) attach(player);
  else {
    for (const each of videojs.getAllPlayers()) attach(each);
    videojs.hook('setup', attach);
    undo.add(() => videojs.removeHook('setup', attach));
    // A player that is made with a source asks for the manifest before anybody can get at it.
    const send = (
      /** @type {XhrCall} */ target,
      /** @type {XhrOptions} */ options,
      /** @type {XhrCallback} */ callback,
    ) => {
      // VHS has run the hooks, and calls a replaced `Vhs.xhr` where it would call `videojs.xhr`.
      const isOwn = /** @type {any} */ (target).original === true;
      const call = isOwn ? /** @type {XhrCall} */ (videojs.xhr) : target;
      return sendThrough(engine, call, options, callback, { site: siteOf(options), warn });
    };
    undo.add(layerOver(shared, send, 'original'));
  }
  const { retryManager } = /** @type {any} */ (videojs.xhr);
  if (retryManager?.getIsEnabled()) warnOfTwo(warn, 'videojs.xhr.retryManager');

  const uninstall = () => {
    for (const step of [...undo]) step();
    undo.clear();
  };
  undo.add(onPlain(engine, uninstall));
  return uninstall;
}

/**
 * @param {VhsEngine} engine
 * @param {VideoJsPlayer} player
 * @param {ReturnType<typeof createWarn>} warn
 */
function attachPlayer(engine, player, warn) {
  /** @type {VhsHandler | undefined} */
  let vhs;
  let restore = () => {};
  let isOver = false;
  /** @type {number | undefined | null} */
  let declared = null;

  const declare = (/** @type {number | undefined} */ count) => {
    if (count === declared) return;
    declared = count;
    for (const site of MEDIA_SITES) engine.declareAlternatives(site, count);
  };
  const report = (/** @type {HTMLMediaElement} */ media) => {
    const playlist = vhs?.playlists?.media();
    declare(alternatives(vhs));
    engine.reportPlayback({
      bufferAhead: bufferAhead(media),
      ...(playlist && { targetDuration: playlist.targetDuration, live: !playlist.endList }),
    });
  };
  const follow = watchMedia(report);

  // Each source has a handler of its own.
  const adopt = () => {
    // The argument says that the danger is known.
    const tech = /** @type {any} */ (player.tech(true));
    if (isOver || !tech?.vhs || tech.vhs === vhs) return;
    restore();
    const handler = /** @type {VhsHandler} */ (tech.vhs);
    vhs = handler;
    follow(tech.el());
    /** @type {Map<string, number>} playlists that are there, and until when each is reloaded plainly */
    const seen = new Map();
    restore = layerOver(handler, (target, options, callback) => {
      declare(alternatives(handler));
      const site = siteOf(options, handler, seen);
      return sendThrough(engine, target, options, callback, { site, seen, warn });
    });
    if (player.usingPlugin?.('reloadSourceOnError')) warnOfTwo(warn, 'reloadSourceOnError');
  };
  // The technology of a player that is made with a source is still being made then.
  const adoptSoon = () => {
    adopt();
    queueMicrotask(adopt);
  };
  player.on('xhr-hooks-ready', adoptSoon);
  adopt();

  return () => {
    isOver = true;
    player.off('xhr-hooks-ready', adoptSoon);
    follow(null);
    restore();
    for (const site of MEDIA_SITES) engine.declareAlternatives(site, undefined);
  };
}

/**
 * Replaces `xhr`, with all that was and will be put on it, such as hooks. Returns the way back, in
 * whichever order replacements are taken back.
 *
 * @param {{ xhr: XhrCall }} holder
 * @param {(target: XhrCall, options: XhrOptions, callback: XhrCallback) => object} call
 * @param {string} [hidden] a property by which VHS would know its own function
 */
function layerOver(holder, call, hidden) {
  const layer = { target: holder.xhr, isOpen: true };
  const proxy = new Proxy(layer.target, {
    get: (target, key) => (key === hidden && layer.isOpen ? undefined : Reflect.get(target, key)),
    apply: (target, self, /** @type {[XhrOptions, XhrCallback]} */ args) =>
      layer.isOpen ? call(target, ...args) : Reflect.apply(target, self, args),
  });
  layers.set(proxy, layer);
  holder.xhr = proxy;
  return () => {
    layer.isOpen = false;
    for (let top; (top = layers.get(holder.xhr)) && !top.isOpen;) holder.xhr = top.target;
  };
}

/**
 * Makes a request as VHS does, with an engine instead of the network.
 *
 * @param {VhsEngine} engine
 * @param {XhrCall} call of VHS: hooks and all
 * @param {XhrOptions} options
 * @param {XhrCallback} callback
 * @param {{ site?: Site, seen?: Map<string, number>, warn: ReturnType<typeof createWarn> }} facts
 */
function sendThrough(engine, call, options, callback, { site, seen, warn }) {
  // An adapter above this one has it already.
  if (options.xhr) return call(options, callback);
  const again = () => {
    const record = new EngineXhr((xhr) => xhr.onabort?.());
    call({ ...options, headers: { ...options.headers }, timeout: 0, xhr: record }, () => {});
    return record;
  };
  const xhr = new EngineXhr((xhr) => {
    // Of a segment; for all else there is one that nobody asked for, which an outage outlives.
    const limit = /^segment/.test(options.requestType ?? '') ? options.timeout : 0;
    xhr.load(engine, { site, again, limit: limit ?? 0, seen });
  });
  const request = call({ ...options, timeout: 0, xhr }, callback);
  if (request !== xhr) {
    warn('requests are not sent through the engine, as there is a transport of its own in', [
      'videojs.Vhs.xhr',
    ]);
  }
  return request;
}

/**
 * Stands in for an XMLHttpRequest, with what `videojs.xhr`, VHS and the hooks of their users touch.
 */
class EngineXhr extends EventTarget {
  readyState = 0;
  status = 0;
  statusText = '';
  /** @type {ArrayBuffer | string | null} */
  response = null;
  responseText = '';
  responseURL = '';
  responseType = '';
  timeout = 0;
  withCredentials = false;
  upload = new EventTarget();
  /** When the attempt was sent, by `Date.now()`. VHS sets it too. */
  requestTime = 0;
  /** In bit/s. VHS keeps what it finds. @type {number | undefined} */
  bandwidth;
  /** @type {((event: any) => void) | null | undefined} */
  onload;
  /** @type {((error: any) => void) | null | undefined} */
  onerror;
  /** @type {(() => void) | null | undefined} */
  onabort;

  /** @type {(xhr: EngineXhr) => void} */
  #onSend;
  #to = '';
  #method = 'GET';
  /** @type {any} */
  #body;
  #headers = new Headers();
  /** @type {Headers | undefined} */
  #answered;
  #isRaw = false;
  /** @type {AbortController | undefined} */
  #controller;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {(xhr: EngineXhr) => void} onSend */
  constructor(onSend) {
    super();
    this.#onSend = onSend;
  }

  /** @param {string} method @param {string} url */
  open(method, url) {
    this.#method = method;
    this.#to = url;
    this.#headers = new Headers();
    this.response = null;
    this.responseText = '';
    this.readyState = 1;
  }

  /** @param {string} name @param {string} value */
  setRequestHeader(name, value) {
    this.#headers.append(name, value);
  }

  /** @param {string} type */
  overrideMimeType(type) {
    this.#isRaw = /x-user-defined/.test(type);
  }

  /** @param {any} body */
  send(body) {
    this.#body = body;
    this.#onSend(this);
  }

  abort() {
    const controller = this.#controller;
    if (!controller) return;
    this.#settle();
    controller.abort();
    this.onabort?.();
    this.#fire('abort');
    this.#fire('loadend');
  }

  /** @param {string} name */
  getResponseHeader(name) {
    return this.#answered?.get(name) ?? null;
  }

  getAllResponseHeaders() {
    const lines = [...(this.#answered ?? [])].map(([name, value]) => `${name}: ${value}\r\n`);
    return lines.join('');
  }

  /**
   * @param {VhsEngine} engine
   * @param {object} how
   * @param {Site} [how.site]
   * @param {() => EngineXhr} how.again sets the request up once more
   * @param {number} how.limit by when VHS wants to know, 0 where it waits
   * @param {Map<string, number>} [how.seen]
   */
  load(engine, { site, again, limit, seen }) {
    const { signal } = (this.#controller = new AbortController());
    const key = playlistKey(this.#to);
    const decoder = this.#isRaw ? new TextDecoder('x-user-defined') : undefined;
    let tries = 0;
    let refused = 0;

    const expire = () => {
      // Every other playlist would be left, too.
      if (globalThis.navigator?.onLine === false) return wait();
      const controller = this.#controller;
      // No timeout: after one VHS may never ask again, as it then only lowers its estimate, and
      // may find nothing to change to.
      this.#fail({ status: refused, message: `No answer in ${limit} ms` });
      controller?.abort();
    };
    const wait = () => (this.#timer = setTimeout(expire, limit * IN_TIME));
    if (limit > 0) wait();

    engine
      .load({
        url: this.#to,
        init: {
          method: this.#method,
          headers: this.#headers,
          credentials: this.#credentials,
          body: this.#body,
        },
        site,
        responseType: this.responseType === 'arraybuffer' ? 'arraybuffer' : 'text',
        signal,
        fetch: async (input, init, next) => {
          const fresh = tries++ > 0 && attempt(again);
          this.requestTime = Date.now();
          const response = await (fresh
            ? next(...fresh.#dress(this, input, init))
            : next(input, init));
          if (!response.ok) refused = response.status;
          return response;
        },
        onResponse: ({ response }) => {
          refused = 0;
          this.#head(response.status, response.headers, response.url);
        },
        onChunk: decoder && ((chunk) => (this.responseText += decoder.decode(chunk))),
        onProgress: ({ loaded, total }) => {
          if (signal.aborted) return;
          this.readyState = 3;
          this.#fire('progress', { loaded, total, lengthComputable: total > 0 });
        },
      })
      .then(
        ({ data, status, headers, url, bytes, timing, degraded }) => {
          if (signal.aborted) return;
          // The last attempt alone: no waits, no lost attempts.
          const taken = Math.max(timing.end - timing.start, 1);
          this.requestTime = Date.now() - Math.round(taken);
          this.bandwidth = Math.floor((bytes * 8000) / taken);
          this.#head(status, headers, url);
          const now = performance.now();
          const plainUntil = degraded ? now + PLAIN_MS : (seen?.get(key) ?? 0);
          if (/^(manifest|playlist)/.test(site ?? '')) seen?.set(key, plainUntil);
          if (typeof data !== 'string') this.response = data;
          else if (!decoder) {
            this.responseText = plainUntil > now ? withoutOffers(data) : data;
          }
          this.response ??= this.responseText;
          this.#end(() => this.onload?.({}), 'load');
        },
        (error) => {
          if (signal.aborted) return;
          // A body that was lost came with a success.
          const status = error.status >= 300 ? error.status : 0;
          const isSilent = isTimeout(error) && !/^(init|key|segment|text)/.test(site ?? 'segment');
          const code = isSilent ? 'ETIMEDOUT' : error.code;
          const { message, headers, body } = error;
          this.#fail({ status, code, message, headers, body, cause: error });
        },
      );
  }

  get #credentials() {
    return /** @type {RequestCredentials} */ (this.withCredentials ? 'include' : 'same-origin');
  }

  /**
   * Lays this set-up over what an engine would send; the range of a resume, and an URL with a fresh
   * credential, are the engine's to say.
   *
   * @param {EngineXhr} first the set-up that the engine knows
   * @param {string | URL | Request} input
   * @param {RequestInit} [init]
   * @returns {[string | URL | Request, RequestInit]}
   */
  #dress(first, input, init) {
    const headers = new Headers(init?.headers);
    this.#headers.forEach((value, name) => name === 'range' || headers.set(name, value));
    const to = input === first.#to ? this.#to : input;
    return [to, { ...init, headers, credentials: this.#credentials }];
  }

  /** @param {number} status @param {Headers} [headers] @param {string} [url] */
  #head(status, headers, url = '') {
    this.readyState = 2;
    this.status = status;
    this.#answered = headers;
    this.responseURL = url;
  }

  /**
   * @param {{ status: number, message: string, code?: string, headers?: Headers, body?: string,
   *   cause?: unknown }} verdict
   */
  #fail({ status, code, message, headers, body = '', cause }) {
    this.#head(status, headers, status ? this.#to : '');
    this.response = null;
    this.responseText = body;
    const error = Object.assign(new Error(message, { cause }), { code });
    // A status is an answer to `videojs.xhr`; VHS makes an error of it.
    if (status) this.#end(() => this.onload?.({}), 'load');
    else this.#end(() => this.onerror?.(error), 'error');
  }

  /** @param {() => void} answer @param {string} type */
  #end(answer, type) {
    this.#settle();
    this.readyState = 4;
    answer();
    this.#fire(type);
    this.#fire('loadend');
  }

  #settle() {
    clearTimeout(this.#timer);
    this.#controller = undefined;
  }

  /** @param {string} type @param {object} [facts] */
  #fire(type, facts) {
    this.dispatchEvent(Object.assign(new Event(type), facts));
  }
}

/**
 * @param {XhrOptions} options
 * @param {VhsHandler} [vhs]
 * @param {Map<string, number>} [seen]
 * @returns {Site | undefined} nothing: the URL decides
 */
function siteOf({ requestType = '', uri }, vhs, seen) {
  if (requestType !== 'hls-playlist' && requestType !== 'dash-manifest') return SITES[requestType];
  if (!vhs?.playlists?.main) return 'manifest';
  return seen?.has(playlistKey(uri)) ? 'playlist-reload' : 'playlist';
}

/** How many other places VHS can go to. @param {VhsHandler | undefined} vhs */
function alternatives(vhs) {
  const playlists = vhs?.playlists?.main?.playlists;
  const media = vhs?.playlists?.media();
  if (!playlists?.length || !media) return undefined;
  const now = Date.now();
  const usable = playlists.filter(
    ({ disabled, excludeUntil = 0, lastExcludeReason_: why }) =>
      !disabled && (excludeUntil < now || why === 'content-steering'),
  );
  const hosts = new Set(usable.map(placeOf));
  hosts.delete('');
  hosts.delete(placeOf(media));
  if (hosts.size) return hosts.size;
  return usable.length < 2 ? 0 : undefined;
}

/** A playlist of DASH has no URL, only its segments have. @param {Playlist} playlist */
function placeOf({ uri, resolvedUri, segments }) {
  const isDash = uri?.startsWith('placeholder-uri');
  return hostOf(isDash ? segments?.[0]?.resolvedUri : resolvedUri);
}

/** @param {string} url */
function playlistKey(url) {
  return withoutParams(url, /^_HLS_\w+=/);
}

/**
 * A playlist that offers neither blocking reloads nor deltas. It says so: what is left out, VHS
 * takes from the playlist before.
 *
 * @param {string} text
 */
function withoutOffers(text) {
  return text
    .replace(/CAN-BLOCK-RELOAD=YES/g, 'CAN-BLOCK-RELOAD=NO')
    .replace(/CAN-SKIP-UNTIL=[^,\s]*/g, 'CAN-SKIP-UNTIL=0');
}

/** What a hook throws at a later attempt is not new. @template T @param {() => T} call */
function attempt(call) {
  try {
    return call();
  } catch {
    return undefined;
  }
}

/** @param {ReturnType<typeof createWarn>} warn @param {string} other */
function warnOfTwo(warn, other) {
  warn("two retry layers are on, video.js's and the engine's, because of", [other]);
}
