// @ts-check
/** The entry for Node: the module is read from disk. For tests and server-side rendering. */
import { readFile } from 'node:fs/promises';
import { entry } from './create.js';

const source = () => readFile(new URL('./pkg/core_bg.wasm', import.meta.url));

export const { createEngine, createTrackedFetch, withRetry } = entry(source);
export * from './common.js';
