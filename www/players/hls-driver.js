// @ts-check
/** hls.js of any version, one rendition pinned. */
import { engineOptions } from './token.js';
import { tunedHls } from './tuned.js';

/**
 * Buffer goals, retry policies and everything else stay what hls.js makes them.
 */
const config = {
  // An error must not move the measurement to another bitrate.
  preserveManualLevelOnError: true,
};

/**
 * @param {() => Promise<any>} load gives the module of hls.js
 * @returns {import('./index.js').Driver}
 */
export function hlsDriver(load) {
  return {
    async prepare(variant, setup = {}) {
      const { default: Hls } = await load();
      const withHoldfast = variant === 'holdfast' ? await loadHoldfast(setup) : undefined;
      const tuned = variant === 'tuned' ? tunedHls(setup) : undefined;
      return (media, url, onError) => {
        const { hls, engine, detach } = withHoldfast?.(Hls) ?? {
          hls: new Hls({ ...config, ...tuned?.config }),
          engine: null,
          detach: () => {},
        };
        if (setup.pinned ?? true) pinMiddleLevel(Hls, hls);
        const recovers = tuned?.attach(Hls, hls, url);
        hls.on(Hls.Events.ERROR, (/** @type {string} */ _, /** @type {any} */ data) => {
          const code = data.response?.code ? ` ${data.response.code}` : '';
          const recovered = recovers?.(data) ?? false;
          onError(`${data.details}${code}`, data.fatal && !recovered);
        });
        hls.loadSource(url);
        hls.attachMedia(media);
        const stop = () => {
          detach();
          hls.stopLoad();
        };
        return { engine, stop, estimateKbps: () => hls.bandwidthEstimate / 1000 };
      };
    },
  };
}

/** All that an application has to do. @param {import('./index.js').Setup} setup */
async function loadHoldfast(setup) {
  const [{ createEngine }, { hlsConfig, attachHls }] = await Promise.all([
    import('holdfast'),
    import('holdfast/hls'),
  ]);
  return (/** @type {any} */ Hls) => {
    const engine = createEngine(engineOptions(setup));
    const hls = new Hls(hlsConfig(engine, config));
    const detach = attachHls(engine, hls);
    return { hls, engine, detach };
  };
}

/**
 * Levels are sorted by bitrate once the manifest is parsed. A manual level turns
 * the bitrate switching off; the cap says so twice.
 *
 * @param {any} Hls
 * @param {any} hls
 */
function pinMiddleLevel(Hls, hls) {
  hls.on(Hls.Events.MANIFEST_PARSED, (/** @type {string} */ _, /** @type {any} */ { levels }) => {
    if (levels.length === 1) return;
    const middle = Math.floor(levels.length / 2);
    hls.startLevel = middle;
    hls.loadLevel = middle;
    hls.autoLevelCapping = middle;
  });
}
