// @ts-check
/**
 * Common Encryption (ISO/IEC 23001-7, scheme `cenc`) of fragmented MP4 with H.264: ffmpeg encrypts
 * samples, but up to its version 6 does not write into fragments how.
 */
import { createCipheriv } from 'node:crypto';

/** Boxes within which something changes, and where their children begin. */
const CONTAINERS = /** @type {Record<string, number>} */ ({
  ...{ moov: 8, trak: 8, mdia: 8, minf: 8, stbl: 8, stsd: 16 },
  ...{ moof: 8, traf: 8 },
});
/** Of each NAL unit this stays clear, with its length before it: parsers look at slice headers. */
const CLEAR_BYTES = 36;
const IV_BYTES = 8;
/** `pssh` that names key IDs and no vendor (W3C, "cenc" Initialization Data Format). */
const COMMON_SYSTEM = Buffer.from('1077efecc0b24d02ace33c1e52e2fb4b', 'hex');

/**
 * @param {Buffer} init of one H.264 track
 * @param {Buffer} keyId 16 bytes
 */
export function protectInit(init, keyId) {
  return rebuild(init, (type, bytes) => {
    if (type === 'avc1') return box('encv', bytes.subarray(8), protectionScheme(type, keyId));
    if (type === 'mvex') return Buffer.concat([bytes, keyIdsBox(keyId)]);
    return undefined;
  });
}

/**
 * @param {Buffer} segment one fragment of the track
 * @param {Buffer} key 16 bytes
 * @param {number} number of the segment; no two may have the same with one key
 */
export function protectSegment(segment, key, number) {
  const trun = find(segment, ['moof', 'traf', 'trun']);
  const media = find(segment, ['mdat']).subarray(8);
  /** @type {Buffer[]} */
  const samples = [];
  /** @type {Buffer[]} */
  const infos = [];
  let at = 0;
  for (const [i, size] of sizesOf(trun).entries()) {
    const iv = Buffer.alloc(IV_BYTES);
    iv.writeBigUInt64BE(BigInt(number * 10_000 + i));
    const { data, info } = protectSample(media.subarray(at, (at += size)), key, iv);
    samples.push(data);
    infos.push(info);
  }
  const before = segment.indexOf(trun) - segment.indexOf(find(segment, ['moof']));
  // Behind the header of `senc`, which follows `trun`.
  const boxes = sampleInfoBoxes(infos, before + trun.length + 16);
  return rebuild(segment, (type) => {
    // What it says of sizes is no longer so, and nobody needs it.
    if (type === 'sidx') return Buffer.alloc(0);
    if (type === 'trun') return Buffer.concat([moved(trun, boxes.length), boxes]);
    if (type === 'mdat') return box('mdat', ...samples);
    return undefined;
  });
}

/**
 * AES-CTR runs on over all that is encrypted of a sample.
 *
 * @param {Buffer} sample @param {Buffer} key @param {Buffer} iv
 */
function protectSample(sample, key, iv) {
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.concat([iv, Buffer.alloc(8)]));
  const data = Buffer.from(sample);
  const parts = [];
  for (let at = 0, end; at < sample.length; at = end) {
    end = at + 4 + sample.readUInt32BE(at);
    const clear = Math.min(CLEAR_BYTES, end - at);
    cipher.update(sample.subarray(at + clear, end)).copy(data, at + clear);
    parts.push(Buffer.concat([uint16(clear), uint32(end - at - clear)]));
  }
  return { data, info: Buffer.concat([iv, uint16(parts.length), ...parts]) };
}

/** @param {Buffer[]} infos one a sample @param {number} offset of the first one, in its `moof` */
function sampleInfoBoxes(infos, offset) {
  return Buffer.concat([
    fullBox('senc', 2, uint32(infos.length), ...infos),
    fullBox(
      'saiz',
      0,
      Buffer.from([0]),
      uint32(infos.length),
      Buffer.from(infos.map((i) => i.length)),
    ),
    fullBox('saio', 0, uint32(1), uint32(offset)),
  ]);
}

/** @param {string} format what the samples are once they are decrypted @param {Buffer} keyId */
function protectionScheme(format, keyId) {
  const scheme = fullBox('schm', 0, Buffer.from('cenc'), uint32(0x10000));
  const track = fullBox('tenc', 0, Buffer.from([0, 0, 1, IV_BYTES]), keyId);
  return box('sinf', box('frma', Buffer.from(format)), scheme, box('schi', track));
}

/** @param {Buffer} keyId */
function keyIdsBox(keyId) {
  const version1 = Buffer.from([1, 0, 0, 0]);
  return box('pssh', version1, COMMON_SYSTEM, uint32(1), keyId, uint32(0));
}

/** The sizes of the samples, each of which is said. @param {Buffer} trun */
function sizesOf(trun) {
  const flags = trun.readUInt32BE(8) & 0xffffff;
  if (!(flags & 0x200)) throw new Error('cenc: samples without a size of their own');
  const fields = [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag);
  const first = 16 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
  return Array.from({ length: trun.readUInt32BE(12) }, (_, i) =>
    trun.readUInt32BE(first + 4 * (i * fields.length + fields.indexOf(0x200))),
  );
}

/** The same for media that begins so many bytes later. @param {Buffer} trun @param {number} by */
function moved(trun, by) {
  if (!(trun.readUInt32BE(8) & 1)) throw new Error('cenc: a fragment without a data offset');
  const copy = Buffer.from(trun);
  copy.writeInt32BE(trun.readInt32BE(16) + by, 16);
  return copy;
}

// Boxes.

/** @param {Buffer} bytes @returns {Array<{ type: string, bytes: Buffer }>} */
function boxesOf(bytes) {
  const boxes = [];
  for (let at = 0, end; at < bytes.length; at = end) {
    end = at + bytes.readUInt32BE(at);
    boxes.push({ type: bytes.toString('latin1', at + 4, at + 8), bytes: bytes.subarray(at, end) });
  }
  return boxes;
}

/** @param {Buffer} bytes @param {string[]} path @returns {Buffer} */
function find(bytes, [type, ...rest]) {
  const found = boxesOf(bytes).find((box) => box.type === type);
  if (!found) throw new Error(`cenc: no ${type}`);
  return rest.length ? find(found.bytes.subarray(CONTAINERS[type]), rest) : found.bytes;
}

/**
 * @param {Buffer} bytes
 * @param {(type: string, bytes: Buffer) => Buffer | undefined} change what a box becomes
 * @returns {Buffer}
 */
function rebuild(bytes, change) {
  const rebuilt = boxesOf(bytes).map(({ type, bytes }) => {
    const changed = change(type, bytes);
    const head = CONTAINERS[type];
    if (changed || !head) return changed ?? bytes;
    return box(type, bytes.subarray(8, head), rebuild(bytes.subarray(head), change));
  });
  return Buffer.concat(rebuilt);
}

/** @param {string} type @param {...Buffer} parts */
function box(type, ...parts) {
  const body = Buffer.concat(parts);
  return Buffer.concat([uint32(8 + body.length), Buffer.from(type), body]);
}

/** @param {string} type @param {number} flags @param {...Buffer} parts */
const fullBox = (type, flags, ...parts) => box(type, uint32(flags), ...parts);

/** @param {number} value */
function uint16(value) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

/** @param {number} value */
function uint32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
