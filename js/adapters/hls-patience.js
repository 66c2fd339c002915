// @ts-check
/**
 * When a load of a level that gives nothing is given up: hls.js has one segment of it under way at a time,
 * so nothing else tells whether the level is broken or its host. Loaded by `hls.js` once an attempt has
 * failed.
 */
import { bufferAhead, hostOf } from './shared.js';

/** By player: the segments that were taken back, without queries. @type {WeakMap<object, Set<string>>} */
const takenBack = new WeakMap();
/** How often it is looked at. */
const WATCH_MS = 1_000;
/** After one level was left, how long the next one that fails is held on to: it is the host then. */
const LEVEL_PENALTY_MS = 60_000;
/** How long a level is held on to: so many target durations, */
const PATIENCE_TARGETS = 3;
/** and this share of what was buffered when nothing came any more, */
const PATIENCE_SHARE = 0.8;
/** within these bounds. */
const LEAST_PATIENCE_MS = 3_000;
const MOST_PATIENCE_MS = 15_000;

/**
 * What is known of the levels of a player.
 *
 * @typedef {object} Levels
 * @property {any} hls
 * @property {{ targetDuration?: number, live?: boolean }} playlist of the level that was loaded last
 * @property {number} left when one was left, on the clock of `performance.now()`
 * @property {() => Iterable<Readonly<import('../index.d.ts').RetryState>>} failing requests of the engine
 */

/**
 * Watches one load of a level, and calls `leave` with the milliseconds of silence that are too many.
 *
 * @param {Levels} its
 * @param {object} load
 * @param {import('../index.d.ts').Site} load.site
 * @param {any} [load.frag]
 * @param {any} [load.part]
 * @param {{ loaded: number }} load.stats
 * @param {number} load.last when its last byte came, or when it began
 * @param {(silent: number) => void} leave
 * @returns {ReturnType<typeof setInterval>} to be cleared at its end
 */
export function watchLevel(its, { site, frag, part, stats, last }, leave) {
  let most = 0;
  const { url } = part ?? frag ?? {};
  // Once: hosts may take turns from one reload to the next.
  const place = url?.split('?')[0];
  const taken = takenBack.get(its.hls) ?? new Set();
  takenBack.set(its.hls, taken);
  return setInterval(() => {
    const now = performance.now();
    // What comes again after a restart is no progress.
    if (stats.loaded > most) {
      most = stats.loaded;
      last = now;
    }
    const silent = now - last;
    const isLate = silent >= WATCH_MS && frag && !taken.has(place);
    if (isLate && isElsewhere(its.hls, frag.level, hostOf(url))) {
      taken.add(place);
      // As hls.js's own bandwidth rule takes a load back: its level stays, and is asked anew.
      frag.abortRequests();
      its.hls.trigger('hlsFragLoadEmergencyAborted', { frag, part, stats });
      return;
    }
    if (globalThis.navigator?.onLine === false || silent < patience(its, silent)) return;
    if (hasWayOut(its, site)) leave(Math.round(silent));
  }, WATCH_MS);
}

/**
 * Whether hls.js, which goes on waiting for what it has asked for, has the level from another host by now:
 * its audio has failed first, and taken the level along.
 *
 * @param {any} hls
 * @param {number} level
 * @param {string} host
 */
function isElsewhere(hls, level, host) {
  const { fragments = [] } = hls.levels[level]?.details ?? {};
  const isThere = (/** @type {any} */ one) => one && hostOf(one.url) === host;
  return (
    fragments.length > 0 &&
    !fragments.some((/** @type {any} */ one) => isThere(one) || isThere(one.initSegment))
  );
}

/** In milliseconds. @param {Levels} its @param {number} silent */
function patience({ hls: { media }, playlist: { targetDuration = Infinity } }, silent) {
  const span = targetDuration * 1000 * PATIENCE_TARGETS;
  const buffered = media ? bufferAhead(media) * 1000 + silent : Infinity;
  const most = Math.min(span, buffered * PATIENCE_SHARE, MOST_PATIENCE_MS);
  return Math.max(most, LEAST_PATIENCE_MS);
}

/**
 * Whether leaving helps. hls.js looks for another level downwards, and from the lowest it goes to the
 * highest: over a link that hardly gives anything that would be the end. Where the server refuses, and
 * so is there, it is the one way on.
 *
 * @param {Levels} its
 * @param {import('../index.d.ts').Site} site
 */
function hasWayOut({ hls, left, failing }, site) {
  const { levels, loadLevel, minAutoLevel, maxAutoLevel, autoLevelEnabled } = hls;
  if (!autoLevelEnabled || performance.now() - left < LEVEL_PENALTY_MS) return false;
  const isRefused = [...failing()].some(
    (one) => one.site === site && Number(one.lastStatus) >= 400,
  );
  const { audioCodec } = levels[loadLevel] ?? {};
  return levels.some(
    (/** @type {any} */ level, /** @type {number} */ i) =>
      (isRefused ? i !== loadLevel : i < loadLevel) &&
      i >= minAutoLevel &&
      i <= maxAutoLevel &&
      !level.loadError &&
      level.audioCodec === audioCodec,
  );
}
