// @ts-check
/**
 * One attempt through a loader class of another library, such as a peer-to-peer network's: it transports,
 * the engine decides.
 */
/** @typedef {import('./hls-attempt.js').AnyContext} AnyContext */

/** How often its progress is looked at, in milliseconds: its contract has nobody told. */
const LOOK_MS = 100;
/** So long after its first byte an answer counts as a success, in milliseconds: refusals are short. */
const REFUSAL_MS = 1_000;

/**
 * An attempt as `fetch` would make it.
 *
 * @param {import('./hls-attempt.js').Odd} odd
 * @param {AnyContext} context
 * @param {RequestInit & { headers: Headers }} init
 * @param {import('./hls-attempt.js').Way} way gets the timing
 * @returns {Promise<Response>}
 */
export function carry({ loader: outer, load, player, transport }, context, init, way) {
  const { signal } = init;
  const { config, hls } = player;
  // What it leaves to the player's own loader is meant for hls.js's.
  const own = { ...config, loader: hls?.constructor.DefaultConfig.loader ?? config.loader };
  const loader = new /** @type {import('./hls-attempt.js').LoaderClass} */ (transport)(own);
  const stats = /** @type {import('hls.js').LoaderStats} */ (loader.stats);
  const { asked, range, isResumed } = askedOf(context, init.headers);
  way.timing = undefined;
  return new Promise((resolve, reject) => {
    /** @type {ReadableStreamDefaultController<Uint8Array> | undefined} */
    let body;
    let hasData = false;
    let isOver = false;
    let seen = 0;
    let first = 0;

    const end = () => {
      isOver = true;
      clearInterval(timer);
      signal?.removeEventListener('abort', abort);
      loader.destroy();
    };
    /** @param {unknown} error */
    const fail = (error) => {
      if (isOver) return;
      end();
      if (body) body.error(error);
      else reject(error);
    };
    const abort = () => {
      if (isOver) return;
      isOver = true;
      // Calls onAbort, perhaps.
      loader.abort();
      isOver = false;
      fail(signal?.reason);
    };
    /** @param {number | undefined} code @param {string} [url] @param {any} [details] */
    const open = (code, url, details) => {
      if (body) return;
      const stream = new ReadableStream({
        start: (controller) => void (body = controller),
        cancel: abort,
      });
      const status = code || (range ? 206 : 200);
      const headers = headersOf(details);
      if (range && !details) headers.set('content-range', `bytes ${range}/*`);
      const isBare = [204, 205, 304].includes(status);
      const response = new Response(isBare ? null : stream, { status, headers });
      Object.defineProperty(response, 'url', { value: url || context.url });
      resolve(response);
    };
    const look = () => {
      const { loaded, total } = stats;
      Object.assign(outer.stats, { loaded, total });
      if (loaded <= seen) return;
      seen = loaded;
      first ||= performance.now();
      if (performance.now() - first > REFUSAL_MS) open(undefined);
      // No byte, but a sign of life.
      if (!hasData) body?.enqueue(new Uint8Array());
    };
    const timer = setInterval(look, LOOK_MS);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) return abort();

    const { loadPolicy } = load.config;
    const once = {
      ...load.config,
      loadPolicy: { ...loadPolicy, timeoutRetry: null, errorRetry: null },
      maxRetry: 0,
      highWaterMark: 0,
    };
    /** @type {import('hls.js').LoaderCallbacks<any>} */
    const callbacks = {
      onProgress(_stats, _context, data, /** @type {any} */ details) {
        if (isOver) return;
        open(details?.status, details?.responseURL ?? details?.url, details);
        hasData = true;
        body?.enqueue(bytesOf(data));
      },
      onSuccess({ url, data, code }, _stats, _context, details) {
        if (isOver) return;
        open(code, url, details);
        if (!hasData) body?.enqueue(bytesOf(data));
        // It knows when the bytes came that it had before they were asked for.
        if (stats.loading.end && !isResumed) way.timing = { ...stats.loading };
        end();
        body?.close();
      },
      onError({ code, text }, _context, details) {
        if (isOver) return;
        if (body || !(code >= 300 && code < 600)) return fail(new TypeError(text));
        end();
        resolve(new Response(null, { status: code, headers: headersOf(details) }));
      },
      onTimeout: () => fail(new TypeError('The loader timed out')),
      onAbort: () => fail(new TypeError('The loader aborted')),
    };
    loader.load(asked, once, callbacks);
    seen = stats.loaded;
  });
}

/**
 * The context as loaders know it: a range is in it as numbers, and not among the headers.
 *
 * @param {AnyContext} context
 * @param {Headers} given
 */
function askedOf(context, given) {
  const headers = new Headers(given);
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.get('range') ?? '') ?? [];
  if (end) headers.delete('range');
  const rangeStart = Number(start ?? 0);
  const rangeEnd = end ? Number(end) + 1 : 0;
  const asked = { ...context, headers: Object.fromEntries(headers), rangeStart, rangeEnd };
  const isWhole = !headers.has('range') && rangeStart === (context.rangeStart ?? 0);
  const range = end && `${start}-${end}`;
  return { asked, range, isResumed: !isWhole || rangeEnd !== (context.rangeEnd ?? 0) };
}

/** @param {any} details an XMLHttpRequest, a Response, or nothing @returns {Headers} */
function headersOf(details) {
  if (details?.headers) return new Headers(details.headers);
  const headers = new Headers();
  /** @type {string} */
  const lines = details?.getAllResponseHeaders?.() ?? '';
  for (const line of lines.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}

/** @param {any} data @returns {Uint8Array} */
function bytesOf(data) {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  const text = typeof data === 'string' ? data : JSON.stringify(data ?? null);
  return new TextEncoder().encode(text);
}
