// @ts-check
/** Bodies as SPF reads them: an iterable of chunks of a least size, to be iterated once. */
import { RESTART } from './transfer.js';

/** SPF's own least size. */
export const MIN_CHUNK_SIZE = 131_072;

/**
 * The chunks of a transfer. Nothing is read before the iteration begins, and leaving it early
 * lets the network go.
 *
 * @param {import('./transfer.js').Transfer} transfer
 * @param {number} minChunkSize in bytes; `Infinity` for all at once, 0 for chunks as they come
 * @returns {AsyncGenerator<Uint8Array, void, undefined>}
 */
export async function* chunksOf(transfer, minChunkSize) {
  let finished = false;
  try {
    /** @type {Uint8Array[]} */
    let pending = [];
    let size = 0;
    for (;;) {
      const chunk = await transfer.read(size < minChunkSize);
      if (chunk === RESTART) {
        pending = [];
        size = 0;
        continue;
      }
      finished = chunk === null;
      if (chunk) {
        pending.push(chunk);
        size += chunk.byteLength;
      }
      if (size > 0 && (finished || size >= minChunkSize)) {
        yield concat(pending, size);
        pending = [];
        size = 0;
      }
      if (finished) return;
    }
  } finally {
    if (!finished) transfer.cancel();
  }
}

/**
 * @param {Uint8Array[]} chunks
 * @param {number} size of all of them, in bytes
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function concat(chunks, size) {
  if (chunks.length === 1) return /** @type {Uint8Array<ArrayBuffer>} */ (chunks[0]);
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
