import type { EngineOptions, EngineState, LogEntry, PlaybackReport, Site } from './index.d.ts';

/** The options of the engine, and of the worker. */
export interface ServeOptions extends EngineOptions {
  /**
   * Which requests are the engine's: a site, or `true` for the site that the request shows
   * (`other`, which is sent once, where it shows none). All others are left alone, as if there were
   * no worker. Called for each request but navigations; must answer at once. By default: GETs of
   * `<video>`, `<audio>` and `<track>`, and GETs of scripts whose URL ends like media, a playlist or
   * a key.
   */
  match?(request: Request): Site | boolean | undefined;
  /**
   * Whether a new version takes over at once, and takes the pages that are open; true by default.
   * `false` leaves that to the worker that this is a part of.
   */
  claim?: boolean;
  /** The longest slow ladder of a request, here 60 000 by default. */
  holdLimit?: number;
}

/**
 * Lets the engine answer requests for media. To be called in a service worker, while its script is
 * first run.
 *
 * @throws {OptionsError} that names the field
 */
export function serve(options?: ServeOptions): void;

/** What the engine of a worker knows. Times are on the worker's own clock. */
export interface WorkerState {
  state: EngineState;
  log: LogEntry[];
}

/**
 * For pages: registers a worker, and resolves once it answers for this page, or after 5 s.
 * Resolves with `undefined` where there are no service workers, as in pages without TLS.
 */
export function register(
  url: string | URL,
  options?: RegistrationOptions,
): Promise<ServiceWorkerRegistration | undefined>;

/**
 * For pages: takes the worker of this page, or of another one, out of service. It leaves requests alone
 * from now on; what is under way is finished. Resolves with whether there was one.
 */
export function unregister(url?: string | URL): Promise<boolean>;

/** For pages: tells the worker how playback stands; it counts for 10 s. */
export function reportPlayback(report: PlaybackReport): void;

/** For pages: what the worker's engine knows, for debugging; `undefined` without a worker of Holdfast's. */
export function workerState(): Promise<WorkerState | undefined>;
