// @ts-check
/** SPF as it comes from npm. */
import { createHlsVideoEngine } from '@videojs/spf/hls';
import { play } from './spf-play.js';

/** @type {import('../index.js').Begin} */
export function begin(media, url, onError) {
  createHlsVideoEngine({ onSignalsReady: (signals) => play(signals, media, url, onError) });
  return { engine: null, stop() {} };
}
