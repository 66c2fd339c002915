// @ts-check
/** What whoever looks on an engine is shown: its slots, and the events that come with them. */
import { VIEW } from './names.js';
import { failureOf, pathOf, retryOf, rowsOf } from './records.js';
import { attempt } from './attempt.js';
import { svtaErrors } from './svta.js';

/** @typedef {import('./index.d.ts').EngineState} EngineState */
/** @typedef {import('./transfer.js').Transfer} Transfer */

/**
 * The slots as the driver has them now.
 *
 * @param {import('./pkg/core.js').Driver} driver
 * @param {Map<number, Transfer>} transfers
 * @param {number} first the number of the first request of this source
 * @param {import('./hosts.js').Hosts} hosts
 * @returns {Partial<EngineState>}
 */
export function readSlots(driver, transfers, first, hosts) {
  /** @type {Record<string, any>} */
  const retryState = {};
  for (const row of rowsOf(driver.view(VIEW.requests), 8)) {
    const { request, ...state } = retryOf(row);
    const transfer = transfers.get(request);
    // What is left of the source before is none of this one's.
    if (!transfer || request < first) continue;
    const { shown: url } = transfer;
    const { site, host } = transfer.request;
    retryState[request] = Object.freeze({ site, url, host, ...state });
  }
  const [bandwidth, excludedBytes] = driver.view(VIEW.estimate);
  return {
    retryState: Object.freeze(retryState),
    bandwidth: Number.isNaN(bandwidth) ? undefined : bandwidth,
    excludedBytes,
    path: Object.freeze(pathOf(driver.view(VIEW.path))),
    ...hosts.read(rowsOf(driver.view(VIEW.hosts), 8)),
  };
}

/**
 * The event of a request whose ladder is spent, or whose failure is final.
 *
 * @param {Transfer} transfer
 * @param {number[]} record
 * @returns {import('./index.d.ts').ExhaustedEvent}
 */
export function exhaustedEvent({ request: { site, host }, shown: url }, record) {
  const failure = failureOf(record);
  return Object.freeze({
    ...failure,
    site,
    url,
    host,
    at: performance.now(),
    terminal: failure.reason === 'terminal',
    errors: svtaErrors({ ...failure, site, url, host }),
  });
}

/**
 * Tells of each host whose health has changed, where somebody wants to know.
 *
 * @param {import('./index.d.ts').EngineOptions['onHostHealth']} onHostHealth
 */
export const tellHealth = (onHostHealth) =>
  onHostHealth &&
  ((/** @type {EngineState} */ before, /** @type {EngineState} */ after) => {
    for (const [host, health] of Object.entries(after.hostHealth)) {
      const was = before.hostHealth[host]?.state ?? 'closed';
      if (health.state === was) continue;
      attempt(() => onHostHealth(Object.freeze({ host, was, ...health })));
    }
  });
