import type Hls from 'hls.js';
import type { HlsConfig, HlsLoadPolicies, Loader, LoaderConfig } from 'hls.js';
import type { Engine } from '../index.js';

/** The part of an engine that this adapter uses. */
export type HlsEngine = Pick<
  Engine,
  'load' | 'reportPlayback' | 'declareAlternatives' | 'state' | 'subscribe'
>;

/**
 * Overrides of `hlsConfig`: any hls.js option; of a load policy, only the fields to change. A `loader`,
 * `fLoader` or `pLoader`, such as a peer-to-peer network's, is put underneath: it sends each attempt.
 */
export type HlsOverrides = Omit<Partial<HlsConfig>, keyof HlsLoadPolicies> & {
  [Name in keyof HlsLoadPolicies]?: { default?: Partial<LoaderConfig> };
};

export interface HlsOptions {
  /**
   * Whether a segment that is not there for good (404, 410) is marked as a gap where hls.js would end
   * playback, and so costs its own duration. `true` by default.
   */
  skipHoles?: boolean;
}

/** What `hlsConfig` returns: the overrides, with the loader and all load policies set. */
export type HlsEngineConfig = Omit<Partial<HlsConfig>, 'loader'> &
  HlsLoadPolicies & {
    /** Fits `fLoader` and `pLoader` as well. */
    loader: { new (config: HlsConfig): Loader<any> };
  };

/**
 * Configuration for `new Hls(...)` that sends every request through the engine and switches off
 * hls.js's own retries. Warns once about each override that brings them back. Where the engine fails
 * open, players get back what they would have without it.
 */
export function hlsConfig(
  engine: HlsEngine,
  overrides?: HlsOverrides,
  options?: HlsOptions,
): HlsEngineConfig;

/**
 * Tells the engine how much is buffered, the target duration, whether the stream is live and
 * whether another host could take over. Ends by itself when the player is destroyed.
 *
 * @returns the way out: ends the reports, and gives the player back the loaders and the settings that it
 *   would have without `hlsConfig`; what is under way goes on
 */
export function attachHls(engine: HlsEngine, hls: Hls): () => void;
