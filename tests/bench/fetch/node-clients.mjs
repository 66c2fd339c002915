// @ts-check
/** The clients that run in Node: undici's retries as they come and at their best, and Holdfast. */
import { createEngine } from 'holdfast';
import { Agent, RetryAgent } from 'undici';

/**
 * @typedef {object} NodeClient
 * @property {import('./download.mjs').Client} get
 * @property {() => unknown} close
 */

/** A library of its documentation's own way: `request` under a `RetryAgent`. */
function undici(
  /** @type {ConstructorParameters<typeof RetryAgent>[1]} */ options,
  /** @type {import('undici').Agent.Options} */ timeouts,
) {
  const agent = new RetryAgent(new Agent(timeouts), options);
  return {
    /** @type {import('./download.mjs').Client} */
    async get(url, signal) {
      const { origin, pathname } = new URL(url);
      const answer = await agent.request({ method: 'GET', origin, path: pathname, signal });
      const bytes = await answer.body.arrayBuffer();
      if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
      return bytes;
    },
    close: () => agent.destroy(),
  };
}

/** @type {Record<string, () => NodeClient | Promise<NodeClient>>} */
export const nodeClients = {
  undici: () => undici(undefined, {}),
  'undici best': () =>
    undici(
      {
        maxRetries: 12,
        // It waits no longer than `maxTimeout` for a `Retry-After`, so that is left at 30 s.
        timeoutFactor: 1.5,
        errorCodes: [
          'ECONNRESET',
          'ECONNREFUSED',
          'ENOTFOUND',
          'ENETDOWN',
          'ENETUNREACH',
          'EHOSTDOWN',
          'EHOSTUNREACH',
          'EPIPE',
          'UND_ERR_SOCKET',
          'UND_ERR_HEADERS_TIMEOUT',
          'UND_ERR_BODY_TIMEOUT',
        ],
      },
      { headersTimeout: 10_000, bodyTimeout: 10_000 },
    ),
  async holdfast() {
    const engine = createEngine();
    await engine.ready;
    return {
      async get(url, signal) {
        const response = await engine.fetch(url, { signal });
        const bytes = await response.arrayBuffer();
        if (!response.ok) throw new Error(`status ${response.status}`);
        return bytes;
      },
      close: () => engine.destroy(),
    };
  },
};
