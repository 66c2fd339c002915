// @ts-check
/**
 * SPF's bandwidth estimator, number for number: the accumulator that its engine hands to
 * `createTrackedFetch` and reads back. It is JavaScript because its contract is: one
 * synchronous sample a chunk from the first one on, with the results of JavaScript's own
 * arithmetic to the last bit.
 */

/** @typedef {import('./index.d.ts').BandwidthState} BandwidthState */

const DEFAULTS = { fastHalfLife: 2, slowHalfLife: 5, minBytes: 16_000, minDuration: 5 };

/**
 * The state with one more sample in it. Bytes always count; samples too small or too short
 * to say anything do not move the estimates.
 *
 * @param {BandwidthState} state
 * @param {number} durationMs
 * @param {number} numBytes
 * @returns {BandwidthState}
 */
export function sampleBandwidth(state, durationMs, numBytes) {
  const bytesSampled = state.bytesSampled + numBytes;
  if (numBytes < DEFAULTS.minBytes || durationMs < DEFAULTS.minDuration) {
    return { ...state, bytesSampled };
  }
  const bandwidth = (8000 * numBytes) / durationMs;
  const weight = durationMs / 1000;
  return {
    fastEstimate: average(state.fastEstimate, bandwidth, weight, DEFAULTS.fastHalfLife),
    fastTotalWeight: state.fastTotalWeight + weight,
    slowEstimate: average(state.slowEstimate, bandwidth, weight, DEFAULTS.slowHalfLife),
    slowTotalWeight: state.slowTotalWeight + weight,
    bytesSampled,
  };
}

/**
 * @param {number} estimate
 * @param {number} sample
 * @param {number} weight in seconds
 * @param {number} halfLife in seconds
 */
function average(estimate, sample, weight, halfLife) {
  const alpha = Math.exp(Math.log(0.5) / halfLife) ** weight;
  return sample * (1 - alpha) + alpha * estimate;
}
