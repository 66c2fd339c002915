// @ts-check
/**
 * Tabs of one origin that know of each other: what one learns of a host the others need not find
 * out, one of them probes, and one refreshes a credential. The same origin is not the same player:
 * what another tab says is advice for a minute, never relaxes anything, and is kept in memory only.
 */
import { Gossip } from './tab-health.js';
import { sharedRefresh } from './tab-refresh.js';

/**
 * @param {import('./cross-tab.js').CrossTabEngine} engine
 * @param {import('./cross-tab.js').CrossTabOptions} [options]
 * @returns {import('./cross-tab.js').CrossTab}
 */
export function shareAcrossTabs(engine, { name = 'holdfast' } = {}) {
  const gossip = new Gossip(engine, name);
  return { close: () => gossip.close() };
}

/**
 * @param {import('./cross-tab.js').RefreshPlaybackToken} refreshPlaybackToken
 * @param {import('./cross-tab.js').SharedRefreshOptions} [options]
 */
export const singleFlightAcrossTabs = (refreshPlaybackToken, { name = 'holdfast', keyOf } = {}) =>
  sharedRefresh(refreshPlaybackToken, name, keyOf);
