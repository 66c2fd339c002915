// @ts-check
/** The version of HTTP changes no decision: the same script, the same log. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, content, hang, ok, page, stall } from '../node/server.mjs';
import { quick, shared, startBrowser } from './fixture.mjs';
import { serveOver } from './servers.mjs';

/** @typedef {import('./fixture.mjs').Answer} Answer */

const BODY = content(100_000);
const MEDIA = ok(BODY);
const EXPOSED = { 'access-control-expose-headers': 'Retry-After' };
const limited = answer(429, 'slowly', { 'retry-after': '1', ...EXPOSED });

/** What the server answers, one after another, by path; the last one to all that follow. */
const SCRIPT = /** @type {Record<string, Answer[]>} */ ({
  'whole.m4s': [MEDIA],
  'busy.m4s': [answer(503, 'busy'), answer(500, 'broken'), MEDIA],
  'missing.m4s': [answer(404, 'no')],
  'refused.m4s': [answer(451, 'no')],
  'limited.m4s': [limited, MEDIA],
  'stalled.m4s': [stall(BODY, 50_000), MEDIA],
  'silent.m4s': [hang(), MEDIA],
  'portal.m4s': [page(), MEDIA],
  'empty.m4s': [ok(''), MEDIA],
  'down.m4s': [answer(502, 'no')],
});

/** @type {import('./fixture.mjs').Browser} */
let browser;
before(async () => {
  browser = await startBrowser(['browsers']);
});
after(() => browser?.close());

/**
 * Runs the script in a page: each of its paths buffered and streaming, with an engine of its own, so
 * that what one leaves behind makes no difference to the next.
 *
 * @param {import('node:test').TestContext} t @param {import('./servers.mjs').Version} version
 */
async function run(t, version) {
  /** @type {Record<string, number>} */
  const asked = {};
  const server = await serveOver(version, (request, response) => {
    const url = request.url ?? '';
    const answers = SCRIPT[url.slice(1).split('?')[0]];
    asked[url] = (asked[url] ?? 0) + 1;
    response.setHeader('timing-allow-origin', '*');
    const next = /** @type {any} */ (shared(answers[Math.min(asked[url], answers.length) - 1]));
    // It uses only what both versions have.
    next(request, response);
  });
  t.after(server.close);
  const opened = await browser.open();
  t.after(opened.close);
  const options = {
    ...quick({ firstHeadersTimeout: 2500 }),
    breaker: { consecutive: 2, base: 500 },
  };
  return opened.page.evaluate(runInPage, {
    options,
    origin: server.origin,
    paths: Object.keys(SCRIPT),
  });
}

/** @param {{ options: object, origin: string, paths: string[] }} given */
async function runInPage({ options, origin, paths }) {
  const { createEngine } = await import('holdfast');
  /** @typedef {import('holdfast').Engine} Engine */
  const site = 'segment';
  const calls = {
    load: async (/** @type {Engine} */ engine, /** @type {string} */ url) =>
      (await engine.load({ url, site })).data,
    fetch: async (/** @type {Engine} */ engine, /** @type {string} */ url) =>
      (await engine.fetch(url, { site })).arrayBuffer(),
  };
  /** @type {Record<string, { outcome: unknown, log: string[] }>} */
  const told = {};
  const lanes = Object.entries(calls).map(async ([how, call]) => {
    for (const path of paths) {
      const engine = createEngine(options);
      await engine.ready;
      const outcome = await call(engine, `${origin}/${path}?${how}`).then(
        (bytes) => bytes.byteLength,
        (error) => error.code,
      );
      const log = engine
        .log()
        .map(({ request, attempt, event, detail }) =>
          [request, attempt, event, String(detail).replace(origin, '')].join(' '),
        );
      told[`${path} by ${how}`] = { outcome, log };
      engine.destroy();
    }
  });
  await Promise.all(lanes);
  const timings = performance.getEntriesByType('resource');
  const versions = timings
    .filter(({ name }) => name.startsWith(origin))
    .map((timing) => /** @type {PerformanceResourceTiming} */ (timing).nextHopProtocol);
  return { told, versions: [...new Set(versions.filter(Boolean))] };
}

test('R73: the same script over HTTP/1.1 and HTTP/2 gives the same decisions', async (t) => {
  const [first, second] = await Promise.all([run(t, 'http/1.1'), run(t, 'h2')]);
  assert.deepEqual([first.versions, second.versions], [['http/1.1'], ['h2']]);
  assert.deepEqual(second.told, first.told);
  // That something was decided.
  const { outcome, log } = first.told['busy.m4s by load'];
  assert.equal(outcome, BODY.length);
  assert.deepEqual(
    log.filter((line) => line.includes(' failed ')),
    ['1 1 failed server-busy', '1 2 failed server'],
  );
});
