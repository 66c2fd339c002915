import type Hls from 'hls.js';
import type { HlsConfig, HlsLoadPolicies, Loader, LoaderConfig } from 'hls.js';
import type { Engine } from '../index.js';

/** The part of an engine that this adapter uses. */
export type HlsEngine = Pick<Engine, 'load' | 'reportPlayback' | 'declareAlternatives'>;

/** Overrides of `hlsConfig`: any hls.js option; of a load policy, only the fields to change. */
export type HlsOverrides = Omit<Partial<HlsConfig>, keyof HlsLoadPolicies> & {
  [Name in keyof HlsLoadPolicies]?: { default?: Partial<LoaderConfig> };
};

/** What `hlsConfig` returns: the overrides, with the loader and all load policies set. */
export type HlsEngineConfig = Omit<Partial<HlsConfig>, 'loader'> &
  HlsLoadPolicies & {
    /** Fits `fLoader` and `pLoader` as well. */
    loader: { new (config: HlsConfig): Loader<any> };
  };

/**
 * Configuration for `new Hls(...)` that sends every request through the engine and switches off
 * hls.js's own retries. Warns once about each override that brings them back.
 */
export function hlsConfig(engine: HlsEngine, overrides?: HlsOverrides): HlsEngineConfig;

/**
 * Tells the engine how much is buffered, the target duration, whether the stream is live and
 * whether another host could take over. Ends by itself when the player is destroyed.
 *
 * @returns stop reporting
 */
export function attachHls(engine: HlsEngine, hls: Hls): () => void;
