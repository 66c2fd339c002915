// @ts-check
/**
 * SPF's own network functions, by path: its package exports players, and declares no types for
 * what is beneath them.
 */
// @ts-expect-error
import * as bandwidth from '../../node_modules/@videojs/spf/dist/default/network/bandwidth-estimator.js';
// @ts-expect-error
import * as own from '../../node_modules/@videojs/spf/dist/default/network/fetch.js';

/** @typedef {import('holdfast').BandwidthState} State */
/** @typedef {import('holdfast').Resource} Resource */

/** @type {(state: State, durationMs: number, numBytes: number) => State} */
export const sampleBandwidth = bandwidth.sampleBandwidth;

/**
 * @type {{
 *   createTrackedFetch: (initial: State, onSample: (next: State) => void) => import('holdfast').FetchBytes,
 *   fetchStream: import('holdfast').FetchBytes,
 *   fetchResolvableText: import('holdfast').FetchText,
 *   fetchResolvable: (resource: Resource, init?: RequestInit) => Promise<Response>,
 * }}
 */
export const network = own;

export const { createTrackedFetch, fetchStream, fetchResolvableText, fetchResolvable } = network;
