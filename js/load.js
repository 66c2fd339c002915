// @ts-check
/** A whole body, from the chunks of however many attempts it takes. */
import { concat } from './bytes.js';
import { attempt } from './attempt.js';
import { entryOf } from './resource.js';
import { RESTART } from './transfer.js';

/**
 * @param {import('./transfer.js').Transfer} transfer
 * @param {import('./index.d.ts').LoadRequest} request
 */
export async function load(transfer, { responseType = 'arraybuffer', onProgress, onChunk }) {
  /** @type {Uint8Array[]} */
  let chunks = [];
  let loaded = 0;
  for (;;) {
    const chunk = await transfer.read(Infinity);
    if (chunk === null) break;
    if (chunk === RESTART) {
      chunks = [];
      loaded = 0;
    } else {
      loaded += chunk.byteLength;
      if (onChunk) attempt(() => onChunk(chunk));
      else chunks.push(chunk);
    }
    const at = performance.now();
    attempt(() => onProgress?.({ loaded, total: totalOf(transfer.response, loaded), at }));
  }
  const { response, timing, attempts, isPlain, url: sentTo } = transfer;
  const { url, status, headers } = response;
  const data = decode(concat(chunks), responseType);
  const end = performance.now();
  return {
    ...{ url, status, headers, response, data },
    ...{ bytes: loaded, attempts, timing: { ...timing, end }, degraded: isPlain },
    // Few ask, and to look is slow.
    get protocol() {
      return entryOf(sentTo)?.nextHopProtocol || 'unknown';
    },
  };
}

/**
 * The announced length, or 0 where it is unknown or is not the length of what is seen.
 *
 * @param {Response} response
 * @param {number} loaded
 */
function totalOf({ headers }, loaded) {
  const total = Number(headers.get('content-length'));
  return total >= loaded && !headers.has('content-encoding') ? total : 0;
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {'arraybuffer' | 'text' | 'json'} type */
function decode(bytes, type) {
  if (type === 'arraybuffer') {
    const whole = bytes.byteLength === bytes.buffer.byteLength;
    return whole ? bytes.buffer : bytes.slice().buffer;
  }
  const text = new TextDecoder().decode(bytes);
  return type === 'json' ? JSON.parse(text) : text;
}
