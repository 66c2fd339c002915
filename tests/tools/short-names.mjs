// @ts-check
// Shortens the names that the module and its glue share: wasm-bindgen makes them of a prefix, a name
// and a hash, and a name with a number says as much.

import { Reader } from './leb128.mjs';

const [IMPORTS, EXPORTS] = [2, 7];
const FUNCTION = 0;

/**
 * @param {Uint8Array} wasm
 * @param {string} glue
 * @returns {{ wasm: Uint8Array, glue: string }}
 */
export function shortNames(wasm, glue) {
  /** @type {Map<string, string>} */
  const names = new Map();
  const short = (/** @type {string} */ text) =>
    text.replace(
      /\b(?:__wb\w+?_|wasm_bindgen__\w+_____)(\w+?)_+h?([0-9a-f]{16})\b/g,
      (long, name) => {
        if (!names.has(long)) names.set(long, `${name}_${names.size}`);
        return /** @type {string} */ (names.get(long));
      },
    );
  const ours = short(glue);
  return { wasm: renamed(wasm, short), glue: ours };
}

/** @param {Uint8Array} wasm @param {(name: string) => string} short */
function renamed(wasm, short) {
  const read = new Reader(wasm);
  const text = () => {
    const length = read.number();
    return Buffer.from(wasm.subarray(read.at, (read.at += length))).toString();
  };
  /** @type {number[]} */
  const out = [...wasm.subarray(0, 8)];
  while (read.at < wasm.length) {
    const section = wasm[read.at++];
    const length = read.number();
    const end = read.at + length;
    /** @type {number[]} */
    let body = [...wasm.subarray(read.at, end)];
    if (section === IMPORTS || section === EXPORTS) {
      const count = read.number();
      body = [...leb(count)];
      for (let i = 0; i < count; i += 1) {
        const module = section === IMPORTS ? bytesOf(text()) : [];
        body.push(...module, ...bytesOf(short(text())));
        const from = read.at;
        const kind = wasm[read.at++];
        if (section === IMPORTS && kind !== FUNCTION)
          throw new Error('an import that is no function');
        read.number();
        body.push(...wasm.subarray(from, read.at));
      }
    }
    out.push(section, ...leb(body.length), ...body);
    read.at = end;
  }
  return Uint8Array.from(out);
}

/** @param {string} name */
function bytesOf(name) {
  const bytes = [...Buffer.from(name)];
  return [...leb(bytes.length), ...bytes];
}

/** @param {number} value */
function leb(value) {
  /** @type {number[]} */
  const bytes = [];
  do {
    bytes.push((value & 127) | (value > 127 ? 128 : 0));
    value >>>= 7;
  } while (value);
  return bytes;
}
