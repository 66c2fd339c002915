import type { Engine } from '../index.js';

// Shaka's own types, in both ways that packages are resolved today.
type Shaka = typeof import('shaka-player', { with: { 'resolution-mode': 'require' } }).default;
type Player = InstanceType<Shaka['Player']>;
type Network = InstanceType<Shaka['net']['NetworkingEngine']>;
type SchemePlugin = Parameters<Shaka['net']['NetworkingEngine']['registerScheme']>[1];
type Operation<T> = Pick<ReturnType<SchemePlugin>, 'abort' | 'finally'> & { promise: Promise<T> };
type ErrorFacts = InstanceType<Shaka['util']['Error']>;
type Configuration = ReturnType<Player['getConfiguration']>;
type Track = ReturnType<Player['getVariantTracks']>[number];

/** The part of an engine that this adapter uses. */
export type ShakaEngine = Pick<
  Engine,
  'load' | 'reportPlayback' | 'declareAlternatives' | 'state' | 'subscribe'
>;

/** The part of Shaka that this adapter uses: what `import shaka from 'shaka-player'` gives. */
export interface ShakaNamespace {
  net: {
    NetworkingEngine: {
      registerScheme(
        scheme: string,
        // Of this version of Shaka: their requests differ.
        plugin: (...call: any[]) => any,
        priority?: number,
        progressSupport?: boolean,
      ): void;
      unregisterScheme(scheme: string): void;
      PluginPriority: { PREFERRED: number };
    };
    HttpFetchPlugin: { parse: (...call: any[]) => any };
  };
  util: {
    AbortableOperation: new <T>(
      promise: Promise<T>,
      onAbort: () => Promise<unknown>,
    ) => Operation<T>;
    Error: {
      new (severity: number, category: number, code: number, ...data: unknown[]): ShakaError;
      Severity: { RECOVERABLE: number; CRITICAL: number };
      Category: { NETWORK: number };
      Code: {
        BAD_HTTP_STATUS: number;
        HTTP_ERROR: number;
        TIMEOUT: number;
        SEGMENT_MISSING: number;
        OPERATION_ABORTED: number;
      };
    };
    FakeEvent: new (type: string, dict?: Map<string, object | null>) => Event;
  };
}

/** What Shaka fails with. */
export type ShakaError = Error & Pick<ErrorFacts, 'code' | 'data' | 'severity'>;

/** The part of each kind's settings that this adapter uses. */
type Retries = Pick<Configuration['drm'], 'retryParameters'>;

/** The part of a player that this adapter uses. */
export type ShakaPlayer = Pick<
  Player,
  | 'addEventListener'
  | 'removeEventListener'
  | 'configure'
  | 'getManifestType'
  | 'getMediaElement'
  | 'isLive'
  | 'retryStreaming'
  | 'seekRange'
> & {
  getConfiguration(): {
    abr: Pick<Configuration['abr'], 'enabled'>;
    drm: Retries;
    manifest: Retries & Record<'dash' | 'hls', { sequenceMode: boolean }>;
    streaming: Retries & { failureCallback: (error: any) => any };
  };
  getNetworkingEngine(): ShakaNetwork | null;
  getVariantTracks(): Pick<Track, 'audioId' | 'language' | 'videoId'>[];
};

/**
 * The part of a player's `NetworkingEngine` that this adapter uses. Requests and filters are those
 * of the player's own version.
 */
export interface ShakaNetwork extends Pick<Network, 'dispatchEvent'> {
  registerRequestFilter(filter: (...call: any[]) => any): void;
  unregisterRequestFilter(filter: (...call: any[]) => any): void;
  request(type: number, request: any, context?: any): { promise: Promise<unknown> };
}

export interface ShakaOptions {
  /**
   * Another scheme plugin, such as a peer-to-peer loader's: it sends each attempt, and the engine
   * decides when. After the last uninstall `http` and `https` belong to it again.
   */
  transport?: SchemePlugin;
}

/**
 * Sends the requests of one player, or, without one, those of all players that have no engine of
 * their own, through the engine. Switches Shaka's own retries off, reports playback, and keeps a
 * `streaming.failureCallback` of your own. Warns when settings bring a second retry layer.
 *
 * @returns leave the page and the player as they were; in any order, where there are several
 */
export function installShaka(
  engine: ShakaEngine,
  shaka: ShakaNamespace,
  player?: ShakaPlayer | null,
  options?: ShakaOptions,
): () => void;
