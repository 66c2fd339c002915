// @ts-check
/** What tests make of video.js with Holdfast, once video.js is there. */
import { createEngine } from 'holdfast';
import { installVhs } from 'holdfast/vhs';

/** @typedef {import('holdfast/vhs').VideoJs} VideoJs */
/** @typedef {import('holdfast/vhs').VideoJsPlayer} VideoJsPlayer */

const EVENTS = ['error', 'excludeplaylist', 'retryplaylist', 'bandwidthupdated'];

/** A classic script of the page has put it there. @returns {VideoJs} */
const library = () => /** @type {any} */ (globalThis).videojs;

/** @param {import('holdfast').EngineOptions} [options] */
async function engineOf(options) {
  const engine = createEngine(options);
  await engine.ready;
  return engine;
}

/**
 * A muted player that VHS serves, also where the browser could play HLS by itself. What the
 * browser thinks of its link is left out: it would outweigh what VHS measures.
 *
 * @param {object} [options] of the player
 */
function createPlayer(options = {}) {
  const video = document.createElement('video');
  document.body.append(video);
  const vhs = { overrideNative: true, useNetworkInformationApi: false };
  return library()(video, { muted: true, preload: 'auto', html5: { vhs }, ...options });
}

/** Writes down what the player tells. @param {VideoJsPlayer} player */
function listen(player) {
  /** @type {{ type: string, facts: any }[]} */
  const told = [];
  const note = (/** @type {any} */ { type, metadata }) => {
    const facts = type === 'error' ? { ...player.error() } : metadata;
    told.push({ type, facts });
  };
  player.on(EVENTS, note);
  // Of playlists VHS tells the technology alone.
  player.ready(() => {
    if (player.tech(true)) /** @type {any} */ (player.tech(true)).on(EVENTS.slice(1), note);
  });
  return told;
}

/** @param {string} src */
const sourceOf = (src) => ({
  src,
  type: /\.mpd/.test(src) ? 'application/dash+xml' : 'application/x-mpegURL',
});

/** @param {VideoJsPlayer} player @param {string} src @param {object} [more] of the source */
function play(player, src, more) {
  player.src({ ...sourceOf(src), ...more });
  player.ready(() => void player.play()?.catch(() => {}));
}

/** @param {VideoJsPlayer} player */
function look(player) {
  const vhs = /** @type {any} */ (player.tech(true))?.vhs;
  const { mediaRequestsErrored, mediaRequestsTimedout } = vhs?.stats ?? {};
  return {
    position: player.currentTime() ?? 0,
    ended: player.ended(),
    error: player.error() && { code: player.error()?.code, message: player.error()?.message },
    playlist: /** @type {string | undefined} */ (vhs?.playlists?.media()?.uri),
    errored: /** @type {number} */ (mediaRequestsErrored),
    timedOut: /** @type {number} */ (mediaRequestsTimedout),
  };
}

const page = { library, engineOf, installVhs, createPlayer, listen, sourceOf, play, look };
Object.assign(globalThis, { page });

/** @typedef {typeof page} Page */
