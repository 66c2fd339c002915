// @ts-check
/** A cancelled request is cancelled on the wire, at once. */
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { after, before, describe, test } from 'node:test';
import { content } from '../node/server.mjs';
import { eventually, quick, startBrowser } from './fixture.mjs';
import { serveOver } from './servers.mjs';

const BODY = content(200_000);
/** In milliseconds, from the call in the page to what the server sees. */
const AT_ONCE = 1000;

/** @type {import('./fixture.mjs').Browser} */
let browser;
before(async () => {
  browser = await startBrowser(['browsers']);
});
after(() => browser?.close());

/** Answers with half a body where the path says so, and with nothing elsewhere. */
function halfServer() {
  /** @type {Array<{ closedAt?: number, code?: number }>} */
  const seen = [];
  /** @type {import('./servers.mjs').Handler} */
  const handler = (request, response) => {
    /** @type {typeof seen[number]} */
    const entry = {};
    seen.push(entry);
    const stream = 'stream' in request ? request.stream : undefined;
    (stream ?? request.socket).once('close', () => {
      entry.closedAt = performance.now();
      entry.code = stream?.rstCode;
    });
    if (request.url !== '/body.m4s') return;
    const headers = { 'content-length': BODY.length, 'access-control-allow-origin': '*' };
    response.writeHead(200, headers);
    /** @type {import('node:stream').Writable} */ (response).write(BODY.subarray(0, 100_000));
  };
  return { seen, handler };
}

/** @typedef {{ engine: import('./fixture.mjs').Engine, url: string }} Given */

/**
 * Each runs in the page, and gives what cancels the request, and what becomes of it.
 *
 * @type {Record<string, (given: Given) =>
 *   Promise<{ cancel: () => void, ended: Promise<unknown> }>>}
 */
const calls = {
  'its signal, before headers': async ({ engine, url }) => {
    const controller = new AbortController();
    const { signal } = controller;
    const ended = engine.fetch(url, { site: 'segment', signal }).catch((error) => error.name);
    return { cancel: () => controller.abort(), ended };
  },
  'its signal, in the body': async ({ engine, url }) => {
    const controller = new AbortController();
    const { signal } = controller;
    const { body } = await engine.fetch(url, { site: 'segment', signal });
    const reader = /** @type {ReadableStream} */ (body).getReader();
    await reader.read();
    const drain = async () => {
      while (!(await reader.read()).done);
    };
    return { cancel: () => controller.abort(), ended: drain().catch((error) => error.name) };
  },
  'its reader, in the body': async ({ engine, url }) => {
    const { body } = await engine.fetch(url, { site: 'segment' });
    const reader = /** @type {ReadableStream} */ (body).getReader();
    await reader.read();
    const ended = reader.closed.then(() => 'closed');
    return { cancel: () => void reader.cancel(), ended };
  },
};

for (const version of /** @type {const} */ (['h2', 'http/1.1'])) {
  describe(`R74: over ${version} a request is cancelled on the wire by`, () => {
    for (const [how, call] of Object.entries(calls)) {
      test(how, async (t) => {
        const { seen, handler } = halfServer();
        const server = await serveOver(version, handler);
        t.after(server.close);
        const opened = await browser.open();
        t.after(opened.close);
        // Nothing but the cancel ends it.
        const patience = { headersTimeout: 60_000, firstHeadersTimeout: 60_000 };
        const engine = await opened.engine(quick({ ...patience, stallTimeout: 60_000 }));
        const url = `${server.origin}/${how.includes('body') ? 'body' : 'none'}.m4s`;
        const run = await opened.page.evaluateHandle(`(${call})`);
        const request = await opened.page.evaluateHandle(
          async ({ run, engine, url }) => /** @type {typeof call} */ (run)({ engine, url }),
          { run, engine, url },
        );
        await eventually(() => seen.length === 1, 'the request arrives');
        assert.equal(seen[0].closedAt, undefined, 'it is under way');

        const cancelledAt = performance.now();
        const ended = await request.evaluate(({ cancel, ended }) => {
          cancel();
          return ended;
        });
        assert.equal(ended, how.includes('reader') ? 'closed' : 'AbortError');
        const closedAt = await eventually(() => seen[0].closedAt, 'the server sees it');
        assert.ok(closedAt - cancelledAt < AT_ONCE, `after ${closedAt - cancelledAt} ms`);
        const code = version === 'h2' ? http2.constants.NGHTTP2_CANCEL : undefined;
        assert.equal(seen[0].code, code);
        assert.equal(seen.length, 1, 'nothing is sent afterwards');
      });
    }
  });
}
