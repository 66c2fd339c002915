// @ts-check
/** The entry that carries the module within: a sixth larger, and nothing else to serve. */
import { entry } from './create.js';
import { base64 } from './pkg/inline.js';

const source = () => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)).buffer;

export const { createEngine, createTrackedFetch, withRetry } = entry(source);
export * from './common.js';
