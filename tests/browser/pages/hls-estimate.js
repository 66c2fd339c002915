// @ts-check
/** hls.js with Holdfast on one rendition, until it has buffered so many segments. */
import Hls from 'hls.js';
import { createEngine } from 'holdfast';
import { attachHls, hlsConfig } from 'holdfast/hls';

/**
 * @param {string} url of a media playlist
 * @param {number} segments
 * @returns {Promise<{ estimate: number, attempts: number }>} hls.js's own estimate in bit/s, and
 *   how many attempts the engine made for what it loaded
 */
async function estimate(url, segments) {
  const video = /** @type {HTMLVideoElement} */ (document.querySelector('video'));
  const engine = createEngine();
  await engine.ready;
  const hls = new Hls(hlsConfig(engine));
  const stop = attachHls(engine, hls);
  let buffered = 0;
  const value = await new Promise((resolve, reject) => {
    hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && reject(new Error(details)));
    hls.on(Hls.Events.FRAG_BUFFERED, (_, { frag }) => {
      if (frag.sn !== 'initSegment') buffered += 1;
      // The estimator is a listener too; whoever comes first, it has had its say by then.
      if (buffered === segments) setTimeout(() => resolve(hls.bandwidthEstimate));
    });
    hls.loadSource(url);
    hls.attachMedia(video);
  });
  const attempts = engine.log().filter(({ event }) => event === 'sent').length;
  stop();
  hls.destroy();
  engine.destroy();
  return { estimate: value, attempts };
}

Object.assign(globalThis, { estimate });
