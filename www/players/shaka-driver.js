// @ts-check
/** Shaka Player of any version. */
import { loadScript } from './script.js';

/**
 * @param {string} src its compiled script
 * @returns {import('./index.js').Driver}
 */
export function shakaDriver(src) {
  return {
    async prepare(variant) {
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
          engine = createEngine();
          installShaka(engine, shaka, player);
        }
        const tell = (/** @type {any} */ { code, category, severity, data }) =>
          onError(`${category}.${code} ${data?.[1] ?? ''}`, severity === 2);
        player.addEventListener('error', (/** @type {any} */ { detail }) => tell(detail));
        // As on a page: the buffer is Shaka's own choice.
        const loading = player.attach(media).then(() => player.load(url));
        loading.catch(tell);
        return { engine, stop: () => void player.unload() };
      };
    },
  };
}
