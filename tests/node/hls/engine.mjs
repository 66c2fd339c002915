// The engine under test, with short ladders, or one that answers by hand; both behind a recorder of
// what the adapter asks of them.
import { createEngine, DEFAULT_SITES } from '../../../js/node.js';

/**
 * @param {{ attempts?: number, delay?: number, headersTimeout?: number, stallTimeout?: number,
 *   hold?: boolean }} [options] `hold` leaves it to the engine what happens after the last attempt;
 *   otherwise it rejects
 */
export async function engineFor({
  attempts = 3,
  delay = 20,
  headersTimeout = 5000,
  stallTimeout = 5000,
  hold = false,
} = {}) {
  const policy = {
    attempts,
    headersTimeout,
    firstHeadersTimeout: headersTimeout,
    stallTimeout,
    backoff: { base: delay, factor: 1, cap: delay },
    allowOverride: true,
  };
  const sites = Object.fromEntries(Object.keys(DEFAULT_SITES).map((site) => [site, policy]));
  const engine = createEngine({ sites, onExhausted: hold ? 'auto' : 'reject' });
  await engine.ready;
  return record(engine);
}

/** An engine whose loads the test answers by hand. @param {(request: any) => Promise<any>} load */
export function scripted(load) {
  const state = /** @type {any} */ ({ mode: 'engine' });
  const subscribe = () => () => {};
  return record({
    load,
    reportPlayback() {},
    declareAlternatives() {},
    destroy() {},
    state,
    subscribe,
  });
}

/** @param {import('../../../js/adapters/hls.d.ts').HlsEngine & { destroy(): void }} engine */
function record(engine) {
  /** @type {any[]} */
  const requests = [];
  /** @type {any[]} */
  const reports = [];
  /** @type {Map<string, number | undefined>} */
  const alternatives = new Map();
  return {
    requests,
    reports,
    alternatives,
    /** @param {any} request @returns {Promise<import('holdfast').Loaded<any>>} */
    load(request) {
      requests.push(request);
      return engine.load(request);
    },
    /** @param {any} report */
    reportPlayback(report) {
      reports.push(report);
      engine.reportPlayback(report);
    },
    /** @param {string} site @param {number | undefined} count */
    declareAlternatives(site, count) {
      alternatives.set(site, count);
      engine.declareAlternatives(site, count);
    },
    get state() {
      return engine.state;
    },
    subscribe: engine.subscribe.bind(engine),
    destroy: () => engine.destroy(),
  };
}

/** What an engine resolves with, for scripted ones. @param {any} data @param {object} [fields] */
export function loaded(data, fields = {}) {
  const now = performance.now();
  const response = new Response(null);
  return {
    url: 'http://127.0.0.1/final',
    status: 200,
    headers: response.headers,
    response,
    data,
    attempts: 1,
    timing: { start: now - 2, first: now - 1, end: now },
    bytes: data.byteLength ?? data.length ?? 0,
    ...fields,
  };
}
