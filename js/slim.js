// @ts-check
/**
 * The entry for libraries: no way to the module is built in. The application calls `init` or
 * `initSync`, or passes `wasm` to `createEngine`; until then requests go out unprotected.
 */
import { entry } from './create.js';

export const { createEngine, createTrackedFetch, withRetry } = entry(undefined);
export { init, initSync } from './module.js';
export * from './common.js';
