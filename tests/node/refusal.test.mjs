// @ts-check
// What is not media never reaches whoever asked for media.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isHoldfastError } from 'holdfast';
import { bytesOf, engineFor, failureOf } from './fixture.mjs';
import { answer, content, ok, page, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const DENIED = '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>';
const denied = answer(403, DENIED, { 'content-type': 'application/xml', 'x-why': 'expired' });
const PLAYLIST = '#EXTM3U\n#EXT-X-TARGETDURATION:4\n';
const LABELS = ['text/html', 'text/html; charset=utf-8', 'application/json', ''];

test('R4: a 403 with an XML body rejects load, and nothing is delivered', async (t) => {
  const url = server.on('/denied.mp4?token=1', denied);
  server.on('/denied.mp4', denied);
  const engine = await engineFor(t);
  let delivered = 0;
  const onChunk = (/** @type {Uint8Array} */ chunk) => void (delivered += chunk.byteLength);
  const onProgress = () => void (delivered += 1);
  const onResponse = () => void (delivered += 1);
  const requests = [{ url }, { url, onChunk }, { url, onProgress, onResponse }];
  for (const [i, request] of requests.entries()) {
    // An URL that was refused rests a while, so each is another one.
    request.url += i;
    const error = await failureOf(engine.load(request));
    assert.equal(error.name, 'RequestError');
    assert.equal(error.code, 'DENIED');
    assert.equal(error.class, 'denied');
    assert.equal(error.reason, 'terminal');
    assert.equal(error.status, 403);
    assert.equal(error.svta, 3403);
    assert.equal(error.site, 'segment');
    assert.equal(error.url, `${server.origin}/denied.mp4?token=***`);
    assert.equal(error.attempts, 1);
    assert.equal(error.headers.get('x-why'), 'expired');
    assert.ok(isHoldfastError(error));
    assert.match(error.message, /403/);
  }
  assert.equal(delivered, 0);
  assert.equal(server.seen('/denied.mp4').length, 3);
});

test('R4: fetchBytes rejects at headers for 403, 404 and 503', async (t) => {
  const engine = await engineFor(t, { attempts: 1 });
  for (const status of [403, 404, 503]) {
    const url = server.on(`/bytes-${status}.mp4`, answer(status, DENIED));
    const error = await failureOf(engine.fetchBytes({ url }));
    assert.equal(error.status, status);
  }
});

test('R4: fetchText rejects for 403', async (t) => {
  const url = server.on('/denied.m3u8', denied);
  const engine = await engineFor(t);
  const error = await failureOf(engine.fetchText({ url }));
  assert.equal(error.code, 'DENIED');
  assert.equal(error.site, 'playlist');
});

test('R4: fetch resolves with the 403, and its body can be read', async (t) => {
  const url = server.on('/readable.mp4', denied);
  const engine = await engineFor(t);
  const response = await engine.fetch(url);
  assert.equal(response.status, 403);
  assert.equal(response.ok, false);
  assert.equal(response.headers.get('x-why'), 'expired');
  assert.equal(await response.text(), DENIED);
  assert.equal(server.seen('/readable.mp4').length, 1);
});

test('R4: fetch resolves with the last 503 when its ladder is over', async (t) => {
  const url = server.on(
    '/busy.mp4',
    answer(503, 'first'),
    answer(503, 'second'),
    answer(503, 'last'),
  );
  const engine = await engineFor(t);
  const response = await engine.fetch(url);
  assert.equal(response.status, 503);
  assert.equal(await response.text(), 'last');
  assert.equal(server.seen('/busy.mp4').length, 3);
});

for (const label of LABELS) {
  test(`R28: a page with 200 labelled "${label}" is fetched again, not delivered`, async (t) => {
    const media = content(50_000);
    const portal = page(label ? { 'content-type': label } : {});
    const engine = await engineFor(t);
    const path = `/portal-${LABELS.indexOf(label)}`;

    const segment = server.on(`${path}.mp4`, portal, portal, ok(media));
    const loaded = await engine.load({ url: segment });
    assert.deepEqual(Buffer.from(/** @type {ArrayBuffer} */ (loaded.data)), media);
    assert.equal(loaded.attempts, 3);

    server.on(`${path}.mp4`, ok(media), ok(media), ok(media), portal, ok(media));
    assert.deepEqual(await bytesOf(await engine.fetchBytes({ url: segment })), media);

    const playlist = server.on(`${path}.m3u8`, portal, ok(PLAYLIST));
    assert.equal(await engine.fetchText({ url: playlist }), PLAYLIST);

    const again = server.on(`${path}.ts`, portal, ok(media));
    const response = await engine.fetch(again);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), media);
  });

  test(`R28: a page labelled "${label}" that stays is an INTERCEPTED error`, async (t) => {
    const path = `/stays-${LABELS.indexOf(label)}`;
    const portal = page(label ? { 'content-type': label } : {});
    const engine = await engineFor(t, { attempts: 2 });
    const asks = [
      (/** @type {string} */ url) => engine.load({ url }),
      (/** @type {string} */ url) => engine.load({ url, onChunk: () => assert.fail('delivered') }),
      (/** @type {string} */ url) => engine.fetchText({ url }),
      async (/** @type {string} */ url) => {
        for await (const _ of await engine.fetchBytes({ url })) assert.fail('delivered');
      },
      async (/** @type {string} */ url) => (await engine.fetch(url)).text(),
    ];
    for (const [i, ask] of asks.entries()) {
      // An URL that was given up rests a while, so each is another one.
      const error = await failureOf(ask(server.on(`${path}-${i}.mp4`, portal)));
      assert.equal(error.code, 'INTERCEPTED', String(ask));
      assert.equal(error.svta, 3011);
      assert.equal(error.attempts, 2);
    }
  });

  test(`R28: a real playlist labelled "${label}" is delivered`, async (t) => {
    const headers = label ? { 'content-type': label } : {};
    const url = server.on(`/real-${LABELS.indexOf(label)}.m3u8`, ok(PLAYLIST, headers));
    const engine = await engineFor(t);
    assert.equal(await engine.fetchText({ url }), PLAYLIST);
    assert.equal(await (await engine.fetch(url)).text(), PLAYLIST);
    assert.equal((await engine.load({ url, responseType: 'text' })).data, PLAYLIST);
    assert.equal(server.seen(`/real-${LABELS.indexOf(label)}.m3u8`).length, 3);
  });
}

test('R28: a JSON error labelled as JSON is not delivered as media', async (t) => {
  const json = ok('{"error":"no license"}', { 'content-type': 'application/json' });
  const media = content(20_000);
  const url = server.on('/json.mp4', json, ok(media, { 'content-type': 'application/json' }));
  const engine = await engineFor(t);
  const { data } = await engine.load({ url });
  assert.deepEqual(Buffer.from(/** @type {ArrayBuffer} */ (data)), media);
  assert.equal(server.seen('/json.mp4').length, 2);
});

test('R28: keys, licenses, steering and other requests may be HTML or JSON', async (t) => {
  const json = ok('{"VERSION":1}', { 'content-type': 'application/json' });
  const engine = await engineFor(t);
  for (const site of /** @type {const} */ ([
    'key',
    'license',
    'certificate',
    'steering',
    'other',
  ])) {
    const { data } = await engine.load({
      url: server.on(`/${site}`, json),
      site,
      responseType: 'json',
    });
    assert.deepEqual(data, { VERSION: 1 });
    const html = await engine.fetch(server.on(`/${site}.html`, page()), { site });
    assert.match(await html.text(), /log in/);
  }
});

test('R28: a page whose first byte comes alone is still recognized', async (t) => {
  const media = content(20_000);
  const html = Buffer.from('<!DOCTYPE html><title>Please log in</title>');
  const url = server.on(
    '/dripped.mp4',
    (_, response) => {
      response.writeHead(200, { 'content-length': html.byteLength });
      response.write(html.subarray(0, 1));
      setTimeout(() => response.end(html.subarray(1)), 50);
    },
    ok(media),
  );
  const engine = await engineFor(t);
  const { data } = await engine.load({ url });
  assert.deepEqual(Buffer.from(/** @type {ArrayBuffer} */ (data)), media);
});

test('R11: the fate of a refusal is told even while its body is read', async (t) => {
  const body = Buffer.alloc(100_000, '<Error/>');
  const url = server.on('/torn.mp4', (request, response) => {
    response.writeHead(403, { 'content-length': body.byteLength });
    response.write(body.subarray(0, 50_000));
    setTimeout(() => request.socket.resetAndDestroy(), 40);
  });
  const engine = await engineFor(t);
  const response = await engine.fetch(url);
  const error = await failureOf(response.text());
  assert.notEqual(error.name, 'AbortError');
});
