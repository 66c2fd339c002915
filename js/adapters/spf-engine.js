// @ts-check
/** Which engine SPF's requests go through. */
import { createWarn } from './shared.js';

/** @typedef {import('./spf.d.ts').SpfEngine} SpfEngine */

// Not a variable: a bundler may bring two copies of this file, and both mean the same engine.
const KEY = Symbol.for('holdfast.spf');
const realm = /** @type {{ [KEY]?: SpfEngine }} */ (globalThis);
const warn = createWarn();

/** @type {typeof import('./spf.d.ts').useEngine} */
export function useEngine(engine) {
  const before = realm[KEY];
  realm[KEY] = engine;
  return () => {
    if (realm[KEY] === engine) realm[KEY] = before;
  };
}

/** The engine, or nothing where SPF is to do without: none was named, or it has failed open. */
export function engineInUse() {
  const engine = realm[KEY];
  if (!engine) warn('requests go to plain fetch, without any retry; call', ['useEngine(engine)']);
  return engine?.state.mode === 'plain' ? undefined : engine;
}
