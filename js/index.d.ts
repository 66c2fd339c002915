/**
 * Holdfast: the network layer of a browser media player.
 *
 * All spans are in milliseconds unless their name or text says otherwise.
 */

/** What a request asks for; its policy is that of its site. */
export type Site =
  | 'manifest'
  | 'playlist'
  | 'playlist-reload'
  | 'init'
  | 'segment'
  | 'key'
  | 'license'
  | 'certificate'
  | 'text-segment'
  | 'steering'
  | 'other';

/** What kind of failure an attempt came to. */
export type FailureClass =
  | 'success'
  | 'aborted'
  | 'bad-range'
  | 'contract'
  | 'denied'
  | 'empty'
  | 'gone'
  | 'intercepted'
  | 'legal'
  | 'misdirected'
  | 'not-found'
  | 'offline'
  | 'opaque'
  | 'range-ignored'
  | 'rate-limited'
  | 'request-timeout'
  | 'server'
  | 'server-busy'
  | 'stall'
  | 'timeout'
  | 'too-early'
  | 'transport'
  | 'truncated'
  | 'unexpected';

/** Why a request was given up, or its quick ladder ended. */
export type Reason =
  | 'attempts'
  | 'deadline'
  | 'hold-limit'
  | 'not-idempotent'
  | 'terminal'
  | 'released'
  | 'retry-after';

/** Why a request waits. */
export type WaitReason = 'backoff' | 'hold' | 'offline' | 'retry-after';

/** What an entry of the decision log tells. */
export type LogEvent =
  | 'started'
  | 'sent'
  | 'accepted'
  | 'failed'
  | 'waiting'
  | 'stall-suspect'
  | 'exhausted'
  | 'given-up'
  | 'succeeded'
  | 'aborted'
  | 'network'
  | 'hurried';

/**
 * What follows when the quick ladder of a request is spent. `auto`: reject where the player
 * can go elsewhere, else go on slowly; `hold`: go on slowly; `reject`: reject.
 */
export type ExhaustedMode = 'auto' | 'hold' | 'reject';

/** The policy of one site. */
export interface SitePolicy {
  /** How long to wait for the response's headers. Each time-out widens it by half, up to 30 s. */
  headersTimeout: number;
  /** The same while the host has never answered; widens by half with each time-out. */
  firstHeadersTimeout: number;
  /**
   * How long a body may stay silent while somebody waits for it. Slowness is no silence. Each
   * stall widens it by half, up to 30 s.
   */
  stallTimeout: number;
  /** Attempts on the quick ladder, the first one included. */
  attempts: number;
  /** Full jitter over `min(cap, base * factor^(n-1))` after the n-th failure. */
  backoff: { base: number; factor: number; cap: number };
  /** The quick ladder ends this long after the request began. */
  deadline: number;
  /** The longest `Retry-After` that is waited for; a longer one ends the request. */
  maxWait: number;
  onExhausted: ExhaustedMode;
  /** Lifts the bounds that the class of the site sets, such as at most two retries. */
  allowOverride?: boolean;
}

/** A site's policy as an option: what is left out keeps its default. */
export type SiteOptions = Partial<Omit<SitePolicy, 'backoff'>> & {
  backoff?: Partial<SitePolicy['backoff']>;
};

/** Where the WebAssembly module comes from. */
export type WasmSource = string | URL | Request | Response | BufferSource | WebAssembly.Module;

export interface EngineOptions {
  /** Policies by site, each merged over `DEFAULT_SITES`. */
  sites?: { [site in Site]?: SiteOptions };
  /** The mode of all sites that do not set their own, or a function that is told. */
  onExhausted?: ExhaustedMode | ((event: ExhaustedEvent) => void);
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch;
  /** The name of what answers for an URL; its origin by default. */
  getCdnId?(url: string): string | undefined;
  /** The engine's own bandwidth estimate; half-lives in seconds (2 and 5 by default). */
  bandwidth?: { fastHalfLife?: number; slowHalfLife?: number };
  /** The longest slow ladder of a request, 300 000 by default. */
  holdLimit?: number;
  /** How many decisions the log keeps, 256 by default. */
  logCapacity?: number;
  /** Where the module comes from, instead of the entry's own place for it. */
  wasm?: WasmSource;
}

/** A request whose ladder is spent, or whose failure is final. */
export interface ExhaustedEvent {
  site: Site;
  url: string;
  host: string;
  class: FailureClass;
  reason: Reason;
  /** The last status, 0 where there was none. */
  status: number;
  attempts: number;
  elapsed: number;
  /** When the server said to come back, on the clock of `performance.now()`. */
  retryAt?: number;
  /** The bound that was exceeded, where one was. */
  limit?: number;
  /** The SVTA-2070 cause, such as 3503 or 3002. */
  svta: number;
  /** Whether the request goes on, slowly. */
  holding: boolean;
  /** Whether the class of the failure is final. */
  terminal: boolean;
  /** When, on the clock of `performance.now()`. */
  at: number;
}

/** A request that has failed at least once and goes on. */
export interface RetryState {
  site: Site;
  url: string;
  host: string;
  attempt: number;
  maxAttempts: number;
  class: FailureClass;
  lastStatus?: number;
  /** When the next attempt is due, on the clock of `performance.now()`. */
  nextAt?: number;
  waitReason?: WaitReason;
  /** Whether the quick ladder is spent. */
  exhausted: boolean;
}

/** The state slots: replaced, never changed. */
export interface EngineState {
  /** `starting` until the module is there; `plain` where the engine has failed open. */
  readonly mode: 'starting' | 'engine' | 'plain';
  readonly retryState: Readonly<Record<string, Readonly<RetryState>>>;
  /** The last hundred. */
  readonly retryExhausted: readonly Readonly<ExhaustedEvent>[];
  /** The estimate in bit/s, once enough was seen. */
  readonly bandwidth?: number;
  /** Bytes of retries, which the estimate leaves out. */
  readonly excludedBytes: number;
}

/** One decision. */
export interface LogEntry {
  /** On the clock of `performance.now()`. */
  at: number;
  /** The request's number; 0 for the engine's own. */
  request: number;
  attempt: number;
  event: LogEvent;
  /** What the event is about: a site, a class, a reason, a status. */
  detail: string | number;
  value: number;
}

/** `RequestInit`, and what Holdfast adds. */
export interface FetchInit extends RequestInit {
  /** The site; guessed from the URL where it is left out, `other` where that fails. */
  site?: Site;
  /** Whether a request that is neither GET nor HEAD is safe to send twice. */
  idempotent?: boolean;
}

/** SPF's resource; the range is inclusive at both ends. */
export interface Resource {
  url: string;
  byteRange?: { start: number; end: number };
}

export type FetchText = (
  resource: Resource,
  init?: RequestInit & { site?: Site },
) => Promise<string>;

export interface FetchBytesInit extends RequestInit {
  site?: Site;
  /** Chunks are at least so large, in bytes; 131 072 by default. */
  minChunkSize?: number;
}

export type FetchBytes = (
  resource: Resource,
  init?: FetchBytesInit,
) => Promise<AsyncIterable<Uint8Array>>;

/** What `load` makes of a body. */
export interface LoadTypes {
  arraybuffer: ArrayBuffer;
  text: string;
  json: unknown;
}

/** A buffered load, as adapters of players need it. */
export interface LoadRequest<Type extends keyof LoadTypes = keyof LoadTypes> {
  url: string;
  /** Instead of `url` and `init`; a copy of it is sent at each attempt. */
  request?: Request;
  init?: RequestInit;
  site?: Site;
  /** `arraybuffer` by default. */
  responseType?: Type;
  signal?: AbortSignal;
  onAttempt?(info: { attempt: number; at: number }): void;
  /** Headers are accepted; again for each attempt whose body was lost. */
  onResponse?(info: { response: Response; at: number }): void;
  /** `total` is 0 where it is unknown; `loaded` starts over with a new attempt. */
  onProgress?(info: { loaded: number; total: number; at: number }): void;
  /** Takes the chunks as they come; a body that breaks after the first one is an error. */
  onChunk?(chunk: Uint8Array): void;
}

export interface Loaded<Data = ArrayBuffer> {
  /** After redirects. */
  url: string;
  status: number;
  headers: Headers;
  /** Its body has been read. */
  response: Response;
  data: Data;
  bytes: number;
  attempts: number;
  /** Of the attempt that succeeded. */
  timing: { start: number; first: number; end: number };
}

export interface PlaybackReport {
  /** Seconds buffered ahead of the playhead. */
  bufferAhead?: number;
  /** Seconds. */
  targetDuration?: number;
  /** Whether the stream is live. Not used by a decision yet. */
  live?: boolean;
}

/** One engine: a page has one, or one for each player. */
export interface Engine {
  /** Whether the module is in charge; `false` once the engine has failed open. */
  readonly ready: Promise<boolean>;
  /** `fetch`, under the engine. Resolves with the final response, whatever its status. */
  fetch(input: string | URL | Request, init?: FetchInit): Promise<Response>;
  /** Rejects where the status is no success. */
  readonly fetchText: FetchText;
  /** Two stages: resolves at headers, and the body is read as it is iterated, once. */
  readonly fetchBytes: FetchBytes;
  /** A whole body; one that is lost is fetched again unseen. */
  load<Type extends keyof LoadTypes = 'arraybuffer'>(
    request: LoadRequest<Type>,
  ): Promise<Loaded<LoadTypes[Type]>>;
  readonly state: EngineState;
  /** Told after each change of `state`. Returns the way out. */
  subscribe(listener: (state: EngineState) => void): () => void;
  /** Ends back-offs and holds now; not what a server asked to wait, nor the wait for a network. */
  retryNow(): void;
  /** `false` sends new requests to plain `fetch` with a few retries. */
  enabled: boolean;
  /** Rejects all that is under way, and leaves no timer, listener or request behind. */
  destroy(): void;
  /** The decision log, oldest first. */
  log(): LogEntry[];
  reportPlayback(report: PlaybackReport): void;
  /**
   * How many other places the player can go to for what this site, or this URL, asks. 0 makes
   * the engine hold where it would reject; `undefined` takes the declaration back.
   */
  declareAlternatives(siteOrUrl: Site | (string & {}), count: number | undefined): void;
}

/** The accumulator of SPF's bandwidth estimator. */
export interface BandwidthState {
  fastEstimate: number;
  fastTotalWeight: number;
  slowEstimate: number;
  slowTotalWeight: number;
  bytesSampled: number;
}

export type ErrorCode =
  | 'DESTROYED'
  | 'TRAPPED'
  | 'INVALID_OPTION'
  | 'INVALID_URL'
  | 'ABORTED'
  | 'BAD_RANGE'
  | 'CONTRACT'
  | 'DENIED'
  | 'EMPTY'
  | 'GONE'
  | 'INTERCEPTED'
  | 'LEGAL'
  | 'MISDIRECTED'
  | 'NOT_FOUND'
  | 'OFFLINE'
  | 'OPAQUE'
  | 'RANGE_IGNORED'
  | 'RATE_LIMITED'
  | 'REQUEST_TIMEOUT'
  | 'SERVER'
  | 'SERVER_BUSY'
  | 'STALL'
  | 'TIMEOUT'
  | 'TOO_EARLY'
  | 'TRANSPORT'
  | 'TRUNCATED'
  | 'UNEXPECTED';

/** The base of all errors of this package. */
export class HoldfastError extends Error {
  constructor(code: ErrorCode, message: string, options?: ErrorOptions);
  readonly code: ErrorCode;
}

/** An option that cannot be. */
export class OptionsError extends HoldfastError {
  constructor(field: string, expected: string, value: unknown);
  /** The path of the option, such as `sites.segment.attempts`. */
  readonly field: string;
}

export interface RequestErrorFacts {
  class: FailureClass;
  reason: Reason;
  /** 0 where there was none. */
  status: number;
  site: Site;
  url: string;
  attempts: number;
  elapsed: number;
  svta: number;
  retryAt?: number;
  limit?: number;
  headers?: Headers;
}

/** A request that was given up. */
export class RequestError extends HoldfastError implements RequestErrorFacts {
  constructor(facts: RequestErrorFacts, cause?: unknown);
  readonly class: FailureClass;
  readonly reason: Reason;
  readonly status: number;
  readonly site: Site;
  readonly url: string;
  readonly attempts: number;
  readonly elapsed: number;
  readonly svta: number;
  readonly retryAt?: number;
  readonly limit?: number;
  /** The readable headers of the last response, where there was one. */
  readonly headers?: Headers;
}

/** Whether a value is an error of this package, also from another realm or copy. */
export function isHoldfastError(value: unknown): value is HoldfastError;

/** The defaults of each site. */
export const DEFAULT_SITES: Readonly<Record<Site, Readonly<SitePolicy>>>;

/**
 * Makes an engine. Nothing is loaded before this is called, and no request waits for it.
 *
 * @throws {OptionsError} that names the field
 */
export function createEngine(options?: EngineOptions): Engine;

/** SPF's `createTrackedFetch`: a `FetchBytes` that samples each chunk of first attempts. */
export function createTrackedFetch(
  initial: BandwidthState,
  onSample: (next: BandwidthState) => void,
  options?: { engine?: Engine; site?: Site },
): FetchBytes;

/** Puts any transport under an engine; what it returns keeps the transport's shape. */
export function withRetry<T extends FetchText | FetchBytes | typeof fetch>(
  transport: T,
  options?: { engine?: Engine; site?: Site },
): T;

/** Whether the WebAssembly module is loaded. */
export function isReady(): boolean;
