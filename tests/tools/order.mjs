// @ts-check
// Puts functions that are alike beside each other: the nearer a repetition, the fewer bits it takes
// a compressor to point to it.

import binaryen from 'binaryen';
import { Reader } from './leb128.mjs';

const [CUSTOM, IMPORTS, CODE] = [0, 2, 10];
const FUNCTION_NAMES = 1;
/** Functions are alike where they have runs of so many bytes in common. */
const RUN = 4;

/**
 * @param {Uint8Array} wasm
 * @returns {Uint8Array} the same module, its functions in another order
 */
export function reorder(wasm) {
  const { imports, bodies } = functionsOf(wasm);
  const module = binaryen.readBinary(named(wasm, imports, chain(bodies)));
  try {
    module.runPasses(['reorder-functions-by-name']);
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}

/**
 * The longest first; after each, of those that are left, the one that is most like it for its length.
 *
 * @param {Uint8Array[]} bodies
 * @returns {number[]} their indices
 */
export function chain(bodies) {
  const runs = bodies.map(runsOf);
  /** @type {Map<number, number>} how many have this run */
  const common = new Map();
  for (const run of runs.flatMap((set) => [...set])) common.set(run, (common.get(run) ?? 0) + 1);
  /** A run says the less, the more have it. @param {number} one @param {number} other */
  const likeness = (one, other) => {
    let sum = 0;
    for (const run of runs[other]) {
      if (runs[one].has(run)) sum += 1 / Math.log2(1 + /** @type {number} */ (common.get(run)));
    }
    return sum / bodies[other].length;
  };
  const left = new Set(bodies.keys());
  const order = [];
  let next = best(left, (index) => bodies[index].length);
  while (next !== undefined) {
    const last = next;
    order.push(last);
    left.delete(last);
    next = best(left, (index) => likeness(last, index));
  }
  return order;
}

/** The first with the highest score. @param {Iterable<number>} all @param {(one: number) => number} score */
function best(all, score) {
  /** @type {number | undefined} */
  let found;
  let highest = -Infinity;
  for (const one of all) {
    const its = score(one);
    if (its > highest) [found, highest] = [one, its];
  }
  return found;
}

/** @param {Uint8Array} bytes @returns {Set<number>} */
function runsOf(bytes) {
  const runs = new Set();
  for (let at = 0; at + RUN <= bytes.length; at += 1) {
    runs.add(bytes.subarray(at, at + RUN).reduce((run, byte) => run * 256 + byte, 0));
  }
  return runs;
}

/** How many functions are imported, and the code of the others. @param {Uint8Array} wasm */
function functionsOf(wasm) {
  const read = new Reader(wasm);
  let imports = 0;
  /** @type {Uint8Array[]} */
  const bodies = [];
  while (read.at < wasm.length) {
    const section = wasm[read.at++];
    const length = read.number();
    const next = read.at + length;
    // Only functions are imported (short-names.mjs sees to it).
    if (section === IMPORTS) imports = read.number();
    if (section === CODE) {
      for (let count = read.number(); count > 0; count -= 1) {
        const size = read.number();
        bodies.push(wasm.subarray(read.at, (read.at += size)));
      }
    }
    read.at = next;
  }
  return { imports, bodies };
}

/**
 * With a name section by which each function is called after its place.
 *
 * @param {Uint8Array} wasm
 * @param {number} imports
 * @param {number[]} order
 */
function named(wasm, imports, order) {
  const places = new Map(order.map((index, place) => [index, place]));
  const names = order.map((_, index) => [
    ...padded(imports + index),
    ...text(String(places.get(index)).padStart(5, '0')),
  ]);
  const table = [...padded(names.length), ...names.flat()];
  const body = [...text('name'), FUNCTION_NAMES, ...padded(table.length), ...table];
  return Uint8Array.from([...wasm, CUSTOM, ...padded(body.length), ...body]);
}

/** @param {string} words */
function text(words) {
  return [...padded(words.length), ...Buffer.from(words)];
}

/** A number in LEB128, in three bytes whatever its size. @param {number} value */
function padded(value) {
  return [(value & 127) | 128, ((value >>> 7) & 127) | 128, (value >>> 14) & 127];
}
