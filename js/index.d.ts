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
  | 'unexpected'
  | 'changed';

/** Why a request was given up, or its quick ladder ended. */
export type Reason =
  | 'attempts'
  | 'deadline'
  | 'hold-limit'
  | 'not-idempotent'
  | 'terminal'
  | 'released'
  | 'retry-after'
  | 'budget'
  | 'breaker'
  | 'vetoed'
  | 'refresh'
  | 'rotated'
  | 'retired'
  | 'rate-limited';

/**
 * Why a request waits: for the ladder's delay, on the slow ladder, for a network, for the time
 * that the server named, for a host that is down, for the budget to grant a probe, for its turn
 * with a rate limit, for a fresh credential, because the URL was given up just now, because it is
 * perhaps not there yet, because the path does not allow it now, for room in its lane, or because
 * the host is back from an outage and enough is buffered to leave others their turn.
 */
export type WaitReason =
  | 'backoff'
  | 'hold'
  | 'offline'
  | 'retry-after'
  | 'breaker'
  | 'budget'
  | 'vrlt'
  | 'token-refresh'
  | 'cooldown'
  | 'not-ready'
  | 'held'
  | 'window'
  | 'catch-up';

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
  | 'hurried'
  | 'asked'
  | 'answered'
  | 'refresh-asked'
  | 'refreshed'
  | 'health'
  | 'throttled'
  | 'plain'
  | 'path'
  | 'advised';

/**
 * What is done about a failure. `retry`: sent again, as often as the ladder has steps; `fail`:
 * final; `once`: sent again once; `grace`: perhaps not there yet, so asked for twice more at the
 * live edge, half a target duration apart, and once more elsewhere; `not-ready`: being prepared,
 * so asked for after 5 s and then every minute, six times in all; `refresh`: the credential has
 * expired, so it is refreshed where there is a hook.
 */
export type Recovery = 'retry' | 'fail' | 'once' | 'grace' | 'not-ready' | 'refresh';

/**
 * What is done about a status or a class instead of the general rule. A status counts before a
 * class. 451 and aborts cannot be changed.
 */
export type RecoveryMatrix = { [matter in FailureClass | number]?: Recovery };

/**
 * The kind of connection. `offline`: no way to the network; `adverse`: connected, but three times
 * in a minute connections broke or fell silent, and since then no minute was clean; `constrained`:
 * the user saves data; `metered`: data costs something; `unmetered`: nothing is known against
 * fetching ahead.
 */
export type ConnectionClass = 'unmetered' | 'metered' | 'constrained' | 'adverse' | 'offline';

/** What the path allows: everything, what playback needs, or nothing at all. */
export type Allowed = 'nothing' | 'needed' | 'all';

/** What is known of the path to the network. */
export interface PathSample {
  /** `constrained`: the user saves data. */
  cost: 'unknown' | 'unmetered' | 'metered' | 'constrained';
  /** `none` stops all requests. */
  reachability: 'unknown' | 'none' | 'reachable';
  interface: 'unknown' | 'wired' | 'wifi' | 'cellular' | 'other';
  power: 'unknown' | 'external' | 'battery' | 'low-power';
  /** `serious` leaves one request at a time, `critical` none. */
  thermal: 'unknown' | 'nominal' | 'fair' | 'serious' | 'critical';
  /** `deadline`: in the background, and for so many milliseconds from now. */
  execution: 'unknown' | 'foreground' | 'background' | { deadline: number };
}

/** The path, and what follows from it for requests and, as hints, for the player. */
export interface PathState {
  readonly class: ConnectionClass;
  /** Rises where cost, reachability or interface change. */
  readonly generation: number;
  readonly allowed: Allowed;
  /** Segments and the like that may be under way to one host. */
  readonly maxInFlight: number;
  /** Bytes that are asked for at once, on an adverse connection. */
  readonly rangeWindow?: number;
  /** The highest bitrate that servers advise, in bit/s. */
  readonly abrCapHint?: number;
  /** How much it is worth to have buffered while nothing is fetched ahead, in milliseconds. */
  readonly maxBufferAheadHint?: number;
}

/** What an origin could do for its viewers, and does not. */
export interface Diagnostic {
  readonly origin: string;
  /** Header fields that CORS hides, or that are not sent. */
  readonly missing: readonly string[];
  /** What to send, and what for. */
  readonly message: string;
}

/** What the breaker of a host says. `half-open`: one probe is let through. */
export type Health = 'closed' | 'open' | 'half-open';

/** Whether playback suffers. Optional requests, and playlist reloads while there is media: no. */
export type Severity = 'error' | 'warning';

/**
 * What follows when the quick ladder of a request is spent. `auto`: reject where the player
 * can go elsewhere, else go on slowly; `hold`: go on slowly; `reject`: reject.
 */
export type ExhaustedMode = 'auto' | 'hold' | 'reject';

/** The policy of one site. */
export interface SitePolicy {
  /**
   * How long to wait for the response's headers. Each time-out widens it by half, up to 12 s, and
   * up to 30 s after eight of them.
   */
  headersTimeout: number;
  /** The same while the host has never answered; widens by half with each time-out. */
  firstHeadersTimeout: number;
  /**
   * How long a body may stay silent while somebody waits for it. Each stall widens it by half, up
   * to 12 s, and up to 30 s after eight of them. Slowness is no silence, but a small body that is
   * read as a whole (a playlist, a key) has one and a half times this in all.
   */
  stallTimeout: number;
  /** Attempts on the quick ladder, the first one included. */
  attempts: number;
  /**
   * Full jitter over `min(cap, base * factor^(n-1))` after the n-th failure, over a quarter of it
   * after a time-out or a stall.
   */
  backoff: { base: number; factor: number; cap: number };
  /** The quick ladder ends this long after the request began. */
  deadline: number;
  /** The longest `Retry-After` that is waited for; a longer one ends the request. */
  maxWait: number;
  onExhausted: ExhaustedMode;
  /**
   * Where another place is declared (`declareAlternatives`), the request is given up after so
   * many failures, so that the player can go there; 0 keeps to `attempts`.
   */
  rotateAfter: number;
  /** What is done about a status or a class at this site. */
  recovery?: RecoveryMatrix;
  /**
   * Lifts the bounds that the class of the site sets, such as at most two retries, or that media
   * is fetched on where it stopped.
   */
  allowOverride?: boolean;
  /**
   * Whether a body that stopped is fetched on from that byte, where the server shows that it is
   * still the same; true by default. Without, it starts over.
   */
  resume?: boolean;
  /**
   * The server never encodes these bodies (gzip and the like), though CORS hides
   * `Content-Encoding`; so bytes can be counted. False by default.
   */
  assumeIdentity?: boolean;
  /**
   * A 206 whose `Content-Range` CORS hides is taken for the missing part if it is as long as
   * that; false by default.
   */
  trustUnexposedRange?: boolean;
  /**
   * Requests without a range of their own are sent with `Range: bytes=0-` at once, so that the
   * first answer shows already what can be fetched on; false by default.
   */
  rangeFirst?: boolean;
  /**
   * What bodies must start like; another one is taken for a page (`INTERCEPTED`). `hls`:
   * `#EXTM3U`; `webvtt`: `WEBVTT`; `mpeg-ts`: sync bytes, and whole packets at the end; `mp4`: a
   * box. Not for media that is encrypted as a whole, nor at sites of keys, licenses and
   * certificates. By default only pages are refused.
   */
  container?: 'hls' | 'webvtt' | 'mpeg-ts' | 'mp4';
  /**
   * The site's own check. Called for each body that starts from its first byte; gives a function
   * that is told its chunks. One that throws has no opinion.
   */
  validate?(facts: BodyFacts): BodyValidator | undefined;
}

/** What `validate` is told of a body. */
export type BodyFacts = Omit<ResponseFacts, 'body'>;

/**
 * Told each chunk of a body before it is passed on, and `null` at its end; must answer at once.
 * `false` refuses the body, anything else does not.
 */
export type BodyValidator = (chunk: Uint8Array | null) => boolean | void;

/** The beginning of a refusal, for the detectors. */
export interface ResponseFacts {
  readonly status: number;
  /** Those that the page may read. */
  readonly headers: Headers;
  /** The first 8 KiB. */
  readonly body: string;
  readonly site: Site;
  readonly url: string;
}

/** What a rate limit is about, and how long nothing is to be sent, in milliseconds. */
export interface RateLimit {
  /** All that the engine sends, all to this host, or all URLs that start with this. */
  scope: 'session' | 'host' | (string & {});
  waitMs?: number;
}

/** A failed attempt, as `shouldRetry` finds it in its history. */
export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly class: FailureClass;
  /** 0 where there was none. */
  readonly status: number;
  /** The SVTA-2070 cause. */
  readonly svta: number;
  /** From when it was sent. */
  readonly duration: number;
  /** Bytes of its body that came. */
  readonly bytes: number;
  /** How long it was waited for after the failure before it. */
  readonly delay: number;
}

/** What `refreshPlaybackToken` and `refreshLicenseRequest` are told of the refusal. */
export interface RefreshContext {
  readonly url: string;
  /** Absent where the credential is refreshed ahead of time. */
  readonly site?: Site;
  /** 0 ahead of time. */
  readonly status: number;
  readonly headers?: Headers;
  /** The first 8 KiB of the refusal. */
  readonly body: string;
  readonly attempt: number;
  /** Whether the server refused it, or it is about to expire. */
  readonly evidence: 'refused' | 'expiring';
  readonly signal?: AbortSignal;
}

/** What a license or certificate request is sent with. */
export interface LicenseRequest {
  url?: string;
  headers?: HeadersInit;
  body?: BodyInit | null;
}

/**
 * Hooks, which may be set for the engine, for a site, and for a source. The most specific one
 * counts, alone. One that throws, or answers something else, leaves it to the built-in decision.
 */
export interface HookSet {
  /**
   * Whether a failed attempt is to be repeated: `true` also where the class is final, but never
   * beyond the ladder, the budget, the breaker, or for 451; `{ retryAfter }` in milliseconds
   * instead of the ladder's delay, and never before the time that a server named. A promise has
   * 250 ms.
   */
  shouldRetry?(
    error: RequestError,
    attempt: number,
    history: readonly FailedAttempt[],
  ): Awaitable<boolean | { retryAfter: number } | undefined>;
  /**
   * Gives the URL with a fresh credential, or the bare token where the URL has one place for it.
   * Called once for all requests that carry the credential; has 10 s.
   */
  refreshPlaybackToken?(originalUrl: string, context: RefreshContext): Awaitable<string>;
  /** The same for licenses and certificates. */
  refreshLicenseRequest?(
    request: Required<LicenseRequest>,
    context: RefreshContext,
  ): Awaitable<LicenseRequest>;
  /** Whether a refusal is one of a rate limit. Must answer at once. */
  detectRateLimit?(facts: ResponseFacts): RateLimit | null | undefined;
  /** Whether a refusal means that the credential has expired, or that a fresh one is no use. */
  detectExpiry?(facts: ResponseFacts): 'expired' | 'denied' | undefined;
}

type Awaitable<T> = T | PromiseLike<T>;

/** A site's policy as an option: what is left out keeps its default. */
export type SiteOptions = Partial<Omit<SitePolicy, 'backoff'>> &
  HookSet & {
    backoff?: Partial<SitePolicy['backoff']>;
    /** Licenses and certificates: each request is good for one use, and never sent twice. */
    singleUse?: boolean;
    /** Licenses and certificates: `refreshLicenseRequest` is asked before each repetition. */
    refreshBeforeRetry?: boolean;
  };

/** What one source brings with it; laid over the options of the engine. */
export interface SourceOptions {
  sites?: { [site in Site]?: SiteOptions };
  hooks?: HookSet;
  recovery?: RecoveryMatrix;
}

/** The retry budget, in retries. */
export interface BudgetOptions {
  /** What one host's bucket holds, 10 by default. */
  host?: number;
  /** What the bucket of a source holds, 20 by default. */
  source?: number;
  /** What the engine's own bucket holds, 20 by default. */
  session?: number;
  /** What the success of a first attempt earns, 0.1 by default. */
  earn?: number;
  /** How many retries and probes a source makes without a success, 200 by default. */
  episode?: number;
}

/** The circuit breaker of each host. */
export interface BreakerOptions {
  /** So many failures in a row open it, 5 by default. */
  consecutive?: number;
  /** The span over which the share of failures is taken, 30 000 by default. */
  window?: number;
  /** The share counts once the window holds so many results, 10 by default. */
  minRequests?: number;
  /** The share of failures that opens it, 0.5 by default. */
  ratio?: number;
  /**
   * The first cool-down, 4000 by default, its growth, 1.5, and its longest, 30 000; the first is
   * at most the longest. Where
   * playback has nowhere else to go, the host is probed about once a target duration instead.
   */
  base?: number;
  factor?: number;
  cap?: number;
  /** A host that is up is forgiven one time that it was down each so long, 30 000 by default. */
  decay?: number;
  /** Whether one request that has used up its attempts opens it too; false by default. */
  exhausted?: boolean;
}

/** Where the WebAssembly module comes from. */
export type WasmSource = string | URL | Request | Response | BufferSource | WebAssembly.Module;

export interface EngineOptions extends HookSet {
  /** `naive`: what hls.js does by itself, and none of the rest; for comparison. */
  preset?: 'full' | 'naive';
  /** What is done about a status or a class, at all sites. */
  recovery?: RecoveryMatrix;
  budget?: BudgetOptions;
  breaker?: BreakerOptions;
  /** Whether one refresh serves all URLs with a credential (the default), or each its own. */
  refreshScope?: 'credential' | 'url';
  /** Told of each failed attempt, the first one included, before it is decided what follows. */
  onAttemptFailed?(event: AttemptFailedEvent): void;
  /** Told of each change of a host's health. */
  onHostHealth?(event: HostHealthEvent): void;
  /** Told once of each origin that hides from pages what would be of use. */
  onDiagnostic?(event: Diagnostic): void;
  /**
   * The header field in which servers advise (`X-Capsule-Advice` by default): an RFC 9651
   * dictionary of the integers `chunk`, `sessions`, `ranges` and `ttl`. It can only lower what
   * this engine does of itself. `false` listens to none.
   */
  adviceHeader?: string | false;
  /** Whether `CMSD-Dynamic` (CTA-5006) is advice too; false by default. */
  cmsd?: boolean;
  /** The site of a request that came without one; `undefined` leaves it to the URL. */
  getSite?(url: string, init: RequestInit): Site | undefined;
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
  /** The longest slow ladder of a request, 600 000 by default. */
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
  /** The same as errors of the SVTA's shape: the causes, then 3008 (retries exhausted). */
  errors: readonly SvtaError[];
  severity: Severity;
  /** Whether this fails as a request that CORS refuses does. */
  suspectCors: boolean;
  /** Whether the request goes on, slowly. */
  holding: boolean;
  /** Whether the class of the failure is final. */
  terminal: boolean;
  /** When, on the clock of `performance.now()`. */
  at: number;
}

/** An error of the SVTA's shape (SVTA-2070). Its severity is for the player to decide. */
export interface SvtaError {
  readonly code: number;
  readonly message?: string;
  readonly data?: unknown;
}

/** An attempt that came to nothing. */
export interface AttemptFailedEvent extends Omit<FailedAttempt, 'delay'> {
  readonly site: Site;
  readonly url: string;
  readonly host: string;
  /** When, on the clock of `performance.now()`. */
  readonly at: number;
}

/** What is known of a host. Times are on the clock of `performance.now()`. */
export interface HostHealth {
  readonly state: Health;
  /** Failures in a row. */
  readonly failures: number;
  readonly openedAt?: number;
  /** When it is probed next. */
  readonly retryAt?: number;
  /** How often it was down of late. */
  readonly trips: number;
}

/** A change of a host's health. */
export interface HostHealthEvent extends HostHealth {
  readonly host: string;
  readonly was: Health;
}

/** A rate limit that is kept to. */
export interface ThrottleState {
  /** Nothing is sent before this, on the clock of `performance.now()`. */
  readonly blockedUntil: number;
  /** The pace afterwards, in requests per second. */
  readonly rate: number;
}

/** A request that has failed at least once and goes on, or that waits to be sent at all. */
export interface RetryState {
  site: Site;
  url: string;
  host: string;
  attempt: number;
  maxAttempts: number;
  /** Of the last failure, where there was one. */
  class?: FailureClass;
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
  /** By host, or by what `getCdnId` names. */
  readonly hostHealth: Readonly<Record<string, Readonly<HostHealth>>>;
  /** By host; `session` for all that the engine sends. */
  readonly throttle: Readonly<Record<string, Readonly<ThrottleState>>>;
  /** The estimate in bit/s, once enough was seen. */
  readonly bandwidth?: number;
  /** Bytes of retries, which the estimate leaves out. */
  readonly excludedBytes: number;
  /** The path to the network; absent until the module is there. */
  readonly path?: Readonly<PathState>;
  /** What origins hide, one record each. */
  readonly diagnostics: readonly Diagnostic[];
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

/**
 * What a request is for. `needed`, the default: playback waits for it, or soon will; `ahead`: it
 * may be held back, and is sent with low priority.
 */
export type Purpose = 'needed' | 'ahead';

/** `RequestInit`, and what Holdfast adds. */
export interface FetchInit extends RequestInit {
  /** The site; guessed from the URL where it is left out, `other` where that fails. */
  site?: Site;
  /** Whether a request that is neither GET nor HEAD is safe to send twice. */
  idempotent?: boolean;
  /** Nothing is lost if it fails: a preload hint, a segment of a gap. */
  optional?: boolean;
  purpose?: Purpose;
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

/** A body as chunks, to be iterated once. */
export interface Chunks extends AsyncIterableIterator<Uint8Array> {
  /** Whether an attempt was cut: what comes is a repetition, and no measure of the network. */
  isRepeat(): boolean;
}

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
  /**
   * Sends each attempt of this load. Its third argument is the engine's own `fetch`, which sends it
   * otherwise.
   */
  fetch?(input: any, init: RequestInit | undefined, next: typeof fetch): Promise<Response>;
  /** Nothing is lost if it fails: a preload hint, a segment of a gap. */
  optional?: boolean;
  purpose?: Purpose;
  onAttempt?(info: { attempt: number; at: number }): void;
  /** Headers are accepted; again for each attempt whose body was lost. */
  onResponse?(info: { response: Response; at: number }): void;
  /** `total` is 0 where it is unknown; `loaded` starts over with a new attempt. */
  onProgress?(info: { loaded: number; total: number; at: number }): void;
  /**
   * Takes the chunks as they come, each byte once: of a body that has to start over those that were
   * taken are compared, and one that has changed is an error of the class `changed`.
   */
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
  /**
   * Of the attempt that succeeded; where others had brought a part of the body, as if theirs had come
   * right before, without the gap.
   */
  timing: { start: number; first: number; end: number };
  /** Whether the directives of a playlist reload were given up: reload plainly for a while. */
  degraded: boolean;
  /** `h2`, `h3` and the like, where the browser tells, else `unknown`. Decides nothing (R78). */
  protocol: string;
}

export interface PlaybackReport {
  /** Seconds buffered ahead of the playhead. */
  bufferAhead?: number;
  /** Seconds. */
  targetDuration?: number;
  /** Whether the stream is live: what is missing at its edge may be there in a moment. */
  live?: boolean;
}

/** One engine: a page has one, or one for each player. */
export interface Engine {
  /** Whether the module is in charge; `false` once the engine has failed open. */
  readonly ready: Promise<boolean>;
  /**
   * `fetch`, under the engine. Resolves with the final response, whatever its status; rejects where
   * none came, or a page with a status of success came in place of media.
   */
  fetch(input: string | URL | Request, init?: FetchInit): Promise<Response>;
  /** Rejects where the status is no success. */
  readonly fetchText: FetchText;
  /** Two stages: resolves at headers, and the body is read as it is iterated, once. */
  readonly fetchBytes: (resource: Resource, init?: FetchBytesInit) => Promise<Chunks>;
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
   * What the embedder knows of the path, over what the browser says; what is left out is left to
   * the browser. Each report replaces the one before.
   *
   * @throws {OptionsError} that names the field
   */
  reportPath(sample: Partial<PathSample>): void;
  /** The user wants to go on whatever data costs. Lifts no hold for want of a path, power or cold. */
  setUserConsent(consent: boolean): void;
  /**
   * How many other places the player can go to for what this site, or this URL, asks. 0 makes
   * the engine hold where it would reject; `undefined` takes the declaration back.
   */
  declareAlternatives(siteOrUrl: Site | (string & {}), count: number | undefined): void;
  /**
   * Another source is played. Its policies and hooks are laid over the engine's for what starts
   * from now on; `retryState`, `retryExhausted` and the budget of the source start over; what is
   * known of hosts stays. Resolves once its hooks are there, which is at once where the engine had
   * some before.
   *
   * @throws {OptionsError} that names the field
   */
  startSource(source?: SourceOptions): Promise<void>;
  /** Forgets what is known against a host or pathway, or against all. */
  resetHealth(host?: string): void;
  /** The player has turned away from this host or pathway: what only waits for it is rejected. */
  rotate(host: string): void;
  /** Names of hosts by the names that a steering manifest gives its pathways. */
  setPathways(pathways: Record<string, string>): void;
  /**
   * For `holdfast/cross-tab`: who says whether this tab probes a host that was down. An answer
   * that takes longer than 1 s is not waited for. `undefined`: nobody is asked.
   */
  electProbes(elect: ((host: string) => Promise<boolean>) | undefined): void;
  /** For `holdfast/cross-tab`: what another tab knows of a host. Never relaxes anything. */
  adoptHealth(host: string, news: HostNews): void;
}

/**
 * What another tab knows of a host. Times are on this page's clock of `performance.now()`; one that
 * is over says nothing.
 */
export interface HostNews {
  /** It is down until then, */
  openUntil?: number;
  /** for so many times of late. */
  trips?: number;
  /** It takes nothing before this, */
  blockedUntil?: number;
  /** and so many requests per second afterwards. */
  rate?: number;
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
  | 'REFRESH_FAILED'
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
  | 'UNEXPECTED'
  | 'CHANGED';

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
  /** The first 8 KiB of the refusal, where there are hooks that look at it. */
  body?: string;
  /** Why the credential could not be refreshed. */
  refreshError?: unknown;
  suspectCors?: boolean;
  severity?: Severity;
  /** Always false in a verdict. */
  holding?: boolean;
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
  /** The first 8 KiB of the refusal, where there are hooks that look at it. */
  readonly body?: string;
  /** Why the credential could not be refreshed. */
  readonly refreshError?: unknown;
  /** Whether this fails as a request that CORS refuses does. */
  readonly suspectCors?: boolean;
  readonly severity?: Severity;
  readonly holding?: boolean;
}

/** Whether a value is an error of this package, also from another realm or copy. */
export function isHoldfastError(value: unknown): value is HoldfastError;

/** The defaults of each site. */
export const DEFAULT_SITES: Readonly<Record<Site, Readonly<SitePolicy>>>;

/** The defaults of the retry budget. */
export const DEFAULT_BUDGET: Readonly<Required<BudgetOptions>>;

/** The defaults of the breaker. */
export const DEFAULT_BREAKER: Readonly<Required<BreakerOptions>>;

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
