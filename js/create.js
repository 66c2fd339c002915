// @ts-check
/** What every entry exports, given its way to the module. */
import { Engine } from './engine.js';
import { init, whenReady } from './module.js';
import { trackedFetch } from './tracked-fetch.js';
import { wrap } from './with-retry.js';

/** @typedef {import('./index.d.ts').WasmSource} WasmSource */

/**
 * @param {(() => WasmSource | PromiseLike<WasmSource>) | undefined} source where the module
 *   is, or undefined where the application loads it itself
 */
export function entry(source) {
  /** @param {import('./index.d.ts').EngineOptions} [options] */
  const createEngine = (options = {}) => {
    const from = options?.wasm ?? source;
    return new Engine(options, () => (from === undefined ? whenReady() : init(from)));
  };
  /** @type {Engine | undefined} for callers who bring none */
  let shared;
  const sharedEngine = () => (shared ??= createEngine());

  return {
    createEngine,
    /**
     * @param {import('./index.d.ts').BandwidthState} initial
     * @param {(next: import('./index.d.ts').BandwidthState) => void} onSample
     * @param {{ engine?: Engine, site?: import('./index.d.ts').Site }} [options]
     */
    createTrackedFetch: (initial, onSample, { engine = sharedEngine(), site = 'segment' } = {}) =>
      trackedFetch(initial, onSample, engine.fetchBytes, site),
    /**
     * @param {(input: any, init?: any) => Promise<any>} transport
     * @param {{ engine?: Engine, site?: import('./index.d.ts').Site }} [options]
     */
    withRetry: (transport, { engine = sharedEngine(), site } = {}) => wrap(transport, engine, site),
  };
}
