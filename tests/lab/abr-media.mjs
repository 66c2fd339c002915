// @ts-check
/**
 * The stream of measurements in which the player chooses the bitrate: four video renditions and
 * audio, as main.m3u8 and main.mpd.
 *
 * The lowest one just fits the slowest recorded links, the highest needs what half of them have.
 */
import { SEGMENT_SECONDS, ensureStream } from './media.mjs';

export const RENDITIONS = [
  { name: 'low', width: 192, height: 108, kbps: 300 },
  { name: 'mid', width: 320, height: 180, kbps: 700 },
  { name: 'high', width: 480, height: 270, kbps: 1500 },
  { name: 'top', width: 640, height: 360, kbps: 3000 },
];

export const ABR_SECONDS = 60;

/**
 * Makes it unless it is already there.
 * @param {import('./media.mjs').Options} [options]
 */
export function ensureAbrMedia(options) {
  const segments = ABR_SECONDS / SEGMENT_SECONDS;
  return ensureStream({ folder: 'abr', renditions: RENDITIONS, segments }, options);
}
