// @ts-check
/**
 * What hls.js does not do about a gap that no playlist announces: versions before 1.6 get stuck where
 * audio and video are missing together, and none ends a stream whose last segment is a gap. Loaded by
 * `hls.js` when a hole is met.
 */

/** The playhead may come to rest so far before a hole, in seconds. */
const SHORT_S = 0.5;

/** @typedef {{ start: number, end: number, type: string, endList?: boolean }} Frag */

/** @type {WeakMap<object, Set<Frag>>} by player */
const known = new WeakMap();

/**
 * @param {any} hls
 * @param {Frag} frag a gap by now
 */
export function crossHole(hls, frag) {
  if (frag.endList) {
    hls.streamController.fragmentTracker.endListFragments[frag.type] = {
      body: frag,
      buffered: true,
    };
  }
  const holes = known.get(hls) ?? new Set();
  holes.add(frag);
  if (known.has(hls)) return;
  known.set(hls, holes);
  hls.on('hlsManifestLoading', () => holes.clear());
  hls.on('hlsError', (/** @type {string} */ _, /** @type {{ details: string }} */ { details }) => {
    const { media } = hls;
    if (details !== 'bufferStalledError' || !media) return;
    let to = media.currentTime;
    for (const { start, end } of holes) {
      if (to > start - SHORT_S && to < end) to = end;
    }
    if (to !== media.currentTime) media.currentTime = to;
  });
}
