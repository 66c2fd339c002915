// @ts-check
/** A body of a gibibyte goes through, and is nowhere kept. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { quick, startBrowser } from './fixture.mjs';
import { serveOver } from './servers.mjs';

const MIB = 2 ** 20;
const SIZE = 1024 * MIB;
/** Where it is measured first. */
const EARLY = 64 * MIB;
/** What sockets and the browser may hold of what nobody has read; plain `fetch` has 70 MiB. */
const IN_FLIGHT = 256 * MIB;

/** @type {import('./fixture.mjs').Browser} */
let browser;
before(async () => {
  browser = await startBrowser(['browsers']);
});
after(() => browser?.close());

/** Sends as much as is taken from it, without having it. */
function endless() {
  const sent = { bytes: 0 };
  const chunk = Buffer.alloc(MIB, 'holdfast');
  /** @type {import('./servers.mjs').Handler} */
  const handler = (_, response) => {
    const out = /** @type {import('node:http').ServerResponse} */ (response);
    out.writeHead(200, { 'content-length': SIZE, 'access-control-allow-origin': '*' });
    const more = () => {
      for (let room = true; room && sent.bytes < SIZE; sent.bytes += MIB) room = out.write(chunk);
      if (sent.bytes === SIZE) out.end();
    };
    out.on('drain', more);
    more();
  };
  return { sent, handler };
}

test('R82: a gibibyte is read through a stream, and memory stays as it is', async (t) => {
  const { sent, handler } = endless();
  const server = await serveOver('http/1.1', handler);
  t.after(server.close);
  const opened = await browser.open();
  t.after(opened.close);
  const { page, context } = opened;
  const devtools = await context.newCDPSession(page);
  const engine = await opened.engine(quick());
  const download = await page.evaluateHandle(
    async ({ engine, url }) => {
      const { body } = await engine.fetch(url, { site: 'segment' });
      return { reader: /** @type {ReadableStream} */ (body).getReader(), bytes: 0 };
    },
    { engine, url: `${server.origin}/endless.m4s` },
  );
  /** Reads on until so much has come, or all. @param {number} bytes */
  const readTo = (bytes) =>
    download.evaluate(async (download, bytes) => {
      while (download.bytes < bytes) {
        const { done, value } = await download.reader.read();
        if (done) return download.bytes;
        download.bytes += value.byteLength;
      }
      return download.bytes;
    }, bytes);
  const measure = async () => {
    await devtools.send('HeapProfiler.collectGarbage');
    const heap = /** @type {Record<string, number>} */ (
      await devtools.send('Runtime.getHeapUsage')
    );
    const wasm = await page.evaluate(async () => {
      const glue = /** @type {string} */ ('/js/pkg/core.js');
      const { default: load } = await import(glue);
      return (await load({})).memory.buffer.byteLength;
    });
    return { heap: heap.usedSize, buffers: heap.backingStorageSize, wasm };
  };

  const read = await readTo(EARLY);
  const early = await measure();
  // Nobody reads, so nothing is read ahead, and the server has to wait.
  let before;
  do {
    before = sent.bytes;
    await sleep(300);
  } while (sent.bytes > before);
  const ahead = sent.bytes - read;
  assert.ok(ahead < IN_FLIGHT, `${ahead / MIB} MiB are under way to nobody`);

  assert.equal(await readTo(Infinity), SIZE);
  const late = await measure();
  t.diagnostic(JSON.stringify({ ahead, early, late }));
  assert.ok(late.heap - early.heap < 4 * MIB, 'the heap does not grow');
  assert.ok(late.buffers - early.buffers < 16 * MIB, 'nor what it holds of bodies');
  assert.equal(late.wasm, early.wasm, 'nor the memory of the module');
});
