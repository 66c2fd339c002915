// @ts-check
/** SPF with Holdfast; built with `holdfast/bundler`. */
import { effect, signal } from '@videojs/spf';
import { createHlsVideoEngine } from '@videojs/spf/hls';
import { createEngine } from 'holdfast';
import { bridgeSpf, useEngine } from 'holdfast/spf';
import { play } from './spf-play.js';

/** @type {import('../index.js').Begin} */
export function begin(media, url, onError) {
  const engine = createEngine();
  useEngine(engine);
  createHlsVideoEngine({
    onSignalsReady(signals) {
      bridgeSpf(engine, signals, { effect, signal });
      play(signals, media, url, onError);
    },
  });
  return { engine, stop() {} };
}
