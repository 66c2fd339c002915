// @ts-check
/**
 * The one wasm module of a page: loading it, once, and starting over when it has trapped.
 *
 * A failed load is forgotten, so that the next call tries again.
 */
import load, { Driver, initSync as loadSync, renew } from './pkg/core.js';

/** @typedef {import('./index.d.ts').WasmSource} WasmSource */

/** @type {Promise<void> | undefined} */
let loading;
let ready = false;
/** @type {unknown} why the module cannot be started again */
let broken;
/** @type {Array<() => void>} */
let waiting = [];

/**
 * Loads the module, or joins the load that is under way; where that one fails, which may be
 * the fault of its source, this source is tried.
 *
 * @param {WasmSource | (() => WasmSource | PromiseLike<WasmSource>)} source
 * @returns {Promise<void>}
 */
export async function init(source) {
  try {
    if (loading) return await loading;
  } catch {
    // It was told to who began it.
  }
  if (broken) throw broken;
  loading ??= (async () => {
    const from = typeof source === 'function' ? source() : source;
    await load({ module_or_path: /** @type {any} */ (await compilable(from)) });
    done();
  })().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/**
 * The source, or the bytes of a response that cannot be compiled as it streams in: the glue
 * would try, and warn.
 *
 * @param {WasmSource | PromiseLike<WasmSource>} source
 */
async function compilable(source) {
  const from = await source;
  const isAddress = typeof from === 'string' || from instanceof URL || from instanceof Request;
  const response = isAddress ? await fetch(from) : from;
  if (!(response instanceof Response) || !response.ok) return response;
  const type = response.headers.get('content-type') ?? '';
  return type === 'application/wasm' ? response : response.arrayBuffer();
}

/**
 * Compiles and starts the module at once. Main threads of older browsers refuse it.
 *
 * @param {BufferSource | WebAssembly.Module} source
 */
export function initSync(source) {
  if (ready) return;
  loadSync({ module: source });
  done();
}

/** Whether the module can be used. */
export function isReady() {
  return ready;
}

/** Resolves when somebody has loaded the module. @returns {Promise<void>} */
export function whenReady() {
  return ready ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
}

function done() {
  ready = true;
  for (const resolve of waiting) resolve();
  waiting = [];
}

/**
 * Who has drivers on the instance. `abandon` comes before a new start, `restarted` after it,
 * with the error where there is none.
 *
 * @typedef {{ abandon(): void, restarted(failure: unknown): void }} User
 * @type {Set<User>}
 */
const users = new Set();

/** @param {User} user Returns the way out. */
export function onTrap(user) {
  users.add(user);
  return () => users.delete(user);
}

/** Throws away an instance that has trapped, with all drivers on it, and starts another. */
export function startOver() {
  for (const user of users) user.abandon();
  // Not before whoever is inside of the old instance has left it.
  queueMicrotask(() => {
    const failure = restart();
    for (const user of users) user.restarted(failure);
  });
}

/** Answers with what went wrong, if something did. */
function restart() {
  try {
    renew();
    return undefined;
  } catch (error) {
    ready = false;
    loading = undefined;
    broken = error;
    return error;
  }
}

export { Driver };
