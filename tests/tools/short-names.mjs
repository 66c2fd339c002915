// @ts-check
// Shortens the names that the module and its glue share: wasm-bindgen makes them of a prefix, a name
// and a hash, and a name with a number says as much.

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
  let at = 8;
  const number = () => {
    let [value, shift] = [0, 0];
    let byte;
    do {
      byte = wasm[at++];
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte & 128);
    return value >>> 0;
  };
  const text = () => {
    const length = number();
    return Buffer.from(wasm.subarray(at, (at += length))).toString();
  };
  /** @type {number[]} */
  const out = [...wasm.subarray(0, 8)];
  while (at < wasm.length) {
    const section = wasm[at++];
    const length = number();
    const end = at + length;
    /** @type {number[]} */
    let body = [...wasm.subarray(at, end)];
    if (section === IMPORTS || section === EXPORTS) {
      const count = number();
      body = [...leb(count)];
      for (let i = 0; i < count; i += 1) {
        const module = section === IMPORTS ? bytesOf(text()) : [];
        body.push(...module, ...bytesOf(short(text())));
        const from = at;
        const kind = wasm[at++];
        if (section === IMPORTS && kind !== FUNCTION)
          throw new Error('an import that is no function');
        number();
        body.push(...wasm.subarray(from, at));
      }
    }
    out.push(section, ...leb(body.length), ...body);
    at = end;
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
