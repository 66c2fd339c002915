// @ts-check
/** Both versions of Shaka Player in one page, with Holdfast, as applications have them. */
import { createEngine } from 'holdfast';
import { installShaka } from 'holdfast/shaka';

/** @typedef {typeof import('shaka-player').default} Shaka */
/** @typedef {import('shaka-player').default.Player} Player */
/** @typedef {import('shaka-player').default.extern.Request} Request */

/** @param {string} name of the package @returns {Promise<Shaka>} */
async function load(name) {
  const script = document.createElement('script');
  script.src = `/node_modules/${name}/dist/shaka-player.compiled.js`;
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
  const { shaka } = /** @type {any} */ (globalThis);
  delete (/** @type {any} */ (globalThis).shaka);
  return shaka;
}

/** By major version. @type {Record<number, Shaka>} */
const versions = { 4: await load('shaka-player-4'), 5: await load('shaka-player') };

/** One quick ladder of three attempts, and then a verdict. */
const policy = {
  attempts: 3,
  backoff: { base: 100, factor: 1, cap: 100 },
  headersTimeout: 2500,
  firstHeadersTimeout: 2500,
  stallTimeout: 2500,
  onExhausted: /** @type {const} */ ('reject'),
};
/** @type {import('holdfast').EngineOptions} */
const quick = {
  sites: { manifest: policy, init: policy, segment: policy, key: policy, license: policy },
};

/** What a request came to. @param {Promise<any>} promise */
async function outcomeOf(promise) {
  try {
    const { data, originalRequest: _, ...response } = await promise;
    const text = new TextDecoder().decode(data);
    return { ...response, bytes: data.byteLength, text };
  } catch (/** @type {any} */ error) {
    const { code, category, severity, data = [] } = error;
    const plain = data.map((/** @type {any} */ value) =>
      value instanceof Error ? { ...value } : value,
    );
    return { code, category, severity, data: plain, message: error.code ? '' : String(error) };
  }
}

/**
 * @typedef {object} Setup
 * @property {import('holdfast').EngineOptions} [engine] options
 * @property {boolean} [isAlone] without Holdfast
 * @property {boolean} [media] with a media element
 * @property {(player: Player) => void} [before] what was set up before
 * @property {import('../../../js/adapters/shaka.d.ts').ShakaOptions} [options]
 */

/**
 * A player and what it does on its network.
 *
 * @param {number} version
 * @param {Setup} [setup]
 */
async function start(version, { engine: own = quick, isAlone, media, before, options } = {}) {
  const shaka = versions[version];
  const player = new shaka.Player();
  before?.(player);
  const engine = createEngine(own);
  await engine.ready;
  const uninstall = isAlone ? () => {} : installShaka(engine, shaka, player, options);
  const video = document.createElement('video');
  video.muted = true;
  if (media) {
    document.body.append(video);
    await player.attach(video);
  }
  /** @type {any[][]} */
  const events = [];
  for (const name of ['error', 'downloadfailed', 'gapjumped']) {
    player.addEventListener(name, (/** @type {any} */ event) => {
      const error = event.detail ?? event.error;
      events.push([name, error?.code, error?.severity]);
    });
  }
  const network = /** @type {import('shaka-player').default.net.NetworkingEngine} */ (
    player.getNetworkingEngine()
  );
  network.addEventListener('retry', (/** @type {any} */ { error }) => {
    events.push(['retry', error.code, error.data?.[1]]);
  });
  return {
    ...{ shaka, player, engine, uninstall, video, events, network },
    /** Takes all away. */
    async end() {
      uninstall();
      await player.destroy();
      engine.destroy();
      video.remove();
    },
    /**
     * @param {string} type of `RequestType`
     * @param {string | string[]} uris
     * @param {Partial<Request> & { context?: any }} [fields]
     */
    request(type, uris, { context, ...fields } = {}) {
      const { NetworkingEngine } = shaka.net;
      const { RequestType } = NetworkingEngine;
      const retries = NetworkingEngine.defaultRetryParameters();
      const request = NetworkingEngine.makeRequest([uris].flat(), retries);
      Object.assign(request, fields);
      const number = RequestType[/** @type {keyof typeof RequestType} */ (type)];
      const operation = network.request(number, request, context);
      return Object.assign(operation, { outcome: outcomeOf(operation.promise) });
    },
  };
}

/**
 * Whether the page's registry is as Shaka itself leaves it: its fetch plugin, which reports
 * progress, with its own priority.
 *
 * @param {Awaited<ReturnType<typeof start>>} player without Holdfast
 * @param {string} silent an address that never answers
 */
async function isAsFound({ shaka, request }, silent) {
  const { HttpFetchPlugin, NetworkingEngine } = shaka.net;
  const { FALLBACK, PREFERRED } = NetworkingEngine.PluginPriority;
  const strange = () => shaka.util.AbortableOperation.completed({ strange: true });
  const retryParameters = {
    ...NetworkingEngine.defaultRetryParameters(),
    maxAttempts: 1,
    connectionTimeout: 300,
  };
  const ask = () => request('SEGMENT', silent, { retryParameters }).outcome;
  NetworkingEngine.registerScheme('http', /** @type {any} */ (strange), FALLBACK);
  const { code } = await ask();
  NetworkingEngine.registerScheme('http', /** @type {any} */ (strange), PREFERRED, true);
  const isPreferred = (await ask()).code !== code;
  NetworkingEngine.registerScheme('http', HttpFetchPlugin.parse, PREFERRED, true);
  // Only who reports progress is timed.
  return code === shaka.util.Error.Code.TIMEOUT && isPreferred;
}

/**
 * Waits until something holds, or for so long. @param {() => unknown} test @param {number} [patience]
 * in milliseconds
 */
async function until(test, patience = 15_000) {
  const end = performance.now() + patience;
  while (!test() && performance.now() < end) await new Promise((r) => setTimeout(r, 20));
  return Boolean(test());
}

/** How far something is buffered, in seconds. @param {HTMLMediaElement} media */
function bufferEnd({ buffered }) {
  return buffered.length && buffered.end(buffered.length - 1);
}

const shakaPage = { versions, start, isAsFound, until, bufferEnd, createEngine, installShaka };
/** @typedef {typeof shakaPage} ShakaPage */
Object.assign(globalThis, { shakaPage });
