// @ts-check
import { createTrackedFetch } from '../../../node/spf.mjs';

const ZERO = {
  ...{ fastEstimate: 0, fastTotalWeight: 0, slowEstimate: 0, slowTotalWeight: 0 },
  bytesSampled: 0,
};

export function create() {
  const fetchBytes = createTrackedFetch(ZERO, () => {});
  return {
    async read(/** @type {string} */ url) {
      let bytes = 0;
      // As SPF itself reads: no chunk is smaller than it asks for by default, but the last.
      for await (const chunk of await fetchBytes({ url })) bytes += chunk.byteLength;
      return bytes;
    },
  };
}
