// @ts-check
/** SPF as it comes from npm. */
import { createHlsVideoEngine } from '@videojs/spf/hls';
import { watch } from './spf-watch.js';

const video = /** @type {HTMLVideoElement} */ (document.querySelector('video'));
createHlsVideoEngine({
  onSignalsReady: (signals) => void Object.assign(globalThis, { player: watch(signals, video) }),
});
