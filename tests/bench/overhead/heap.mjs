// @ts-check
/** What a client keeps in memory after some requests, in a page of its own. */
import { alternating } from '../order.mjs';
import { CLIENTS, addressOf } from './clients.mjs';
import { SIZES } from './origin.mjs';
import { loadClients, openPage, runBlock } from './page.mjs';

/** @typedef {{ client: string, heapKB: number, wasmKB: number }} Kept */

/**
 * @param {import('./chromium.mjs').Browser} browser
 * @param {string} url
 * @param {{ rounds: number, count: number, slowness: number }} plan `count` small requests each
 * @param {() => number} random
 * @returns {Promise<Kept[]>}
 */
export async function measureHeap(browser, url, { rounds, count, slowness }, random) {
  const kept = [];
  for (const client of alternating(Object.keys(CLIENTS), rounds, random)) {
    const opened = await openPage(browser, url, slowness);
    await opened.evaluate(watchMemories, null);
    await loadClients(opened, [[client, addressOf(client)]]);
    const block = { name: client, first: 0 };
    const run = (/** @type {keyof typeof SIZES} */ path, /** @type {number} */ count) =>
      runBlock(opened, { ...block, path, size: SIZES[path], count });
    await run('/small.m4s', count);
    await run('/8MiB.m4s', 2);
    await opened.collectGarbage();
    const { usedSize, backingStorageSize } = await opened.send('Runtime.getHeapUsage');
    const wasmB = await opened.evaluate(memoryBytes, null);
    kept.push({ client, heapKB: (usedSize + backingStorageSize) / 1000, wasmKB: wasmB / 1000 });
    await opened.close();
  }
  return kept;
}

/** In the page: keeps the memories of the modules that are instantiated. */
function watchMemories() {
  /** @type {WebAssembly.Memory[]} */
  const memories = [];
  Object.assign(globalThis, { memories });
  const { instantiateStreaming } = WebAssembly;
  WebAssembly.instantiateStreaming = async (source, imports) => {
    const made = await instantiateStreaming(source, imports);
    const { memory } = made.instance.exports;
    if (memory instanceof WebAssembly.Memory) memories.push(memory);
    return made;
  };
}

/** In the page: how large they are by now. */
function memoryBytes() {
  /** @type {WebAssembly.Memory[]} */
  const memories = /** @type {any} */ (globalThis).memories;
  return memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
}
