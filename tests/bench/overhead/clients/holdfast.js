// @ts-check
import { createEngine } from 'holdfast';
import { readAll } from './read-all.js';

export function create() {
  const engine = createEngine();
  return {
    read: async (/** @type {string} */ url) =>
      readAll(await engine.fetch(url, { site: 'segment' })),
    ready: engine.ready,
  };
}
