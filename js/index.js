// @ts-check
/** The entry for browsers: the module is fetched from beside this file when first needed. */
import { entry } from './create.js';

// One literal, one level, and inside a function: that is what bundlers find and rewrite, and
// nothing happens at import.
const source = () => new URL('./pkg/core_bg.wasm', import.meta.url);

export const { createEngine, createTrackedFetch, withRetry } = entry(source);
export * from './common.js';
