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

for (const version of /** @type {const} */ (['http/1.1', 'h2'])) {
  for (const how of /** @type {const} */ (['load', 'fetch'])) {
    test(`R28: a body that ends before its length is fetched again (${version}, ${how})`, async (t) => {
      let asked = 0;
      const server = await serveOver(version, (request, response) => {
        asked += 1;
        const answer = /** @type {any} */ (shared(ok(BODY)));
        if (asked > 1) return answer(request, response);
        const { stream, socket } = /** @type {any} */ (response);
        response.writeHead(200, {
          'content-length': BODY.length,
          'content-type': 'video/mp4',
          'access-control-allow-origin': '*',
        });
        response.write(BODY.subarray(0, 50_000), () => (stream ?? socket).end());
      });
      t.after(server.close);
      const opened = await browser.open();
      t.after(opened.close);
      const same = await opened.page
        .evaluate(
          async ({ url, how, options, expected }) => {
            const { createEngine } = await import('holdfast');
            const engine = createEngine(options);
            await engine.ready;
            const site = 'segment';
            const data =
              how === 'load'
                ? (await engine.load({ url, site })).data
                : await (await engine.fetch(url, { site })).arrayBuffer();
            return [...new Uint8Array(data)].every((byte, i) => byte === expected[i])
              ? data.byteLength
              : -1;
          },
          {
            ...{ url: `${server.origin}/a.m4s`, how, expected: [...BODY] },
            options: quick({ firstHeadersTimeout: 2500 }),
          },
        )
        .catch((error) => String(error));
      if (how === 'load') assert.deepEqual([same, asked], [BODY.length, 2]);
      // What was passed on cannot be taken back where nothing shows that the rest is of the same.
      else assert.notEqual(same, 50_000);
    });
  }
}
