// @ts-check
/** The line between a transfer and the driver that decides for it. */

import { FACT } from './names.js';

/** @typedef {import('./pkg/core.js').Driver} Driver */

const FLAGS = {
  streaming: 1,
  once: 2,
  noBody: 4,
  blocking: 8,
  optional: 16,
  directives: 32,
  ahead: 64,
  ranged: 128,
  inOne: 256,
  seesStatus: 512,
};

/** Tells the driver what the browser says of the network; `true` proves nothing. @param {Driver} driver */
export function sayOnline(driver) {
  const online = globalThis.navigator?.onLine !== false;
  driver.tell(FACT.online, Number(online), 0, 0, 0, 0);
}

/**
 * @param {(use: (driver: import('./pkg/core.js').Driver) => boolean | void) => boolean} call
 *   calls the driver; true where it is gone, so that a body goes on without it
 * @param {number} id
 * @returns {import('./transfer.js').Link}
 */
export function driverLink(call, id) {
  const now = () => performance.now();
  const tell = (/** @type {number} */ fact, /** @type {number} */ attempt, x = 0, y = 0, z = 0) =>
    call((driver) => driver.tell(fact, id, attempt, x, y, z));
  return {
    monitor: (transfer, attempt) => ({
      reading: () => tell(FACT.reading, attempt, now()),
      chunk: (bytes, more) => tell(FACT.chunk, attempt, bytes, Number(more), now()),
      end: (whole) => tell(FACT.bodyEnd, attempt, now(), Number(whole)),
      lost: (error) => {
        transfer.arrived(attempt, undefined, error);
        call(sayOnline);
        tell(FACT.bodyLost, attempt, now());
      },
      page: () => tell(FACT.page, attempt, now()),
    }),
    abort: () => tell(FACT.abort, 0),
  };
}

/** What a request is started with, as bits. @param {import('./transfer.js').Request} request */
export function flagsOf(request) {
  const { site, url, streaming, once, noBody, optional, ahead, range, inOne } = request;
  const isReload = site === 'playlist-reload';
  return (
    (streaming ? FLAGS.streaming : 0) |
    (once ? FLAGS.once : 0) |
    (noBody ? FLAGS.noBody : 0) |
    (isReload && /[?&]_HLS_msn=/.test(url) ? FLAGS.blocking : 0) |
    (optional || site === 'steering' ? FLAGS.optional : 0) |
    (isReload && /[?&]_HLS_(msn|skip)=/.test(url) ? FLAGS.directives : 0) |
    (ahead ? FLAGS.ahead : 0) |
    (range === null ? 0 : FLAGS.ranged) |
    (inOne ? FLAGS.inOne : 0) |
    (request.keepsRefusal ? FLAGS.seesStatus : 0)
  );
}
