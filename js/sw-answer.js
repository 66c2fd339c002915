// @ts-check
/** What a page's request is answered with. */
import { isHoldfastError } from './errors.js';

/** @typedef {import('./index.d.ts').Engine} Engine */
/** @typedef {import('./index.d.ts').Site} Site */

/** How long the browser has to follow a redirection to what is there already, in milliseconds. */
const KEPT = 10_000;

/**
 * Gives a function that answers requests with an engine.
 *
 * @param {() => Engine} engine
 * @param {typeof import('./index.d.ts').withRetry} withRetry
 * @param {() => typeof fetch} transport
 */
export function answering(engine, withRetry, transport) {
  /**
   * Requests that have no head yet. Browsers do not tell a worker that the page has given a
   * request up; so one that is asked for again joins what is under way, and a player that
   * repeats what takes long does not make it two.
   *
   * @type {Map<string, { events: number, wanted: number, end: AbortController, head: Promise<Response> }>}
   */
  const pending = new Map();
  /** What redirections lead to, and where that is. @type {Set<{ place: string, response: Response }>} */
  const kept = new Set();

  /**
   * @param {Request} request
   * @param {string} clientId
   * @param {Site | undefined} site none: only what is there already is given
   * @returns {Promise<Response> | undefined}
   */
  return (request, clientId, site) => {
    // Wherever a redirection leads to, also where nothing is taken.
    const there = take(request, clientId);
    if (there) return Promise.resolve(there);
    return site && reply(request, clientId, site);
  };

  /** @param {Request} request @param {string} clientId @param {Site} site */
  async function reply(request, clientId, site) {
    const response = await (request.method === 'GET'
      ? join(request, clientId, site)
      : send(request, site, request.signal));
    if (!response.redirected || request.method !== 'GET') return response;
    // A response that was made here has no URL (Fetch, "URL list"), and relative URLs in it would
    // start from the request's. So the browser is sent to where the response is from.
    keep(placeOf(request, response.url, clientId), response);
    return Response.redirect(response.url);
  }

  /** @param {string} place @param {Response} response */
  function keep(place, response) {
    const entry = { place, response };
    kept.add(entry);
    setTimeout(() => {
      if (kept.delete(entry)) response.body?.cancel().catch(() => {});
    }, KEPT);
  }

  /** @param {Request} request @param {string} clientId */
  function take(request, clientId) {
    if (request.method !== 'GET') return undefined;
    const place = placeOf(request, request.url, clientId);
    const entry = [...kept].find((one) => one.place === place);
    if (entry) kept.delete(entry);
    return entry?.response;
  }

  /** @param {Request} request @param {string} clientId @param {Site} site */
  function join(request, clientId, site) {
    const { url, mode, credentials, cache, referrer, referrerPolicy, headers, signal } = request;
    const way = [mode, credentials, cache, referrer, referrerPolicy, ...headers];
    const key = JSON.stringify([clientId, withoutHash(url), ...way]);
    const entry = pending.get(key) ?? begin(key, request, site);
    entry.events += 1;
    entry.wanted += 1;
    signal.addEventListener('abort', () => {
      entry.wanted -= 1;
      if (!entry.wanted) entry.end.abort(signal.reason);
    });
    return entry.head.then((response) => {
      entry.events -= 1;
      return entry.events > 0 ? response.clone() : response;
    });
  }

  /** @param {string} key @param {Request} request @param {Site} site */
  function begin(key, request, site) {
    const end = new AbortController();
    const head = send(request, site, end.signal).finally(() => pending.delete(key));
    const entry = { events: 0, wanted: 0, end, head };
    pending.set(key, entry);
    return entry;
  }

  /**
   * @param {Request} request
   * @param {Site} site
   * @param {AbortSignal} signal
   * @returns {Promise<Response>}
   */
  async function send(request, site, signal) {
    const end = new AbortController();
    signal.addEventListener('abort', () => end.abort(signal.reason));
    /** @type {Response | undefined} */
    let unreadable;

    /** @type {(input: any, init?: any) => Promise<Response>} */
    const asMade = async (input, init) => {
      const cut = new AbortController();
      // The engine lets go of what it cannot read; the element does not.
      init.signal.addEventListener('abort', () => unreadable ?? cut.abort());
      const own = { ...init, signal: cut.signal };
      const response = await sendAsMade(transport(), request, input, own);
      if (init.signal.aborted) void response.body?.cancel().catch(() => {});
      else if (isUnreadable(response)) {
        // Nothing of it can be judged, nor fetched on: the element gets it as it is.
        unreadable = response;
        end.abort();
      }
      return response;
    };

    const isOfElement = request.mode === 'no-cors' || /^(video|audio)$/.test(request.destination);
    try {
      const ours = engine();
      /** @type {Engine['fetch']} */
      const ask = isOfElement ? withRetry(asMade, { engine: ours }) : ours.fetch;
      // The browser checks the integrity of what the page gets.
      const unchecked = request.integrity && { integrity: '' };
      return await ask(request, { site, signal: end.signal, ...unchecked });
    } catch (error) {
      if (unreadable) return unreadable;
      // What failed in some other way than by a verdict must not cost the page its request.
      return isHoldfastError(error) || end.signal.aborted ? Response.error() : fetch(request);
    }
  }
}

/**
 * Sends an attempt for an element as the browser made it. With an init, a request without CORS would
 * lose its `Range` (Fetch, "privileged no-CORS request-header"), so it goes without the engine's signal;
 * only what the engine has changed, and what is of this origin, is made anew.
 *
 * @param {typeof globalThis.fetch} fetch
 * @param {Request} request the page's
 * @param {Request} input its copy, or with a fresh credential
 * @param {RequestInit} init
 */
function sendAsMade(fetch, request, input, init) {
  const isChanged = init.headers || init.cache || input.url !== request.url;
  if (!isChanged) return fetch(input);
  if (request.mode !== 'no-cors') return fetch(input, init);
  if (new URL(request.url).origin !== globalThis.location.origin) return fetch(request.clone());
  return fetch(input.url, {
    ...init,
    mode: 'same-origin',
    credentials: request.credentials,
    headers: init.headers ?? request.headers,
  });
}

/** Whether an element needs more of a response than a script may see. @param {Response} response */
const isUnreadable = ({ type, status, headers }) =>
  type === 'opaque' || (status === 206 && !headers.has('content-range'));

/** @param {Request} request @param {string} url @param {string} clientId */
const placeOf = ({ headers }, url, clientId) =>
  JSON.stringify([clientId, withoutHash(url), headers.get('range')]);

/** @param {string} url */
const withoutHash = (url) => url.split('#')[0];
