// @ts-check
/** rx-player. */
import { engineOptions } from './token.js';

const path = '/bundles/rx-player/main.js';

/** @type {import('./index.js').Driver['prepare']} */
export async function prepare(variant, setup = {}) {
  const { default: RxPlayer } = await import(path);
  const holdfast =
    variant === 'holdfast'
      ? await Promise.all([import('holdfast'), import('holdfast/rx-player')])
      : undefined;
  return (media, url, onError) => {
    const player = new RxPlayer({ videoElement: media });
    /** @type {any} */
    let options = { url, transport: 'dash', autoPlay: true };
    let engine = null;
    if (holdfast) {
      const [{ createEngine }, { rxOptions, attachRxPlayer }] = holdfast;
      engine = createEngine(engineOptions(setup));
      options = rxOptions(engine, options);
      attachRxPlayer(engine, player);
    }
    const tell = (/** @type {boolean} */ fatal) => (/** @type {any} */ error) =>
      onError(`${error.type} ${error.code}`, fatal);
    player.addEventListener('error', tell(true));
    player.addEventListener('warning', tell(false));
    player.loadVideo(options);
    return { engine, stop: () => player.pause() };
  };
}
