// @ts-check
/**
 * A healthy stream on another origin pays nothing for the engine: each call is the one request
 * that plain `fetch` makes, and gives what plain `fetch` gives.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { answer, content, ok, redirect } from '../node/server.mjs';
import { hashOf, shared, startBrowser } from './fixture.mjs';

const BODY = content(300_000);

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {Awaited<ReturnType<import('./fixture.mjs').Browser['open']>>} */
let opened;
/** @type {Awaited<ReturnType<typeof inPage>>} */
let shelf;
before(async () => {
  browser = await startBrowser();
  opened = await browser.open();
  shelf = await inPage();
});
afterEach(() => {
  browser.media.all.length = 0;
});
after(async () => {
  await opened?.close();
  await browser?.close();
});

/** What the functions that run in the page are given. */
async function inPage() {
  const engine = await opened.engine();
  const hash = await opened.page.evaluateHandle(() => async (/** @type {BufferSource} */ bytes) => {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  });
  return { engine, hash };
}

/**
 * @typedef {{ engine: import('./fixture.mjs').Engine, url: string,
 *   hash: (bytes: BufferSource) => Promise<string> }} Given
 */

/** Each runs in the page and gives the hash of the body. */
const calls = {
  fetch: async (/** @type {Given} */ { engine, hash, url }) =>
    hash(await (await engine.fetch(url)).arrayBuffer()),
  'fetch of a Request': async (/** @type {Given} */ { engine, hash, url }) =>
    hash(await (await engine.fetch(new Request(url))).arrayBuffer()),
  load: async (/** @type {Given} */ { engine, hash, url }) =>
    hash(/** @type {ArrayBuffer} */ ((await engine.load({ url })).data)),
  fetchText: async (/** @type {Given} */ { engine, hash, url }) =>
    hash(new TextEncoder().encode(await engine.fetchText({ url }))),
  fetchBytes: async (/** @type {Given} */ { engine, hash, url }) => {
    const chunks = [];
    for await (const chunk of await engine.fetchBytes({ url })) chunks.push(chunk);
    return hash(await new Blob(/** @type {any} */ (chunks)).arrayBuffer());
  },
};

describe('the same request as plain fetch', () => {
  // Whatever a player or a signature may put into an URL.
  const PATH = '/v~1=a/b+c%2Bd%7e/seg.m4s';
  const QUERY = '?sig=~a/b+c%2Bd==&e=%20%c3%A9&,;:@!$*()';
  const TEXT = 'a playlist\n'.repeat(100);

  for (const [name, call] of Object.entries(calls)) {
    test(`by ${name}`, async () => {
      const { media } = browser;
      const body = name === 'fetchText' ? Buffer.from(TEXT) : BODY;
      const url = media.on(PATH, shared(ok(body, { 'cache-control': 'no-store' }))) + QUERY;
      const got = await opened.page.evaluate(call, { ...shelf, url });
      await opened.page.evaluate(async (url) => (await fetch(url)).arrayBuffer(), url);
      const [sent, plain, ...others] = media.all;
      assert.deepEqual(others, []);
      assert.equal(got, hashOf(body));
      assert.deepEqual([sent.method, sent.url], ['GET', PATH + QUERY]);
      assert.deepEqual(sent.rawHeaders, plain.rawHeaders);
    });
  }

  test('for a range', async () => {
    const part = BODY.subarray(1000, 2000);
    const partial = answer(206, part, { 'content-range': `bytes 1000-1999/${BODY.length}` });
    const url = browser.media.on('/part.m4s', shared(partial));
    const got = await opened.page.evaluate(
      async ({ engine, hash, url }) => {
        await fetch(url, { headers: { Range: 'bytes=1000-1999' } });
        const range = { url, byteRange: { start: 1000, end: 1999 } };
        for await (const chunk of await engine.fetchBytes(range)) {
          return hash(/** @type {Uint8Array<ArrayBuffer>} */ (chunk));
        }
        return '';
      },
      { ...shelf, url },
    );
    const [plain, sent, ...others] = browser.media.all;
    assert.deepEqual(others, []);
    assert.equal(got, hashOf(part));
    assert.equal(sent.headers.range, 'bytes=1000-1999');
    assert.deepEqual(sent.rawHeaders, plain.rawHeaders);
  });

  test('once for each of many segments, before the module is there too', async (t) => {
    const urls = Array.from({ length: 20 }, (_, i) =>
      browser.media.on(`/many-${i}.m4s`, shared(ok(BODY))),
    );
    const fresh = await browser.open();
    t.after(fresh.close);
    const modes = await fresh.page.evaluate(async (urls) => {
      const { createEngine } = await import('holdfast');
      const engine = createEngine();
      const fetchAll = (/** @type {string[]} */ some) =>
        Promise.all(some.map(async (url) => (await engine.fetch(url)).arrayBuffer()));
      const cold = fetchAll(urls.slice(0, 10));
      const before = engine.state.mode;
      await engine.ready;
      await Promise.all([cold, fetchAll(urls.slice(10))]);
      return [before, engine.state.mode];
    }, urls);
    assert.deepEqual(modes, ['starting', 'engine']);
    assert.equal(browser.media.all.length, urls.length);
    assert.equal(new Set(browser.media.all.map(({ url }) => url)).size, urls.length);
  });
});

describe('the same response as plain fetch', () => {
  const headers = {
    'content-type': 'video/iso.segment',
    'access-control-expose-headers': 'ETag, X-Edge',
    etag: '"a"',
    'x-edge': 'north',
    'x-hidden': 'yes',
  };
  /** @type {Record<string, import('./fixture.mjs').Answer>} */
  const answers = {
    'a segment': ok(BODY, headers),
    'a part': answer(206, BODY.subarray(0, 10), {
      ...headers,
      'content-range': 'bytes 0-9/300000',
    }),
    'nothing, on purpose': (_, response) => void response.writeHead(204, headers).end(),
    'a segment elsewhere': redirect('/target.m4s'),
    'a segment that is not there': answer(404, 'not here', headers),
    'a refusal': answer(403, '<!doctype html>', { ...headers, 'content-type': 'text/html' }),
  };
  for (const [name, given] of Object.entries(answers)) {
    test(`for ${name}`, async () => {
      const { media } = browser;
      media.on('/target.m4s', shared(ok(BODY, headers)));
      const url = media.on(`/${name.replaceAll(' ', '-')}.m4s`, shared(given));
      const [plain, ours] = await opened.page.evaluate(
        async ({ engine, hash, url }) => {
          const summary = async (/** @type {Response} */ response) => {
            const { url, redirected, status, statusText, type, ok, headers } = response;
            const facts = { url, redirected, status, statusText, type, ok };
            const fields = [...headers].filter(([field]) => field !== 'date');
            const clone = await hash(await response.clone().arrayBuffer());
            return { ...facts, fields, clone, hash: await hash(await response.arrayBuffer()) };
          };
          // The same server for both, and no cache between them.
          const init = /** @type {const} */ ({ cache: 'no-store' });
          return [
            await summary(await fetch(url, init)),
            await summary(await engine.fetch(url, init)),
          ];
        },
        { ...shelf, url },
      );
      assert.deepEqual(ours, plain);
    });
  }
});
