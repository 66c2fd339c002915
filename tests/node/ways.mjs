// @ts-check
/** The ways to a body. */
import { bytesOf } from './fixture.mjs';

/** @type {Record<string, (engine: import('holdfast').Engine, url: string) => Promise<Uint8Array>>} */
export const WAYS = {
  load: async (engine, url) => Buffer.from((await engine.load({ url })).data),
  async 'load in chunks'(engine, url) {
    /** @type {Uint8Array[]} */
    const chunks = [];
    await engine.load({ url, onChunk: (chunk) => void chunks.push(chunk) });
    return Buffer.concat(chunks);
  },
  fetch: async (engine, url) => Buffer.from(await (await engine.fetch(url)).arrayBuffer()),
  fetchBytes: async (engine, url) => bytesOf(await engine.fetchBytes({ url })),
};
