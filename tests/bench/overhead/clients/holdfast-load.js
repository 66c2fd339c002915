// @ts-check
import { createEngine } from 'holdfast';

export function create() {
  const engine = createEngine();
  return {
    async read(/** @type {string} */ url) {
      const { data } = await engine.load({ url, site: 'segment' });
      return data.byteLength;
    },
    ready: engine.ready,
  };
}
