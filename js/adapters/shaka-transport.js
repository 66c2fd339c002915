// @ts-check
/** A scheme plugin of Shaka's as a fetch. Loaded where somebody brings one. */

/** @typedef {import('shaka-player').default.extern.Request} Request */
/** @typedef {import('shaka-player').default.extern.Response} ShakaResponse */
/** @typedef {import('shaka-player').default.extern.SchemePlugin} SchemePlugin */

const BAD_HTTP_STATUS = 1001;

/**
 * Sends one attempt. What the plugin rejects with passes, but for a status: that is an answer.
 *
 * @param {SchemePlugin} plugin
 * @param {Request} request its first URI counts
 * @param {{ headers: Headers, signal?: AbortSignal | null }} init
 * @param {number} type
 * @param {any} config
 * @returns {Promise<Response>}
 */
export async function fetchBy(plugin, request, { headers, signal }, type, config) {
  const [uri] = request.uris;
  const own = { ...request, headers: Object.fromEntries(headers), streamDataCallback: null };
  const silent = () => {};
  const operation = plugin(uri, own, type, silent, silent, config);
  signal?.addEventListener('abort', () => void operation.abort());
  /** @type {Partial<ShakaResponse>} */
  const answer = await operation.promise.catch((/** @type {any} */ error) => {
    if (error?.code !== BAD_HTTP_STATUS) throw error;
    const [, status, data, headers, , uri] = error.data;
    return { status, data, headers, uri };
  });
  const { data, status = 200, fromCache, uri: value = uri } = answer;
  const fields = new Headers(answer.headers);
  // As servers tell Shaka: what peers or caches had says nothing of the network.
  if (fromCache) fields.set('x-shaka-from-cache', 'true');
  const isEmpty = [204, 205, 304].includes(status);
  const body = isEmpty ? null : /** @type {BodyInit} */ (data);
  return Object.defineProperty(new Response(body, { status, headers: fields }), 'url', { value });
}
