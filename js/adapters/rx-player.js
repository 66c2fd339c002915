// @ts-check
/**
 * The rx-player adapter: the manifest and segment loaders of `loadVideo`, bound to an engine, a
 * ready `getLicense`, and a reporter of playback. rx-player itself is never imported.
 */
import { bufferAhead, createWarn, hostOf, isTimeout, watchMedia, withoutParams } from './shared.js';

/** @typedef {import('./rx-player.d.ts').RxEngine} RxEngine */
/** @typedef {import('../index.d.ts').Site} Site */
/** @typedef {import('../index.d.ts').Loaded} Loaded */
/** @typedef {import('rx-player/types').ILoadVideoOptions} Options */
/** @typedef {import('rx-player/types').ISegmentLoader} SegmentLoader */
/** @typedef {import('rx-player/types').IManifestLoader} ManifestLoader */
/** @typedef {Parameters<SegmentLoader>[0]} SegmentInfo */
/** @typedef {Parameters<ManifestLoader>[0]} ManifestInfo */

/**
 * What a loader is told, of either kind, and whom it answers.
 *
 * @typedef {ManifestInfo & Partial<SegmentInfo>} Info
 * @typedef {{ data: any, [fact: string]: any }} Answer
 * @typedef {object} Callbacks
 * @property {(answer: Answer) => void} resolve
 * @property {(error?: any) => void} reject
 * @property {() => void} fallback to rx-player's own loader
 * @property {Parameters<SegmentLoader>[1]['progress']} [progress]
 * @typedef {(info: any, callbacks: any) => (() => void) | void} Loader
 */

/** @typedef {{ message: string, url: string, status: number, errorType: string, cause: unknown }} Verdict */

/** rx-player comes back to a CDN that failed after so long. */
const CDN_PENALTY_MS = 60_000;
const REMEMBERED_VERDICTS = 16;
/** A loader that said nothing for so long is taken for one that never reports its progress. */
const QUIET_MS = 1_000;
/** rx-player's own limit for a license. */
const LICENSE_MS = 10_000;
const TWO_LAYERS = "two retry layers are on, rx-player's and the engine's, because of";
const PAST = 'segments go past the engine because of';
const NOTHING = new Uint8Array();

/** What the loaders of an engine, and whoever reports its playback, know of what is played. */
class Content {
  /** Whether the player has its own loaders back. */
  released = false;
  /** Whether a manifest was there, so that the next one is a reload. */
  isLoaded = false;
  /** In seconds. @type {number | undefined} */
  targetDuration;
  /**
   * Hosts that have the same media: a list for each place where the manifest names several.
   *
   * @type {string[][] | undefined}
   */
  cdns;
  /** When a host got its last verdict. @type {Map<string, number>} */
  failed = new Map();
  /** The newest first. @type {Verdict[]} */
  verdicts = [];
  /** The segment of each track that was passed over, until another one came. @type {Record<string, string | undefined>} */
  missing = {};

  /** Something else is loaded. */
  reset() {
    this.isLoaded = false;
    this.targetDuration = undefined;
    this.cdns = undefined;
    this.missing = {};
    this.failed.clear();
  }

  /**
   * What the engine is to know of a manifest. rx-player shows neither to loaders nor in its API.
   *
   * @param {any} data bytes, text or a document
   * @param {string} url its own
   */
  learn(data, url) {
    this.isLoaded = true;
    const text =
      data instanceof ArrayBuffer
        ? new TextDecoder().decode(data)
        : String(data?.documentElement?.outerHTML ?? data);
    const lists = text.match(/(<BaseURL\b[^>]*>[^<]*<\/BaseURL>\s*){2,}/g) ?? [];
    this.cdns = lists.map((list) =>
      Array.from(list.matchAll(/>\s*([^<\s]+)/g), ([, base]) =>
        hostOf(/^[a-z]+:/i.test(base) ? base : url),
      ),
    );
    const [, longest] = /\bmaxSegmentDuration="PT([\d.]+)S"/.exec(text) ?? [];
    const [template = ''] = /<SegmentTemplate\b[^>]*/.exec(text) ?? [];
    const number = (/** @type {string} */ name) =>
      Number(new RegExp(`\\b${name}="(\\d+)"`).exec(template)?.[1] ?? NaN);
    const seconds = Number(longest ?? number('duration') / (number('timescale') || 1));
    if (seconds > 0) this.targetDuration = seconds;
  }

  /** How many other hosts rx-player can turn to, where that is known. @param {string} url */
  alternatives(url) {
    if (!this.cdns) return undefined;
    const host = hostOf(url);
    const since = performance.now() - CDN_PENALTY_MS;
    const usable = (/** @type {string} */ other) =>
      other !== host && (this.failed.get(other) ?? -Infinity) < since;
    const lists = this.cdns.filter((hosts) => hosts.includes(host));
    return new Set(lists.flat().filter(usable)).size;
  }

  /**
   * Whether a segment may be passed over: rx-player, which asks twice, looks no further than its
   * buffer goal for what comes behind a hole, so that two in a row are its end.
   *
   * @param {Info} info
   */
  mayMiss({ trackType, url }) {
    const passed = (this.missing[String(trackType)] ??= url);
    return passed === url;
  }

  /** @param {Verdict} verdict */
  judge(verdict) {
    this.failed.set(hostOf(verdict.url), performance.now());
    this.verdicts = [verdict, ...this.verdicts].slice(0, REMEMBERED_VERDICTS);
  }
}

/** @type {WeakMap<object, Content>} by engine */
const contents = new WeakMap();
/** The functions that `rxLicense` made. */
const licenses = new WeakSet();

/** @type {typeof import('./rx-player.d.ts').rxOptions} */
export function rxOptions(engine, options, { skipMissing = false } = {}) {
  const { transport } = options;
  const hasManifest = transport === 'dash' || transport === 'smooth';
  // The other transports make no requests that a loader sees.
  if (!hasManifest && transport !== 'metaplaylist') return options;
  warnAbout(engine, options);
  const content = contentOf(engine);
  content.released = false;
  const segmentLoader = replaced(options.segmentLoader, (own) =>
    createLoader(engine, content, own, skipMissing ? skippable : segments),
  );
  if (!hasManifest) return { ...options, segmentLoader };
  const manifestLoader = replaced(options.manifestLoader, (own) =>
    createLoader(engine, content, own, manifests),
  );
  return { ...options, segmentLoader, manifestLoader };
}

/** @type {typeof import('./rx-player.d.ts').rxLicense} */
export function rxLicense(engine, url, setup = {}) {
  const isPlain = () => engine.state.mode === 'plain';
  /** @type {ReturnType<typeof import('./rx-player.d.ts').rxLicense>['getLicense']} */
  const getLicense = async (message, messageType) => {
    const own = typeof setup === 'function' ? await setup(message, messageType) : setup;
    const init = { method: 'POST', body: message, ...own };
    let isSent = false;
    const onAttempt = () => void (isSent = true);
    try {
      if (!isPlain()) return (await engine.load({ url, site: 'license', init, onAttempt })).data;
    } catch (error) {
      if (isSent || /** @type {any} */ (error)?.code !== 'DESTROYED') throw error;
    }
    const response = await fetch(url, init);
    if (!response.ok) throw new Error(`license: the server answered ${response.status}`);
    return response.arrayBuffer();
  };
  licenses.add(getLicense);
  return {
    getLicense,
    // Read at each license: when the engine fails open, rx-player's own retries are back.
    getLicenseConfig: {
      get retry() {
        return isPlain() ? undefined : 0;
      },
      get timeout() {
        return isPlain() ? LICENSE_MS : -1;
      },
    },
  };
}

/** @type {typeof import('./rx-player.d.ts').attachRxPlayer} */
export function attachRxPlayer(engine, player) {
  const content = contentOf(engine);
  content.released = false;

  const report = () => {
    const media = player.getVideoElement();
    // It was disposed of.
    if (!media) return stop();
    const { targetDuration } = content;
    const facts = { bufferAhead: bufferAhead(media), live: player.isLive() };
    engine.reportPlayback(targetDuration ? { ...facts, targetDuration } : facts);
  };
  const onState = (/** @type {string} */ state) => {
    if (state === 'LOADING') content.reset();
    report();
  };
  const onError = (/** @type {any} */ error) => enrich(error, content.verdicts);
  const watch = watchMedia(report);

  const stop = () => {
    content.released = true;
    watch(null);
    player.removeEventListener('playerStateChange', onState);
    player.removeEventListener('warning', onError);
    player.removeEventListener('error', onError);
  };
  player.addEventListener('playerStateChange', onState);
  player.addEventListener('warning', onError);
  player.addEventListener('error', onError);
  watch(player.getVideoElement());
  return stop;
}

/** @param {object} engine @returns {Content} */
function contentOf(engine) {
  const content = contents.get(engine) ?? new Content();
  contents.set(engine, content);
  return content;
}

/**
 * The option as it was, with a loader that has the user's own, if there is one, underneath.
 *
 * @param {Loader | { fn?: Loader, workerId?: string } | undefined} option
 * @param {(own: Loader | undefined) => Loader} create
 */
function replaced(option, create) {
  if (typeof option !== 'object') return create(option);
  return { ...option, fn: create(option.fn) };
}

/**
 * What differs between the two kinds of loaders.
 *
 * @typedef {object} Kind
 * @property {(info: Info, content: Content) => Site} siteOf
 * @property {(parts: Loaded[], info: Info) => Answer} answer of the bytes, in their order
 * @property {(answer: Answer, info: Info, content: Content) => void} learn
 * @property {boolean} [skipsMissing]
 */

/** @type {Kind} */
const segments = {
  siteOf({ isInit, trackType }) {
    if (trackType === 'text') return 'text-segment';
    return isInit ? 'init' : 'segment';
  },
  answer: (parts) => ({ ...measured(parts), data: concat(parts.map(({ data }) => data)) }),
  learn(_, { trackType }, { missing }) {
    missing[String(trackType)] = undefined;
  },
};

/** @type {Kind} */
const skippable = { ...segments, skipsMissing: true };

/** @type {Kind} */
const manifests = {
  siteOf: (_, { isLoaded }) => (isLoaded ? 'playlist-reload' : 'manifest'),
  answer([loaded], { cmcdPayload }) {
    const { data, url, timing } = loaded;
    // rx-player counts these from 1970.
    const epoch = Date.now() - performance.now();
    return {
      ...measured([loaded]),
      data,
      // The next reload is sent there, with what CMCD says then.
      url: cmcdPayload?.type === 'query' ? withoutParams(url, /^CMCD=/) : url,
      sendingTime: epoch + timing.start,
      receivingTime: epoch + timing.end,
    };
  },
  learn: ({ data, url }, info, content) => content.learn(data, url ?? info.url),
};

/**
 * @param {RxEngine} engine
 * @param {Content} content
 * @param {Loader | undefined} own
 * @param {Kind} kind
 * @returns {Loader}
 */
function createLoader(engine, content, own, kind) {
  const isPlain = () => engine.state.mode === 'plain';

  return (/** @type {Info} */ info, /** @type {Callbacks} */ callbacks) => {
    const { url } = info;
    const native = (/** @type {Loader | undefined} */ loader) =>
      loader ? loader(info, callbacks) : callbacks.fallback();
    if (content.released || isPlain() || url === undefined) return native(own);

    const site = kind.siteOf(info, content);
    const progress = growing(callbacks.progress);
    /** @type {(() => void) | void} */
    let cancel;
    // A reload that is lost ends playback, as a segment does on its last CDN.
    const others = site === 'manifest' ? undefined : content.alternatives(url);

    /** @param {any} error @param {any} [theirs] what the user's own loader said last */
    const reject = (error, theirs) => {
      const message = theirs?.message || error.message || 'The loader failed';
      const status = theirs?.xhr?.status || error.status || 0;
      const isMissing = site === 'segment' && (status === 404 || status === 410);
      if (kind.skipsMissing && isMissing && !others && content.mayMiss(info)) {
        // rx-player crosses what is empty as it crosses holes in the media.
        return callbacks.resolve({ data: new ArrayBuffer(0) });
      }
      content.judge({ message, url, status, errorType: errorTypeOf(error, status), cause: error });
      // Once the engine has failed open, the next attempt is rx-player's.
      callbacks.reject(
        Object.assign(new Error(message), { canRetry: isPlain(), xhr: theirs?.xhr }),
      );
    };

    /** @param {Loader | undefined} loader */
    const run = async (loader) => {
      const controller = new AbortController();
      const { signal } = controller;
      cancel = () => controller.abort();
      /** @type {Answer | undefined} */
      let answer;
      /** @type {any} */
      let theirs;
      const transport =
        loader &&
        transportOf(loader, info, {
          progress,
          resolve: (given) => (answer = given),
          reject(error, isFinal) {
            theirs = error;
            if (!isFinal) return;
            controller.abort();
            reject(error, error);
          },
          fallback() {
            controller.abort();
            void run(undefined);
          },
        });
      const requests = loader ? [{ url }] : requestsFor(info);
      const [{ url: asked }] = requests;
      // Of several ranges, none is the whole; the user's own loader reports by itself.
      const isReported = !loader && requests.length === 1;
      let sentAt = 0;
      if (others !== undefined) engine.declareAlternatives(asked, others);
      try {
        const loads = requests.map((request) =>
          engine.load({
            ...request,
            ...{ site, signal, fetch: transport },
            onAttempt({ at }) {
              sentAt = at;
              theirs = undefined;
            },
            onProgress({ loaded, total, at }) {
              if (!isReported || signal.aborted) return;
              progress({ duration: at - sentAt, size: loaded, totalSize: total || undefined });
            },
          }),
        );
        const parts = await Promise.all(loads);
        const given = answer ?? kind.answer(parts, info);
        kind.learn(given, info, content);
        callbacks.resolve(given);
      } catch (error) {
        if (signal.aborted) return;
        controller.abort();
        if (/** @type {any} */ (error)?.code === 'DESTROYED') cancel = native(own);
        else reject(error, theirs);
      } finally {
        if (others !== undefined) engine.declareAlternatives(asked, undefined);
      }
    };
    void run(own);
    return () => cancel?.();
  };
}

/**
 * Runs a loader of the user's own as one attempt of a load. It is a black box: whether it moves is
 * seen by the progress that it reports or, where it never does, supposed until its time is over.
 *
 * @param {Loader} loader
 * @param {Info} info
 * @param {Omit<Callbacks, 'reject'> & { reject(error: any, isFinal: boolean): void }} callbacks
 * @returns {typeof fetch}
 */
function transportOf(loader, info, { resolve: answered, reject: refused, fallback, progress }) {
  return (url, init) => {
    /** @type {Promise<Response>} */
    const sent = new Promise((resolve, reject) => {
      /** @type {ReadableStreamDefaultController<Uint8Array> | undefined} */
      let stream;
      let isOver = false;
      const began = performance.now();
      const isAlive = () => {
        if (!stream) resolve(new Response(new ReadableStream({ start: (own) => (stream = own) })));
        // Resets the engine's patience, and is no part of the body.
        stream?.enqueue(NOTHING);
      };
      const timer = setInterval(() => {
        if (performance.now() - began < (info.timeout ?? Infinity)) isAlive();
      }, QUIET_MS);
      /** @template T @param {(value: T) => void} then @returns {(value: T) => void} */
      const last = (then) => (value) => {
        if (isOver) return;
        isOver = true;
        clearInterval(timer);
        then(value);
      };
      const given = {
        resolve: last((/** @type {Answer} */ answer) => {
          answered(answer);
          const bytes = bytesOf(answer.data);
          if (!stream) return resolve(new Response(bytes));
          stream.enqueue(bytes);
          stream.close();
        }),
        reject: last((/** @type {any} */ error) => {
          const status = error?.xhr?.status ?? 0;
          const isRefusal = status >= 400 && status < 600;
          refused(error, error?.canRetry === false || (!!stream && isRefusal && status < 500));
          if (stream) stream.error(error);
          else if (isRefusal) resolve(new Response(null, { status }));
          else reject(error ?? new TypeError('The loader failed'));
        }),
        progress(/** @type {any} */ facts) {
          if (isOver) return;
          clearInterval(timer);
          isAlive();
          progress?.(facts);
        },
        fallback: last(fallback),
      };
      /** @type {(() => void) | void} */
      let cancel;
      try {
        cancel = loader({ ...info, url: String(url) }, given);
      } catch (error) {
        last(reject)(error);
      }
      const abort = last(() => {
        cancel?.();
        reject(new DOMException('Aborted', 'AbortError'));
      });
      init?.signal?.addEventListener('abort', abort);
    });
    // Nobody follows an attempt within whose call its load has ended.
    sent.catch(() => {});
    return sent;
  };
}

/**
 * What to ask for, one request a range; ranges that follow each other are one, as rx-player does
 * it. Ranges are inclusive at both ends.
 *
 * @param {Info} info
 */
function requestsFor({ url = '', byteRanges = [], cmcdPayload }) {
  /** @type {[number, number][]} */
  const ranges = [];
  for (const [first, last] of byteRanges) {
    const before = ranges.at(-1);
    if (before && before[1] + 1 === first) before[1] = last;
    else ranges.push([first, last]);
  }
  const own = cmcdPayload?.type === 'headers' ? cmcdPayload.value : {};
  const asked = cmcdPayload?.type === 'query' ? withParams(url, cmcdPayload.value) : url;
  if (!ranges.length) return [{ url: asked, init: { headers: own } }];
  return ranges.map(([first, last]) => {
    const Range = `bytes=${first}-${last === Infinity ? '' : last}`;
    return { url: asked, init: { headers: { ...own, Range } } };
  });
}

/**
 * Puts parameters behind a query, and leaves every byte of a (perhaps signed) URL as it is.
 *
 * @param {string} url
 * @param {[string, string | null][]} params
 */
function withParams(url, params) {
  const [, base, hash] = /** @type {RegExpExecArray} */ (/^([^#]*)(.*)$/s.exec(url));
  const added = params.map(([name, value]) => (value === null ? name : `${name}=${value}`));
  const mark = base.endsWith('?') ? '' : base.includes('?') ? '&' : '?';
  return base + (added.length ? mark : '') + added.join('&') + hash;
}

/**
 * Reports no less than before: rx-player would take what starts over for a negative rate.
 *
 * @param {Callbacks['progress']} report
 * @returns {NonNullable<Callbacks['progress']>}
 */
function growing(report) {
  let most = 0;
  return (progress) => {
    if (progress.size <= most) return;
    most = progress.size;
    report?.(progress);
  };
}

/** The sample of bandwidth: no waits, and no lost attempts. @param {Loaded[]} parts */
function measured(parts) {
  const start = Math.min(...parts.map(({ timing }) => timing.start));
  const end = Math.max(...parts.map(({ timing }) => timing.end));
  return { size: parts.reduce((sum, { bytes }) => sum + bytes, 0), duration: end - start };
}

/** @param {ArrayBuffer[]} parts @returns {ArrayBuffer} */
function concat(parts) {
  if (parts.length === 1) return parts[0];
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(new Uint8Array(part), at);
    at += part.byteLength;
  }
  return whole.buffer;
}

/**
 * What can be judged of an answer; of a document, nothing.
 *
 * @param {unknown} data
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesOf(data) {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (data instanceof Uint8Array) return /** @type {Uint8Array<ArrayBuffer>} */ (data);
  return new TextEncoder().encode(typeof data === 'string' ? data : ' ');
}

/** In rx-player's words. @param {any} error @param {number} status */
function errorTypeOf(error, status) {
  if (status >= 300) return 'ERROR_HTTP_CODE';
  return isTimeout(error) ? 'TIMEOUT' : 'ERROR_EVENT';
}

/**
 * rx-player makes an `OTHER_ERROR` of what a loader rejects with. Gives it what its users find in
 * the `NETWORK_ERROR` of its own loaders.
 *
 * @param {any} error
 * @param {Verdict[]} verdicts
 */
function enrich(error, verdicts) {
  if (error?.code !== 'PIPELINE_LOAD_ERROR') return;
  const verdict = verdicts.find(({ message }) => error.message.endsWith(message));
  if (!verdict) return;
  const { url, status, errorType, cause } = verdict;
  Object.assign(error, { name: 'NetworkError', type: 'NETWORK_ERROR', url, status, errorType });
  Object.assign(error, {
    cause,
    isHttpError: (/** @type {number} */ code) => errorType === 'ERROR_HTTP_CODE' && code === status,
  });
}

/** @param {RxEngine} engine @param {Options} options */
function warnAbout({ state }, options) {
  const warn = createWarn();
  const { requestConfig, lowLatencyMode, mode, keySystems = [] } = options;
  const checks = /** @type {const} */ ([
    ['checkManifestIntegrity', requestConfig?.manifest],
    ['checkMediaSegmentIntegrity', requestConfig?.segment],
  ]);
  const repeated = checks.filter(([name, config]) => options[name] && config?.maxRetry !== 0);
  const licensed = keySystems.filter(
    ({ getLicense, getLicenseConfig }) =>
      state.mode !== 'plain' && licenses.has(getLicense) && getLicenseConfig?.retry !== 0,
  );
  warn(TWO_LAYERS, [
    ...repeated.map(([name]) => name),
    ...licensed.map(({ type }) => `getLicenseConfig.retry of ${type}`),
  ]);
  warn(PAST, [
    ...(lowLatencyMode ? ['lowLatencyMode'] : []),
    ...(mode === 'multithread' ? ['mode: multithread'] : []),
  ]);
}
