// @ts-check
/**
 * The beginning of the test stream, encrypted: with Common Encryption, for key systems, and whole
 * segments with AES-128, as HLS has it. Only the picture is encrypted.
 *
 *   cenc.m3u8, cenc.mpd      mid-init.mp4, mid-01.m4s …     its key is KEY, known as KEY_ID
 *   aes128.m3u8              aes-mid.m3u8, aes-01.m4s …     its key is the file aes128.key
 */
import { createCipheriv, createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { protectInit, protectSegment } from './cenc.mjs';
import { ensureMedia, PINNED, SEGMENTS, SEGMENT_SECONDS } from './media.mjs';

const mediaRoot = fileURLToPath(new URL('./media/', import.meta.url));

/** Raised when what is made here changes. */
const VERSION = 1;
/** Segments that are kept of the stream. */
export const PROTECTED_SEGMENTS = 4;
export const KEY = Buffer.from('9eb4f15cd2a6438e8f1b75d03c20a9e7', 'hex');
export const KEY_ID = Buffer.from('6f7b25a8c1944ed2b3089d5ea47c610f', 'hex');

/** What a ClearKey license server answers (W3C EME, 9.1.4). */
export const CLEARKEY_LICENSE = JSON.stringify({
  keys: [{ kty: 'oct', kid: KEY_ID.toString('base64url'), k: KEY.toString('base64url') }],
  type: 'temporary',
});

/**
 * Makes the encrypted stream unless it is already there.
 *
 * @param {{ log?: (line: string) => void }} [options]
 * @returns {Promise<{ dir: string, built: boolean }>}
 */
export async function ensureProtectedMedia({ log = () => {} } = {}) {
  const { dir: from } = await ensureMedia({ log });
  const recipe = [VERSION, path.basename(from), PROTECTED_SEGMENTS, KEY, KEY_ID];
  const key = createHash('sha256').update(JSON.stringify(recipe)).digest('hex').slice(0, 12);
  const dir = path.join(mediaRoot, `protected-${key}`);
  if (existsSync(path.join(dir, 'cenc.m3u8'))) return { dir, built: false };

  const building = path.join(mediaRoot, `building-protected-${process.pid}`);
  await rm(building, { recursive: true, force: true });
  await mkdir(building, { recursive: true });
  try {
    await writeSegments(from, building);
    await writePlaylists(from, building);
    // A rename is atomic: other processes see the whole stream or none of it.
    await rename(building, dir).catch((error) => {
      if (!existsSync(path.join(dir, 'cenc.m3u8'))) throw error;
    });
  } finally {
    await rm(building, { recursive: true, force: true });
  }
  for (const name of await readdir(mediaRoot)) {
    if (name.startsWith('protected-') && name !== `protected-${key}`) {
      await rm(path.join(mediaRoot, name), { recursive: true, force: true });
    }
  }
  log('media: the protected stream is made');
  return { dir, built: true };
}

/** @param {string} from @param {string} to */
async function writeSegments(from, to) {
  const read = (/** @type {string} */ file) => readFile(path.join(from, file));
  const write = (/** @type {string} */ file, /** @type {Buffer} */ data) =>
    writeFile(path.join(to, file), data);
  const copy = (/** @type {string} */ file, as = file) =>
    copyFile(path.join(from, file), path.join(to, as));

  const init = `${PINNED}-init.mp4`;
  await write(init, protectInit(await read(init), KEY_ID));
  await copy(init, 'aes-init.mp4');
  await copy('audio-init.mp4');
  await write('aes128.key', KEY);
  for (let i = 1; i <= PROTECTED_SEGMENTS; i += 1) {
    const number = String(i).padStart(2, '0');
    const segment = await read(`${PINNED}-${number}.m4s`);
    await write(`${PINNED}-${number}.m4s`, protectSegment(segment, KEY, i));
    // The IV is the segment's number in the playlist (RFC 8216, 5.2).
    const iv = Buffer.alloc(16);
    iv.writeUInt32BE(i, 12);
    const cipher = createCipheriv('aes-128-cbc', KEY, iv);
    await write(`aes-${number}.m4s`, Buffer.concat([cipher.update(segment), cipher.final()]));
    await copy(`audio-${number}.m4s`);
  }
}

/** @param {string} from @param {string} to */
async function writePlaylists(from, to) {
  const read = (/** @type {string} */ file) => readFile(path.join(from, file), 'utf8');
  const write = (/** @type {string} */ file, /** @type {string} */ text) =>
    writeFile(path.join(to, file), text);

  const video = shortened(await read(`${PINNED}.m3u8`));
  const keyed = (/** @type {string} */ attributes) =>
    // Behind the map, which AES-128 would cover too.
    video.replace(/#EXT-X-MAP:.+\n/, (map) => `${map}#EXT-X-KEY:${attributes}\n`);
  const cenc = [
    'METHOD=SAMPLE-AES-CTR',
    'KEYFORMAT="org.w3.clearkey"',
    'KEYFORMATVERSIONS="1"',
    `KEYID=0x${KEY_ID.toString('hex')}`,
    'URI="urn:holdfast:test-key"',
  ];
  await write(`${PINNED}.m3u8`, keyed(cenc.join(',')));
  await write(
    'aes-mid.m3u8',
    keyed('METHOD=AES-128,URI="aes128.key"').replaceAll(`${PINNED}-`, 'aes-'),
  );
  await write('audio.m3u8', shortened(await read('audio.m3u8')));

  const master = await read('pinned.m3u8');
  await write('cenc.m3u8', master);
  await write('aes128.m3u8', master.replace(`${PINNED}.m3u8`, 'aes-mid.m3u8'));
  await write('cenc.mpd', protectedManifest(await read('pinned.mpd')));
}

/** A media playlist with the first segments alone. @param {string} playlist */
function shortened(playlist) {
  const [head, ...segments] = playlist.split(/(?=#EXTINF)/);
  return `${[head, ...segments.slice(0, PROTECTED_SEGMENTS)].join('').replace(/#EXT-X-ENDLIST\s*/, '')}#EXT-X-ENDLIST\n`;
}

/** @param {string} manifest */
function protectedManifest(manifest) {
  const uuid = KEY_ID.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  const protection = `<ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cenc"
        xmlns:cenc="urn:mpeg:cenc:2013" cenc:default_KID="${uuid}" />
      <ContentProtection schemeIdUri="urn:uuid:e2719d58-a985-b3c9-781a-b030af78d30e" value="ClearKey1.0" />`;
  const duration = (/** @type {number} */ segments) =>
    `Duration="PT${segments * SEGMENT_SECONDS}S"`;
  return manifest
    .replace(duration(SEGMENTS), duration(PROTECTED_SEGMENTS))
    .replace(/(<AdaptationSet[^>]*contentType="video"[^>]*>)/, `$1\n      ${protection}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { dir, built } = await ensureProtectedMedia({ log: console.log });
  console.log(`${built ? 'made' : 'already there'}: ${dir}`);
}
