// @ts-check
/**
 * Containers, by their bytes: how they start, and whether their last box is whole. Imported where
 * somebody needs it: where no length is known, or a site names its container.
 */
/**
 * How each container starts, told by its first bytes and by the text that they are behind white
 * space; and how many bytes that takes, where it is more than usual.
 *
 * @typedef {object} Container
 * @property {(start: Uint8Array, text: string) => boolean} starts
 * @property {number} [packet] in bytes: there are whole ones
 */

/** @type {Record<string, Container>} */
export const CONTAINERS = {
  // RFC 8216, 4.1: first of all; white space before it harms no parser that is in use.
  hls: { starts: (_, text) => text.startsWith('#EXTM3U') },
  webvtt: { starts: (start) => /^(ï»¿)?WEBVTT/.test(word(start.subarray(0, 9))) },
  'mpeg-ts': { starts: (start) => start[0] === 0x47 && (start[188] ?? 0x47) === 0x47, packet: 188 },
  mp4: { starts: (start) => FIRST_BOX.test(word(start.subarray(4, 8))) },
};

const word = (/** @type {Uint8Array} */ bytes) => String.fromCharCode(...bytes);

/** What a file or a segment may begin with (ISO/IEC 14496-12). */
const FIRST_BOX = /^(ftyp|styp|moof|moov|sidx|ssix|emsg|prft|free|skip|mdat|pdin|uuid|wide|mfra)$/;
const MOOF = 0x6d6f_6f66;
const MDAT = 0x6d64_6174;

/**
 * Walks the top-level boxes of an ISO-BMFF body (ISO/IEC 14496-12, 4.2) by their headers. What
 * does not start like one, or makes no sense later, is not judged.
 */
export class Boxes {
  #header = new DataView(new ArrayBuffer(16));
  /** Bytes of the header that are there. */
  #have = 0;
  /** Bytes of the box under way that are still to come. */
  #left = 0;
  #isFirst = true;
  /** Whether the last fragment has no media data yet. */
  #isOpen = false;
  #isOver = false;

  /** Whether the body must not end here. */
  get isCut() {
    // The first header begins with a zero in all that is of a sane size, and nothing else does.
    const isOther = this.#isFirst && this.#header.getUint8(0) > 0;
    const isWithin = this.#have > 0 || this.#left > 0 || this.#isOpen;
    return isWithin && !isOther && !this.#isOver;
  }

  /** @param {Uint8Array} chunk */
  push(chunk) {
    for (let at = 0; at < chunk.byteLength && !this.#isOver;) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, chunk.byteLength - at);
        this.#left -= step;
        at += step;
      } else {
        this.#header.setUint8(this.#have, chunk[at]);
        this.#have += 1;
        at += 1;
        if (this.#have >= 8) this.#enter();
      }
    }
  }

  /** A header may be complete. */
  #enter() {
    const header = this.#header;
    const have = this.#have;
    const type = header.getUint32(4);
    if (this.#isFirst && !FIRST_BOX.test(word(new Uint8Array(header.buffer, 4, 4)))) {
      this.#isOver = true;
      return;
    }
    this.#isFirst = false;
    let size = header.getUint32(0);
    if (size === 1) {
      if (have < 16) return;
      size = header.getUint32(8) * 2 ** 32 + header.getUint32(12);
    }
    // 0 is to the end of the body; other sizes below that of the header mean nothing.
    this.#isOver = size < have;
    this.#isOpen = type === MOOF || (this.#isOpen && type !== MDAT);
    this.#left = size - have;
    this.#have = 0;
  }
}
