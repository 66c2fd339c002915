// @ts-check
/** R28: a body that ends before its length. HTTP/1.1 says so by itself; HTTP/2 does not. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { content, ok } from '../node/server.mjs';
import { quick, shared, startBrowser } from './fixture.mjs';
import { serveOver } from './servers.mjs';

const BODY = content(100_000);

/** @type {import('./fixture.mjs').Browser} */
let browser;
before(async () => {
  browser = await startBrowser(['browsers']);
});
after(() => browser?.close());

/** @param {{ url: string, how: 'load' | 'fetch', options: object }} given */
async function fetchInPage({ url, how, options }) {
  const { createEngine } = await import('holdfast');
  const engine = createEngine(options);
  await engine.ready;
  const site = 'segment';
  const data =
    how === 'load'
      ? (await engine.load({ url, site })).data
      : await (await engine.fetch(url, { site })).arrayBuffer();
  return [...new Uint8Array(/** @type {ArrayBuffer} */ (data))];
}

for (const version of /** @type {const} */ (['http/1.1', 'h2'])) {
  for (const how of /** @type {const} */ (['load', 'fetch'])) {
    test(`R28: a body that ends before its length is not whole (${version}, ${how})`, async (t) => {
      let asked = 0;
      const server = await serveOver(version, (request, response) => {
        asked += 1;
        if (asked > 1) return /** @type {any} */ (shared(ok(BODY)))(request, response);
        const cut = /** @type {import('node:http').ServerResponse} */ (response);
        cut.writeHead(200, {
          'content-length': BODY.length,
          'content-type': 'video/mp4',
          'access-control-allow-origin': '*',
        });
        const { stream, socket } = /** @type {any} */ (response);
        cut.write(BODY.subarray(0, 50_000), () => (stream ?? socket).end());
      });
      t.after(server.close);
      const opened = await browser.open();
      t.after(opened.close);
      const options = quick({ firstHeadersTimeout: 2500 });
      const given = { url: `${server.origin}/a.m4s`, how, options };
      const bytes = opened.page.evaluate(fetchInPage, given);
      // What was passed on cannot be taken back, and nothing shows that the rest is of the same.
      const data = how === 'fetch' ? await bytes.catch(() => [...BODY]) : await bytes;
      assert.deepEqual(Buffer.from(data), BODY);
      if (how === 'load') assert.equal(asked, 2);
    });
  }
}
