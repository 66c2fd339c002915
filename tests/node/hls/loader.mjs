// One load through the loader class, with every callback recorded.

const POLICY = {
  maxTimeToFirstByteMs: 60_000,
  maxLoadTimeMs: 60_000,
  timeoutRetry: null,
  errorRetry: null,
};

/** @param {object} [fields] */
export const fragment = (fields = {}) => ({
  type: 'media-fragment',
  frag: { sn: 1, type: 'main' },
  part: null,
  responseType: 'arraybuffer',
  headers: {},
  rangeStart: 0,
  rangeEnd: 0,
  ...fields,
});

/** @param {object} [fields] */
export const playlist = (fields = {}) => ({
  type: 'level',
  responseType: 'text',
  levelOrTrack: null,
  ...fields,
});

/**
 * @param {any} config what `hlsConfig` returned
 * @param {any} context
 * @param {{ policy?: object, highWaterMark?: number, on?: Record<string, (loader: any, ...args: any[]) => void>, progress?: boolean }} [options]
 */
export function start(
  config,
  context,
  { policy = {}, highWaterMark, on = {}, progress = false } = {},
) {
  const loader = new config.loader(config);
  const loaderConfig = {
    loadPolicy: { ...POLICY, ...policy },
    timeout: 60_000,
    maxRetry: 0,
    retryDelay: 0,
    maxRetryDelay: 0,
    highWaterMark,
  };
  /** @type {{ name: string, args: any[] }[]} */
  const calls = [];
  /** @type {(call: { name: string, args: any[] }) => void} */
  let settle;
  const settled = new Promise((resolve) => (settle = resolve));
  const callback =
    (/** @type {string} */ name, /** @type {boolean} */ terminal) =>
    (/** @type {any[]} */ ...args) => {
      calls.push({ name, args });
      on[name]?.(loader, ...args);
      if (terminal) settle({ name, args });
    };
  const callbacks = {
    onSuccess: callback('onSuccess', true),
    onError: callback('onError', true),
    onTimeout: callback('onTimeout', true),
    onAbort: callback('onAbort', true),
    ...(progress ? { onProgress: callback('onProgress', false) } : {}),
  };
  const stats = loader.stats;
  loader.load(context, loaderConfig, callbacks);
  return {
    loader,
    stats,
    loaderConfig,
    callbacks,
    calls,
    names: () => calls.map((call) => call.name),
    /** @returns {Promise<{ name: string, args: any[] }>} */
    settled: () => settled,
  };
}

/** @param {number} ms */
export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {() => unknown} condition */
export async function until(condition, timeout = 5000) {
  const end = performance.now() + timeout;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not in ${timeout} ms: ${condition}`);
    await wait(5);
  }
}
