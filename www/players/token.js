// @ts-check
/** Credentials in the query, `token=…`, that end while a stream plays. */

/** @param {string} url @param {string} token */
const withToken = (url, token) => url.replace(/\btoken=\w+/, `token=${token}`);

/** @param {string} tokenUrl @returns {Promise<string>} a fresh one */
async function ask(tokenUrl) {
  const response = await fetch(tokenUrl, { cache: 'no-store' });
  if (!response.ok) throw new Error(`no token: ${response.status}`);
  return (await response.text()).trim();
}

/**
 * What an application gives the engine.
 * @param {import('./index.js').Setup} [setup]
 * @returns {import('holdfast').EngineOptions}
 */
export function engineOptions({ tokenUrl } = {}) {
  if (!tokenUrl) return {};
  return { refreshPlaybackToken: async (url) => withToken(url, await ask(tokenUrl)) };
}

/**
 * What an application does without one: URLs get the token of the moment, and a refused one is
 * exchanged, once for all requests that wait for it.
 * @param {string | undefined} tokenUrl
 */
export function createTokens(tokenUrl) {
  /** @type {string | undefined} */
  let token;
  /** @type {Promise<void> | undefined} */
  let asking;
  return {
    /** @param {string} url */
    apply: (url) => (token === undefined ? url : withToken(url, token)),
    /** @param {number | undefined} status of a refusal */
    async refused(status) {
      if (!tokenUrl || status !== 403) return;
      asking ??= ask(tokenUrl).then((fresh) => void (token = fresh));
      await asking.finally(() => (asking = undefined));
    },
  };
}
