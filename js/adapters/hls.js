// @ts-check
/**
 * The hls.js adapter: a loader class bound to an engine, the configuration that leaves retries
 * to the engine alone, and a reporter of playback. hls.js itself is never imported.
 */
import { bufferAhead, createWarn, hostOf, isTimeout, onPlain, watchMedia } from './shared.js';

/** @typedef {import('./hls.d.ts').HlsEngine} HlsEngine */
/** @typedef {import('../index.d.ts').Site} HlsSite */
/** @typedef {import('hls.js').HlsConfig} HlsConfig */
/** @typedef {import('hls.js').LoaderContext} LoaderContext */
/** @typedef {import('hls.js').LoaderConfiguration} LoaderConfiguration */
/** @typedef {import('hls.js').LoaderCallbacks<LoaderContext>} LoaderCallbacks */
/** @typedef {import('hls.js').LoaderStats} LoaderStats */
/** @typedef {import('./hls-attempt.js').AnyContext} AnyContext */
/** @typedef {import('./hls-attempt.js').Load} Load */
/** @typedef {import('./hls-attempt.js').LoaderClass} LoaderClass */
/** @typedef {import('./hls-attempt.js').Player} Player */

/** One load with every attempt and wait; longer than a ladder and a hold are by default. */
const BACKSTOP_MS = 1_000_000;
/** Content waits behind an interstitial's asset list, so hls.js's own limit is kept. */
const ASSET_LIST_MS = 30_000;
/** How often an initialisation segment is looked for. */
const TICK_MS = 20;
/** `setTimeout` fires at once beyond this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** hls.js leaves a failed pathway alone for so long. */
const PATHWAY_PENALTY_MS = 300_000;
/** So long hls.js goes without a level that it had to leave. */
const LEVEL_PENALTY_MS = 60_000;
const REMEMBERED_PLAYLISTS = 64;
/** How long a playlist whose directives were given up is reloaded without them. */
const PLAIN_MS = 60_000;
/** So many segments in a row may be missing before it is the stream that is missing. */
const MOST_HOLES = 10;
const TWO_LAYERS = 'two retry layers are on because of';

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

/** By config object, which is all that a loader knows of its player. @type {WeakMap<object, Player>} */
const players = new WeakMap();

/** @param {HlsConfig} config */
function playerOf(config) {
  /** @type {Player} */
  const player = players.get(config) ?? { config, seen: new Map() };
  players.set(config, player);
  return player;
}

/** @type {typeof import('./hls.d.ts').hlsConfig} */
export function hlsConfig(engine, overrides = {}, { skipHoles = true } = {}) {
  const warn = createWarn();
  /** @type {Record<string, any>} */
  const users = overrides;
  /** @type {Record<string, any>} */
  const given = {
    // Otherwise hls.js never returns to a level that was left.
    errorPenaltyExpireMs: LEVEL_PENALTY_MS,
    ...users,
    errorController,
    // Licenses go past every loader.
    async licenseXhrSetup(/** @type {XMLHttpRequest} */ xhr, /** @type {any[]} */ ...rest) {
      // Where the facade cannot be had, hls.js's own request is sent.
      await import('./xhr.js').then((its) => its.faceLicense(engine, xhr)).catch(() => {});
      return users.licenseXhrSetup?.call(this, xhr, ...rest);
    },
  };
  for (const name of POLICIES) given[name] = policy(name, users[name]);
  for (const name of LOADERS) {
    const own = users[name];
    if (own ? !own.holdfast : name === 'loader') given[name] = createLoader(engine, warn, own);
  }
  warn(TWO_LAYERS, retryFields(given));
  return /** @type {any} */ (given);

  /** The first thing that hls.js makes, and the last to hear of an error. @param {any} hls */
  function errorController(hls) {
    const {
      config,
      constructor: { DefaultConfig },
    } = hls;
    const controller = new (users.errorController ?? DefaultConfig.errorController)(hls);
    const player = playerOf(config);
    player.hls = hls;
    player.restore = () => {
      player.own = DefaultConfig.loader;
      for (const name in given) {
        if (config[name] !== given[name]) continue;
        const theirs = DefaultConfig[name];
        const own = name in users ? users[name] : theirs;
        // A policy may be given in part.
        const isPolicy = own?.default;
        config[name] = isPolicy ? { default: { ...theirs?.default, ...own.default } } : own;
      }
    };
    hls.on('hlsDestroying', onPlain(engine, player.restore));
    if (skipHoles) bridgeHoles(player, controller);
    return controller;
  }
}

/** @type {typeof import('./hls.d.ts').attachHls} */
export function attachHls(engine, hls) {
  /** @type {Set<string>} hosts of every variant, those of other pathways included */
  let hosts = new Set();
  /** @type {Map<string, number>} host -> when hls.js last got an error from it */
  const failed = new Map();
  /** @type {number | undefined | null} */
  let declared = null;

  const report = () => {
    declare();
    const { media } = hls;
    if (media || its.playlist.targetDuration) {
      engine.reportPlayback({ ...(media && { bufferAhead: bufferAhead(media) }), ...its.playlist });
    }
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
    const current = hostOf(levelUrl(levels[hls.loadLevel] ?? levels[0]));
    const known = new Set([...hosts, ...levels.map((level) => hostOf(levelUrl(level)))]);
    known.delete('');
    if (known.size > 1) {
      const since = performance.now() - PATHWAY_PENALTY_MS;
      const usable = (/** @type {string} */ host) => !(Number(failed.get(host)) >= since);
      return [...known].filter((host) => host !== current && usable(host)).length;
    }
    if (levels.length === 1 && (hls.pathways?.length ?? 0) < 2) return 0;
    return hls.autoLevelEnabled ? undefined : 0;
  };

  const player = playerOf(hls.config);
  const failing = () => Object.values(engine.state.retryState);
  /** @type {import('./hls-patience.js').Levels} */
  const its = (player.levels = { hls, playlist: {}, left: -Infinity, failing });

  const follow = watchMedia(report);
  /** @type {Record<string, (event: string, data: any) => void>} */
  const listeners = {
    hlsManifestLoading() {
      its.playlist = {};
      hosts = new Set();
      failed.clear();
      declare();
    },
    hlsManifestLoaded(_, data) {
      hosts = new Set(data.levels?.map((/** @type {any} */ level) => hostOf(levelUrl(level))));
      declare();
    },
    hlsLevelsUpdated: declare,
    hlsLevelSwitching: declare,
    hlsSteeringManifestLoaded: declare,
    hlsLevelLoaded(_, { details }) {
      its.playlist = { targetDuration: details.targetduration, live: details.live };
      report();
    },
    hlsError(_, data) {
      // What we took back ourselves has not failed.
      if (data.type !== 'networkError' || data.details === 'aborted') return;
      const now = performance.now();
      const { frag } = data;
      // A reload may have put another in the place of a gap, for which hls.js would ask again.
      if (frag?.gap) {
        const lists = frag.type === 'main' ? hls.levels : hls.audioTracks;
        const twin = lists[frag.level]?.details?.fragments.find(({ sn }) => sn === frag.sn);
        if (twin) twin.gap = true;
      }
      failed.set(hostOf(data.response?.url || frag?.url || data.url), now);
      if (isOfLevel(frag ? data : (data.context ?? {}))) its.left = now;
      declare();
    },
    hlsMediaAttached: (_, data) => follow(data.media),
    hlsMediaDetached: () => follow(null),
    hlsDestroying: () => stop(),
  };
  const emitter = /** @type {any} */ (hls);
  for (const name in listeners) emitter.on(name, listeners[name]);
  declare();
  follow(hls.media);

  let stopped = false;
  const stop = () => {
    if (stopped) return;
    stopped = true;
    follow(null);
    for (const name in listeners) emitter.off(name, listeners[name]);
    for (const site of MEDIA_SITES) engine.declareAlternatives(site, undefined);
    player.levels = undefined;
    player.restore?.();
  };
  return stop;
}

/**
 * A segment that is not there, for good, costs its own duration: where hls.js would end playback,
 * having no other level to go to, it is marked as a gap.
 *
 * @param {Player} player
 * @param {any} controller
 */
function bridgeHoles(player, controller) {
  const { hls } = player;
  /** @type {Record<string, number>} by the type of segment: those missing in a row */
  const holes = {};
  hls.on('hlsFragBuffered', (/** @type {any} */ _, /** @type {any} */ { frag }) => {
    holes[frag.type] = 0;
  });
  const { onErrorOut } = controller;
  controller.onErrorOut = function (/** @type {string} */ event, /** @type {any} */ data) {
    const { details, frag, response, errorAction: action } = data;
    const isHole = details === 'fragLoadError' && /^4(04|10)$/.test(response?.code) && frag.sn >= 0;
    const isEnd = action && !action.resolved && !(action.nextAutoLevel >= 0);
    const { fragmentTracker } = hls.streamController ?? {};
    if (isHole && isEnd && fragmentTracker && !player.own) {
      holes[frag.type] = (holes[frag.type] ?? 0) + 1;
      // Where nothing can be played by the end, it is the stream that is missing.
      if (holes[frag.type] <= MOST_HOLES && (!frag.endList || hls.media?.buffered.length)) {
        fragmentTracker.removeFragment(frag);
        frag.gap = action.resolved = true;
        fragmentTracker.fragBuffered(frag, true);
        import('./hls-holes.js').then(({ crossHole }) => crossHole(hls, frag)).catch(() => {});
      }
    }
    onErrorOut?.call(this, event, data);
  };
}

/**
 * @param {HlsEngine} engine
 * @param {ReturnType<typeof createWarn>} warn
 * @param {LoaderClass} [transport] sends each attempt, where it is not `fetch`
 */
function createLoader(engine, warn, transport) {
  return class HoldfastLoader {
    /** Tells this class from a stranger's. */
    static holdfast = true;

    /** @type {AnyContext | null} */
    context = null;
    stats = createStats();
    /** Attempts of this load. `stats.retry` belongs to hls.js. */
    attempts = 0;

    #player;
    #controller = new AbortController();
    #started = false;
    #settled = false;
    /** @type {LoaderCallbacks['onAbort']} */
    #onAbort;
    /** @type {Response | null} */
    #response = null;
    /** @type {Headers | null | undefined} of the response, or of a refusal */
    #headers;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    #watch;
    #attemptStart = 0;

    /** @param {HlsConfig} config */
    constructor(config) {
      const { own } = (this.#player = playerOf(config));
      if (own) return new (transport ?? own)(config);
      warn(TWO_LAYERS, retryFields(config));
    }

    /**
     * @param {LoaderContext} context
     * @param {LoaderConfiguration} config
     * @param {LoaderCallbacks} callbacks
     */
    load(context, config, callbacks) {
      // As hls.js's own do.
      if (this.#started) throw new Error('A loader can only be used once');
      this.#started = true;
      if (this.#settled) return;
      this.stats.loading.start = performance.now();
      this.context = context;
      this.#onAbort = callbacks.onAbort;
      this.#run({ context, config, callbacks, site: siteOf(context, this.#player.seen) });
    }

    abort() {
      if (!this.#started || this.#settled) return;
      this.#cancel();
      // Often calls destroy() on this very loader.
      this.#onAbort?.(this.stats, /** @type {AnyContext} */ (this.context), this.#response);
    }

    destroy() {
      if (!this.#settled) this.#cancel();
      this.context = this.#response = this.#headers = null;
    }

    /** @returns {number | null} seconds the answer has spent in caches */
    getCacheAge() {
      return parseFloat(this.getResponseHeader('age') ?? '') || null;
    }

    /** @param {string} name */
    getResponseHeader(name) {
      return this.#headers?.get(name) ?? null;
    }

    #cancel() {
      this.stats.aborted = this.#started;
      this.#settle();
      this.#controller.abort();
    }

    #settle() {
      this.#settled = true;
      clearTimeout(this.#timer);
      clearInterval(this.#watch);
    }

    /** @param {Load} load */
    async #run(load) {
      const { context, callbacks, site } = load;
      const { stats } = this;
      const loaded = await this.#request(load).catch(async (error) => {
        // hls.js 1.7 asks for both at once; told of this before that is there, it aborts what it
        // asks for next, and waits for ever.
        while (context.frag?.initSegment?.loader) await sleep(TICK_MS);
        if (!this.#settled) this.#fail(load, error);
      });
      // By now load() has returned: hls.js hangs when it is answered inside.
      if (this.#settled || !loaded) return;

      const { response, status, url, bytes, degraded } = loaded;
      const { flush, timing = loaded.timing, data = loaded.data } = load.way ?? {};
      // The bandwidth sample and the reload schedule are made of these: no waits, no lost attempts.
      Object.assign(stats.loading, timing);
      stats.loaded = stats.total = bytes;
      stats.bwEstimate = (bytes * 8000) / Math.max(timing.end - timing.first, 1);
      this.#response = response;
      const isPlain = isReloadedPlainly(this.#player.seen, site, context.url, degraded);
      if (flush) flush();
      else callbacks.onProgress?.(stats, context, data, response);
      if (this.#settled) return;
      this.#settle();
      const answer = {
        // An empty URL, as of a synthetic response, makes hls.js throw when it resolves against it.
        url: url || context.url,
        data: isPlain ? withoutOffers(data) : data,
        code: status,
      };
      callbacks.onSuccess(answer, stats, context, response);
    }

    /** @param {Load} load */
    async #request(load) {
      const { context, config, site } = load;
      const { stats } = this;
      const { signal } = this.#controller;
      const player = this.#player;
      const { playlistLoadPolicy, fetchSetup, xhrSetup, cmcd, progressive } = player.config;
      // Of a reload that may be held back hls.js allows less than servers do (R18).
      const policy = site === 'playlist-reload' && playlistLoadPolicy?.default;
      const { maxLoadTimeMs: limit } = policy || config.loadPolicy;
      const expire = (/** @type {number} */ limit) =>
        this.#controller.abort({ class: 'timeout', limit });
      if (limit > 0 && limit <= LONGEST_TIMER_MS) this.#timer = setTimeout(expire, limit, limit);

      const headers = new Headers(context.headers);
      // rangeEnd is exclusive; 0 means no range.
      const { rangeStart, rangeEnd } = context;
      if (rangeEnd) headers.set('Range', `bytes=${rangeStart}-${rangeEnd - 1}`);
      let last = stats.loading.start;
      const watch = async () => {
        const { levels } = player;
        if (!levels || !isOfLevel(context)) return;
        const { watchLevel } = await import('./hls-patience.js');
        if (this.#settled) return;
        this.#watch = watchLevel(levels, { ...context, site, stats, last }, expire);
      };
      /** @type {import('./hls-attempt.js').Way} */
      let way = { url: context.url };
      if (transport || fetchSetup || xhrSetup || cmcd || progressive) {
        const controller = this.#controller;
        const { wayOf } = await import('./hls-attempt.js');
        way = load.way = await wayOf({ loader: this, load, player, controller, transport });
      }
      return engine.load({
        ...way,
        site,
        init: { method: 'GET', mode: 'cors', credentials: 'same-origin', headers },
        responseType: /** @type {any} */ (context.responseType || 'text'),
        signal,
        onAttempt: ({ at }) => {
          if (signal.aborted) return;
          this.#attemptStart = at;
          // Where that cannot be had, the level is held on to.
          if (++this.attempts === 2) watch().catch(() => {});
          stats.loading.first = stats.loaded = 0;
        },
        onResponse: ({ response, at }) => {
          if (signal.aborted) return;
          way.response = this.#response = response;
          this.#headers = response.headers;
          stats.loading.first = at;
        },
        onProgress: ({ loaded, total, at }) => {
          if (signal.aborted) return;
          last = at;
          stats.loaded = loaded;
          // hls.js takes loaded === total for the end.
          stats.total = total > loaded ? total : 0;
        },
      });
    }

    /** @param {Load} load @param {any} error */
    #fail({ context, config, callbacks, site }, error) {
      const { stats } = this;
      const { loading } = stats;
      const timeout = isTimeout(error);
      const response = timeout ? this.#response : null;
      this.#headers = error?.headers ?? response?.headers;
      this.#settle();
      if (site === 'text-segment') {
        // hls.js counts a lost subtitle segment against the video, which may end playback.
        loading.first ||= loading.start;
        loading.end = performance.now();
        const data = new TextEncoder().encode(context.frag?.encrypted ? '' : 'WEBVTT\n\n').buffer;
        stats.loaded = stats.total = data.byteLength;
        callbacks.onSuccess({ url: context.url, data, code: 200 }, stats, context, response);
      } else if (timeout) {
        // hls.js takes this time for a sample: the last attempt's, not the waits before it.
        loading.start = Math.max(loading.start, this.#attemptStart);
        config.timeout = error.limit ?? config.timeout;
        callbacks.onTimeout(stats, context, response);
      } else {
        let code = Number(error?.status) || 0;
        // On 429 hls.js gives up steering for ever; otherwise it asks again after the TTL.
        if (site === 'steering' && code === 429) code = 503;
        callbacks.onError({ code, text: error?.message ?? '' }, context, response, stats);
      }
    }
  };
}

/**
 * @param {AnyContext} context
 * @param {Map<string, number>} seen
 * @returns {HlsSite}
 */
function siteOf({ type, frag, keyInfo, responseType, url, levelOrTrack }, seen) {
  // Before 1.7 only playlists say their type.
  const kind = String(type ?? (keyInfo ? 'key' : frag ? 'media-fragment' : responseType));
  if (kind === 'media-fragment') {
    if (frag?.type === 'subtitle') return 'text-segment';
    return frag?.sn === 'initSegment' ? 'init' : 'segment';
  }
  if (/^(level|(audio|subtitle)Track)$/.test(kind)) {
    return levelOrTrack?.details || seen.has(playlistKey(url)) ? 'playlist-reload' : 'playlist';
  }
  if (kind === 'manifest' || kind === 'key') return kind;
  if (/^(server-certificate|arraybuffer)$/.test(kind)) return 'certificate';
  if (/^steering/.test(kind) || /[?&]_HLS_pathway=/.test(url)) return 'steering';
  return /^(interstitial|json)/.test(kind) ? 'playlist' : 'other';
}

/**
 * Remembers a playlist, and says whether it is to be reloaded plainly for now.
 *
 * @param {Map<string, number>} seen
 * @param {HlsSite} site
 * @param {string} url
 * @param {boolean} degraded whether its directives were given up
 */
function isReloadedPlainly(seen, site, url, degraded) {
  if (site === 'manifest') seen.clear();
  else if (!site.startsWith('playlist')) return false;
  const now = performance.now();
  const key = playlistKey(url);
  const until = degraded ? now + PLAIN_MS : (seen.get(key) ?? 0);
  if (seen.size >= REMEMBERED_PLAYLISTS) seen.delete([...seen.keys()][0]);
  seen.set(key, until);
  return until > now;
}

/**
 * A playlist that offers neither blocking reloads nor deltas, so that hls.js asks for none.
 *
 * @param {string} text
 */
function withoutOffers(text) {
  return text.replace(/CAN-(BLOCK-RELOAD|SKIP-UNTIL)=[^,\s]*,?/g, '');
}

/** hls.js puts such parameters behind those of the playlist. @param {string} url */
function playlistKey(url) {
  return url.replace(/[?&](_HLS_\w+|CMCD)=[^&]*/g, '');
}

/** @returns {LoaderStats} */
function createStats() {
  const span = () => ({ start: 0, first: 0, end: 0 });
  return {
    aborted: false,
    loaded: 0,
    retry: 0,
    total: 0,
    chunkCount: 0,
    bwEstimate: 0,
    loading: span(),
    parsing: span(),
    buffering: span(),
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
    Object.entries(config[name]?.default ?? {})
      .filter(([, value]) => /** @type {any} */ (value)?.maxNumRetry > 0)
      .map(([kind]) => `${name}.default.${kind}.maxNumRetry`),
  );
}

/**
 * Whether another level has it too, in another shape: not so for keys, audio and subtitles.
 *
 * @param {{ frag?: { type?: string }, keyInfo?: object, type?: string }} context
 */
function isOfLevel({ frag, keyInfo, type }) {
  return frag ? frag.type === 'main' && !keyInfo : type === 'level';
}

/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {any} level a level, or a variant of the parsed manifest @returns {string} */
function levelUrl(level) {
  return level?.uri ?? (Array.isArray(level?.url) ? level.url[0] : level?.url);
}
