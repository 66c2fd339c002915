// @ts-check
/** video.js with its own HLS engine, VHS. */
import { loadScript } from './script.js';
import { engineOptions } from './token.js';

/** @type {import('./index.js').Driver['prepare']} */
export async function prepare(variant, setup = {}) {
  await loadScript('/node_modules/video.js/dist/video.min.js');
  const { videojs } = /** @type {any} */ (globalThis);
  const holdfast =
    variant === 'holdfast'
      ? await Promise.all([import('holdfast'), import('holdfast/vhs')])
      : undefined;
  return (media, url, onError) => {
    const player = videojs(media, { html5: { vhs: { overrideNative: true } }, muted: true });
    let engine = null;
    if (holdfast) {
      const [{ createEngine }, { installVhs }] = holdfast;
      engine = createEngine(engineOptions(setup));
      installVhs(engine, videojs, player);
    }
    player.on('error', () => onError(`${player.error()?.code} ${player.error()?.message}`, true));
    player.src({ src: url, type: 'application/vnd.apple.mpegurl' });
    player.ready(() => player.play());
    return { engine, stop: () => player.pause() };
  };
}
