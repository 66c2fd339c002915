// @ts-check
/** SPF with Holdfast, as an application has it; built with `holdfast/bundler`. */
import { effect, signal } from '@videojs/spf';
import { createHlsVideoEngine } from '@videojs/spf/hls';
import { createEngine } from 'holdfast';
import { bridgeSpf, useEngine } from 'holdfast/spf';
import { watch } from './spf-watch.js';

const video = /** @type {HTMLVideoElement} */ (document.querySelector('video'));

/** For the tests, which want to choose. @param {import('holdfast').EngineOptions} [options] */
function start(options) {
  const engine = createEngine(options);
  const stopUsing = useEngine(engine);
  createHlsVideoEngine({
    onSignalsReady(signals) {
      const stopBridge = bridgeSpf(engine, signals, { effect, signal });
      const leave = () => (stopBridge(), stopUsing());
      const player = { ...watch(signals, video), engine, signals, leave };
      Object.assign(globalThis, { player });
    },
  });
}

Object.assign(globalThis, { start });
