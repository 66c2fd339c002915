// @ts-check
/** rx-player with Holdfast, and alone, as applications have it. */
import RxPlayer from 'rx-player';
import { createEngine } from 'holdfast';
import { attachRxPlayer, rxLicense, rxOptions } from 'holdfast/rx-player';

/** @typedef {import('rx-player/types').ILoadVideoOptions} Options */
/** @typedef {import('rx-player/types').ISegmentLoader} SegmentLoader */

/** Bytes that peers have, by file name. @type {Map<string, ArrayBuffer>} */
const peers = new Map();
/** @param {string} [url] */
const nameOf = (url) => new URL(url ?? '', location.href).pathname.split('/').at(-1) ?? '';

/** As rx-player's documentation has it, with a header of its own. @type {SegmentLoader} */
function withXhr({ url = '', timeout }, { resolve, reject, progress }) {
  const xhr = new XMLHttpRequest();
  const sent = performance.now();
  const duration = () => performance.now() - sent;
  xhr.open('GET', url);
  xhr.responseType = 'arraybuffer';
  xhr.timeout = timeout ?? 0;
  xhr.setRequestHeader('X-Tenant', 'rx');
  xhr.onprogress = ({ loaded: size, total: totalSize }) =>
    progress({ duration: duration(), size, totalSize });
  xhr.onload = () => {
    const data = xhr.response;
    if (xhr.status < 300) resolve({ data, size: data.byteLength, duration: duration() });
    else reject(Object.assign(new Error(`tenant: ${xhr.status}`), { xhr }));
  };
  xhr.onerror = () => reject(new Error('tenant: no network'));
  xhr.send();
  return () => xhr.abort();
}

/** Takes from peers what they have, slowly and in silence; the rest is rx-player's. @type {SegmentLoader} */
function fromPeers({ url }, { resolve, fallback }) {
  const data = peers.get(nameOf(url));
  const timer = setTimeout(
    () => (data ? resolve({ data: data.slice(0) }) : fallback()),
    data ? 2500 : 100,
  );
  return () => clearTimeout(timer);
}

const own = { withXhr, fromPeers };

/**
 * @typedef {object} Play
 * @property {Partial<Options>} options of `loadVideo`
 * @property {import('holdfast').EngineOptions} [engine]
 * @property {boolean} [alone] without Holdfast
 * @property {import('holdfast/rx-player').RxSettings} [settings]
 * @property {keyof typeof own} [loader] the segment loader of the user's own
 * @property {string} [license] where licenses are
 * @property {boolean} [early] not to wait for the module
 */

/** @param {Play} play */
async function start({ options, engine: engineOptions, alone, settings, loader, license, early }) {
  const video = document.createElement('video');
  video.muted = true;
  document.body.append(video);
  const engine = createEngine(engineOptions);
  if (!early) await engine.ready;
  const player = new RxPlayer({ videoElement: video, wantedBufferAhead: 6 });
  // Tests need not take the time of viewers.
  player.setPlaybackRate(2);
  const stop = alone ? () => {} : attachRxPlayer(engine, player);

  /** @param {any} error */
  const facts = ({ name, type, code, status, errorType, url, message, cause, isHttpError }) => ({
    ...{ name, type, code, status, errorType, message, file: url && nameOf(url) },
    isHttpError: isHttpError?.call({ errorType, status }, status),
    cause: cause && { code: cause.code, attempts: cause.attempts },
  });
  /** @type {any[]} */
  const errors = [];
  /** @type {any[]} */
  const warnings = [];
  player.addEventListener('error', (error) => errors.push(facts(error)));
  player.addEventListener('warning', (error) => warnings.push(facts(error)));

  /** @type {Options} */
  const asked = { transport: 'dash', autoPlay: true, ...options };
  if (loader) asked.segmentLoader = own[loader];
  if (license) {
    const headers = { 'X-Session': 'a1' };
    asked.keySystems = [{ type: 'org.w3.clearkey', ...rxLicense(engine, license, { headers }) }];
  }
  const load = (/** @type {Partial<Options>} */ more = {}, isAlone = alone) => {
    const wanted = { ...asked, ...more };
    player.loadVideo(isAlone ? wanted : rxOptions(engine, wanted, settings));
  };
  load();
  const look = () => ({
    ...{ errors, warnings, mode: engine.state.mode, state: player.getPlayerState() },
    position: video.currentTime,
    live: player.isLive(),
    /** Sites of what waits. */
    waiting: Object.values(engine.state.retryState).map(({ site }) => site),
    /** Sites of all that went through the engine. */
    sites: engine.log().flatMap(({ event, detail }) => (event === 'started' ? [detail] : [])),
    /** Media that came by rx-player's own XMLHttpRequest. */
    byXhr: performance
      .getEntriesByType('resource')
      .filter((entry) => /** @type {any} */ (entry).initiatorType === 'xmlhttprequest')
      .map(({ name }) => nameOf(name)),
  });
  return { engine, player, video, load, stop, look };
}

/**
 * Loads one segment after the other as rx-player would, and gives the samples of bandwidth that
 * rx-player would take, in bit/ms, and the progress that it would see.
 *
 * @param {string[]} urls
 * @param {import('holdfast').EngineOptions} options
 */
async function measure(urls, options) {
  const engine = createEngine(options);
  await engine.ready;
  const { segmentLoader } = rxOptions(engine, { transport: 'dash' });
  const samples = [];
  for (const url of urls) {
    /** @type {number[]} */
    const progress = [];
    const began = performance.now();
    const answer = await new Promise((resolve, reject) => {
      const info = /** @type {const} */ ({
        url,
        timeout: 30_000,
        isInit: false,
        trackType: 'video',
      });
      /** @type {any} */ (segmentLoader)(info, {
        ...{ resolve, reject },
        fallback: () => reject(new Error('fallback')),
        progress: (/** @type {{ size: number }} */ { size }) => progress.push(size),
      });
    });
    const { size, duration } = answer;
    samples.push({
      rate: (size * 8) / duration,
      took: performance.now() - began,
      duration,
      progress,
    });
  }
  return samples;
}

Object.assign(globalThis, { rx: { start, measure, peers } });
