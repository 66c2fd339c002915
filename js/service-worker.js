// @ts-check
/** The entry for service workers, and for the pages that register one. */
import * as holdfast from './index.js';
import { serving } from './sw-serve.js';

export const serve = serving(holdfast);
export { register, reportPlayback, unregister, workerState } from './sw-page.js';
