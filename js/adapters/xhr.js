// @ts-check
/**
 * Requests that a player makes with an XMLHttpRequest of its own, put under an engine. The object
 * stays the browser's, with its events, `responseType`, `withCredentials` and `timeout`; covered
 * is only what would reach the network, and what tells of an answer. Adapters load this file where
 * they need it.
 */
/** @typedef {import('../index.d.ts').LoadRequest<'arraybuffer'>} LoadRequest */
/** @typedef {import('../index.d.ts').Loaded} Loaded */

/**
 * What an XMLHttpRequest knows of its answer.
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {string} statusText
 * @property {string} [url] after redirects
 * @property {Headers} [headers]
 * @property {ArrayBuffer} [data]
 */

/** @type {Answer} */
const NONE = { status: 0, statusText: '' };
const UNSENT = 0;
const OPENED = 1;
const DONE = 4;
/** How long the body of a refusal is waited for, in milliseconds: its status says enough. */
const REFUSAL_MS = 500;

/** @type {WeakMap<XMLHttpRequest, Face>} */
const faces = new WeakMap();

/**
 * What is to be sent, and the way back.
 *
 * @typedef {object} Face
 * @property {(body?: any) => [url: string, init: RequestInit & { headers: Headers }]} toFetch
 *   the request so far as the arguments of `fetch`; throws while it is not opened
 * @property {() => void} uncover makes the object what it was, before it is sent
 */

/**
 * Has an XMLHttpRequest send through an engine. `open`, `setRequestHeader` and whatever else is said
 * before `send` is kept; `send` calls `load` once, and at its end `readyState` is 4, and
 * `readystatechange`, then `load`, `error` or `timeout`, and `loadend` are fired, each once.
 *
 * - An answer, and a verdict with a status, end in `load`; a verdict without one has status 0.
 *   `statusText` of a verdict is the engine's sentence, `response` the body of the refusal.
 * - `abort` aborts the load and fires `abort` and `loadend`, but no `readystatechange`: players take
 *   that for an answer.
 * - `timeout` bounds one attempt, as it does without an engine.
 * - Bytes are copied by `send`, so that each attempt sends the same.
 * - What `fetch` cannot send (a Document, a synchronous request, a user in the URL, a method like
 *   `CONNECT`), and what the engine fails to begin, is sent by the real XMLHttpRequest.
 * - There are no events of progress.
 *
 * An object that has its face already keeps it.
 *
 * @param {XMLHttpRequest} xhr not opened yet
 * @param {(request: LoadRequest) => Promise<Loaded>} load
 *   `(request) => engine.load({ ...request, site: 'license' })`
 * @returns {Face}
 */
export function faceXhr(xhr, load) {
  const known = faces.get(xhr);
  if (known) return known;

  let readyState = UNSENT;
  let method = 'GET';
  let url = '';
  let headers = new Headers();
  /** @type {Answer} */
  let answer = NONE;
  /** @type {any} */
  let response = null;
  /** @type {AbortController | undefined} of the load under way */
  let controller;

  const isText = () => !xhr.responseType || xhr.responseType === 'text';

  /** @type {Face['toFetch']} */
  const toFetch = (body) => {
    if (readyState !== OPENED) throw invalidState();
    const credentials = xhr.withCredentials ? 'include' : 'same-origin';
    return [
      url,
      { method, headers, credentials, body: /^(GET|HEAD)$/i.test(method) ? null : body },
    ];
  };

  /** @param {any} body */
  const run = async (body) => {
    const { signal } = (controller = new AbortController());
    const [to, init] = toFetch(body);
    const send = fetchIn(xhr.timeout);
    let isSent = false;
    /** @type {Promise<ArrayBuffer | undefined> | undefined} */
    let refusal;
    try {
      const loaded = await load({
        url: to,
        init,
        signal,
        responseType: 'arraybuffer',
        fetch: async (input, init, next) => {
          isSent = true;
          refusal = undefined;
          const response = await send(input, init, next);
          if (!response.ok) refusal = bodyOf(response.clone());
          return response;
        },
      });
      if (!signal.aborted) settle('load', { ...loaded, statusText: loaded.response.statusText });
    } catch (/** @type {any} */ error) {
      if (signal.aborted) return;
      // No verdict: the engine is gone, or would not take it.
      if (!isSent && !error?.class) return sendReally(body);
      // A body that was lost, or is no license, came with a success.
      const status = error?.status >= 300 ? error.status : 0;
      const data = status ? await refusal : undefined;
      if (signal.aborted) return;
      const statusText = String(error?.message ?? error);
      const type = status ? 'load' : isLate(error) ? 'timeout' : 'error';
      settle(type, { status, statusText, url: status ? to : '', headers: error?.headers, data });
    }
  };

  /** @param {string} type @param {Answer} its */
  const settle = (type, its) => {
    answer = its;
    response = its.data ? decode(its.data, xhr.responseType) : null;
    controller = undefined;
    readyState = DONE;
    const { byteLength: loaded = 0 } = its.data ?? {};
    for (const name of ['readystatechange', type, 'loadend']) fire(xhr, name, loaded);
  };

  /** @param {any} body */
  const sendReally = (body) => {
    uncover();
    xhr.open(method, url);
    headers.forEach((value, name) => xhr.setRequestHeader(name, value));
    xhr.send(body);
  };

  const face = {
    get readyState() {
      return readyState;
    },
    get status() {
      return answer.status;
    },
    get statusText() {
      return answer.statusText;
    },
    get responseURL() {
      return answer.url ?? '';
    },
    get response() {
      return response ?? (isText() ? '' : null);
    },
    get responseText() {
      if (!isText()) throw invalidState();
      return response ?? '';
    },
    /** @param {string} name */
    getResponseHeader: (name) => answer.headers?.get(name) ?? null,
    getAllResponseHeaders: () =>
      [...(answer.headers ?? [])].map(([name, value]) => `${name}: ${value}\r\n`).join(''),
    /**
     * @param {string} how
     * @param {string | URL} to
     * @param {boolean} [async]
     * @param {string | null} [user]
     * @param {string | null} [password]
     */
    open(how, to, async = true, user, password) {
      const { href } = new URL(to, globalThis.document?.baseURI ?? globalThis.location?.href);
      controller?.abort();
      controller = undefined;
      if (!async || user || !isForFetch(href, how)) {
        uncover();
        return xhr.open(how, to, async, user, password);
      }
      method = how;
      url = href;
      headers = new Headers();
      answer = NONE;
      response = null;
      readyState = OPENED;
    },
    /** @param {string} name @param {string} value */
    setRequestHeader(name, value) {
      if (readyState !== OPENED || controller) throw invalidState();
      headers.append(name, value);
    },
    /** @param {any} body */
    send(body = null) {
      if (readyState !== OPENED || controller) throw invalidState();
      const { Document } = globalThis;
      if (Document && body instanceof Document) return sendReally(body);
      void run(copy(body));
    },
    abort() {
      const isUnderWay = controller !== undefined;
      if (!isUnderWay && readyState !== DONE) return;
      controller?.abort();
      controller = undefined;
      answer = NONE;
      response = null;
      readyState = UNSENT;
      if (!isUnderWay) return;
      for (const name of ['abort', 'loadend']) fire(xhr, name, 0);
    },
  };
  const uncover = () => {
    for (const name in face) delete (/** @type {any} */ (xhr)[name]);
  };
  Object.defineProperties(xhr, Object.getOwnPropertyDescriptors(face));
  const made = { toFetch, uncover };
  faces.set(xhr, made);
  return made;
}

/**
 * Has a license request of a player's own go through an engine, unless that has failed open.
 *
 * @param {Pick<import('../index.d.ts').Engine, 'load'>
 *   & Partial<Pick<import('../index.d.ts').Engine, 'state'>>} engine
 * @param {XMLHttpRequest} xhr not opened yet
 */
export function faceLicense(engine, xhr) {
  if (engine.state?.mode === 'plain') return;
  faceXhr(xhr, (request) => engine.load({ ...request, site: 'license' }));
}

/**
 * A `fetch` whose requests are set up on an XMLHttpRequest, each attempt anew, as hls.js lets its
 * users do it: where the set-up fails, the object is opened and set up again. Headers that `fetch` is
 * called with win over those of the set-up, such as the `Range` of a resume.
 *
 * @param {AbortController} controller of the load, which ends with an error that opening does not cure
 * @param {(xhr: XMLHttpRequest, url: string) => unknown} setUp may return a promise
 * @returns {NonNullable<import('../index.d.ts').LoadRequest['fetch']>}
 */
export function fetchSetUp(controller, setUp) {
  return async (input, init = {}, next) => {
    const url = String(input);
    const { signal } = init;
    const xhr = new globalThis.XMLHttpRequest();
    const { toFetch } = faceXhr(xhr, () => new Promise(() => {}));
    const open = () => xhr.open('GET', url);
    // hls.js calls it later too; and what aborts within `fetch` would be missed.
    await undefined;
    try {
      try {
        await setUp(xhr, url);
      } catch {
        if (signal?.aborted) throw signal.reason;
        open();
        await setUp(xhr, url);
      }
      if (!xhr.readyState) open();
      const [to, own] = toFetch();
      new Headers(init.headers).forEach((value, name) => own.headers.set(name, value));
      // Not awaited: what the network does is not the set-up's fault.
      return fetchIn(xhr.timeout)(to, { ...init, ...own }, next);
    } catch (error) {
      if (!signal?.aborted) controller.abort(error);
      throw error;
    }
  };
}

/**
 * `fetch`, whose headers and body come within so many milliseconds; 0 is no bound. Browsers without
 * `AbortSignal.any` are left to the engine's own bounds.
 *
 * @param {number} timeout
 * @returns {NonNullable<import('../index.d.ts').LoadRequest['fetch']>}
 */
const fetchIn =
  (timeout) =>
  (input, init, next = fetch) => {
    const { signal } = init ?? {};
    const both = timeout && signal && AbortSignal.any?.([signal, AbortSignal.timeout(timeout)]);
    return next(input, both ? { ...init, signal: both } : init);
  };

/** @param {XMLHttpRequest} xhr @param {string} type @param {number} loaded in bytes */
const fire = (xhr, type, loaded) =>
  xhr.dispatchEvent(
    new globalThis.ProgressEvent(type, { loaded, total: loaded, lengthComputable: loaded > 0 }),
  );

/** Whether `fetch` takes it: no user in the URL, no method like `CONNECT`. @param {string} url @param {string} method */
function isForFetch(url, method) {
  try {
    return Boolean(new Request(url, { method }));
  } catch {
    return false;
  }
}

/** The caller may write over its bytes once they are sent. @param {any} body */
function copy(body) {
  if (body instanceof ArrayBuffer) return body.slice(0);
  if (!ArrayBuffer.isView(body)) return body;
  return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
}

/** @param {ArrayBuffer} data @param {XMLHttpRequestResponseType} type */
function decode(data, type) {
  if (type === 'arraybuffer') return data;
  if (type === 'blob') return new Blob([data]);
  const text = new TextDecoder().decode(data);
  if (type !== 'json') return text;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** What comes in time of a body. @param {Response} response */
async function bodyOf({ body }) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const chunks = [];
  const reader = body?.getReader();
  const timer = setTimeout(() => reader?.cancel(), REFUSAL_MS);
  try {
    for (let read; (read = await reader?.read()) && !read.done;) chunks.push(read.value);
  } catch {
    // What came of it is enough.
  }
  clearTimeout(timer);
  return new Blob(chunks).arrayBuffer();
}

// The first as `isTimeout` of shared.js: with an import, bundlers make a file of what is shared.
const isLate = (/** @type {any} */ error) =>
  /^(timeout|stall)$/.test(error?.class) || error?.cause?.name === 'TimeoutError';

const invalidState = () =>
  new DOMException(
    'The request is not opened, is sent already, or is none that fetch can send',
    'InvalidStateError',
  );
