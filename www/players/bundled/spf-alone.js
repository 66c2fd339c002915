// @ts-check
/** SPF as it comes from npm. */
import { createHlsVideoEngine } from '@videojs/spf/hls';
import { play } from './spf-play.js';

/** @returns {import('../index.js').Begin} */
export function prepare() {
  return (media, url, onError) => {
    createHlsVideoEngine({ onSignalsReady: (signals) => play(signals, media, url, onError) });
    return { engine: null, stop() {} };
  };
}
