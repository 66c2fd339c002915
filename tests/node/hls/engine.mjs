// The engine under test, with short ladders, behind a recorder of what the adapter asked of it.
import { existsSync } from 'node:fs';
import { createFakeEngine } from './fake-engine.mjs';

const entry = new URL('../../../js/node.js', import.meta.url);
export const REAL = process.env.HOLDFAST_ENGINE !== 'fake' && existsSync(entry);

/**
 * @param {{ attempts?: number, delay?: number, headersTimeout?: number, stallTimeout?: number, hold?: boolean }} [options]
 */
export async function engineFor(options = {}) {
  return record(REAL ? await realEngine(options) : createFakeEngine(options));
}

async function realEngine() {
  throw new Error('not yet');
}

/** An engine whose loads the test answers by hand. @param {(request: any) => Promise<any>} load */
export function scripted(load) {
  return record({ load, reportPlayback() {}, declareAlternatives() {}, destroy() {} });
}

function record(engine) {
  /** @type {any[]} */
  const requests = [];
  /** @type {any[]} */
  const reports = [];
  /** @type {Map<string, number | undefined>} */
  const alternatives = new Map();
  return {
    engine,
    requests,
    reports,
    alternatives,
    /** @param {any} request */
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
