// @ts-check

/**
 * Runs a caller's function. One that throws must not break playback: its error goes where
 * uncaught errors go.
 *
 * @template T
 * @param {() => T} call
 * @returns {T | undefined}
 */
export function attempt(call) {
  try {
    return call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
    return undefined;
  }
}
