// @ts-check
/** What all entries export alike. */
export { HoldfastError, isHoldfastError, OptionsError, RequestError } from './errors.js';
export { isReady } from './module.js';
export { DEFAULT_BREAKER, DEFAULT_BUDGET, DEFAULT_SITES } from './sites.js';
