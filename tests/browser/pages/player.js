// @ts-check
/** hls.js with Holdfast, as an application has it. */
import Hls from 'hls.js';
import { createEngine } from 'holdfast';
import { attachHls, hlsConfig } from 'holdfast/hls';

const video = /** @type {HTMLVideoElement} */ (document.querySelector('video'));
const engine = createEngine();
const hls = new Hls(hlsConfig(engine));
attachHls(engine, hls);
/** @type {string[]} */
const fatal = [];
hls.on(Hls.Events.ERROR, (_, data) => {
  if (data.fatal) fatal.push(data.details);
});

/** @param {string} url */
function play(url) {
  hls.loadSource(url);
  hls.attachMedia(video);
  video.play().catch(() => {});
}

// For the test. Without a name of its own for readiness: nobody knows when it settles.
/** @type {boolean | undefined} */
let ready;
engine.ready.then((value) => (ready = value));
const look = () => ({
  ready,
  fatal,
  mode: engine.state.mode,
  position: video.currentTime,
  waiting: Object.keys(engine.state.retryState).length,
});
Object.assign(globalThis, { player: { engine, play, look } });
