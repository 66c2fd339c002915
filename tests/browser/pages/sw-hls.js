// @ts-check
/** hls.js as it is, without a word of Holdfast. */
import Hls from 'hls.js';

const video = /** @type {HTMLVideoElement} */ (document.querySelector('video'));
const hls = new Hls();
/** @type {string[]} */
const errors = [];
hls.on(Hls.Events.ERROR, (_, { details, fatal }) => {
  errors.push(fatal ? `${details}, fatal` : details);
});

/** @param {string} url */
function play(url) {
  hls.loadSource(url);
  hls.attachMedia(video);
  video.play().catch(() => {});
}

const look = () => ({ errors, position: video.currentTime });
Object.assign(globalThis, { player: { play, look } });
