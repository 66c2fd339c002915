import { test } from 'node:test';
import { startBrowser } from './fixture.mjs';
import { serveOver } from './servers.mjs';
for (const version of ['http/1.1', 'h2']) test(version, async (t) => {
  const browser = await startBrowser(['browsers']);
  t.after(() => browser.close());
  const server = await serveOver(version, (request, response) => {
    response.writeHead(200, { 'content-length': 100000, 'content-type': 'video/mp4', 'access-control-allow-origin': '*', 'access-control-expose-headers': 'content-length' });
    response.write(Buffer.alloc(50000, 5), () => setTimeout(() => { if (response.stream) response.stream.end(); else response.socket.end(); }, 50));
  });
  t.after(server.close);
  const opened = await browser.open();
  console.log(version, await opened.page.evaluate(async (o) => {
    const { createEngine } = await import('holdfast');
    const e = createEngine(); await e.ready;
    const r = await fetch(o + '/a.m4s');
    const out = { length: r.headers.get('content-length') };
    try { out.bytes = (await r.arrayBuffer()).byteLength; } catch (x) { out.error = String(x); }
    const p = e.load({ url: o + '/b.m4s', site: 'segment' }).then((x) => x.bytes, (x) => x.code);
    out.load = await Promise.race([p, new Promise((r) => setTimeout(r, 4000, 'waits'))]);
    out.log = e.log().map(({ event, detail, value }) => `${event} ${detail} ${value}`);
    return out;
  }, server.origin));
});
