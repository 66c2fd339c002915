// @ts-check
/**
 * Chunks as one. A single one is passed on as it is.
 *
 * @param {Uint8Array[]} chunks
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function concat(chunks) {
  if (chunks.length === 1) return /** @type {Uint8Array<ArrayBuffer>} */ (chunks[0]);
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
