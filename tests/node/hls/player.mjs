// The real hls.js, headless: no MSE, no page. It loads playlists, keys and first segments, and decides on
// failures as it does in a browser.

const page = {
  self: globalThis,
  MediaSource: class {
    static isTypeSupported() {
      return true;
    }
  },
  document: { createElement: () => ({ canPlayType: () => '', addEventListener() {}, style: {} }) },
  navigator: { onLine: true, userAgent: 'node' },
  location: { href: 'http://127.0.0.1/' },
};
for (const [name, value] of Object.entries(page)) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

/** Which version is under test; the types are those of the current one. */
const { HLS = 'hls.js' } = process.env;
/** @type {typeof import('hls.js')} */
const { default: Hls } = await import(HLS);
/** Before 1.6. */
export const IS_OLD = Hls.version.startsWith('1.5');
export { Hls };

/**
 * @param {Partial<import('hls.js').HlsConfig>} config
 * @param {string} [url]
 */
export function play(config, url) {
  const hls = new Hls({
    startFragPrefetch: true,
    enableWorker: false,
    testBandwidth: false,
    ...config,
  });
  /** @type {{ name: string, data: any, at: number }[]} */
  const events = [];
  const waiting = new Set();
  for (const name of Object.values(Hls.Events)) {
    hls.on(/** @type {any} */ (name), (/** @type {any} */ _, /** @type {any} */ data) => {
      const event = { name, data, at: performance.now() };
      events.push(event);
      for (const check of waiting) check(event);
    });
  }
  if (url) hls.loadSource(url);
  return {
    hls,
    events,
    /** @param {string} name */
    all: (name) => events.filter((event) => event.name === name).map((event) => event.data),
    /**
     * The data of the first such event, past ones included.
     * @param {string} name
     * @param {(data: any) => boolean} [wanted]
     */
    event(name, wanted = () => true, timeout = 5000) {
      return new Promise((resolve, reject) => {
        const past = events.find((event) => event.name === name && wanted(event.data));
        if (past) return resolve(past.data);
        const check = (/** @type {any} */ event) => {
          if (event.name !== name || !wanted(event.data)) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve(event.data);
        };
        const timer = setTimeout(() => {
          waiting.delete(check);
          reject(
            new Error(
              `no ${name} in ${timeout} ms; seen: ${events.map((event) => event.name).join(' ')}`,
            ),
          );
        }, timeout);
        waiting.add(check);
      });
    },
    /** Not that 1.5 finds no media in segments that have none. */
    fatal: () =>
      events
        .filter((event) => event.name === Hls.Events.ERROR && event.data.fatal)
        .map((event) => event.data.details)
        .filter((details) => !IS_OLD || details !== Hls.ErrorDetails.FRAG_PARSING_ERROR),
  };
}
