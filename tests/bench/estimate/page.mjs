// @ts-check
/**
 * What the page runs: segment after segment is downloaded, and after each one the estimate is read.
 * Holdfast's own estimate is that of an engine whose `fetch` is called. The players are the real
 * ones, which load and buffer the stream; their estimates are what they give out themselves.
 */
import { createEngine } from 'holdfast';
import { attachDash } from 'holdfast/dash';
import { attachHls, hlsConfig } from 'holdfast/hls';
import { installShaka } from 'holdfast/shaka';

/** Longer than the stream, in seconds, so that no player ever pauses its downloads. */
const GOAL = 60;
/** A hedge is sent when headers have not come for so long. */
const HEDGE_MS = 1000;

/**
 * @typedef {object} Setup
 * @property {string} base of the session
 * @property {string[]} files
 * @property {HTMLVideoElement} video
 * @property {boolean} hasHoldfast
 * @property {boolean} hedges
 * @property {(file: string, kbps: number) => void} tell the estimate after a segment; NaN where
 *   nothing was measured yet
 */

/** Begins, and gives the way to end. @typedef {(setup: Setup) => Promise<() => void>} Begin */

/** @param {string} url */
const fileOf = (url) => url.slice(url.lastIndexOf('/') + 1);

/** After those who listen too have had their say. */
const settled = () => new Promise((resolve) => setTimeout(resolve));

/** @type {Begin} */
async function engineAlone({ base, files, hedges, tell }) {
  const engine = createEngine();
  await engine.ready;
  for (const file of files) {
    const send = (/** @type {RequestInit} */ init) => engine.fetch(base + file, init);
    await (hedges ? hedged(send) : send({}).then((response) => response.arrayBuffer()));
    await settled();
    tell(file, (engine.state.bandwidth ?? NaN) / 1000);
  }
  return () => engine.destroy();
}

/**
 * As an application hedges: whichever response comes first is read, and the other one is ended.
 * The second request bypasses the cache, where it would wait for the first.
 *
 * @param {(init: RequestInit) => Promise<Response>} fetch
 */
async function hedged(fetch) {
  const both = [new AbortController(), new AbortController()];
  const send = async (/** @type {number} */ index, /** @type {RequestInit} */ init) => {
    const response = await fetch({ ...init, signal: both[index].signal });
    both[1 - index].abort();
    return response.arrayBuffer();
  };
  const first = send(0, {});
  const isLate = new Promise((resolve) => setTimeout(resolve, HEDGE_MS));
  const headers = new Promise((resolve) => both[1].signal.addEventListener('abort', resolve));
  const second = Promise.race([isLate, headers]).then(() =>
    both[1].signal.aborted ? first : send(1, { cache: 'no-store' }),
  );
  await Promise.any([first, second]);
}

/** @type {Begin} */
async function hls({ base, video, hasHoldfast, tell }) {
  const { default: Hls } = await import('hls.js');
  const config = { maxBufferLength: GOAL };
  const engine = createEngine();
  await engine.ready;
  const player = new Hls(hasHoldfast ? hlsConfig(engine, config) : config);
  const detach = hasHoldfast ? attachHls(engine, player) : () => {};
  player.on(Hls.Events.FRAG_BUFFERED, async (_, { frag }) => {
    if (frag.sn === 'initSegment') return;
    await settled();
    const { bandwidthEstimate } = player;
    const isDefault = bandwidthEstimate === player.config.abrEwmaDefaultEstimate;
    tell(fileOf(frag.url), isDefault ? NaN : bandwidthEstimate / 1000);
  });
  player.loadSource(`${base}mid.m3u8`);
  player.attachMedia(video);
  return () => {
    detach();
    player.destroy();
    engine.destroy();
  };
}

/** @param {string} src */
async function load(src) {
  const script = Object.assign(document.createElement('script'), { src });
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
}

/** @type {Begin} */
async function shaka({ base, files, video, hasHoldfast, tell }) {
  await load('/node_modules/shaka-player/dist/shaka-player.compiled.js');
  const { shaka } = /** @type {any} */ (globalThis);
  const player = new shaka.Player();
  await player.attach(video);
  player.configure({ streaming: { bufferingGoal: GOAL } });
  const engine = createEngine();
  await engine.ready;
  const detach = hasHoldfast ? installShaka(engine, shaka, player) : () => {};
  const { defaultBandwidthEstimate } = player.getConfiguration().abr;
  player.addEventListener('segmentappended', (/** @type {any} */ { start }) => {
    const { estimatedBandwidth } = player.getStats();
    const isDefault = estimatedBandwidth === defaultBandwidthEstimate;
    tell(files[Math.round(start / 2)], isDefault ? NaN : estimatedBandwidth / 1000);
  });
  await player.load(`${base}silent.mpd`);
  return () => {
    detach();
    void player.destroy();
    engine.destroy();
  };
}

/** @type {Begin} */
async function dash({ base, video, hasHoldfast, tell }) {
  await load('/node_modules/dashjs/dist/modern/umd/dash.all.min.js');
  const { dashjs } = /** @type {any} */ (globalThis);
  const player = dashjs.MediaPlayer().create();
  player.updateSettings({
    debug: { logLevel: 0 },
    streaming: { buffer: { bufferTimeDefault: GOAL, bufferTimeAtTopQuality: GOAL } },
  });
  const engine = createEngine();
  await engine.ready;
  const detach = hasHoldfast ? attachDash(engine, player) : () => {};
  player.on('fragmentLoadingCompleted', async (/** @type {any} */ { request, error }) => {
    if (error || request?.type !== 'MediaSegment') return;
    await settled();
    tell(fileOf(request.url), player.getAverageThroughput('video') || NaN);
  });
  player.initialize(video, `${base}silent.mpd`, true);
  return () => {
    detach();
    player.reset();
    engine.destroy();
  };
}

/** @type {Record<string, Begin>} */
const PLAYERS = { engine: engineAlone, hls, shaka, dash };

/**
 * @param {string} player
 * @param {Pick<Setup, 'base' | 'files' | 'hasHoldfast' | 'hedges'> & { warm: number, patience: number }} setup
 * @returns {Promise<{ file: string, kbps: number | null }[]>} in the order of the estimates
 */
async function measure(player, { warm, patience, ...setup }) {
  const video = /** @type {HTMLVideoElement} */ (document.querySelector('video'));
  for (const file of setup.files.slice(0, warm)) await (await fetch(setup.base + file)).blob();
  /** @type {Map<string, number | null>} */
  const told = new Map();
  /** @type {() => void} */
  let finish = () => {};
  const isOver = new Promise((resolve) => {
    finish = () => resolve(undefined);
    setTimeout(finish, patience);
  });
  const tell = (/** @type {string} */ file, /** @type {number} */ kbps) => {
    if (!setup.files.includes(file) || told.has(file)) return;
    told.set(file, Number.isFinite(kbps) ? kbps : null);
    if (told.size === setup.files.length) finish();
  };
  const stop = await PLAYERS[player]({ ...setup, video, tell });
  await isOver;
  stop();
  return [...told].map(([file, kbps]) => ({ file, kbps }));
}

Object.assign(globalThis, { measure });
