// @ts-check
// Shortens the names that the module and its glue share to a letter or two. A comment in the glue
// keeps what an import was called, for whoever reads it and for tests/tools/imports.mjs.

import { Reader } from './leb128.mjs';

const [IMPORTS, EXPORTS] = [2, 7];
const FUNCTION = 0;
/** What the glue's users know by its name. */
const KEPT = ['memory'];
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/**
 * @param {Uint8Array} wasm
 * @param {string} glue
 * @returns {{ wasm: Uint8Array, glue: string }}
 */
export function shortNames(wasm, glue) {
  const module = new WebAssembly.Module(/** @type {BufferSource} */ (wasm));
  const imports = shortened(WebAssembly.Module.imports(module));
  const exports = shortened(WebAssembly.Module.exports(module));
  const modules = new Map(WebAssembly.Module.imports(module).map((i) => [i.module, '.']));
  const ours = glue
    .replace(/(['"])(\S+?)\1: /g, (whole, quote, name) =>
      modules.has(name) ? `${quote}.${quote}: ` : whole,
    )
    .replace(/^( *)(\w+): /gm, (whole, indent, name) =>
      imports.has(name) ? `${indent}${imports.get(name)} /* ${wordOf(name)} */: ` : whole,
    )
    .replace(/\bwasm\.(\w+)/g, (whole, name) =>
      exports.has(name) ? `wasm.${exports.get(name)}` : whole,
    );
  return { wasm: renamed(wasm, imports, exports, modules), glue: ours };
}

/** The short name of each. @param {Array<{ name: string }>} named @returns {Map<string, string>} */
function shortened(named) {
  const names = named.map(({ name }) => name).filter((name) => !KEPT.includes(name));
  return new Map(names.map((name, i) => [name, letters(i)]));
}

/** @param {number} i @returns {string} */
function letters(i) {
  const rest = Math.floor(i / LETTERS.length);
  return (rest ? letters(rest - 1) : '') + LETTERS[i % LETTERS.length];
}

/** What wasm-bindgen makes a name of, without its prefix and its hash. @param {string} name */
function wordOf(name) {
  return name.replace(/^__wb[a-z]+_(\w+?)_[0-9a-f]{16}$/, '$1');
}

/**
 * @param {Uint8Array} wasm
 * @param {Array<Map<string, string>>} maps of the imports, the exports, and the imports' modules
 */
function renamed(wasm, ...[imports, exports, modules]) {
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
        const module = section === IMPORTS ? bytesOf(from(modules, text())) : [];
        body.push(...module, ...bytesOf(from(section === IMPORTS ? imports : exports, text())));
        const start = read.at;
        const kind = wasm[read.at++];
        if (section === IMPORTS && kind !== FUNCTION)
          throw new Error('an import that is no function');
        read.number();
        body.push(...wasm.subarray(start, read.at));
      }
    }
    out.push(section, ...leb(body.length), ...body);
    read.at = end;
  }
  return Uint8Array.from(out);
}

/** @param {Map<string, string>} names @param {string} name */
function from(names, name) {
  return names.get(name) ?? name;
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
