// @ts-check
/** SPF's `createTrackedFetch`, over whatever fetches bytes. */
import { sampleBandwidth } from './bandwidth.js';

/** @typedef {import('./index.d.ts').BandwidthState} BandwidthState */

/**
 * A `FetchBytes` that samples the bandwidth of each chunk it hands out.
 *
 * The time of a chunk runs from the moment it is asked for, so neither the wait for headers
 * nor a slow consumer is measured. A body that is not the first attempt's is not sampled at
 * all (R64): what it would measure is the failure.
 *
 * @param {BandwidthState} initial
 * @param {(next: BandwidthState) => void} onSample
 * @param {(resource: any, init: any) => Promise<import('./index.d.ts').Chunks>} fetchBytes
 * @param {import('./index.d.ts').Site} [site]
 * @returns {import('./index.d.ts').FetchBytes}
 */
export function trackedFetch(initial, onSample, fetchBytes, site) {
  let state = initial;
  return async (resource, init) => {
    const chunks = await fetchBytes(resource, { site, ...init });
    return {
      ...chunks,
      async next() {
        const start = performance.now();
        const result = await chunks.next();
        if (!result.done && !chunks.isRepeat()) {
          state = sampleBandwidth(state, performance.now() - start, result.value.byteLength);
          onSample(state);
        }
        return result;
      },
    };
  };
}
