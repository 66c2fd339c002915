// @ts-check
// Blanks what nobody reads any more: the texts and places of panics, whose code shrink.mjs has cut
// out. Nothing changes its length or its place; zeros compress to nothing.

import { Reader } from './leb128.mjs';

/** Source files, and the words of Rust's own panics. Nothing of ours reads like one of these. */
const TEXTS = [
  /(?:\/rustc\/[0-9a-f]{40}\/|index\.crates\.io-[0-9a-f]+\/|src\/(?:core|web)\/)[\w/.-]+?\.rs/g,
  /(?:called `|closure invoked|index out of bounds|slice index|range (?:start|end)|removal index|attempt(?:ed)? to|assertion failed|RefCell already|recursive use|null pointer passed|FnOnce called|mid > len|Tried to shrink|capacity overflow|internal error)[\x20-\x7e]*/g,
  /(?: but the index is | out of range for slice| should be < len )[\x20-\x7e]*/g,
  /(?:\d\d){100}/g,
];

/**
 * @param {Uint8Array} wasm
 * @returns {Uint8Array} the same bytes, changed in place
 */
export function blankPanics(wasm) {
  for (const { start, end, address } of segmentsOf(wasm)) {
    const data = wasm.subarray(start, end);
    const text = Buffer.from(data).toString('latin1');
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    for (const [index, pattern] of TEXTS.entries()) {
      for (const match of text.matchAll(pattern)) {
        data.fill(0, match.index, match.index + match[0].length);
        // A place in the source is its file's text, a line and a column.
        if (index === 0) blankPlaces(view, data, address + match.index, match[0].length);
      }
    }
  }
  return wasm;
}

/** @param {DataView} view @param {Uint8Array} data @param {number} file @param {number} length */
function blankPlaces(view, data, file, length) {
  for (let at = 0; at + 16 <= data.length; at += 4) {
    const isOne = view.getUint32(at, true) === file && view.getUint32(at + 4, true) === length;
    if (isOne) data.fill(0, at, at + 16);
  }
}

/** The active data segments: where they stand in the file, and in memory. @param {Uint8Array} wasm */
function segmentsOf(wasm) {
  const read = new Reader(wasm);
  /** @type {Array<{ start: number, end: number, address: number }>} */
  const segments = [];
  while (read.at < wasm.length) {
    const section = wasm[read.at++];
    const length = read.number();
    const next = read.at + length;
    if (section === 11) {
      for (let count = read.number(); count > 0; count -= 1) {
        if (read.number() !== 0) throw new Error('a data segment that is not simply active');
        read.at += 1; // i32.const
        const address = read.number();
        read.at += 1; // end
        const size = read.number();
        segments.push({ start: read.at, end: read.at + size, address });
        read.at += size;
      }
    }
    read.at = next;
  }
  return segments;
}
