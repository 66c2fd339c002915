/** Tabs of one origin that spare each other what one of them has found out. */
import type { Engine, HookSet } from './index.js';

/** The part of an engine that tabs share. */
export type CrossTabEngine = Pick<
  Engine,
  'ready' | 'state' | 'subscribe' | 'electProbes' | 'adoptHealth'
>;

export interface CrossTabOptions {
  /** Tabs with the same name share, `holdfast` by default: one name for each kind of player. */
  name?: string;
}

export interface CrossTab {
  /** Ends it, and leaves no timer, listener, lock or channel behind. */
  close(): void;
}

/** What a tab tells of a host, on the clock of `Date.now()`; 0 of what it does not say. */
export interface News {
  host: string;
  /** The host is down until then. */
  openUntil: number;
  trips: number;
  /** Nothing is sent before this. */
  blockedUntil: number;
  /** In requests per second, `Infinity` where nothing is blocked. */
  rate: number;
}

/**
 * Tells the other tabs which hosts are down or limit their rate, and keeps to what they tell for
 * up to a minute; of all tabs, one probes a host. Only ever makes this tab send less.
 */
export function shareAcrossTabs(engine: CrossTabEngine, options?: CrossTabOptions): CrossTab;

export type RefreshPlaybackToken = NonNullable<HookSet['refreshPlaybackToken']>;

export interface SharedRefreshOptions extends CrossTabOptions {
  /**
   * What is the same for all URLs that one refresh serves: by default the credential that is
   * recognised in the URL, or the URL where none is. `undefined` stands for the URL.
   */
  keyOf?(url: string): string | undefined;
}

/** The hook, for `createEngine`. */
export type SharedRefresh = RefreshPlaybackToken & CrossTab;

/**
 * Makes of a `refreshPlaybackToken` hook one that is called once for all tabs. The others wait for
 * its answer for up to 8 s, then call their own. Answers stay in memory, for a minute.
 */
export function singleFlightAcrossTabs(
  refreshPlaybackToken: RefreshPlaybackToken,
  options?: SharedRefreshOptions,
): SharedRefresh;
