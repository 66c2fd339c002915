import type RxPlayer from 'rx-player';
import type { IKeySystemOption, ILoadVideoOptions } from 'rx-player/types';
import type { Engine } from '../index.js';

/** The part of an engine that this adapter uses. */
export type RxEngine = Pick<Engine, 'load' | 'reportPlayback' | 'declareAlternatives' | 'state'>;

/** What a license request is sent with, besides its message as the body of a `POST`. */
export type RxLicenseSetup =
  | RequestInit
  | ((
      message: Uint8Array<ArrayBuffer>,
      messageType: string,
    ) => RequestInit | PromiseLike<RequestInit>);

/** What `rxLicense` returns, to be spread into an entry of `keySystems`. */
export type RxLicense = Required<Pick<IKeySystemOption, 'getLicense' | 'getLicenseConfig'>>;

export interface RxSettings {
  /**
   * Whether an audio or video segment that is not found (404, 410) is passed over: rx-player then
   * plays on behind the hole, with a warning `DISCONTINUITY_ENCOUNTERED`. Two in a row end
   * playback, as one does by default.
   */
  skipMissing?: boolean;
}

/**
 * Options for `player.loadVideo(...)`: the ones given, with loaders that send manifests and
 * segments through the engine. A `manifestLoader` or `segmentLoader` of your own becomes what
 * sends each attempt. Warns about options that bring a second retry layer, or go past the engine.
 */
export function rxOptions(
  engine: RxEngine,
  options: ILoadVideoOptions,
  settings?: RxSettings,
): ILoadVideoOptions;

/**
 * A `getLicense` that posts each message to `url` through the engine, and the `getLicenseConfig`
 * that leaves retries to the engine.
 */
export function rxLicense(engine: RxEngine, url: string, setup?: RxLicenseSetup): RxLicense;

/**
 * Tells the engine how much is buffered, the target duration and whether the stream is live, and
 * gives rx-player's errors the `type`, `status`, `url` and `errorType` of its own loaders. Ends by
 * itself when the player is disposed of.
 *
 * @returns leave the player as it was: what is loaded from now on goes past the engine
 */
export function attachRxPlayer(engine: RxEngine, player: RxPlayer): () => void;
