// @ts-check
/** Bodies as SPF reads them: an iterable of chunks of a least size, to be iterated once. */
import { concat } from './bytes.js';
import { RESTART } from './transfer.js';

/** SPF's own least size. */
export const MIN_CHUNK_SIZE = 131_072;

/**
 * The chunks of a transfer. Nothing is read before the iteration begins, and leaving it early,
 * or not beginning it, lets the network go.
 *
 * @param {import('./transfer.js').Transfer} transfer
 * @param {number} minChunkSize in bytes; `Infinity` for all at once, 0 for chunks as they come
 * @returns {import('./index.d.ts').Chunks}
 */
export function chunksOf(transfer, minChunkSize) {
  const chunks = generate(transfer, minChunkSize);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    isRepeat: () => transfer.isRepeat,
    next: () => chunks.next(),
    return() {
      transfer.cancel();
      return /** @type {Promise<any>} */ (chunks.return());
    },
  };
}

/**
 * @param {import('./transfer.js').Transfer} transfer
 * @param {number} minChunkSize
 * @returns {AsyncGenerator<Uint8Array, void, undefined>}
 */
async function* generate(transfer, minChunkSize) {
  for (let done = false; !done;) {
    /** @type {Uint8Array[]} */
    let pending = [];
    let size = 0;
    do {
      const chunk = await transfer.read(minChunkSize - size);
      if (chunk === RESTART) {
        pending = [];
        size = 0;
      } else if (chunk) {
        pending.push(chunk);
        size += chunk.byteLength;
      } else {
        done = true;
      }
    } while (!done && (size === 0 || size < minChunkSize));
    if (size > 0) yield concat(pending);
  }
}
