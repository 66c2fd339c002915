import type { effect, Signal, StateSignals } from '@videojs/spf';
import type { HlsVideoEngineContext, HlsVideoEngineState } from '@videojs/spf/hls';
import type {
  BandwidthState,
  Chunks,
  Engine,
  EngineState,
  FetchBytes,
  FetchBytesInit,
  Resource,
} from '../index.js';

/** The part of an engine that this adapter uses. */
export type SpfEngine = Pick<
  Engine,
  | 'load'
  | 'fetchText'
  | 'fetchBytes'
  | 'state'
  | 'subscribe'
  | 'reportPlayback'
  | 'declareAlternatives'
>;

/**
 * Sends SPF's requests through this engine, in every player of the page whose bundle was built
 * with `holdfast/bundler`. Until an engine is named, and once it has failed open, they go to plain
 * `fetch`, as without Holdfast; the first case is said once.
 *
 * @returns take the engine back; the one before it is used again
 */
export function useEngine(engine: SpfEngine): () => void;

/** The multivariant playlist. Rejects where the status is no success. */
export function fetchResolvable(resource: Resource, options?: RequestInit): Promise<Response>;

export function getResponseText(response: { text(): Promise<string> }): Promise<string>;

/** A media playlist. Rejects where the status is no success. */
export function fetchResolvableText(resource: Resource, options?: RequestInit): Promise<string>;

/** A segment, or with `minChunkSize: Infinity` an initialisation segment. */
export function fetchStream(
  resource: Resource,
  options?: Omit<FetchBytesInit, 'site'>,
): Promise<Chunks>;

/** The same, with a bandwidth sample for each chunk of a first attempt. */
export function createTrackedFetch(
  initial: BandwidthState,
  onSample: (next: BandwidthState) => void,
): FetchBytes;

/** The slots that the bridge adds to the state of a player. */
export type SpfSlots = {
  [Name in 'retryState' | 'retryExhausted' | 'hostHealth']: Signal<EngineState[Name]>;
};

type State = StateSignals<HlsVideoEngineState>;
/** What `onSignalsReady` brings, or a composition has. Slots that a player lacks are left alone. */
export interface SpfSignals {
  state: Pick<State, 'presentation'> &
    Partial<Pick<State, 'errors' | 'failedCdns' | 'selectedVideoTrackId' | 'selectedAudioTrackId'>>;
  context: Pick<StateSignals<HlsVideoEngineContext>, 'mediaElement'>;
}

/** `effect` and `signal` of `@videojs/spf`, of the copy that the player uses. */
export interface BridgeOptions {
  effect: typeof effect;
  signal: <T>(value: T) => Signal<T>;
  /** The one that the player was given, where it was given one; the origin by default. */
  getCdnId?: (url: string) => string;
}

/**
 * Bridges an engine to the signals of one player: the slots of `SpfSlots`, `errors`, `failedCdns`,
 * and what the engine wants to know of playback. No CDN fails without which nothing could be
 * played.
 *
 * @returns stop, and leave the player as it was; what was written to `errors` stays
 */
export function bridgeSpf(
  engine: SpfEngine,
  signals: SpfSignals,
  options: BridgeOptions,
): () => void;
