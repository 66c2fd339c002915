// @ts-check
/** Reads the generated playlists back: which files there are, how long and how large. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { PINNED } from './media.mjs';

/**
 * @typedef {{ file: string, bytes: number, seconds: number, availableMs?: number }} StoredSegment
 *   availableMs: in a live stream, when it is there
 * @typedef {{ playlist: { file: string, bytes: number }, init: { file: string, bytes: number }, segments: StoredSegment[] }} Track
 * @typedef {{ main: { file: string, bytes: number }, tracks: Track[] }} Stream
 */

/**
 * The stream as a player pinned to one video rendition sees it.
 * @param {string} dir
 * @returns {Promise<Stream>}
 */
export async function readStream(dir) {
  return {
    main: await sized(dir, 'main.m3u8'),
    tracks: await Promise.all([readTrack(dir, `${PINNED}.m3u8`), readTrack(dir, 'audio.m3u8')]),
  };
}

/**
 * @param {string} dir
 * @param {string} file
 */
async function sized(dir, file) {
  return { file, bytes: (await stat(path.join(dir, file))).size };
}

/**
 * @param {string} dir
 * @param {string} playlist
 * @returns {Promise<Track>}
 */
async function readTrack(dir, playlist) {
  const text = await readFile(path.join(dir, playlist), 'utf8');
  const init = /#EXT-X-MAP:URI="([^"]+)"/.exec(text)?.[1];
  if (!init) throw new Error(`${playlist} has no EXT-X-MAP`);
  const segments = [...text.matchAll(/#EXTINF:([\d.]+),[^\n]*\n([^#\n]+)/g)].map(
    async ([, seconds, file]) => ({ ...(await sized(dir, file.trim())), seconds: Number(seconds) }),
  );
  return {
    playlist: await sized(dir, playlist),
    init: await sized(dir, init),
    segments: await Promise.all(segments),
  };
}
