// @ts-check
/** SPF's `createTrackedFetch`, with the engine under it. */
import { sampleBandwidth } from './bandwidth.js';
import { chunksOf } from './chunks.js';

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
 * @param {import('./engine.js').Engine} engine
 * @param {import('./index.d.ts').Site} site
 * @returns {import('./index.d.ts').FetchBytes}
 */
export function trackedFetch(initial, onSample, engine, site) {
  let state = initial;
  return async (resource, init = {}) => {
    const { transfer, minChunkSize } = await engine.beginBytes(resource, { site, ...init });
    const chunks = chunksOf(transfer, minChunkSize);
    return {
      ...chunks,
      async next() {
        const start = performance.now();
        const result = await chunks.next();
        if (!result.done && !transfer.isRepeat) {
          state = sampleBandwidth(state, performance.now() - start, result.value.byteLength);
          onSample(state);
        }
        return result;
      },
    };
  };
}
