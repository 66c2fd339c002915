// @ts-check
/**
 * How hls.js's attempts are sent where it takes more than `fetch`: set-up by the page, CMCD, another
 * loader underneath; and how their bytes are given away in pieces. Loaded by `hls.js` where one of these
 * is asked for.
 */
/** @typedef {import('hls.js').HlsConfig} HlsConfig */
/** @typedef {{ new (config: HlsConfig): any }} LoaderClass */

/**
 * A loader context with what only some kinds of request, or versions of hls.js, put there.
 *
 * @typedef {import('hls.js').LoaderContext
 *   & Partial<Pick<import('hls.js').FragmentLoaderContext, 'frag' | 'part'>>
 *   & { keyInfo?: object, levelOrTrack?: { details?: object } | null }} AnyContext
 */

/**
 * What is known of one player.
 *
 * @typedef {object} Player
 * @property {HlsConfig} config
 * @property {Map<string, number>} seen playlists that it holds already, and until when each is to be
 *   reloaded plainly
 * @property {any} [hls]
 * @property {import('./hls-patience.js').Levels} [levels] once it is attached
 * @property {() => void} [restore] gives it what it would have without this adapter
 * @property {LoaderClass} [own] hls.js's own loader, once it is given back
 */

/**
 * One load, as hls.js asks for it.
 *
 * @typedef {object} Load
 * @property {AnyContext} context
 * @property {import('hls.js').LoaderConfiguration} config
 * @property {import('hls.js').LoaderCallbacks<import('hls.js').LoaderContext>} callbacks
 * @property {import('../index.d.ts').Site} site
 * @property {Way} [way] where it takes more than `fetch`
 */

/**
 * A load whose attempts take more than `fetch`.
 *
 * @typedef {object} Odd
 * @property {import('hls.js').Loader<any>} loader
 * @property {Load} load
 * @property {Player} player
 * @property {AbortController} controller of the load
 * @property {LoaderClass} [transport] sends each attempt
 */

/**
 * What goes into `engine.load`.
 *
 * @typedef {object} Way
 * @property {string} url
 * @property {typeof fetch} [fetch] sends one attempt
 * @property {(chunk: Uint8Array) => void} [onChunk]
 * @property {() => void} [flush] gives away what is left in the end
 * @property {any} [data] instead of the whole body, in the end
 * @property {import('../index.d.ts').Loaded['timing']} [timing] of the attempt that succeeded, where
 *   another loader knows it better
 * @property {Response} [response] of the attempt that was accepted last
 */

/** @param {Odd} odd @returns {Promise<Way>} */
export async function wayOf(odd) {
  const { loader, load, player, controller, transport } = odd;
  const { config, hls } = player;
  const { context } = load;
  const cmcd = config.cmcd && hls ? await import('./hls-cmcd.js') : undefined;
  const carry = transport && (await import('./hls-transport.js')).carry;
  const fetchSetup = !transport && config.fetchSetup;
  /** @type {any} */
  const xhrSetup = !transport && !fetchSetup && config.xhrSetup;
  const facade = xhrSetup && (await import('./xhr.js'));
  let attempts = 0;

  /** @type {Way} */
  const way = { url: cmcd ? cmcd.faithfulUrl(hls, context) : context.url };
  if (cmcd || carry || fetchSetup || facade) {
    way.fetch = async (input, init = {}, next = fetch) => {
      const asked = { ...context, url: String(input) };
      const own = { ...init, headers: new Headers(init.headers) };
      if (cmcd && ++attempts > 1) cmcd.renew(hls, asked, own.headers);
      if (carry) return carry(odd, asked, own, way);
      if (fetchSetup) return setUp(fetchSetup, asked, own, controller, next);
      if (!facade) return next(asked.url, own);
      const set = (/** @type {any[]} */ ...args) => xhrSetup.call(loader, ...args, asked);
      return facade.fetchSetUp(controller, set)(asked.url, own, next);
    };
  }
  return Object.assign(way, inPieces(odd, way));
}

/**
 * `fetchSetup` is asked at each attempt, so that a fresh token gets in. The load ends with what it throws:
 * nothing was sent, and nothing would come of repeating it.
 *
 * @param {NonNullable<import('hls.js').HlsConfig['fetchSetup']>} fetchSetup
 * @param {import('hls.js').LoaderContext} context
 * @param {RequestInit & { headers: Headers }} init
 * @param {AbortController} controller of the load
 * @param {typeof fetch} next
 */
async function setUp(fetchSetup, context, init, controller, next) {
  const { signal, headers } = init;
  try {
    // Not at once: the engine has to have the attempt before it can end.
    const request = await Promise.resolve().then(() => fetchSetup(context, init));
    if (!request) return next(context.url, init);
    const { cache, referrer, referrerPolicy } = request;
    // Any init takes the referrer from a request (Fetch, 5.4).
    const own = new Request(request, {
      signal,
      cache: init.cache ?? cache,
      referrer,
      referrerPolicy,
    });
    // It may be made without the init: the range of a resume is the engine's.
    for (const name of ['range', 'if-range']) {
      const value = headers.get(name);
      if (value) own.headers.set(name, value);
    }
    // Not awaited: what the network does is not the set-up's fault.
    return next(own);
  } catch (error) {
    if (!signal?.aborted) controller.abort(error);
    throw error;
  }
}

/**
 * For progressive mode: pieces of the size that hls.js asks for. It wants initialisation segments whole.
 *
 * @param {Odd} odd
 * @param {Way} way
 */
function inPieces({ loader, load, player, controller }, way) {
  const { context, config, callbacks } = load;
  const { highWaterMark = Infinity } = config;
  if (!player.config.progressive || !callbacks.onProgress || highWaterMark === Infinity)
    return undefined;
  let held = new Uint8Array();
  const flush = () => {
    if (held.length && !controller.signal.aborted) {
      callbacks.onProgress?.(loader.stats, context, held.buffer, way.response ?? null);
    }
    held = new Uint8Array();
  };
  const onChunk = (/** @type {Uint8Array} */ chunk) => {
    const joined = new Uint8Array(held.length + chunk.length);
    joined.set(held);
    joined.set(chunk, held.length);
    held = joined;
    if (held.length >= highWaterMark) flush();
  };
  // In the end hls.js has had it all.
  return { onChunk, flush, data: new ArrayBuffer(0) };
}
