// @ts-check
/** What comes from the browser's cache says nothing of the link. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { quick, startBrowser } from './fixture.mjs';
import { serveOver } from './servers.mjs';

/** So much that even a cache takes longer than what no estimator would count. */
const BODY = Buffer.alloc(4 * 2 ** 20, 0x47);

/** @type {import('./fixture.mjs').Browser} */
let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

/**
 * The same body twice: the estimate after each, and how often the server was asked.
 *
 * @param {import('node:test').TestContext} t @param {Record<string, string>} headers
 */
async function twice(t, headers) {
  let asked = 0;
  const server = await serveOver('http/1.1', (request, reply) => {
    asked += 1;
    const response = /** @type {import('node:http').ServerResponse} */ (reply);
    const own = { 'access-control-allow-origin': '*', 'content-length': BODY.length, ...headers };
    const isKnown = request.headers['if-none-match'] !== undefined;
    response.writeHead(isKnown ? 304 : 200, own);
    if (isKnown) return void response.end();
    response.write(BODY.subarray(0, BODY.length / 2));
    setTimeout(() => response.end(BODY.subarray(BODY.length / 2)), 300);
  });
  t.after(server.close);
  const opened = await browser.open();
  t.after(opened.close);
  const given = { options: /** @type {object} */ (quick({})), url: `${server.origin}/one.m4s` };
  const [first, second] = await opened.page.evaluate(async ({ options, url }) => {
    const { createEngine } = await import('holdfast');
    const engine = createEngine(/** @type {object} */ (options));
    await engine.ready;
    const states = [];
    for (let i = 0; i < 2; i += 1) {
      await engine.load({ url, site: 'segment' });
      const { bandwidth, excludedBytes } = engine.state;
      states.push({ bandwidth, excludedBytes });
    }
    engine.destroy();
    return states;
  }, given);
  assert.ok(first.bandwidth, 'the link was measured');
  assert.equal(first.excludedBytes, 0);
  return { first, second, asked };
}

/**
 * The same, up to three times: on a busy machine the browser may tell of a body after its end, and
 * then it has counted.
 *
 * @param {Parameters<typeof twice>[0]} t
 * @param {Parameters<typeof twice>[1]} headers
 */
async function told(t, headers) {
  let seen = await twice(t, headers);
  for (let i = 0; i < 2 && seen.second.excludedBytes === 0; i += 1) seen = await twice(t, headers);
  return seen;
}

const TIMED = { 'timing-allow-origin': '*', etag: '"one"' };

test('R64: what the cache gives does not move the estimate', async (t) => {
  const { first, second, asked } = await told(t, { ...TIMED, 'cache-control': 'max-age=600' });
  assert.equal(asked, 1);
  assert.deepEqual(second, { bandwidth: first.bandwidth, excludedBytes: BODY.length });
});

test('R64: nor does what the cache gives after it has asked', async (t) => {
  const { first, second, asked } = await told(t, { ...TIMED, 'cache-control': 'no-cache' });
  assert.equal(asked, 2);
  assert.deepEqual(second, { bandwidth: first.bandwidth, excludedBytes: BODY.length });
});

test('R64: what comes twice over the network counts twice', async (t) => {
  const { second, asked } = await twice(t, { ...TIMED, 'cache-control': 'no-store' });
  assert.equal(asked, 2);
  assert.equal(second.excludedBytes, 0);
});

test('where the server hides its timing, a cached body counts as any other', async (t) => {
  const { first, second, asked } = await twice(t, { 'cache-control': 'max-age=600' });
  assert.equal(asked, 1);
  assert.equal(second.excludedBytes, 0);
  assert.notEqual(second.bandwidth, first.bandwidth);
});
