// @ts-check
/**
 * The whole worker, for those who bundle nothing: built into `js/pkg/service-worker.js`, which a site
 * serves as it is. A worker of the site's own may set options before it imports that.
 */
import { createEngine, withRetry } from './inline.js';
import { serving } from './sw-serve.js';

const { holdfast } = /** @type {{ holdfast?: import('./service-worker.d.ts').ServeOptions }} */ (
  globalThis
);

serving({ createEngine, withRetry })(holdfast);
