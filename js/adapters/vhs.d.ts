import type videojs from 'video.js';
import type { Engine } from '../index.js';

/** The part of an engine that this adapter uses. */
export type VhsEngine = Pick<
  Engine,
  'load' | 'reportPlayback' | 'declareAlternatives' | 'state' | 'subscribe'
>;

/** video.js itself, with VHS, as the package has it. */
export type VideoJs = typeof videojs;

/** What `videojs(...)` returns. */
export type VideoJsPlayer = ReturnType<VideoJs>;

/**
 * Sends what VHS asks for through the engine: for one player, or for all of the page, those to
 * come included. With a player, call it before the player has a source. Also tells the engine how
 * much is buffered, the target duration, whether the stream is live and what could take over. Ends by
 * itself where a player is disposed of, or the engine fails open.
 *
 * @throws {TypeError} where this video.js has no VHS
 * @returns uninstall: what VHS asks for from then on goes as it did before; in any order
 */
export function installVhs(engine: VhsEngine, videojs: VideoJs, player?: VideoJsPlayer): () => void;
