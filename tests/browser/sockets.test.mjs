// @ts-check
/**
 * Requests that get no answer do not keep their connections, of which each browser has six for a
 * host of HTTP/1.1.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { content, hang, ok, serve } from '../node/server.mjs';
import { BROWSERS } from './drivers.mjs';
import { eventually, servePage, shared } from './fixture.mjs';

const BODY = content(10_000);
const CACHEABLE = { 'cache-control': 'max-age=3600', etag: '"a"' };
/** How long an answer is waited for: longer than a busy machine takes for six requests. */
const PATIENCE = 3000;

/**
 * Runs in the page: starts a load of each, and keeps what they come to.
 *
 * @param {string[]} urls @param {number} patience
 */
async function begin(urls, patience) {
  const { createEngine } = await import('holdfast');
  const bounds = { headersTimeout: patience, firstHeadersTimeout: patience };
  const engine = createEngine({
    sites: {
      segment: {
        ...bounds,
        attempts: 4,
        backoff: { base: 100, factor: 1, cap: 100 },
        onExhausted: 'reject',
      },
      // Were no connection freed for it, it would end at this bound.
      playlist: {
        headersTimeout: 20_000,
        firstHeadersTimeout: 20_000,
        attempts: 1,
        onExhausted: 'reject',
      },
    },
    // Six time-outs at once would open it.
    breaker: { consecutive: 1e6, minRequests: 1e6 },
  });
  if (!(await engine.ready)) throw new Error('no module');
  const loads = urls.map(async (url) => {
    const { bytes, attempts } = await engine.load({ url, site: 'segment' });
    return { bytes, attempts };
  });
  const ended = Promise.all(loads.map((load) => load.catch(String)));
  Object.assign(globalThis, { under: { engine, ended } });
}

/** Runs in the page. @param {string} url */
async function loadAnother(url) {
  const { engine } = /** @type {any} */ (globalThis).under;
  return (await engine.load({ url, site: 'playlist' })).bytes;
}

/** Runs in the page. @returns {Promise<unknown[]>} */
const outcome = () => /** @type {any} */ (globalThis).under.ended;

for (const [name, start] of Object.entries(BROWSERS)) {
  describe(`requests without an answer in ${name}`, () => {
    /** @type {import('./drivers.mjs').Driver} */
    let browser;
    /** @type {Awaited<ReturnType<typeof servePage>>} */
    let origin;
    before(async () => {
      origin = await servePage();
      browser = await start();
    });
    after(async () => {
      await browser?.close();
      await origin.close();
    });

    test('R79: six free their connections for a seventh, and for their retries', async (t) => {
      const media = await serve();
      t.after(media.close);
      const page = await browser.open(origin.origin);
      t.after(page.close);
      const urls = Array.from({ length: 6 }, (_, i) =>
        media.on(`/hung-${i}.m4s`, shared(hang()), shared(ok(BODY))),
      );
      const seventh = media.on('/seventh.m4s', shared(ok(BODY)));
      await page.evaluate(begin, urls, PATIENCE);
      await eventually(() => media.all.length === 6, 'all connections are taken');
      assert.equal(await page.evaluate(loadAnother, seventh), BODY.length);
      const [first] = media.all;
      const waited = media.seen('/seventh.m4s')[0].at - first.at;
      assert.ok(waited > PATIENCE / 2, `there was a connection for it after ${waited} ms`);
      const recovered = { bytes: BODY.length, attempts: 2 };
      assert.deepEqual(await page.evaluate(outcome), Array(6).fill(recovered));
      assert.ok(first.closedAt, 'the first is closed');
    });

    test('R79: each is closed before its retry arrives, where a cache may keep it', async (t) => {
      const media = await serve();
      t.after(media.close);
      const page = await browser.open(origin.origin);
      t.after(page.close);
      /** What the server had open of an URL, whenever a request for it came. @type {number[]} */
      const open = [];
      const urls = Array.from({ length: 3 }, (_, i) => {
        const path = `/locked-${i}.m4s`;
        /** @param {import('./fixture.mjs').Answer} answer */
        const counting = (answer) =>
          shared((request, response) => {
            // What was closed before may be noticed after, but in the same turn.
            setImmediate(() => {
              open.push(media.seen(path).filter((seen) => !seen.closedAt && !seen.endedAt).length);
              answer(request, response);
            });
          });
        return media.on(path, counting(hang()), counting(hang()), counting(ok(BODY, CACHEABLE)));
      });
      await page.evaluate(begin, urls, PATIENCE / 2);
      const outcomes = /** @type {any[]} */ (await page.evaluate(outcome));
      assert.deepEqual(outcomes, Array(3).fill({ bytes: BODY.length, attempts: 3 }));
      assert.deepEqual(open, Array(9).fill(1));
    });
  });
}
