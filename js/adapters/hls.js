// @ts-check
/**
 * The hls.js adapter: a loader class bound to an engine, the configuration that leaves retries
 * to the engine alone, and a reporter of playback. hls.js itself is never imported.
 */

/** @typedef {import('./hls.d.ts').HlsEngine} HlsEngine */
/** @typedef {import('../index.d.ts').Site} HlsSite */
/** @typedef {import('hls.js').HlsConfig} HlsConfig */
/** @typedef {import('hls.js').LoaderContext} LoaderContext */
/** @typedef {import('hls.js').LoaderConfiguration} LoaderConfiguration */
/** @typedef {import('hls.js').LoaderCallbacks<LoaderContext>} LoaderCallbacks */
/** @typedef {import('hls.js').LoaderStats} LoaderStats */

/**
 * A loader context with what only some kinds of request, or versions of hls.js, put there.
 *
 * @typedef {LoaderContext & Partial<Pick<import('hls.js').FragmentLoaderContext, 'frag'>>
 *   & { keyInfo?: object, levelOrTrack?: { details?: object } | null }} AnyContext
 */

/** One load with every attempt and wait; longer than the engine itself ever takes. */
const BACKSTOP_MS = 600_000;
/** Content waits behind an interstitial's asset list, so hls.js's own limit is kept. */
const ASSET_LIST_MS = 30_000;
/** How often a load that has failed once looks whether to leave. */
const WATCH_MS = 1_000;
/** `setTimeout` fires at once beyond this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** hls.js leaves a failed pathway alone for so long. */
const PATHWAY_PENALTY_MS = 300_000;
/** After one level was left, how long the next one that fails is held on to. */
const LEVEL_PENALTY_MS = 60_000;
/** How long a level is held on to: so many target durations, and this share of what was buffered
 * when it began to fail, within these bounds. */
const PATIENCE = { targets: 3, share: 0.8, least: 3_000, most: 15_000 };
/** A gap in the buffer that playback crosses. */
const BUFFER_HOLE_S = 0.1;
const REMEMBERED_PLAYLISTS = 64;
/** How long a playlist whose directives were given up is reloaded without them. */
const PLAIN_MS = 60_000;
const TWO_LAYERS = "two retry layers are on, hls.js's and the engine's, because of";

const POLICIES = /** @type {const} */ ([
  'manifestLoadPolicy',
  'playlistLoadPolicy',
  'fragLoadPolicy',
  'keyLoadPolicy',
  'certLoadPolicy',
  'steeringManifestLoadPolicy',
  'interstitialAssetListLoadPolicy',
]);
const LOADERS = /** @type {const} */ (['loader', 'fLoader', 'pLoader']);
const MEDIA_SITES = /** @type {const} */ ([
  'playlist',
  'playlist-reload',
  'init',
  'segment',
  'key',
]);

/**
 * Of each attached player, by its config object: how long to hold on to what a level lacks, which
 * it has lacked for so many milliseconds.
 *
 * @type {WeakMap<object, (context: AnyContext, spent: number) => number>}
 */
const patience = new WeakMap();

/** @type {typeof import('./hls.d.ts').hlsConfig} */
export function hlsConfig(engine, overrides = {}) {
  const warn = createWarn();
  const policies = Object.fromEntries(
    POLICIES.map((name) => [name, policy(name, overrides[name])]),
  );
  const replaced = LOADERS.filter((name) => overrides[name] && !('holdfast' in overrides[name]));
  warn(TWO_LAYERS, [...replaced, ...retryFields(policies)]);
  warnAboutSetup(overrides, warn);
  return /** @type {any} */ ({
    // Otherwise hls.js never returns to a level that was left.
    errorPenaltyExpireMs: LEVEL_PENALTY_MS,
    ...overrides,
    ...policies,
    loader: overrides.loader ?? createLoader(engine, warn),
  });
}

/** @type {typeof import('./hls.d.ts').attachHls} */
export function attachHls(engine, hls) {
  /** @type {HTMLMediaElement | null} */
  let media = null;
  /** @type {{ targetDuration?: number, live?: boolean }} */
  let playlist = {};
  /** @type {Set<string>} hosts of every variant, those of other pathways included */
  let hosts = new Set();
  /** @type {Map<string, number>} host -> when hls.js last got an error from it */
  const failed = new Map();
  /** @type {number | undefined | null} */
  let declared = null;

  const report = () => {
    declare();
    if (media) engine.reportPlayback({ bufferAhead: bufferAhead(media), ...playlist });
    else if (playlist.targetDuration) engine.reportPlayback({ ...playlist });
  };
  const declare = () => {
    const count = alternatives();
    if (count === declared) return;
    declared = count;
    for (const site of MEDIA_SITES) engine.declareAlternatives(site, count);
  };
  const alternatives = () => {
    const { levels } = hls;
    if (!levels?.length) return undefined;
    const current = hostOf(levelUrl(levels[Math.max(hls.loadLevel, 0)] ?? levels[0]));
    const known = new Set([...hosts, ...levels.map((level) => hostOf(levelUrl(level)))]);
    known.delete('');
    if (known.size > 1) {
      const since = performance.now() - PATHWAY_PENALTY_MS;
      const usable = (/** @type {string} */ host) => (failed.get(host) ?? -Infinity) < since;
      return [...known].filter((host) => host !== current && usable(host)).length;
    }
    if (levels.length === 1 && (hls.pathways?.length ?? 0) < 2) return 0;
    return hls.autoLevelEnabled ? undefined : 0;
  };

  // Only one segment is under way at a time, so nothing else tells the engine whether a level is
  // broken or its host. The first level is left; if the next one fails too, it is the host.
  let left = -Infinity;
  patience.set(hls.config, (context, spent) => {
    if (!isOfLevel(context) || !hls.autoLevelEnabled) return Infinity;
    if (performance.now() - left < LEVEL_PENALTY_MS) return Infinity;
    const { levels, loadLevel, minAutoLevel, maxAutoLevel } = hls;
    const somewhere = levels.some(
      (level, i) => i !== loadLevel && i >= minAutoLevel && i <= maxAutoLevel && !level.loadError,
    );
    const span = (playlist.targetDuration ?? Infinity) * 1000 * PATIENCE.targets;
    const buffered = media ? bufferAhead(media) * 1000 + spent : Infinity;
    const most = Math.min(span, buffered * PATIENCE.share, PATIENCE.most);
    return somewhere ? Math.max(most, PATIENCE.least) : Infinity;
  });

  const mediaEvents = ['timeupdate', 'progress', 'waiting', 'seeking', 'seeked'];
  /** @param {HTMLMediaElement | null | undefined} next */
  const watch = (next) => {
    for (const name of mediaEvents) media?.removeEventListener(name, report);
    media = next ?? null;
    for (const name of mediaEvents) media?.addEventListener(name, report);
    if (media) report();
  };

  /** @type {Record<string, (event: string, data: any) => void>} */
  const listeners = {
    hlsManifestLoading() {
      playlist = {};
      hosts = new Set();
      failed.clear();
      declare();
    },
    hlsManifestLoaded(_, data) {
      hosts = new Set(data.levels?.map((/** @type {any} */ level) => hostOf(levelUrl(level))));
      declare(); // hlsManifestParsed comes before
    },
    hlsManifestParsed: declare,
    hlsLevelsUpdated: declare,
    hlsLevelSwitching: declare,
    hlsSteeringManifestLoaded: declare,
    hlsLevelLoaded(_, { details }) {
      playlist = { targetDuration: details.targetduration, live: details.live };
      report();
    },
    hlsError(_, data) {
      if (data.type !== 'networkError') return;
      const now = performance.now();
      failed.set(hostOf(data.response?.url || data.frag?.url || data.url), now);
      if (isOfLevel(data.frag ? data : (data.context ?? {}))) left = now;
      declare();
    },
    hlsMediaAttached: (_, data) => watch(data.media),
    hlsMediaDetached: () => watch(null),
    hlsDestroying: () => stop(),
  };
  const emitter = /** @type {any} */ (hls);
  for (const name in listeners) emitter.on(name, listeners[name]);
  declare();
  watch(hls.media);

  let stopped = false;
  const stop = () => {
    if (stopped) return;
    stopped = true;
    watch(null);
    for (const name in listeners) emitter.off(name, listeners[name]);
    for (const site of MEDIA_SITES) engine.declareAlternatives(site, undefined);
    patience.delete(hls.config);
  };
  return stop;
}

/**
 * @param {HlsEngine} engine
 * @param {ReturnType<typeof createWarn>} warn
 */
function createLoader(engine, warn) {
  /**
   * Playlists that a player (its config object) already holds, and until when each is to be
   * reloaded plainly.
   *
   * @type {WeakMap<object, Map<string, number>>}
   */
  const playlists = new WeakMap();

  return class HoldfastLoader {
    /** Tells this class from a stranger's. */
    static holdfast = true;

    /** @type {AnyContext | null} */
    context = null;
    stats = createStats();
    /** Attempts of this load. `stats.retry` belongs to hls.js. */
    attempts = 0;

    #hlsConfig;
    #started = false;
    #settled = false;
    /** @type {LoaderCallbacks | null} */
    #callbacks = null;
    /** @type {AbortController | null} */
    #controller = null;
    /** @type {Response | null} */
    #response = null;
    /** @type {Headers | null} those of a refusal */
    #refusal = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    #watch;
    #attemptStart = 0;
    /** Time in which the bytes kept from earlier, lost attempts arrived. */
    #carried = 0;

    /** @param {HlsConfig} config */
    constructor(config) {
      this.#hlsConfig = config;
      warn(TWO_LAYERS, retryFields(config));
      warnAboutSetup(config, warn);
    }

    /**
     * @param {LoaderContext} context
     * @param {LoaderConfiguration} config
     * @param {LoaderCallbacks} callbacks
     */
    load(context, config, callbacks) {
      if (this.#started) {
        // A throw here would become a fatal internal exception in hls.js.
        const text = 'A loader can only be used once.';
        queueMicrotask(() => callbacks.onError({ code: 0, text }, context, null, this.stats));
        return;
      }
      this.#started = true;
      if (this.#settled) return;
      this.stats.loading.start = performance.now();
      this.context = context;
      this.#callbacks = callbacks;
      this.#run(context, config, callbacks);
    }

    abort() {
      if (!this.#started || this.#settled) return;
      const { context, stats } = this;
      const callbacks = this.#callbacks;
      const response = this.#response;
      this.#cancel();
      // Often calls destroy() on this very loader.
      callbacks?.onAbort?.(stats, /** @type {AnyContext} */ (context), response);
    }

    destroy() {
      if (!this.#settled) this.#cancel();
      this.context = this.#callbacks = this.#response = this.#refusal = null;
    }

    /** @returns {number | null} seconds the answer has spent in caches */
    getCacheAge() {
      const age = this.getResponseHeader('age');
      return age ? parseFloat(age) : null;
    }

    /** @param {string} name */
    getResponseHeader(name) {
      return (this.#refusal ?? this.#response?.headers)?.get(name) ?? null;
    }

    #cancel() {
      if (this.#started) this.stats.aborted = true;
      this.#settle();
      this.#controller?.abort();
    }

    /**
     * @param {AnyContext} context
     * @param {LoaderConfiguration} config
     * @param {LoaderCallbacks} callbacks
     */
    async #run(context, config, callbacks) {
      const { stats } = this;
      const seen = remembered(playlists, this.#hlsConfig);
      const site = siteOf(context, seen);
      const loaded = await this.#request(context, config, callbacks, site).catch((error) => {
        if (!this.#settled) this.#fail(context, config, callbacks, site, error);
      });
      // By now load() has returned: hls.js hangs when it is answered inside.
      if (this.#settled || !loaded) return;

      const { data, response, status, url, bytes, timing } = loaded;
      const streamed = isStreamed(config, callbacks);
      const { loading } = stats;
      // The bandwidth sample and the reload schedule are made of these: no waits, no lost attempts.
      loading.start = Math.max(timing.start - this.#carried, loading.start);
      loading.first = Math.max(timing.first - this.#carried, loading.start);
      loading.end = Math.max(timing.end, loading.first);
      stats.loaded = stats.total = streamed ? bytes : (data?.byteLength ?? bytes);
      stats.bwEstimate = (stats.total * 8000) / Math.max(loading.end - loading.first, 1);
      this.#response = response;
      const plainUntil = remember(seen, site, context.url, loaded.degraded);
      if (!streamed) callbacks.onProgress?.(stats, context, data, response);
      if (this.#settled) return;
      this.#settle();
      // An empty URL, as of a synthetic response, makes hls.js throw when it resolves against it.
      const answer = {
        url: url || context.url,
        data: streamed ? new ArrayBuffer(0) : plainUntil > loading.end ? withoutOffers(data) : data,
        code: status,
      };
      callbacks.onSuccess(answer, stats, context, response);
    }

    /**
     * @param {AnyContext} context
     * @param {LoaderConfiguration} config
     * @param {LoaderCallbacks} callbacks
     * @param {HlsSite} site
     * @returns {Promise<import('../index.d.ts').Loaded<any>>}
     */
    async #request(context, config, callbacks, site) {
      const { stats } = this;
      // Of a reload that may be held back hls.js allows less than servers do (R18).
      const policy = site === 'playlist-reload' && this.#hlsConfig.playlistLoadPolicy?.default;
      const { maxLoadTimeMs: limit } = policy || config.loadPolicy;
      const controller = (this.#controller = new AbortController());
      const { signal } = controller;
      /** @type {(limit: number) => void} */
      let expire = () => {};
      const expired = new Promise((_, reject) => {
        expire = (limit) => {
          const facts = { class: 'timeout', limit, status: 0 };
          const error = Object.assign(new Error(`No answer in ${limit} ms`), facts);
          reject(error);
          controller.abort(error);
        };
      });
      if (limit > 0 && limit <= LONGEST_TIMER_MS) this.#timer = setTimeout(expire, limit, limit);
      const headers = new Headers(context.headers);
      // rangeEnd is exclusive; 0 means no range.
      const { rangeStart, rangeEnd } = context;
      if (rangeEnd) headers.set('Range', `bytes=${rangeStart}-${rangeEnd - 1}`);
      /** @type {RequestInit} */
      const init = { method: 'GET', mode: 'cors', credentials: 'same-origin', headers };

      let sent = 0;
      let first = 0;
      let last = 0;
      let held = 0;
      this.#carried = 0;
      let encoded = false;
      const leaveInTime = () => {
        const now = performance.now();
        const spent = now - stats.loading.start;
        if (now - last < WATCH_MS || globalThis.navigator?.onLine === false) return;
        const most = patience.get(this.#hlsConfig)?.(context, spent) ?? Infinity;
        if (spent > most) expire(Math.round(spent));
      };
      const chunks = isStreamed(config, callbacks)
        ? collectChunks(config.highWaterMark ?? 0, (data) => {
            if (!signal.aborted) callbacks.onProgress?.(stats, context, data, this.#response);
          })
        : null;

      const start = async () => {
        const request = await this.#hlsConfig.fetchSetup?.(context, { ...init, signal });
        if (signal.aborted) throw signal.reason;
        return engine.load({
          url: context.url,
          site,
          .../** @type {object} */ (request ? { request } : { init }),
          responseType: /** @type {any} */ (context.responseType || 'text'),
          signal,
          onAttempt: ({ at }) => {
            if (signal.aborted) return;
            this.attempts++;
            this.#attemptStart = at;
            if (++sent === 2) this.#watch = setInterval(leaveInTime, WATCH_MS);
            this.#carried += Math.max(last - first, 0);
            first = last = stats.loading.first = stats.loaded = 0;
          },
          onResponse: ({ response, at }) => {
            if (signal.aborted) return;
            this.#response = response;
            encoded = response.headers.has('content-encoding');
            first = at;
            stats.loading.first = Math.max(at, stats.loading.start);
          },
          onProgress: ({ loaded, total, at }) => {
            if (signal.aborted) return;
            if (loaded < held) this.#carried = 0; // from the first byte again
            held = loaded;
            last = at;
            stats.loaded = loaded;
            // hls.js takes loaded === total for the end; an encoded length is not comparable.
            stats.total = !encoded && total > loaded ? total : 0;
          },
          onChunk: chunks?.push,
        });
      };
      const loaded = await Promise.race([start(), /** @type {Promise<never>} */ (expired)]);
      chunks?.flush();
      return loaded;
    }

    /**
     * @param {AnyContext} context
     * @param {LoaderConfiguration} config
     * @param {LoaderCallbacks} callbacks
     * @param {HlsSite} site
     * @param {any} error
     */
    #fail(context, config, callbacks, site, error) {
      const { stats } = this;
      const timeout = isTimeout(error);
      const response = error?.response ?? (timeout ? this.#response : null);
      this.#refusal = error?.headers ?? response?.headers ?? null;
      this.#settle();
      if (site === 'text-segment') {
        // hls.js counts a lost subtitle segment against the video, which may end playback.
        stats.loading.first ||= stats.loading.start;
        stats.loading.end = performance.now();
        const data = new TextEncoder().encode(context.frag?.encrypted ? '' : 'WEBVTT\n\n').buffer;
        stats.loaded = stats.total = data.byteLength;
        callbacks.onSuccess({ url: context.url, data, code: 200 }, stats, context, response);
      } else if (timeout) {
        // hls.js takes this time for a sample: the last attempt's, not the waits before it.
        stats.loading.start = Math.max(stats.loading.start, this.#attemptStart);
        config.timeout = error.limit ?? Math.round(performance.now() - stats.loading.start);
        callbacks.onTimeout(stats, context, response);
      } else {
        let code = Number(error?.status) || 0;
        // On 429 hls.js gives up steering for ever; otherwise it asks again after the TTL.
        if (site === 'steering' && code === 429) code = 503;
        callbacks.onError({ code, text: error?.message ?? '' }, context, response, stats);
      }
    }

    #settle() {
      this.#settled = true;
      clearTimeout(this.#timer);
      clearInterval(this.#watch);
    }
  };
}

/**
 * @param {AnyContext} context
 * @param {Map<string, number>} seen
 * @returns {HlsSite}
 */
function siteOf(context, seen) {
  const { type, frag, keyInfo, responseType, url } = context;
  // Before 1.7 only playlists say their type.
  switch (type ?? (keyInfo ? 'key' : frag ? 'media-fragment' : responseType)) {
    case 'manifest':
      return 'manifest';
    case 'level':
    case 'audioTrack':
    case 'subtitleTrack':
      return context.levelOrTrack?.details || seen.has(playlistKey(url))
        ? 'playlist-reload'
        : 'playlist';
    case 'media-fragment':
      if (frag?.type === 'subtitle') return 'text-segment';
      return frag?.sn === 'initSegment' ? 'init' : 'segment';
    case 'key':
      return 'key';
    case 'server-certificate':
    case /** @type {any} */ ('arraybuffer'):
      return 'certificate';
    case 'steering-manifest':
      return 'steering';
    case 'interstitial-asset-list':
      return 'playlist';
    case /** @type {any} */ ('json'):
      return /[?&]_HLS_pathway=/.test(url) ? 'steering' : 'playlist';
    default:
      return 'other';
  }
}

/**
 * @param {WeakMap<object, Map<string, number>>} playlists
 * @param {HlsConfig} config
 */
function remembered(playlists, config) {
  const seen = playlists.get(config) ?? new Map();
  playlists.set(config, seen);
  return seen;
}

/**
 * @param {Map<string, number>} seen
 * @param {HlsSite} site
 * @param {string} url
 * @param {boolean} degraded whether its directives were given up
 * @returns {number} until when it is to be reloaded plainly
 */
function remember(seen, site, url, degraded) {
  if (site === 'manifest') seen.clear();
  else if (!site.startsWith('playlist')) return 0;
  const key = playlistKey(url);
  const until = degraded ? performance.now() + PLAIN_MS : (seen.get(key) ?? 0);
  if (seen.size >= REMEMBERED_PLAYLISTS) seen.delete([...seen.keys()][0]);
  seen.set(key, until);
  return until;
}

/**
 * A playlist that offers neither blocking reloads nor deltas, so that hls.js asks for none.
 *
 * @param {string} text
 */
function withoutOffers(text) {
  return text.replace(/CAN-(BLOCK-RELOAD|SKIP-UNTIL)=[^,\s]*,?/g, '');
}

/** @param {string} url */
function playlistKey(url) {
  return withoutParams(url, /^(_HLS_\w+|CMCD)=/);
}

/**
 * Leaves every other byte of a (perhaps signed) URL as it is.
 *
 * @param {string} url
 * @param {RegExp} pattern
 */
function withoutParams(url, pattern) {
  const mark = url.indexOf('?');
  if (mark < 0) return url;
  const params = url.slice(mark + 1).split('&');
  const kept = params.filter((param) => !pattern.test(param));
  if (kept.length === params.length) return url;
  return url.slice(0, mark + (kept.length && 1)) + kept.join('&');
}

/** @param {LoaderConfiguration} config @param {LoaderCallbacks} callbacks */
function isStreamed(config, callbacks) {
  return !!callbacks.onProgress && Number.isFinite(config.highWaterMark);
}

/** @param {any} error */
function isTimeout(error) {
  return error?.class === 'timeout' || error?.class === 'stall';
}

/**
 * @param {number} highWaterMark
 * @param {(data: ArrayBuffer) => void} emit
 */
function collectChunks(highWaterMark, emit) {
  /** @type {Uint8Array[]} */
  let parts = [];
  let size = 0;
  const flush = () => {
    if (!size) return;
    const data = new Uint8Array(size);
    let offset = 0;
    for (const part of parts) {
      data.set(part, offset);
      offset += part.byteLength;
    }
    parts = [];
    size = 0;
    emit(data.buffer);
  };
  /** @param {Uint8Array} chunk */
  const push = (chunk) => {
    parts.push(chunk);
    size += chunk.byteLength;
    if (size >= highWaterMark) flush();
  };
  return { push, flush };
}

/** @returns {LoaderStats} */
function createStats() {
  return {
    aborted: false,
    loaded: 0,
    retry: 0,
    total: 0,
    chunkCount: 0,
    bwEstimate: 0,
    loading: { start: 0, first: 0, end: 0 },
    parsing: { start: 0, end: 0 },
    buffering: { start: 0, first: 0, end: 0 },
  };
}

/**
 * Zeros, not null: with null hls.js no longer skips a lost live segment.
 *
 * @param {(typeof POLICIES)[number]} name
 * @param {{ default?: object } | undefined} override
 */
function policy(name, override) {
  const limit = name === 'interstitialAssetListLoadPolicy' ? ASSET_LIST_MS : BACKSTOP_MS;
  const never = () => ({ maxNumRetry: 0, retryDelayMs: 0, maxRetryDelayMs: 0 });
  return {
    ...override,
    default: {
      maxTimeToFirstByteMs: limit,
      maxLoadTimeMs: limit,
      timeoutRetry: never(),
      errorRetry: never(),
      ...override?.default,
    },
  };
}

/** @param {any} config */
function retryFields(config) {
  return POLICIES.flatMap((name) =>
    ['timeoutRetry', 'errorRetry']
      .filter((kind) => config?.[name]?.default?.[kind]?.maxNumRetry > 0)
      .map((kind) => `${name}.default.${kind}.maxNumRetry`),
  );
}

/** @param {any} config @param {ReturnType<typeof createWarn>} warn */
function warnAboutSetup(config, warn) {
  warn(
    'requests are made with fetch; use fetchSetup instead of',
    config?.xhrSetup ? ['xhrSetup'] : [],
  );
}

/** Says each thing once. */
function createWarn() {
  const said = new Set();
  /** @param {string} what @param {string[]} fields */
  return (what, fields) => {
    const fresh = fields.filter((field) => !said.has(field));
    if (!fresh.length) return;
    for (const field of fresh) said.add(field);
    console.warn(`[holdfast] ${what}: ${fresh.join(', ')}`);
  };
}

/**
 * Whether another level has it too, in another shape: not so for keys, audio and subtitles.
 *
 * @param {{ frag?: { type?: string }, keyInfo?: object, type?: string }} context
 */
function isOfLevel({ frag, keyInfo, type }) {
  return frag ? frag.type === 'main' && !keyInfo : type === 'level';
}

/** @param {any} level a level, or a variant of the parsed manifest @returns {string} */
function levelUrl(level) {
  return level?.uri ?? (Array.isArray(level?.url) ? level.url[0] : level?.url);
}

/** @param {string | undefined} url */
function hostOf(url) {
  try {
    return new URL(/** @type {string} */ (url)).host;
  } catch {
    return '';
  }
}

/** @param {HTMLMediaElement} media */
function bufferAhead({ buffered, currentTime }) {
  let end = currentTime;
  for (let i = 0; i < buffered.length; i++) {
    if (buffered.start(i) <= end + BUFFER_HOLE_S && buffered.end(i) > end) end = buffered.end(i);
  }
  return end - currentTime;
}
