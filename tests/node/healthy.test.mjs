// @ts-check
// On a healthy network the package is not there: one request a call, and the same one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTrackedFetch, withRetry } from 'holdfast';
import { bytesOf, engineFor } from './fixture.mjs';
import { answer, content, ok, redirect, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(300_000);
const ZERO = {
  fastEstimate: 0,
  fastTotalWeight: 0,
  slowEstimate: 0,
  slowTotalWeight: 0,
  bytesSampled: 0,
};

/** Every way to ask for the bytes of an URL. @type {Record<string, (engine: any, url: string) => Promise<Uint8Array>>} */
const WAYS = {
  fetch: async (engine, url) => Buffer.from(await (await engine.fetch(url)).arrayBuffer()),
  fetchText: async (engine, url) => Buffer.from(await engine.fetchText({ url }), 'utf8'),
  fetchBytes: async (engine, url) => bytesOf(await engine.fetchBytes({ url })),
  load: async (engine, url) => Buffer.from((await engine.load({ url })).data),
  'load with onChunk': async (engine, url) => {
    /** @type {Uint8Array[]} */
    const chunks = [];
    await engine.load({ url, onChunk: (/** @type {Uint8Array} */ chunk) => chunks.push(chunk) });
    return Buffer.concat(chunks);
  },
  createTrackedFetch: async (engine, url) =>
    bytesOf(await createTrackedFetch(ZERO, () => {}, { engine })({ url })),
  'withRetry of fetch': async (engine, url) =>
    Buffer.from(await (await withRetry(fetch, { engine })(url)).arrayBuffer()),
  'withRetry of FetchText': async (engine, url) => {
    const text = async (/** @type {any} */ resource, /** @type {any} */ init = {}) =>
      (await fetch(resource.url, init)).text();
    return Buffer.from(/** @type {any} */ (await withRetry(text, { engine })({ url })));
  },
  'withRetry of FetchBytes': async (engine, url) => {
    const bytes = async (/** @type {any} */ resource, /** @type {any} */ { signal } = {}) =>
      /** @type {any} */ ((await fetch(resource.url, { signal })).body);
    return bytesOf(await withRetry(bytes, { engine })({ url }));
  },
};

for (const [name, ask] of Object.entries(WAYS)) {
  test(`R8: ${name} makes one request and returns the same bytes`, async (t) => {
    const text = name.includes('Text');
    const body = text ? Buffer.from('#EXTM3U\n# ünïcode \u{1F3AC}\n') : MEDIA;
    const path = `/one/${Object.keys(WAYS).indexOf(name)}.ts`;
    const url = server.on(path, ok(body));
    const engine = await engineFor(t);
    assert.deepEqual(Buffer.from(await ask(engine, url)), body);
    assert.equal(server.seen(path).length, 1);
    assert.deepEqual(engine.state.retryState, {});
    assert.deepEqual(engine.state.retryExhausted, []);
  });

  test(`R9: ${name} sends the headers that plain fetch sends, and no others`, async (t) => {
    const url = server.on('/headers.ts', ok('text'));
    const plain = async () => (await fetch(url)).text();
    await plain();
    const engine = await engineFor(t);
    await ask(engine, url);
    const [usual, ours] = server.seen('/headers.ts').slice(-2);
    assert.deepEqual(ours.rawHeaders, usual.rawHeaders);
    assert.equal(ours.method, 'GET');
  });

  test(`R9: ${name} leaves the bytes of the URL as they are`, async (t) => {
    const odd = "/odd/~a=b/c+d%2B%2b/'(e);f,g@h!/%e2%82%ac%C3%A9.ts?x=~/=+%2F%2f();,@!&y=%20+&z";
    server.on(odd.split('?')[0], ok('text'));
    const count = server.all.length;
    await fetch(server.origin + odd);
    await ask(await engineFor(t), server.origin + odd);
    const [usual, ours] = server.all.slice(count);
    assert.equal(ours.url, usual.url);
    assert.equal(ours.url, odd);
  });
}

test('R9: a Range of the caller is sent as it is, and 206 is a success', async (t) => {
  const url = server.on(
    '/range.mp4',
    answer(206, MEDIA.subarray(5, 10), { 'content-range': 'bytes 5-9/300000' }),
  );
  const engine = await engineFor(t);
  const response = await engine.fetch(url, { headers: { Range: 'bytes=5-9' } });
  assert.equal(response.status, 206);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), MEDIA.subarray(5, 10));
  const { data } = await engine.load({ url, init: { headers: { range: 'bytes=5-9' } } });
  assert.equal(/** @type {ArrayBuffer} */ (data).byteLength, 5);
  const sent = server.seen('/range.mp4').map(({ headers }) => headers.range);
  assert.deepEqual(sent, ['bytes=5-9', 'bytes=5-9']);
});

test("a resource's byte range goes beside the caller's headers", async (t) => {
  const url = server.on('/resource.mp4', answer(206, MEDIA.subarray(0, 100)));
  const engine = await engineFor(t);
  const resource = { url, byteRange: { start: 0, end: 99 } };
  const chunks = await engine.fetchBytes(resource, { headers: { 'X-Custom': 'kept' } });
  assert.equal((await bytesOf(chunks)).byteLength, 100);
  await engine.fetchText(resource, { headers: [['X-Custom', 'kept']] });
  for (const { headers } of server.seen('/resource.mp4')) {
    assert.equal(headers.range, 'bytes=0-99');
    assert.equal(headers['x-custom'], 'kept');
  }
});

test('R8: method, body, headers and credentials of the caller are sent as they are', async (t) => {
  const url = server.on('/post', ok('thanks'));
  const engine = await engineFor(t);
  const init = { method: 'POST', body: 'a=b', headers: { 'content-type': 'text/x-own' } };
  await fetch(url, init);
  const response = await engine.fetch(url, init);
  assert.equal(await response.text(), 'thanks');
  const [usual, ours] = server.seen('/post');
  assert.deepEqual(ours.rawHeaders, usual.rawHeaders);
  assert.equal(String(await ours.body), 'a=b');
});

test('R8: a Request is sent as plain fetch sends it', async (t) => {
  const url = server.on('/request', ok('thanks'));
  const engine = await engineFor(t);
  const make = () =>
    new Request(url, { method: 'PUT', body: content(1000), headers: { 'x-own': '1' } });
  await fetch(make());
  assert.equal(await (await engine.fetch(make())).text(), 'thanks');
  assert.equal((await engine.load({ url, request: make() })).status, 200);
  const [usual, ...ours] = server.seen('/request');
  for (const one of ours) {
    // Whether the length is announced is up to the client, which copies differ in.
    const told = (/** @type {import('./server.mjs').Seen} */ { headers }) =>
      Object.keys(headers).filter((name) => !/^(content-length|transfer-encoding)$/.test(name));
    assert.deepEqual(told(one), told(usual));
    assert.deepEqual(await one.body, content(1000));
  }
});

test('R8: an URL object and a redirect make the requests that plain fetch makes', async (t) => {
  server.on('/to.ts', ok(MEDIA));
  const url = server.on('/from.ts', redirect('/to.ts?a=%7e'));
  const engine = await engineFor(t);
  const loaded = await engine.load({ url });
  assert.equal(loaded.url, `${server.origin}/to.ts?a=%7e`);
  const response = await engine.fetch(new URL(url));
  await response.arrayBuffer();
  assert.equal(response.redirected, true);
  assert.equal(server.seen('/from.ts').length, 2);
  assert.equal(server.seen('/to.ts').length, 2);
});

test('what cannot be sent is refused at once and never sent', async (t) => {
  const engine = await engineFor(t);
  const { code } = await engine.fetch('http://').then(
    () => assert.fail(),
    (error) => error,
  );
  assert.equal(code, 'INVALID_URL');
  await assert.rejects(engine.fetch(`${server.origin}/x.ts`, { method: 'a b' }), TypeError);
  await assert.rejects(engine.fetch(`${server.origin}/x.ts`, { body: 'GET has none' }), TypeError);
  assert.equal(server.seen('/x.ts').length, 0);
});

test('a request whose body was used is refused at once, as by plain fetch', async (t) => {
  const url = server.on('/used', ok('thanks'));
  const engine = await engineFor(t, { attempts: 3 });
  const request = new Request(url, { method: 'POST', body: 'once' });
  await request.text();
  const before = performance.now();
  await assert.rejects(engine.fetch(request, { site: 'license' }), TypeError);
  assert.ok(performance.now() - before < 40, 'no ladder was climbed');
});
