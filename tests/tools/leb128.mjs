// @ts-check

/** Reads a WebAssembly binary number by number (WebAssembly core, 5.2.2, "LEB128"). */
export class Reader {
  /** Where the next byte stands; behind the magic number and the version at first. */
  at = 8;
  /** @param {Uint8Array} wasm */
  constructor(wasm) {
    this.wasm = wasm;
  }

  /** An unsigned number of up to 32 bits. */
  number() {
    let [value, shift] = [0, 0];
    let byte;
    do {
      byte = this.wasm[this.at++];
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte & 128);
    return value >>> 0;
  }
}
