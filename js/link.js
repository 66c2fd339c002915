// @ts-check
/** The line between a transfer and the driver that decides for it. */

/** What the browser says of the network; `true` proves nothing. */
export const isOnline = () => globalThis.navigator?.onLine !== false;

/**
 * @param {(use: (driver: import('./pkg/core.js').Driver) => boolean | void) => boolean} call
 *   calls the driver; true where it is gone, so that a body goes on without it
 * @param {number} id
 * @returns {import('./transfer.js').Link}
 */
export function driverLink(call, id) {
  const now = () => performance.now();
  return {
    monitor: (_, attempt) => ({
      reading: () => void call((driver) => driver.reading(id, attempt, now())),
      chunk: (bytes, more) => call((driver) => driver.chunk(id, attempt, bytes, more, now())),
      end: () => call((driver) => driver.bodyEnd(id, attempt, now())),
      lost: (error) =>
        void call((driver) => {
          driver.online(isOnline());
          driver.bodyLost(id, attempt, false, error, now());
        }),
      page: () => void call((driver) => driver.bodyLost(id, attempt, true, undefined, now())),
    }),
    abort: () => void call((driver) => driver.abort(id)),
  };
}
