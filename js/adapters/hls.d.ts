import type Hls from 'hls.js';
import type { HlsConfig, HlsLoadPolicies, Loader, LoaderConfig } from 'hls.js';

/** The kinds of request that hls.js makes through a loader. */
export type HlsSite =
  | 'manifest'
  | 'playlist'
  | 'playlist-reload'
  | 'init'
  | 'segment'
  | 'text-segment'
  | 'key'
  | 'certificate'
  | 'steering'
  | 'other';

/** One request, as the adapter hands it to the engine. */
export interface HlsRequest {
  url: string;
  site: HlsSite;
  init?: RequestInit;
  /** What `fetchSetup` returned; takes the place of `init`. */
  request?: Request;
  responseType?: 'arraybuffer' | 'text' | 'json';
  signal?: AbortSignal;
  onAttempt?(event: { attempt: number; at: number }): void;
  onResponse?(event: { response: Response; at: number }): void;
  onProgress?(event: { loaded: number; total: number; at: number }): void;
  onChunk?(chunk: Uint8Array): void;
}

/** A whole answer. `timing` is that of the attempt that won. */
export interface HlsLoaded {
  url: string;
  status: number;
  headers: Headers;
  response: Response;
  data: any;
  attempts: number;
  timing: { start: number; first: number; end: number };
  bytes: number;
}

/** The part of an engine that this adapter uses. What `createEngine()` returns fits. */
export interface HlsEngine {
  load(request: HlsRequest): Promise<HlsLoaded>;
  reportPlayback(report: { bufferAhead?: number; targetDuration?: number; live?: boolean }): void;
  declareAlternatives(site: string, count: number | undefined): void;
}

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
