// @ts-check
/** hls.js of either version, with Holdfast or alone; the test says how. */
import * as hlsjs from 'hls.js';
import { createEngine } from 'holdfast';
import { attachHls, hlsConfig } from 'holdfast/hls';

/** @typedef {import('holdfast/hls').HlsOverrides} Overrides */

/**
 * @typedef {object} How
 * @property {boolean} [alone]
 * @property {import('holdfast').EngineOptions} [engine]
 * @property {Overrides} [config]
 * @property {import('holdfast/hls').HlsOptions} [options]
 * @property {'xhr' | 'fetch' | 'p2p'} [transport]
 */

const Hls = hlsjs.default;
const video = /** @type {HTMLVideoElement} */ (document.querySelector('video'));
/** @type {import('holdfast').Engine} */
let engine;
/** @type {hlsjs.default} */
let hls;
/** @type {() => void} */
let stop;
/** @type {{ details: string, fatal: boolean, code?: number }[]} */
const errors = [];
/** By which means segments came. @type {string[]} */
const means = [];
/** Aborts of the loader underneath. */
let aborts = 0;
/** Segments that came through the peer-to-peer network, whose servers count as peers. */
let carried = 0;

/** @param {string} url @param {How} [how] */
async function play(url, how = {}) {
  const { alone, config = {}, options, transport } = how;
  engine = createEngine(how.engine);
  const p2p = transport === 'p2p' ? await peerToPeer() : undefined;
  const underneath = p2p?.getConfigForHlsJs() ?? loaders(transport);
  const own = /** @type {Overrides} */ ({ ...config, ...underneath });
  hls = new Hls(alone ? /** @type {any} */ (own) : hlsConfig(engine, own, options));
  p2p?.bindHls(hls);
  if (!alone) stop = attachHls(engine, hls);
  hls.on(Hls.Events.ERROR, (_, { details, fatal, response }) => {
    errors.push({ details, fatal, code: response?.code });
  });
  hls.on(Hls.Events.FRAG_LOADED, (_, { networkDetails }) => {
    means.push(networkDetails instanceof XMLHttpRequest ? 'xhr' : 'fetch');
  });
  hls.loadSource(url);
  hls.attachMedia(video);
  // Tests are in a hurry.
  video.defaultPlaybackRate = video.playbackRate = 2;
  video.play().catch(() => {});
}

/** Loader classes of hls.js itself. @param {string} [transport] @returns {Overrides} */
function loaders(transport) {
  if (!transport) return {};
  const Base = /** @type {any} */ (
    transport === 'fetch' ? hlsjs.FetchLoader : Hls.DefaultConfig.loader
  );
  class Counted extends Base {
    abort() {
      aborts += 1;
      super.abort();
    }
  }
  return { loader: /** @type {any} */ (Counted) };
}

/** Without trackers, so that nobody is asked. @returns {Promise<any>} */
async function peerToPeer() {
  const name = 'p2p-media-loader-hlsjs';
  const { HlsJsP2PEngine } = await import(name);
  const network = new HlsJsP2PEngine({ core: { announceTrackers: [] } });
  network.addEventListener('onSegmentLoaded', () => (carried += 1));
  return network;
}

/**
 * Where the playhead jumped, from where and to where: the browser's own account of what was played.
 * A page that is starved of time cannot miss a moment of it.
 */
const jumps = () =>
  Array.from({ length: Math.max(0, video.played.length - 1) }, (_, index) => [
    video.played.end(index),
    video.played.start(index + 1),
  ]);

const look = () => ({
  version: Hls.version,
  mode: engine.state.mode,
  errors,
  fatal: errors.filter(({ fatal }) => fatal).map(({ details }) => details),
  jumps: jumps(),
  means,
  aborts,
  carried,
  position: video.currentTime,
  ended: video.ended,
  estimate: hls.bandwidthEstimate,
});

/** What of the configuration is Holdfast's business, as text. @param {Overrides} [config] */
function settings(config) {
  const its = /** @type {any} */ (
    config ? new Hls(/** @type {any} */ (config)).config : hls.config
  );
  const names = Object.keys(its).filter((name) => /Policy$|oader$|^error|XhrSetup$/.test(name));
  return JSON.stringify(
    names.sort().map((name) => [name, its[name]]),
    (_, value) => (typeof value === 'function' ? `${value.name} ${String(value).length}` : value),
  );
}

Object.assign(globalThis, {
  player: { play, look, settings, stop: () => stop(), ready: () => engine.ready, hls: () => hls },
});
