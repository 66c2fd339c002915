// @ts-check
/** What becomes of a segment that a server does not have. Loaded where one is missing. */

/** @typedef {import('shaka-player').default.extern.RequestContext} RequestContext */
/** @typedef {import('shaka-player').default.extern.Stream} Stream */
/** @typedef {import('./shaka.d.ts').ShakaPlayer} ShakaPlayer */

/**
 * An empty answer in place of a segment that is lost for good, where nothing but leaving it out
 * helps: Shaka takes it for done, and playback jumps over the gap.
 *
 * @param {ShakaPlayer} player
 * @param {RequestContext} context
 */
export function emptySegment(player, { segment, stream }) {
  // What Shaka converts cannot be empty.
  if (!segment || !stream || !/^(audio|video)\/(mp4|webm)/.test(stream.mimeType)) return undefined;
  const { abr, manifest } = player.getConfiguration();
  const [from, to] = [segment.getStartTime(), segment.getEndTime()];
  // At the live edge it may come yet.
  if (player.isLive() && to + (to - from) > player.seekRange().end) return undefined;
  if (abr.enabled && hasTwin(player.getVariantTracks(), stream)) return undefined;
  console.warn(`[holdfast] ${stream.type} from ${from} to ${to} s is left out: it is not there`);
  const protocol = /** @type {'dash' | 'hls'} */ (player.getManifestType()?.toLowerCase());
  const response = { data: new ArrayBuffer(0), status: 404, headers: {}, timeMs: 0 };
  return {
    /** Whether what follows is appended to what is there, wherever it belongs. */
    isTorn: Boolean(manifest[protocol]?.sequenceMode),
    response: { ...response, fromCache: true },
  };
}

/**
 * Whether Shaka has another stream to turn to for what this one lacks.
 *
 * @param {ReturnType<ShakaPlayer['getVariantTracks']>} tracks
 * @param {Stream} stream
 */
function hasTwin(tracks, { id, language, type }) {
  return tracks.some(({ videoId, audioId, language: spoken }) =>
    type === 'video'
      ? videoId !== null && videoId !== id
      : audioId !== null && audioId !== id && spoken === language,
  );
}
