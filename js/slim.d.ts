/** The entry without a way to the module: the application loads it. */
import type { WasmSource } from './index.js';

export * from './index.js';

/** Loads the module; a second call joins the first, and a failed one may be repeated. */
export function init(source: WasmSource): Promise<void>;

/** Compiles the module at once. Main threads of older browsers refuse it. */
export function initSync(source: BufferSource | WebAssembly.Module): void;
