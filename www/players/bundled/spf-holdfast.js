// @ts-check
/** SPF with Holdfast; built with `holdfast/bundler`. */
import { effect, signal } from '@videojs/spf';
import { createHlsVideoEngine } from '@videojs/spf/hls';
import { createEngine } from 'holdfast';
import { bridgeSpf, useEngine } from 'holdfast/spf';
import { engineOptions } from '../token.js';
import { play } from './spf-play.js';

/** @param {import('../index.js').Setup} [setup] @returns {import('../index.js').Begin} */
export function prepare(setup) {
  return (media, url, onError) => {
    const engine = createEngine(engineOptions(setup));
    useEngine(engine);
    createHlsVideoEngine({
      onSignalsReady(signals) {
        bridgeSpf(engine, signals, { effect, signal });
        play(signals, media, url, onError);
      },
    });
    return { engine, stop() {} };
  };
}
