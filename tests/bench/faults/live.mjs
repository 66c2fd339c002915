// @ts-check
/**
 * The stream as a live one: of the 20 segments six are there at the beginning, and every two
 * seconds there is one more. Playlists show the last six. After 28 s the broadcast is over.
 */
import { SEGMENTS, SEGMENT_SECONDS } from '../../lab/media.mjs';

const WINDOW = 6;
const SEGMENT_MS = SEGMENT_SECONDS * 1000;

/** Players begin three segments behind the edge, or are told to. */
const BEHIND = 3;

/** @param {number} clock ms @returns {number} how many segments there are */
const countAt = (clock) => Math.min(SEGMENTS, WINDOW + Math.floor(clock / SEGMENT_MS));

/** @type {import('../../lab/session.mjs').Rewrite} */
export function live(name, file, session) {
  if (!file) return file;
  const clock = session.clock();
  const count = countAt(clock);
  const [, number] = /-(\d+)\.m4s$/.exec(name) ?? [];
  if (number !== undefined) return Number(number) <= count ? file : null;
  const text = file.data.toString();
  if (/^(mid|audio)\.m3u8$/.test(name)) return changing(file, hlsWindow(text, count));
  if (name === 'pinned.mpd') return changing(file, dashWindow(text, count, clock));
  return file;
}

/**
 * @param {import('../../lab/files.mjs').StoredFile} file
 * @param {string} text
 */
function changing(file, text) {
  const data = Buffer.from(text);
  return { ...file, data, etag: `"live-${data.length}-${text.length}"`, changes: true };
}

/** @param {string} playlist @param {number} count */
function hlsWindow(playlist, count) {
  const segments = playlist.match(/#EXTINF:[^\n]*\n[^\n#]+\n/g) ?? [];
  const head = playlist
    .slice(0, playlist.indexOf('#EXTINF'))
    .replace(/#EXT-X-PLAYLIST-TYPE:VOD\n/, '')
    .replace(/(#EXT-X-MEDIA-SEQUENCE:)\d+/, `$1${count - WINDOW + 1}`);
  const end = count === SEGMENTS ? '#EXT-X-ENDLIST\n' : '';
  return head + segments.slice(count - WINDOW, count).join('') + end;
}

/** @param {string} mpd @param {number} count @param {number} clock ms */
function dashWindow(mpd, count, clock) {
  // Over: it is a recording, of which all is there.
  if (count === SEGMENTS) return mpd;
  const begun = new Date(Date.now() - clock - WINDOW * SEGMENT_MS).toISOString();
  const now = new Date().toISOString();
  const timing = `<UTCTiming schemeIdUri="urn:mpeg:dash:utc:direct:2014" value="${now}" />`;
  return mpd
    .replace('</MPD>', `  ${timing}\n</MPD>`)
    .replace('type="static"', 'type="dynamic"')
    .replace(
      / mediaPresentationDuration="[^"]+"/,
      ` availabilityStartTime="${begun}" publishTime="${now}"` +
        ` minimumUpdatePeriod="PT${SEGMENT_SECONDS}S"` +
        ` timeShiftBufferDepth="PT${WINDOW * SEGMENT_SECONDS}S"` +
        ` suggestedPresentationDelay="PT${BEHIND * SEGMENT_SECONDS}S"`,
    );
}

/**
 * What there is to be had, and when, for the perfect client.
 * @param {import('../../lab/playlist.mjs').Stream} stream
 * @returns {import('../../lab/playlist.mjs').Stream}
 */
export function published(stream) {
  return {
    ...stream,
    tracks: stream.tracks.map((track) => ({
      ...track,
      segments: track.segments
        .map((segment, i) => ({
          ...segment,
          availableMs: Math.max(0, i + 1 - WINDOW) * SEGMENT_MS,
        }))
        .slice(WINDOW - BEHIND),
    })),
  };
}
