// @ts-check
/**
 * The other manifests of the test stream: DASH beside HLS, over the very same segments, and both
 * with the pinned rendition alone, for measurements that no bitrate switch may disturb.
 *
 *   main.m3u8, main.mpd      three video renditions and audio
 *   pinned.m3u8, pinned.mpd  the pinned one and audio
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * @param {string} dir where the HLS stream is
 * @param {{ pinned: string, seconds: number, segmentSeconds: number }} stream
 */
export async function writeManifests(dir, { pinned, seconds, segmentSeconds }) {
  const master = await readFile(path.join(dir, 'main.m3u8'), 'utf8');
  const variants = variantsOf(master);
  const chosen = variants.filter(({ name }) => name === pinned);
  const mpd = (/** @type {Variant[]} */ from) => dashManifest(from, { seconds, segmentSeconds });
  await Promise.all([
    writeFile(path.join(dir, 'pinned.m3u8'), pinnedPlaylist(master, pinned)),
    writeFile(path.join(dir, 'main.mpd'), mpd(variants)),
    writeFile(path.join(dir, 'pinned.mpd'), mpd(chosen)),
  ]);
}

/**
 * @typedef {object} Variant
 * @property {string} name
 * @property {number} bandwidth bit/s
 * @property {number} width
 * @property {number} height
 * @property {string} video its codec
 * @property {string} audio its codec
 */

/** @param {string} master @returns {Variant[]} */
function variantsOf(master) {
  const pattern = /#EXT-X-STREAM-INF:([^\n]+)\n([\w-]+)\.m3u8/g;
  return [...master.matchAll(pattern)].map(([, attributes, name]) => {
    const [, bandwidth] = /BANDWIDTH=(\d+)/.exec(attributes) ?? [];
    const [, width, height] = /RESOLUTION=(\d+)x(\d+)/.exec(attributes) ?? [];
    const [, video, audio] = /CODECS="([^",]+),([^"]+)"/.exec(attributes) ?? [];
    if (!bandwidth || !width || !video || !audio) throw new Error(`odd variant: ${attributes}`);
    const numbers = { bandwidth: Number(bandwidth), width: Number(width), height: Number(height) };
    return { name, ...numbers, video, audio };
  });
}

/** The multivariant playlist without the other variants. @param {string} master @param {string} pinned */
function pinnedPlaylist(master, pinned) {
  return master.replace(/#EXT-X-STREAM-INF:[^\n]+\n([\w-]+)\.m3u8\n+/g, (all, name) =>
    name === pinned ? all : '',
  );
}

/**
 * @param {Variant[]} variants
 * @param {{ seconds: number, segmentSeconds: number }} stream
 */
function dashManifest(variants, { seconds, segmentSeconds }) {
  const template = `<SegmentTemplate timescale="1000" duration="${segmentSeconds * 1000}" startNumber="1"
        initialization="$RepresentationID$-init.mp4" media="$RepresentationID$-$Number%02d$.m4s" />`;
  const video = variants.map(
    ({ name, bandwidth, width, height, video }) =>
      `<Representation id="${name}" bandwidth="${bandwidth}" width="${width}" height="${height}" codecs="${video}" />`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" minBufferTime="PT2S"
  profiles="urn:mpeg:dash:profile:isoff-live:2011" mediaPresentationDuration="PT${seconds}S">
  <Period id="0" start="PT0S">
    <AdaptationSet id="0" contentType="video" mimeType="video/mp4" segmentAlignment="true" startWithSAP="1">
      ${template}
      ${video.join('\n      ')}
    </AdaptationSet>
    <AdaptationSet id="1" contentType="audio" mimeType="audio/mp4" lang="en" segmentAlignment="true" startWithSAP="1">
      ${template}
      <Representation id="audio" bandwidth="70000" audioSamplingRate="48000" codecs="${variants[0].audio}" />
    </AdaptationSet>
  </Period>
</MPD>
`;
}
