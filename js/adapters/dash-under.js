// @ts-check
/** An attempt of an engine through a loader of dash.js's shape: that of a peer-to-peer network, say. */

/**
 * @typedef {object} MediaRequest
 * @property {Record<string, any>} customData
 *
 * @typedef {Record<string, any>} MediaResponse
 */

/**
 * @param {{ load(request: MediaRequest, response: MediaResponse): void }} loader
 * @param {MediaRequest} request
 * @param {AbortSignal | null | undefined} signal
 * @returns {Promise<Response>}
 */
export function loadUnder(loader, request, signal) {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new TypeError('The loader underneath failed'));
    const onloadend = () => {
      const { status, statusText, headers, data } = /** @type {any} */ (response);
      if (!status) return fail();
      const body = status === 204 || status === 304 ? null : data;
      resolve(new Response(body, { status, statusText, headers }));
    };
    const callbacks = { onprogress() {}, onabort: fail, ontimeout: fail, onloadend };
    /** @type {MediaRequest['customData']} */
    const customData = { ...request.customData, ...callbacks, abort: undefined };
    const own = { ...request, responseType: 'arraybuffer', timeout: 0, customData };
    /** @type {MediaResponse} */
    const response = { request: own, status: 0, statusText: '', headers: {}, resourceTiming: {} };
    signal?.addEventListener('abort', () => (customData.abort?.(), fail()));
    loader.load(own, response);
  });
}
