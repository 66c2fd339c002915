// @ts-check
/**
 * SPF's `network/fetch.js`, name for name and shape for shape, over an engine: what
 * `holdfast/bundler` puts in its place. Two things differ. A refusal rejects, where SPF hands the
 * page of a 403 to the decoder; and a `Range` survives headers of the caller's.
 */
import { trackedFetch } from '../tracked-fetch.js';
import { engineInUse } from './spf-engine.js';

/** SPF's own least size of a chunk, in bytes. */
const MIN_CHUNK_SIZE = 131_072;

/**
 * A whole body: SPF asks for the multivariant playlist in this way, and never asks again.
 *
 * @type {typeof import('./spf.d.ts').fetchResolvable}
 */
export async function fetchResolvable(resource, options) {
  const engine = engineInUse();
  if (!engine) return plainFetch(resource, options);
  const { data, headers } = await engine.load({ ...request(resource, options), site: 'manifest' });
  return new Response(data, { headers });
}

/** @type {typeof import('./spf.d.ts').getResponseText} */
export function getResponseText(response) {
  return response.text();
}

/**
 * A media playlist; one that SPF has parsed before brings its segments along.
 *
 * @type {typeof import('./spf.d.ts').fetchResolvableText}
 */
export async function fetchResolvableText(resource, options) {
  const engine = engineInUse();
  if (engine) {
    const site = 'segments' in resource ? 'playlist-reload' : 'playlist';
    return engine.fetchText(resource, { ...options, site });
  }
  const response = await plainFetch(resource, options);
  if (!response.ok) throw new Error(`${response.status} for ${resource.url}`);
  return response.text();
}

/**
 * Media. SPF asks for an initialisation segment in one piece, and for nothing else.
 *
 * @type {typeof import('./spf.d.ts').fetchStream}
 */
export async function fetchStream(resource, options = {}) {
  const { minChunkSize = MIN_CHUNK_SIZE, ...init } = options;
  const engine = engineInUse();
  if (engine) {
    const site = minChunkSize === Infinity ? 'init' : 'segment';
    return engine.fetchBytes(resource, { ...init, site, minChunkSize });
  }
  const { body } = await plainFetch(resource, init);
  if (!body) throw new Error(`no body for ${resource.url}`);
  return chunksOf(body, minChunkSize);
}

/** @type {typeof import('./spf.d.ts').createTrackedFetch} */
export function createTrackedFetch(initial, onSample) {
  return trackedFetch(initial, onSample, fetchStream);
}

/** @param {import('../index.d.ts').Resource} resource @param {RequestInit} [options] */
function plainFetch(resource, options) {
  const { url, init } = request(resource, options);
  return fetch(url, init);
}

/** @param {import('../index.d.ts').Resource} resource @param {RequestInit} [options] */
function request({ url, byteRange }, options) {
  if (!byteRange) return { url, init: { ...options } };
  const headers = new Headers(options?.headers);
  headers.set('Range', `bytes=${byteRange.start}-${byteRange.end}`);
  return { url, init: { ...options, headers } };
}

/**
 * @param {ReadableStream<Uint8Array>} body
 * @param {number} least in bytes
 * @returns {import('../index.d.ts').Chunks}
 */
function chunksOf(body, least) {
  const chunks = generate(body, least);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    isRepeat: () => false,
    next: () => chunks.next(),
    return: () => chunks.return(),
  };
}

/** @param {ReadableStream<Uint8Array>} body @param {number} least */
async function* generate(body, least) {
  const reader = body.getReader();
  let pending = new Uint8Array(0);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (!done) pending = joined(pending, value);
      if (pending.length > 0 && (done || pending.length >= least)) {
        yield pending;
        pending = new Uint8Array(0);
      }
      if (done) return;
    }
  } finally {
    reader.releaseLock();
  }
}

/** @param {Uint8Array} a @param {Uint8Array} b */
function joined(a, b) {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
