// @ts-check
/**
 * CMCD of hls.js, where a load takes several attempts: each says how things are when it is sent. What is not
 * CMCD stays, byte by byte. Without hls.js's own functions the first values are sent again.
 */
const PARAM = /(?<=[?&])CMCD=[^&#]*/;
const HEADERS = ['CMCD-Object', 'CMCD-Request', 'CMCD-Session', 'CMCD-Status'];

/** @typedef {import('./hls-attempt.js').AnyContext} AnyContext */

/**
 * The URL that a load is for, its own bytes as the playlist has them: hls.js 1.7 writes the whole query
 * anew when it adds its parameter, which breaks signatures.
 *
 * @param {any} hls
 * @param {AnyContext} context
 * @returns {string}
 */
export function faithfulUrl(hls, context) {
  const { url, frag, part } = context;
  forwardHeaders(hls);
  const param = paramOf(url);
  if (!param) return url;
  /** @type {any} */
  const { url: levelUrl, uri = levelUrl } = context.levelOrTrack ?? {};
  const bare = rewritten(url);
  const own = [part?.url, frag?.url, uri, hls.url].find((own) => own && rewritten(own) === bare);
  return own ? withParam(own, param) : url;
}

/**
 * Puts the values of now in the place of those of before.
 *
 * @param {any} hls
 * @param {AnyContext} context its `url` is changed
 * @param {Headers} headers changed
 */
export function renew(hls, context, headers) {
  const { applyFragmentData, applyPlaylistData } = hls.cmcdController ?? {};
  const apply = context.frag ? applyFragmentData : applyPlaylistData;
  const isSaid = paramOf(context.url) || HEADERS.some((name) => headers.has(name));
  // Keys, certificates and steering manifests carry none.
  if (!apply || !isSaid) return;
  const fresh = { ...context, headers: {} };
  apply(fresh);
  const param = paramOf(fresh.url);
  if (param) context.url = withParam(context.url, param);
  for (const name of HEADERS) headers.delete(name);
  for (const [name, value] of Object.entries(fresh.headers)) headers.set(name, String(value));
}

/**
 * hls.js's loaders that add CMCD pass on no headers, and so no `Age`, by which live streams of low latency
 * find their edge.
 *
 * @param {any} hls
 */
function forwardHeaders({ config }) {
  const outer = config.pLoader?.prototype;
  if (!outer || outer.getCacheAge || config.pLoader.holdfast) return;
  outer.getCacheAge = function () {
    return this.loader?.getCacheAge?.() ?? null;
  };
  outer.getResponseHeader = function (/** @type {string} */ name) {
    return this.loader?.getResponseHeader?.(name) ?? null;
  };
}

/** @param {string} url */
const paramOf = (url) => PARAM.exec(url)?.[0];

/** @param {string} url @param {string} param */
function withParam(url, param) {
  if (PARAM.test(url)) return url.replace(PARAM, () => param);
  return url.replace(/#.*|$/, (hash) => (url.includes('?') ? '&' : '?') + param + hash);
}

/** As hls.js writes it, without CMCD. @param {string} url */
function rewritten(url) {
  try {
    const parsed = new URL(url);
    parsed.searchParams.delete('CMCD');
    return parsed.href;
  } catch {
    return undefined;
  }
}
