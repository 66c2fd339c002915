// @ts-check
/**
 * Makes the test stream: an HLS VOD presentation of 20 segments of 2 s, three
 * video renditions and one separate audio rendition, all in fMP4.
 *
 * The picture is small (320x180, 10 frames a second in the middle rendition) so
 * that software decoding stays cheap, and noise is mixed in so that the encoder
 * really needs the bitrate it is given: a segment of the wrong size would make
 * every timing on a shaped link wrong.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { writeManifests } from './manifests.mjs';

const mediaRoot = fileURLToPath(new URL('./media/', import.meta.url));

export const SEGMENTS = 20;
export const SEGMENT_SECONDS = 2;

/** Of every rendition; few, so that software decoding stays cheap. */
export const FRAMES_PER_SECOND = 10;

/** The rendition every measurement is pinned to. */
export const PINNED = 'mid';

const videoRenditions = [
  { name: 'low', width: 192, height: 108, kbps: 300 },
  { name: 'mid', width: 320, height: 180, kbps: 700 },
  { name: 'high', width: 480, height: 270, kbps: 1400 },
];
const AUDIO_KBPS = 64;

/**
 * @typedef {object} Rendition
 * @property {string} name
 * @property {number} width
 * @property {number} height
 * @property {number} kbps
 *
 * @typedef {object} StreamPlan
 * @property {string} folder its name up to a key of its content
 * @property {readonly Rendition[]} renditions
 * @property {number} segments
 */

/** @type {StreamPlan} */
const vod = { folder: 'vod', renditions: videoRenditions, segments: SEGMENTS };

/** Segments may differ from their nominal size by this share (encoder and container overhead). */
const SIZE_TOLERANCE = 0.15;

/**
 * @param {StreamPlan} plan
 * @returns {string[]} the whole ffmpeg command line, which is also the recipe
 */
function recipe({ renditions, segments }) {
  const seconds = segments * SEGMENT_SECONDS;
  const outputs = renditions.map((r) => `[in_${r.name}]`).join('');
  const scales = renditions.map((r) => `[in_${r.name}]scale=${r.width}:${r.height}[${r.name}]`);
  const filter = [
    `[0:v]noise=alls=18:allf=t:all_seed=7,split=${renditions.length}${outputs}`,
    ...scales,
    '[1:a]aformat=channel_layouts=stereo[sound]',
  ].join(';');
  const rates = renditions.flatMap((r, i) => [
    ...[`-b:v:${i}`, `${r.kbps}k`, `-maxrate:v:${i}`, `${r.kbps}k`],
    // Half a second of buffer keeps every segment, also the first, near its nominal size.
    ...[`-bufsize:v:${i}`, `${r.kbps / 2}k`],
  ]);
  const variants = [
    ...renditions.map((r, i) => `v:${i},agroup:audio,name:${r.name}`),
    'a:0,agroup:audio,default:yes,name:audio',
  ].join(' ');
  return [
    ...['-hide_banner', '-loglevel', 'error', '-y'],
    ...['-f', 'lavfi', '-i', `testsrc2=size=640x360:rate=10:duration=${seconds}`],
    // Slightly shorter than the picture: encoder padding would else open one more audio segment.
    ...['-f', 'lavfi', '-i', `sine=frequency=330:sample_rate=48000:duration=${seconds - 0.05}`],
    ...['-filter_complex', filter],
    ...renditions.flatMap((r) => ['-map', `[${r.name}]`]),
    ...['-map', '[sound]'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'main', '-pix_fmt', 'yuv420p'],
    // One key frame per segment, exactly at its start; no B-frames, which would open a hole there.
    ...[
      '-bf',
      '0',
      '-g',
      String(10 * SEGMENT_SECONDS),
      '-keyint_min',
      String(10 * SEGMENT_SECONDS),
    ],
    ...['-sc_threshold', '0', '-threads', '2'],
    ...rates,
    ...['-c:a', 'aac', '-b:a', `${AUDIO_KBPS}k`, '-ac', '2'],
    ...['-f', 'hls', '-hls_time', String(SEGMENT_SECONDS), '-hls_playlist_type', 'vod'],
    ...['-hls_segment_type', 'fmp4', '-hls_flags', 'independent_segments', '-start_number', '1'],
    ...['-master_pl_name', 'main.m3u8', '-var_stream_map', variants],
    ...[
      '-hls_fmp4_init_filename',
      '%v-init.mp4',
      '-hls_segment_filename',
      '%v-%02d.m4s',
      '%v.m3u8',
    ],
  ];
}

/**
 * @param {string[]} args
 * @param {string} cwd
 * @returns {Promise<void>}
 */
function ffmpeg(args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn('ffmpeg', args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk) => (errors += chunk));
    child.on('error', (error) => {
      const missing = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT';
      reject(
        missing ? new Error('ffmpeg was not found; install it to make the test stream') : error,
      );
    });
    child.on('close', (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`ffmpeg failed with code ${code}: ${errors.trim()}`)),
    );
  });
}

/**
 * Every segment has to exist and to be near its nominal size.
 * @param {string} dir
 * @param {StreamPlan} plan
 */
async function checkSizes(dir, { renditions, segments }) {
  for (const { name, kbps } of [...renditions, { name: 'audio', kbps: AUDIO_KBPS }]) {
    const nominal = (kbps * 1000 * SEGMENT_SECONDS) / 8;
    for (let i = 1; i <= segments; i += 1) {
      const file = `${name}-${String(i).padStart(2, '0')}.m4s`;
      const { size } = await stat(path.join(dir, file));
      if (Math.abs(size - nominal) > nominal * SIZE_TOLERANCE) {
        throw new Error(`${file} has ${size} bytes, nominal are ${nominal}`);
      }
    }
  }
  const extra = (await readdir(dir)).filter((file) => file.endsWith(`-${segments + 1}.m4s`));
  if (extra.length > 0) throw new Error(`more than ${segments} segments: ${extra.join(', ')}`);
}

/** @typedef {{ log?: (line: string) => void }} Options */

/** The stream of the lab. @param {Options} [options] */
export function ensureMedia(options) {
  return ensureStream(vod, options);
}

/**
 * Makes a stream unless it is already there.
 * @param {StreamPlan} plan
 * @param {Options} [options]
 * @returns {Promise<{ dir: string, built: boolean }>}
 */
export async function ensureStream(plan, { log = () => {} } = {}) {
  const { folder, renditions, segments } = plan;
  const seconds = segments * SEGMENT_SECONDS;
  const args = recipe(plan);
  const key = createHash('sha256')
    .update(JSON.stringify([args, 'with DASH']))
    .digest('hex')
    .slice(0, 12);
  const dir = path.join(mediaRoot, `${folder}-${key}`);
  if (existsSync(path.join(dir, 'main.m3u8'))) return { dir, built: false };

  const started = performance.now();
  log(`media: making ${seconds} s of HLS, ${renditions.length} video renditions and audio`);
  const building = path.join(mediaRoot, `building-${folder}-${process.pid}`);
  await rm(building, { recursive: true, force: true });
  await mkdir(building, { recursive: true });
  try {
    await ffmpeg(args, building);
    await checkSizes(building, plan);
    const stream = { pinned: PINNED, seconds, segmentSeconds: SEGMENT_SECONDS };
    await writeManifests(building, stream);
    // A rename is atomic: other processes see the whole stream or none of it.
    await rename(building, dir).catch((error) => {
      if (!existsSync(path.join(dir, 'main.m3u8'))) throw error;
    });
  } finally {
    await rm(building, { recursive: true, force: true });
  }
  for (const name of await readdir(mediaRoot)) {
    if (name.startsWith(`${folder}-`) && name !== `${folder}-${key}`) {
      await rm(path.join(mediaRoot, name), { recursive: true, force: true });
    }
  }
  log(`media: done in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return { dir, built: true };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { dir, built } = await ensureMedia({ log: console.log });
  console.log(`${built ? 'made' : 'already there'}: ${dir}`);
}
