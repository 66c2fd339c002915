// @ts-check
/** Shaka Player of any version. */
import { loadScript } from './script.js';
import { engineOptions } from './token.js';
import { tuneShaka } from './tuned.js';

/**
 * @param {string} src its compiled script
 * @returns {import('./index.js').Driver}
 */
export function shakaDriver(src) {
  return {
    async prepare(variant, setup = {}) {
      await loadScript(src);
      const { shaka } = /** @type {any} */ (globalThis);
      const holdfast =
        variant === 'holdfast'
          ? await Promise.all([import('holdfast'), import('holdfast/shaka')])
          : undefined;
      return async (media, url, onError) => {
        const player = new shaka.Player();
        let engine = null;
        if (holdfast) {
          const [{ createEngine }, { installShaka }] = holdfast;
          engine = createEngine(engineOptions(setup));
          installShaka(engine, shaka, player);
        }
        const tuned = variant === 'tuned' ? tuneShaka(shaka, player, setup) : undefined;
        const tell = (/** @type {any} */ error) => {
          const { code, category, severity, data } = error;
          const fatal = severity === 2 && !tuned?.onError(error, url);
          onError(`${category}.${code} ${data?.[1] ?? ''}`, fatal);
        };
        player.addEventListener('error', (/** @type {any} */ { detail }) => tell(detail));
        // As on a page: the buffer is Shaka's own choice.
        const loading = player.attach(media).then(() => player.load(url));
        loading.catch(tell);
        const estimateKbps = () => player.getStats().estimatedBandwidth / 1000;
        return { engine, stop: () => void player.unload(), estimateKbps };
      };
    },
  };
}
