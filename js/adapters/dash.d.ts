import type { MediaPlayerClass } from 'dashjs';
import type { Engine } from '../index.js';

/** The part of an engine that this adapter uses. */
export type DashEngine = Pick<
  Engine,
  'load' | 'state' | 'subscribe' | 'reportPlayback' | 'declareAlternatives'
>;

/**
 * A loader as dash.js takes it in `player.extend('XHRLoader', loader, true)`: called with `context`,
 * `factory` and `parent` as its `this`, it gives an object with `load(request, response)`.
 */
export type DashLoader = (this: { context: object; factory: object; parent: object }) => object;

export interface DashOptions {
  /** Carries each attempt instead of `fetch`: a loader of a peer-to-peer network, for instance. */
  loader?: DashLoader;
}

/**
 * Puts an engine under a player: its loaders, its retry settings, and what it reports of playback.
 * Call it before `player.initialize` and before other extensions of `XHRLoader` and `FetchLoader`.
 *
 * @returns takes it off again: dash.js's own loaders and settings are back
 */
export function attachDash(
  engine: DashEngine,
  player: MediaPlayerClass,
  options?: DashOptions,
): () => void;
