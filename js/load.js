// @ts-check
/** A whole body, from the chunks of however many attempts it takes. */
import { concat } from './bytes.js';
import { attempt } from './attempt.js';
import { requestError } from './errors.js';
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
  /** What was passed on before the body started over: the same has to come again. */
  let given = new Uint8Array();
  for (;;) {
    const chunk = await transfer.read(Infinity);
    if (chunk === RESTART) {
      if (onChunk && loaded > given.length) given = concat(chunks);
      chunks = [];
      loaded = 0;
    } else {
      const again = given.subarray(loaded, chunk ? loaded + chunk.length : undefined);
      if (again.some((byte, i) => byte !== chunk?.[i])) throw differs(transfer);
      if (!chunk) break;
      chunks.push(chunk);
      loaded += chunk.length;
      // A copy: whoever takes it may write to it, or send it to a worker.
      if (onChunk && again.length < chunk.length) attempt(() => onChunk(chunk.slice(again.length)));
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
 * Of a body that started over other bytes came than were passed on already.
 *
 * @param {import('./transfer.js').Transfer} transfer
 */
function differs(transfer) {
  const { attempts, startedAt, shown: url } = transfer;
  const { site } = transfer.request;
  const elapsed = performance.now() - startedAt;
  const error = requestError({
    ...{ class: 'changed', reason: 'released', status: 0, svta: 3007 },
    ...{ site, url, attempts, elapsed },
  });
  transfer.cancel(error);
  return error;
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
