// @ts-check
/** The line between a transfer and the driver that decides for it. */

import { FACT } from './names.js';
import { isCached } from './resource.js';

/** @typedef {import('./pkg/core.js').Driver} Driver */

/** What each driver was told last. @type {WeakMap<Driver, boolean>} */
const said = new WeakMap();

/** Whether the driver was told last that there is no network. @param {Driver} driver */
export const saidOffline = (driver) => said.get(driver) === false;

/** Tells the driver what the browser says of the network; `true` proves nothing. @param {Driver} driver */
export function sayOnline(driver) {
  const online = globalThis.navigator?.onLine !== false;
  if (said.get(driver) === online) return;
  said.set(driver, online);
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
      end: (whole, bytes) =>
        tell(FACT.bodyEnd, attempt, now(), Number(whole) * (isCached(transfer, bytes) ? 2 : 1)),
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

/**
 * What a request is started with, as bits, from the lowest on in the order of `flag` in `src/web/driver.rs`.
 *
 * @param {import('./transfer.js').Request} request
 */
export function flagsOf(request) {
  const { site, url } = request;
  const isReload = site === 'playlist-reload';
  return [
    request.streaming,
    request.once,
    request.noBody,
    isReload && /[?&]_HLS_msn=/.test(url),
    request.optional || site === 'steering',
    isReload && /[?&]_HLS_(msn|skip)=/.test(url),
    request.ahead,
    request.range !== null,
    request.inOne,
    request.keepsRefusal,
  ].reduce((bits, isSet, place) => bits | (isSet ? 1 << place : 0), 0);
}
