// @ts-check
/**
 * The Shaka Player adapter: one scheme plugin for `http` and `https` that sends the requests of
 * each player through its engine. Shaka itself is never imported.
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

/** @typedef {import('./shaka.d.ts').ShakaEngine} ShakaEngine */
/** @typedef {import('./shaka.d.ts').ShakaError} ShakaError */
/** @typedef {import('./shaka.d.ts').ShakaNamespace} ShakaNamespace */
/** @typedef {import('./shaka.d.ts').ShakaPlayer} ShakaPlayer */
/** @typedef {import('shaka-player').default.extern.Request} Request */
/** @typedef {import('shaka-player').default.extern.RequestContext} RequestContext */
/** @typedef {import('shaka-player').default.extern.Response} ShakaResponse */
/** @typedef {import('shaka-player').default.extern.SchemePlugin} SchemePlugin */
/** @typedef {import('../index.d.ts').Site} Site */

/**
 * One player, or all that have no engine of their own, and the engine they are served by.
 *
 * @typedef {object} Seat
 * @property {ShakaEngine} engine
 * @property {ShakaNamespace} shaka
 * @property {ShakaPlayer | null | undefined} player
 * @property {SchemePlugin | undefined} transport
 * @property {ReturnType<typeof createWarn>} warn
 * @property {Set<string>} seen manifests that the player has
 * @property {Set<number>} torn streams whose next segment comes after one that was left out
 * @property {boolean} hasKeys whether segments are decrypted by the player itself
 * @property {() => void} uninstall
 */

/**
 * A request as it was when its player's filter saw it.
 *
 * @typedef {{ seat: Seat, context?: RequestContext, uris: string[],
 *   headers: Record<string, string>, isTaken: boolean }} Mark
 */

const SCHEMES = ['http', 'https'];
/** By Shaka's `RequestType`; what is not here is sent once, and retried by Shaka if at all. */
const SITES = /** @type {Record<number, Site | undefined>} */ ({
  0: 'manifest',
  1: 'segment',
  2: 'license',
  5: 'certificate',
  6: 'key',
  8: 'steering',
});
/** Of Shaka's `RequestType` and `AdvancedRequestType`. */
const MANIFEST = 0;
const KEY = 6;
const SEGMENT = 1;
const INIT_SEGMENT = 0;
const MEDIA_SEGMENT = 1;
const MEDIA_PLAYLIST = 2;
const MPD_PATCH = 6;
const MEDIA_SITES = /** @type {const} */ ([
  'playlist',
  'playlist-reload',
  'init',
  'segment',
  'key',
]);
/** The engine has its own bounds; with these Shaka would cut what is merely slow. */
const UNTIMED = { connectionTimeout: 0, stallTimeout: 0 };
const RETRIES = /** @type {const} */ (['manifest', 'streaming', 'drm']);
/** What asking again does not change. */
const FINAL = /^(denied|gone|legal)$/;
/** Shaka itself retries a live stream after so long, in seconds. */
const RETRY_S = 1;
/** Progress is reported this far apart, as Shaka's own plugins do. */
const PROGRESS_MS = 100;
/** How long the text of a refusal is waited for. */
const TEXT_MS = 1000;
/** The player goes to another of its URIs. */
const MOVED = new Error('another URI is tried');

/** By Shaka's NetworkingEngine, whose registry of schemes is one for the page. @type {WeakMap<object, Set<Seat>>} */
const pages = new WeakMap();
/** Those where somebody has registered another plugin since. @type {WeakSet<object>} */
const displaced = new WeakSet();
/** @type {WeakMap<Request, Mark>} */
const marks = new WeakMap();
/** Requests that only run the filters of their player. @type {WeakMap<Request, () => any>} */
const rehearsals = new WeakMap();
/** What Shaka's errors stand for. @type {WeakMap<object, any>} */
const verdicts = new WeakMap();

/** @type {typeof import('./shaka.d.ts').installShaka} */
export function installShaka(engine, shaka, player, { transport } = {}) {
  let isOver = false;
  /** @type {Seat} */
  const seat = {
    ...{ engine, shaka, player, transport, warn: createWarn(), hasKeys: false },
    ...{ seen: new Set(), torn: new Set() },
    uninstall() {
      if (isOver) return;
      isOver = true;
      detach?.();
      leave();
    },
  };
  const leave = takeSeat(seat);
  const detach = player && attach(seat, player);
  return seat.uninstall;
}

// The page.

/** @param {Seat} seat @returns {() => void} the way out */
function takeSeat(seat) {
  const { NetworkingEngine, HttpFetchPlugin } = seat.shaka.net;
  const seats = pages.get(NetworkingEngine) ?? new Set();
  if (!seats.size) {
    pages.set(NetworkingEngine, seats);
    displaced.delete(NetworkingEngine);
    const plugin = dispatcher(seats, HttpFetchPlugin.parse);
    // With progress, for the sake of players that are not ours: only then Shaka times their loads.
    for (const scheme of SCHEMES) {
      NetworkingEngine.registerScheme(scheme, plugin, undefined, true);
    }
  }
  seats.add(seat);
  return () => {
    seats.delete(seat);
    if (seats.size || displaced.has(NetworkingEngine)) return;
    const { PREFERRED } = NetworkingEngine.PluginPriority;
    for (const scheme of SCHEMES) {
      NetworkingEngine.unregisterScheme(scheme);
      if (seat.transport) NetworkingEngine.registerScheme(scheme, seat.transport);
      else NetworkingEngine.registerScheme(scheme, HttpFetchPlugin.parse, PREFERRED, true);
    }
  };
}

/**
 * @param {Set<Seat>} seats
 * @param {SchemePlugin} own Shaka's plugin
 * @returns {SchemePlugin}
 */
function dispatcher(seats, own) {
  return (uri, request, type, ...rest) => {
    const rehearsal = rehearsals.get(request);
    if (rehearsal) return rehearsal();
    for (const { player, uninstall } of seats) {
      // Shaka tells nobody that a player is destroyed.
      if (player && !player.getNetworkingEngine()) uninstall();
    }
    const mark = marks.get(request);
    if (mark) mark.isTaken = true;
    const seat =
      mark && seats.has(mark.seat) ? mark.seat : [...seats].find(({ player }) => !player);
    const isPlain = seat?.engine.state.mode === 'plain';
    if (seat?.transport || (seat && !isPlain)) Object.assign(request.retryParameters, UNTIMED);
    if (!seat || isPlain) return (seat?.transport ?? own)(uri, request, type, ...rest);
    return send(seat, mark, [uri, request, type, ...rest]);
  };
}

// The player.

/** @param {Seat} seat @param {ShakaPlayer} player @returns {() => void} the way out */
function attach(seat, player) {
  const { engine, shaka, warn } = seat;
  let duration = 0;
  let isOn = true;

  /** @type {import('shaka-player').default.extern.RequestFilter} */
  const filter = (kind, request, context) => {
    if (isOn && SITES[kind] && request.retryParameters.maxAttempts > 1) settle();
    const { segment, stream, type } = context ?? {};
    if (segment && type === MEDIA_SEGMENT && /audio|video/.test(stream?.type ?? '')) {
      duration = Math.max(duration, segment.getEndTime() - segment.getStartTime());
    }
    const { uris, headers } = request;
    const mark = { seat, context, uris: [...uris], headers: { ...headers }, isTaken: false };
    marks.set(request, mark);
    return undefined;
  };

  const before = player.getConfiguration();
  let callback = before.streaming.failureCallback;
  player.configure({ streaming: { failureCallback: undefined } });
  const usual = String(player.getConfiguration().streaming.failureCallback);
  const failureCallback = (/** @type {any} */ error) => {
    const verdict = verdicts.get(error);
    if (!verdict || String(callback) !== usual) return callback(error);
    if (!player.isLive() || FINAL.test(verdict.class)) return;
    error.severity = shaka.util.Error.Severity.RECOVERABLE;
    const wait = (verdict.retryAt - performance.now()) / 1000;
    player.retryStreaming(Math.max(wait || 0, RETRY_S));
  };
  /** A player that is configured later stays with one retry layer. */
  const settle = () => {
    const config = player.getConfiguration();
    warn(
      'the engine retries, and Shaka does not retry what it has given up; without effect',
      RETRIES.filter((part) => config[part].retryParameters.maxAttempts > 1).map(
        (part) => `${part}.retryParameters.maxAttempts`,
      ),
    );
    if (config.streaming.failureCallback === failureCallback) return;
    callback = config.streaming.failureCallback;
    player.configure({ streaming: { failureCallback } });
  };
  const once = { retryParameters: { maxAttempts: 1 } };
  player.configure({ manifest: once, drm: once, streaming: { ...once, failureCallback } });

  const report = (/** @type {HTMLMediaElement} */ media) =>
    engine.reportPlayback({
      bufferAhead: bufferAhead(media),
      targetDuration: duration || undefined,
      live: player.isLive(),
    });
  const follow = watchMedia(report);
  const declare = () => {
    const tracks = player.getVariantTracks();
    const isFree = player.getConfiguration().abr.enabled && elsewhere(tracks);
    const count = !tracks.length || isFree ? undefined : 0;
    for (const site of MEDIA_SITES) engine.declareAlternatives(site, count);
  };

  /** @type {Record<string, (event: any) => void>} */
  const listeners = {
    loading() {
      seat.seen.clear();
      seat.torn.clear();
      seat.hasKeys = false;
      duration = 0;
      // Somebody may have cleared all filters.
      player.getNetworkingEngine()?.registerRequestFilter(filter);
      settle();
      follow(player.getMediaElement());
    },
    unloading: () => follow(null),
    trackschanged: declare,
    abrstatuschanged: declare,
    configurationchanged: settle,
    downloadcompleted({ request }) {
      if (marks.get(request)?.isTaken !== false || !/^http/i.test(request.uris[0])) return;
      displaced.add(shaka.net.NetworkingEngine);
      warn('requests go past the engine, as another plugin was registered for', SCHEMES);
    },
  };
  for (const name in listeners) player.addEventListener(name, listeners[name]);
  player.getNetworkingEngine()?.registerRequestFilter(filter);
  follow(player.getMediaElement());

  /** The player is as it was, but for its filter, which changes nothing. */
  const stop = () => {
    isOn = false;
    follow(null);
    for (const name in listeners) player.removeEventListener(name, listeners[name]);
    for (const site of MEDIA_SITES) engine.declareAlternatives(site, undefined);
    if (!player.getNetworkingEngine()) return;
    const config = player.getConfiguration();
    /** @type {Record<string, any>} */
    const was = { streaming: {} };
    if (config.streaming.failureCallback === failureCallback) {
      was.streaming.failureCallback = callback;
    }
    for (const part of RETRIES) {
      const { maxAttempts } = before[part].retryParameters;
      if (config[part].retryParameters.maxAttempts !== 1) continue;
      was[part] = { ...was[part], retryParameters: { maxAttempts } };
    }
    player.configure(was);
  };
  const offPlain = onPlain(engine, stop);
  return () => {
    offPlain();
    if (isOn) stop();
    player.getNetworkingEngine()?.unregisterRequestFilter(filter);
  };
}

/** Whether there is a variant to turn to. @param {{ videoId: number | null, audioId: number | null }[]} tracks */
function elsewhere(tracks) {
  return new Set(tracks.map(({ videoId, audioId }) => videoId ?? audioId)).size > 1;
}

// The request.

/**
 * One request of Shaka's, with all attempts that it takes.
 *
 * @param {Seat} seat
 * @param {Mark | undefined} mark
 * @param {Parameters<SchemePlugin>} call
 * @returns {ReturnType<SchemePlugin>}
 */
function send(seat, mark, [uri, request, type, onProgress, onHeaders, config]) {
  const { engine, player, shaka, torn, transport } = seat;
  const { AbortableOperation, Error: ShakaError, FakeEvent } = shaka.util;
  const { Code, Severity } = ShakaError;
  const { body, method, streamDataCallback, uris } = request;
  const context = mark?.context ?? {};
  const { stream, type: kind } = context;
  const site = siteOf(seat, type, request, context);
  const isSampled = type === SEGMENT && method !== 'HEAD';
  const at = Math.max(uris.indexOf(uri), 0);
  // Shaka itself sends others again, and to their next place.
  const places = site === 'other' ? [uri] : [...uris.slice(at), ...uris.slice(0, at)];
  let isAborted = false;
  /** Of the load under way. */
  let controller = new AbortController();
  let attempts = 0;
  /** What was sent last: its first URI, headers and credentials. */
  let sent = { ...request, uris: [uri] };
  /** @type {AbortSignal | null | undefined} */
  let signal;
  /** @type {unknown} */
  let thrown;
  /** The last answer that was none. `shown` is the status that the engine was told. @type {{ shown: number, response: Response, text: Promise<string | null> } | undefined} */
  let refusal;
  /** Whether Shaka was given bytes ahead of the end, and when it will have taken them. */
  let isFed = false;
  /** @type {Promise<unknown>} */
  let fed = Promise.resolve();

  /** @param {number} code @param {...unknown} facts */
  const failure = (code, ...facts) => {
    const { NETWORK } = ShakaError.Category;
    return new ShakaError(Severity.RECOVERABLE, NETWORK, code, sent.uris[0], ...facts, type);
  };

  /** What the last attempt was lost by, or all of them. @param {any} [verdict] */
  const lost = async (verdict) => {
    if (refusal && (!verdict || verdict.status === refusal.shown)) {
      const { headers, status, url } = refusal.response;
      const late = new Promise((resolve) => setTimeout(resolve, TEXT_MS, null));
      const text = await Promise.race([refusal.text, late]);
      const error = failure(Code.BAD_HTTP_STATUS, status, text, fieldsOf(headers));
      error.data.push(url || sent.uris[0]);
      return error;
    }
    const isSilent = verdict ? isTimeout(verdict) : !thrown && signal?.aborted;
    return isSilent ? failure(Code.TIMEOUT) : failure(Code.HTTP_ERROR, verdict ?? thrown);
  };

  /** What filters have set is for the host that they have set it for. @returns {Record<string, string>} */
  const ownHeaders = () => {
    const { Range } = request.headers;
    return Range ? { Range } : {};
  };

  /**
   * Makes ready what is sent to this place from the start. Shaka runs its filters before its one
   * attempt; they run again before each of ours, as in Shaka 5, and where the host is another.
   *
   * @param {string} place
   * @returns {Promise<unknown>} what forbids it
   */
  const prepare = async (place) => {
    const attempt = attempts++;
    if (!attempt && place === uri) return undefined;
    const network = player?.getNetworkingEngine();
    // A place that the engine would not even ask has lost nothing.
    const error = attempt ? await lost() : failure(Code.OPERATION_ABORTED);
    if (network && attempt) {
      const event = new FakeEvent('retry', new Map([['error', error]]));
      network.dispatchEvent(Object.assign(event, { cancelable: true }));
      if (event.defaultPrevented) return error;
    }
    request.requestStartTime = Date.now();
    const isHome = hostOf(place) === hostOf(uri);
    sent = { ...request, uris: [place], headers: isHome ? request.headers : ownHeaders() };
    if (!network || !mark || body || (isHome && request.attempt === undefined)) return undefined;
    sent.uris = [withoutParams(mark.uris[uris.indexOf(place)] ?? place, /^CMCD=/)];
    if (isHome) sent.headers = { ...mark.headers };
    sent.retryParameters = { ...request.retryParameters, maxAttempts: 1 };
    // Shaka would count from 0.
    Object.defineProperty(sent, 'attempt', { get: () => attempt, set() {}, enumerable: true });
    let isReady = false;
    rehearsals.set(sent, () => {
      isReady = true;
      // Listeners are told of the attempt that was lost. Shaka does nothing more about it.
      error.severity = Severity.CRITICAL;
      return new AbortableOperation(Promise.reject(error), async () => {});
    });
    const rehearsal = network.request(type, sent, mark.context);
    const refused = await rehearsal.promise.catch((/** @type {unknown} */ reason) => reason);
    return isReady ? undefined : refused;
  };

  /**
   * @param {RequestInit} init
   * @param {boolean} isGiven whether the engine has the headers
   * @param {typeof fetch} next
   */
  const sendOnce = async (init, isGiven, next) => {
    const given = new Headers(init.headers);
    const headers = isGiven ? given : new Headers(sent.headers);
    for (const name of ['range', 'if-range']) {
      const value = given.get(name);
      if (value) headers.set(name, value);
    }
    thrown = refusal = undefined;
    signal = init.signal;
    const whole = { ...init, headers, credentials: credentialsOf(sent) };
    try {
      const response = await (transport
        ? (await import('./shaka-transport.js')).fetchBy(transport, sent, whole, type, config)
        : next(sent.uris[0], whole));
      const { ok, status } = response;
      if (status === 304 || (ok && status !== 202)) return response;
      const text = response.clone().text();
      // To Shaka, 202 is no answer yet; which is what 425 says to the engine.
      const shown = status === 202 ? 425 : status;
      refusal = { shown, response, text: text.catch(() => null) };
      return shown === status ? response : new Response(response.body, { status: shown });
    } catch (error) {
      thrown = error;
      throw error;
    }
  };

  /** @param {string} url @param {number} nth place @returns {Promise<import('../index.d.ts').Loaded>} */
  const load = (url, nth) => {
    const others = places.length - 1 - nth;
    const current = (controller = new AbortController());
    const own = new Headers(request.headers).get('range');
    let count = 0;
    let told = 0;
    if (isAborted) current.abort();
    // The player can go there. It is said for this one request.
    if (others) engine.declareAlternatives(url, others);
    /** @type {Promise<import('../index.d.ts').Loaded>} */
    const loading = engine.load({
      url,
      site,
      init: {
        method,
        body: /** @type {BodyInit | null} */ (body) ?? undefined,
        headers: nth ? ownHeaders() : request.headers,
        credentials: credentialsOf(request),
      },
      signal: current.signal,
      fetch: async (input, init = {}, next) => {
        const isFirst = !count++;
        const range = new Headers(init.headers).get('range');
        // Else it goes on where a body broke off, or with what a hook gave.
        const isNew = input === url && (isFirst || range === own || range === 'bytes=0-');
        if (isNew) {
          const place = places[(nth + count - 1) % places.length];
          const reason = !isFirst && others && !isFed ? MOVED : await prepare(place);
          if (reason) {
            // Ends the load from within; this never settles.
            current.abort(reason);
            return new Promise(() => {});
          }
        } else if (input !== url) sent.uris = [String(input)];
        return sendOnce(init, input !== url || Boolean(body), next);
      },
      onResponse: ({ response }) => onHeaders(fieldsOf(response.headers)),
      onProgress: ({ loaded, total, at }) => {
        if (!isSampled || total <= loaded || at - told < PROGRESS_MS) return;
        told = at;
        // Shaka learns how much is missing; the one sample follows at the end.
        onProgress(0, 0, total - loaded);
      },
      onChunk: streamDataCallback
        ? (chunk) => {
            isFed = true;
            fed = fed.then(() => streamDataCallback(chunk));
          }
        : undefined,
    });
    if (others) engine.declareAlternatives(url, undefined);
    return loading;
  };

  /** What is left out where nothing else helps. @param {any} verdict */
  const hole = async ({ class: failed }) => {
    const isMedia = site === 'segment' && kind === MEDIA_SEGMENT;
    // What Shaka decrypts cannot be empty.
    if (!player || !isMedia || seat.hasKeys || !/^(not-found|gone)$/.test(failed)) return undefined;
    const { emptySegment } = await import('./shaka-hole.js');
    const empty = emptySegment(player, context);
    if (empty?.isTorn && stream) torn.add(stream.id);
    return empty?.response;
  };

  const answer = async () => {
    if (site === 'segment' && stream && torn.delete(stream.id)) {
      // Shaka answers this by placing the next segment where it belongs.
      throw failure(Code.SEGMENT_MISSING);
    }
    for (let nth = 0; ; nth++) {
      const loading = load(places[nth], nth);
      const loaded = await loading.catch((error) => {
        const mayMove = nth < places.length - 1 && !isFed && !isAborted;
        if (!mayMove || error instanceof ShakaError) throw error;
      });
      if (!loaded) continue;
      await fed;
      const { data, status, timing, url } = loaded;
      const headers = fieldsOf(loaded.headers);
      const fromCache = Boolean(headers['x-shaka-from-cache']);
      const timeMs = timing.end - timing.start;
      if (type === MANIFEST && method === 'GET') seat.seen.add(keyOf(uri));
      if (isSampled && !fromCache) onProgress(timeMs, data.byteLength, 0);
      return { uri: url || sent.uris[0], data, status, headers, timeMs, fromCache };
    }
  };

  /** @returns {Promise<ShakaResponse>} */
  const run = async () => {
    const response = await answer().catch(async (verdict) => {
      if (isAborted) throw failure(Code.OPERATION_ABORTED);
      // Of a filter, or whose repetition was prevented.
      if (verdict instanceof ShakaError) throw verdict;
      const empty = await hole(verdict).catch(() => {});
      if (empty) return empty;
      const error = await lost(verdict);
      if (site !== 'other') error.severity = Severity.CRITICAL;
      verdicts.set(error, verdict);
      throw error;
    });
    return { originalUri: sent.uris[0], originalRequest: request, uri: sent.uris[0], ...response };
  };

  if (type === KEY) seat.hasKeys = true;
  return new AbortableOperation(run(), async () => {
    isAborted = true;
    controller.abort();
  });
}

/**
 * @param {Seat} seat
 * @param {number} type
 * @param {Request} request
 * @param {RequestContext} [context]
 * @returns {Site}
 */
function siteOf({ player, seen }, type, { contentType, uris }, context) {
  const site = SITES[type] ?? 'other';
  const kind = context?.type;
  if (site === 'segment') {
    if ((contentType ?? context?.stream?.type) === 'text') return 'text-segment';
    return kind === INIT_SEGMENT ? 'init' : site;
  }
  if (site !== 'manifest') return site;
  const isAgain = kind === MPD_PATCH || seen.has(keyOf(uris[0]));
  if (isAgain && player?.isLive() !== false) return 'playlist-reload';
  return kind === MEDIA_PLAYLIST ? 'playlist' : site;
}

/** What a manifest is known by. @param {string} uri */
function keyOf(uri) {
  return withoutParams(uri, /^(_HLS_\w+|CMCD)=/);
}

/** @param {Request} request @returns {RequestCredentials | undefined} */
function credentialsOf({ allowCrossSiteCredentials }) {
  return allowCrossSiteCredentials ? 'include' : undefined;
}

/** @param {Headers} headers @returns {Record<string, string>} */
function fieldsOf(headers) {
  return Object.fromEntries(headers);
}
