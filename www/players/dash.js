// @ts-check
/** dash.js. */
import { loadScript } from './script.js';
import { engineOptions } from './token.js';
import { tuneDash } from './tuned.js';

/** @type {import('./index.js').Driver['prepare']} */
export async function prepare(variant, setup = {}) {
  await loadScript('/node_modules/dashjs/dist/modern/umd/dash.all.min.js');
  const { dashjs } = /** @type {any} */ (globalThis);
  const holdfast =
    variant === 'holdfast'
      ? await Promise.all([import('holdfast'), import('holdfast/dash')])
      : undefined;
  return (media, url, onError) => {
    const player = dashjs.MediaPlayer().create();
    let engine = null;
    if (holdfast) {
      const [{ createEngine }, { attachDash }] = holdfast;
      engine = createEngine(engineOptions(setup));
      attachDash(engine, player);
    }
    player.updateSettings({ debug: { logLevel: 0 } });
    const tuned = variant === 'tuned' ? tuneDash(player, setup) : undefined;
    player.on(dashjs.MediaPlayer.events.ERROR, (/** @type {any} */ { error }) => {
      const fatal = !tuned?.onError(error, url);
      onError(`${error?.code ?? error} ${error?.message ?? ''}`, fatal);
    });
    player.initialize(media, url, true);
    const estimateKbps = () => player.getAverageThroughput('video');
    const stop = () => {
      tuned?.stop();
      player.reset();
    };
    return { engine, stop, estimateKbps };
  };
}
