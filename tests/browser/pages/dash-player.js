// @ts-check
/** dash.js with Holdfast, as an application has it, and with what applications add to it. */
import { createEngine } from 'holdfast';
import { attachDash } from 'holdfast/dash';

const BUILD = '/node_modules/dashjs/dist/modern/esm/dash.all.min.js';
/** @type {typeof import('dashjs')} */
const dashjs = await import(BUILD);
const video = /** @type {HTMLVideoElement} */ (document.querySelector('video'));

/**
 * @typedef {object} Setup
 * @property {string} url
 * @property {import('holdfast').EngineOptions} [options] of the engine
 * @property {import('dashjs').MediaPlayerSettingClass} [settings]
 * @property {boolean} [plain] without Holdfast
 * @property {string} [token] what the hook for credentials puts in the place of any other
 * @property {string} [prepare] a function's source, called with `{ player, statuses }` before it plays
 */

/** @param {Setup} setup */
async function start({ url, options, settings, plain = false, token, prepare }) {
  const refreshPlaybackToken = async (/** @type {string} */ stale) =>
    stale.replace(/\btoken=\w+/, `token=${token}`);
  const engine = createEngine({ ...options, ...(token && { refreshPlaybackToken }) });
  const player = dashjs.MediaPlayer().create();
  /** @type {any[]} */
  const errors = [];
  const events = /** @type {any} */ (player);
  player.updateSettings({ debug: { logLevel: 0 } });
  if (settings) player.updateSettings(settings);
  const before = structuredClone(player.getSettings().streaming);
  const detach = plain ? () => {} : attachDash(engine, player);
  events.on('error', (/** @type {any} */ { error }) => {
    const { code, message, data } = error;
    errors.push({ code, message, status: data?.response?.status });
  });
  /** @type {number[]} for `prepare` to fill */
  const statuses = [];
  if (prepare) new Function('page', `return (${prepare})(page)`)({ player, statuses });
  // What comes earlier has a ladder of its own.
  await engine.ready;
  player.initialize(video, url, true);

  const look = () => ({
    errors,
    statuses,
    mode: engine.state.mode,
    position: video.currentTime,
    ended: video.ended,
    waiting: Object.keys(engine.state.retryState).length,
    buffered: [...Array(video.buffered.length).keys()].map((i) => [
      video.buffered.start(i),
      video.buffered.end(i),
    ]),
  });
  Object.assign(globalThis, { dash: { engine, player, detach, look, before, video } });
}

// For the tests.
Object.assign(globalThis, { start });
