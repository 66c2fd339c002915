// @ts-check
/** Silence, over real sockets and the browser's own cache: cut, and fetched again. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { breakOff, content, hang, ok, stall } from '../node/server.mjs';
import { eventually, hashOf, quick, shared, startBrowser } from './fixture.mjs';

const BODY = content(400_000);
const CACHEABLE = {
  'cache-control': 'public, max-age=3600',
  etag: '"a"',
  'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
  'accept-ranges': 'bytes',
};

/** @type {import('./fixture.mjs').Browser} */
let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

/** Loads in the page, and gives what came. */
const load = async (
  /** @type {{ engine: import('./fixture.mjs').Engine, url: string }} */ { engine, url },
) => {
  const { data, attempts } = await engine.load({ url, site: 'segment' });
  const digest = await crypto.subtle.digest('SHA-256', /** @type {ArrayBuffer} */ (data));
  const hash = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'));
  return { hash: hash.join(''), attempts };
};

/**
 * When requests are sent and cut, in the browser's own order: what the server sees of two
 * connections, it may see in another. A request that arrived whole may be cut at its very end,
 * so only the first three matter.
 *
 * @param {import('./fixture.mjs').Page} page @param {string} url
 */
function story(page, url) {
  /** @type {string[]} */
  const told = [];
  const note = (/** @type {string} */ what) => (/** @type {{ url(): string }} */ request) =>
    void (request.url() === url && told.push(what));
  page.on('request', note('sent'));
  page.on('requestfailed', note('cut'));
  return told;
}

/**
 * Answers a range as a server does that knows ranges.
 *
 * @type {import('./fixture.mjs').Answer}
 */
const ranged = (request, response) => {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const part = BODY.subarray(from);
  const range = from > 0 && { 'content-range': `bytes ${from}-${BODY.length - 1}/${BODY.length}` };
  const headers = { ...CACHEABLE, ...range, 'content-length': part.length };
  response.writeHead(from > 0 ? 206 : 200, headers).end(part);
};

describe('a body that stops half way', { concurrency: true }, () => {
  /** @type {Record<string, [first: import('./fixture.mjs').Answer, then: import('./fixture.mjs').Answer]>} */
  const servers = {
    'that no cache may keep': [
      stall(BODY, 200_000, { 'cache-control': 'no-store' }),
      ok(BODY, { 'cache-control': 'no-store' }),
    ],
    'that a cache may keep': [stall(BODY, 200_000, CACHEABLE), ok(BODY, CACHEABLE)],
    'that a cache may complete': [stall(BODY, 200_000, CACHEABLE), ranged],
  };
  for (const [name, [first, then]] of Object.entries(servers)) {
    test(`${name} is delivered whole by load, with one retry`, async (t) => {
      const opened = await browser.open();
      t.after(opened.close);
      const path = `/${name.replaceAll(' ', '-')}.m4s`;
      const url = browser.media.on(path, shared(first), shared(then));
      const engine = await opened.engine(quick({ headersTimeout: 20_000 }));
      const told = story(opened.page, url);
      const loaded = await opened.page.evaluate(load, { engine, url });
      assert.deepEqual(loaded, { hash: hashOf(BODY), attempts: 2 });
      const [cut, ...again] = browser.media.seen(path);
      assert.equal(again.length, 1);
      assert.deepEqual(told.slice(0, 3), ['sent', 'cut', 'sent'], 'the first is cut before');
      await eventually(() => cut.closedAt, 'its connection is closed');
    });
  }
});

describe('a body that breaks after bytes of it were delivered', { concurrency: true }, () => {
  const reads = {
    'chunk by chunk': async (/** @type {Response} */ { body }) => {
      const reader = /** @type {ReadableStream} */ (body).getReader();
      while (!(await reader.read()).done);
    },
    'as a whole': (/** @type {Response} */ response) => response.arrayBuffer(),
  };
  for (const [how, read] of Object.entries(reads)) {
    test(`rejects with the verdict where it is read ${how}`, async (t) => {
      const opened = await browser.open();
      t.after(opened.close);
      const url = browser.media.on(
        `/broken-${how}`.replaceAll(' ', '-'),
        shared(breakOff(BODY, 90)),
      );
      const engine = await opened.engine(quick());
      const response = await engine.evaluateHandle(
        (engine, url) => engine.fetch(url, { site: 'segment' }),
        url,
      );
      const reading = await opened.page.evaluateHandle(`(${read})`);
      const error = await opened.page.evaluate(
        async ({ reading, response }) => {
          try {
            await /** @type {(response: Response) => Promise<void>} */ (reading)(response);
          } catch (error) {
            const { name, class: kind, reason } = /** @type {any} */ (error);
            return { name, kind, reason };
          }
        },
        { reading, response },
      );
      assert.deepEqual(error, { name: 'RequestError', kind: 'truncated', reason: 'released' });
    });
  }
});

describe('a request that gets no answer', { concurrency: true }, () => {
  test('frees its connection: behind six of them a seventh gets through', async (t) => {
    const opened = await browser.open();
    t.after(opened.close);
    const hung = Array.from({ length: 6 }, (_, i) =>
      browser.media.on(`/hung-${i}.m4s`, shared(hang())),
    );
    const seventh = browser.media.on('/seventh.m4s', shared(ok(BODY)));
    // Long enough for a busy machine to open six connections before the first is given up.
    const patience = 4000;
    const { sites } = quick({ attempts: 1, headersTimeout: patience });
    // Were none freed, it would end at this bound.
    const playlist = {
      attempts: 1,
      headersTimeout: 20_000,
      onExhausted: /** @type {const} */ ('reject'),
    };
    const engine = await opened.engine({ sites: { ...sites, playlist } });
    const ended = await opened.page.evaluateHandle(
      ({ engine, hung }) => {
        const loads = hung.map((url) => engine.load({ url, site: 'segment' }));
        return { classes: Promise.all(loads.map((load) => load.catch((error) => error.class))) };
      },
      { engine, hung },
    );
    const arrived = () => browser.media.all.filter(({ url }) => url.startsWith('/hung-'));
    await eventually(() => arrived().length === 6, 'all connections are taken');
    const loaded = await opened.page.evaluate(
      async ({ engine, url }) => (await engine.load({ url, site: 'playlist' })).bytes,
      { engine, url: seventh },
    );
    assert.equal(loaded, BODY.length);
    const [passed] = browser.media.seen('/seventh.m4s');
    // Less than the bound by what six requests may take from the page to the server.
    const waited = passed.at - arrived()[0].at;
    assert.ok(waited > patience / 2, `there was a connection for it after ${waited} ms`);
    assert.deepEqual(await ended.evaluate(({ classes }) => classes), Array(6).fill('timeout'));
    await eventually(() => arrived().every(({ closedAt }) => closedAt), 'all six are closed');
  });

  test('is aborted before its retry starts, and no cache lock holds the retry back', async (t) => {
    const opened = await browser.open();
    t.after(opened.close);
    const url = browser.media.on('/locked.m4s', shared(hang()), shared(ok(BODY, CACHEABLE)));
    const engine = await opened.engine(quick());
    const told = story(opened.page, url);
    const loaded = await opened.page.evaluate(load, { engine, url });
    assert.deepEqual(loaded, { hash: hashOf(BODY), attempts: 2 });
    const [first, second] = browser.media.seen('/locked.m4s');
    assert.deepEqual(told.slice(0, 3), ['sent', 'cut', 'sent'], 'the first is aborted before');
    await eventually(() => first.closedAt, 'its connection is closed');
    // Seconds of patience, and at most 100 ms of back-off; a lock lasts for twenty seconds.
    assert.ok(second.at - first.at < 10_000, `the retry arrives: ${second.at - first.at} ms`);
  });
});
