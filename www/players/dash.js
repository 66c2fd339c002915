// @ts-check
/** dash.js. */
import { loadScript } from './script.js';

/** @type {import('./index.js').Driver['prepare']} */
export async function prepare(variant) {
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
      engine = createEngine();
      attachDash(engine, player);
    }
    player.updateSettings({ debug: { logLevel: 0 } });
    player.on(dashjs.MediaPlayer.events.ERROR, (/** @type {any} */ { error }) => {
      onError(`${error?.code ?? error} ${error?.message ?? ''}`, true);
    });
    player.initialize(media, url, true);
    return { engine, stop: () => player.reset() };
  };
}
