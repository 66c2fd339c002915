// @ts-check
/**
 * The players of the lab. Each is one module that knows how its player is set up alone and with
 * Holdfast, exactly as an application would do it; the rest of the page knows none of them.
 */

/**
 * Alone as it comes, alone with the best that its options can do (see tuned.js), or with Holdfast.
 * @typedef {'plain' | 'tuned' | 'holdfast'} Variant
 */

/**
 * What a stream asks of the page.
 *
 * @typedef {object} Setup
 * @property {string} [tokenUrl] URLs carry a `token=…`, and this answers with a fresh one
 * @property {boolean} [alternatives] whether the stream is at several hosts
 * @property {boolean} [pinned] whether the player is kept to one rendition, which is the default
 */

/**
 * A player that plays.
 *
 * @typedef {object} Running
 * @property {import('holdfast').Engine | null} engine
 * @property {() => Promise<{ mode: string, log: unknown[] }>} [tell] what an engine elsewhere says
 * @property {() => number | undefined} [estimateKbps] what the player takes the link for
 * @property {() => void} stop cancels what is still in flight; the last picture stays
 */

/**
 * Begins to play. `onError` is told what the player says, and whether it has given up.
 *
 * @typedef {(media: HTMLVideoElement, url: string,
 *   onError: (text: string, fatal: boolean) => void) => Running | Promise<Running>} Begin
 */

/**
 * @typedef {object} Driver
 * @property {(variant: Variant, setup?: Setup) => Promise<Begin>} prepare loads the libraries,
 *   before any clock
 */

/**
 * `pinned.*` has one rendition: an error must not move a measurement to another bitrate.
 *
 * @type {Record<string, { title: string, manifest: string, load: () => Promise<Driver> }>}
 */
export const players = {
  hls: { title: 'hls.js', manifest: 'main.m3u8', load: () => import('./hls.js') },
  'hls-1.5': { title: 'hls.js 1.5', manifest: 'main.m3u8', load: () => import('./hls-1.5.js') },
  shaka: { title: 'Shaka Player', manifest: 'pinned.mpd', load: () => import('./shaka.js') },
  'shaka-4': {
    title: 'Shaka Player 4',
    manifest: 'pinned.mpd',
    load: () => import('./shaka-4.js'),
  },
  dash: { title: 'dash.js', manifest: 'pinned.mpd', load: () => import('./dash.js') },
  vhs: { title: 'video.js VHS', manifest: 'pinned.m3u8', load: () => import('./vhs.js') },
  'rx-player': {
    title: 'rx-player',
    manifest: 'pinned.mpd',
    load: () => import('./rx-player.js'),
  },
  spf: { title: 'SPF', manifest: 'pinned.m3u8', load: () => import('./spf.js') },
  'service-worker': {
    title: 'hls.js under a service worker',
    manifest: 'main.m3u8',
    load: () => import('./service-worker.js'),
  },
};
