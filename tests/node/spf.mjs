// @ts-check
/**
 * SPF's own network functions, by path: its package exports players, and declares no types for
 * what is beneath them.
 */
// @ts-expect-error
import * as bandwidth from '../../node_modules/@videojs/spf/dist/default/network/bandwidth-estimator.js';
// @ts-expect-error
import * as network from '../../node_modules/@videojs/spf/dist/default/network/fetch.js';

/** @typedef {import('holdfast').BandwidthState} State */
/** @typedef {import('holdfast').Resource} Resource */

/** @type {(state: State, durationMs: number, numBytes: number) => State} */
export const sampleBandwidth = bandwidth.sampleBandwidth;

/** @type {(initial: State, onSample: (next: State) => void) => import('holdfast').FetchBytes} */
export const createTrackedFetch = network.createTrackedFetch;

/** @type {import('holdfast').FetchBytes} */
export const fetchStream = network.fetchStream;

/** @type {import('holdfast').FetchText} */
export const fetchResolvableText = network.fetchResolvableText;

/** @type {(resource: Resource, init?: RequestInit) => Promise<Response>} */
export const fetchResolvable = network.fetchResolvable;
