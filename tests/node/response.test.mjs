// @ts-check
// What `engine.fetch` resolves with is what `fetch` would have resolved with.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { engineFor } from './fixture.mjs';
import { answer, content, ok, redirect, reset, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

/** @param {Response} response */
const facts = ({ url, redirected, status, statusText, ok, type, headers, bodyUsed, body }) => ({
  ...{ url, redirected, status, statusText, ok, type, bodyUsed },
  hasBody: body !== null,
  headers: [...headers].filter(([name]) => name !== 'date'),
});

const CASES = /** @type {const} */ ([
  ['a plain success', '/a.ts', ok('body', { 'x-own': 'yes', 'content-type': 'video/mp2t' })],
  ['an own status text', '/b.ts', answer(200, 'body', {})],
  ['201', '/c.ts', answer(201, 'made')],
  ['204', '/d.ts', answer(204)],
  ['205', '/e.ts', answer(205)],
  ['304', '/f.ts', answer(304)],
  ['404', '/g.ts', answer(404, 'no such thing')],
  ['403', '/h.ts', answer(403, '<Error>AccessDenied</Error>', { 'content-type': 'text/xml' })],
]);

for (const [name, path, ...answers] of CASES) {
  test(`R8: the response of ${name} has the fields that fetch gives it`, async (t) => {
    const url = server.on(path, ...answers);
    const engine = await engineFor(t);
    const usual = await fetch(url);
    const ours = await engine.fetch(url);
    assert.deepEqual(facts(ours), facts(usual));
    assert.ok(ours instanceof Response);
    assert.equal(await ours.text(), await usual.text());
    assert.equal(ours.bodyUsed, usual.bodyUsed);
  });
}

test('R8: a redirected response says so, and from where it came', async (t) => {
  server.on('/there.ts', ok('body'));
  const url = server.on('/here.ts', redirect('/there.ts'));
  const engine = await engineFor(t);
  const ours = await engine.fetch(url);
  assert.deepEqual(facts(ours), facts(await fetch(url)));
  assert.equal(ours.redirected, true);
  assert.equal(ours.url, `${server.origin}/there.ts`);
});

test('R8: HEAD succeeds without a body', async (t) => {
  const url = server.on('/head.ts', answer(200, undefined, { 'content-length': 1000 }));
  const engine = await engineFor(t);
  const ours = await engine.fetch(url, { method: 'HEAD' });
  assert.equal(ours.headers.get('content-length'), '1000');
  assert.equal((await ours.arrayBuffer()).byteLength, 0);
  assert.equal(server.seen('/head.ts').length, 1);
});

test('R8: a clone has the same fields and its own copy of the body', async (t) => {
  const body = content(200_000);
  const url = server.on('/clone.ts', ok(body));
  const engine = await engineFor(t);
  const ours = await engine.fetch(url);
  const clone = ours.clone();
  const again = clone.clone();
  assert.equal(again.url, url);
  assert.equal(clone.type, ours.type);
  const all = await Promise.all([ours, clone, again].map((one) => one.arrayBuffer()));
  for (const bytes of all) assert.deepEqual(Buffer.from(bytes), body);
  assert.equal(server.seen('/clone.ts').length, 1);
});

test('R8: json, text, arrayBuffer, blob and the reader give the body', async (t) => {
  const url = server.on('/body', ok('{"a":[1,2]}', { 'content-type': 'application/json' }));
  const engine = await engineFor(t);
  const get = () => engine.fetch(url);
  assert.deepEqual(await (await get()).json(), { a: [1, 2] });
  assert.equal(await (await get()).text(), '{"a":[1,2]}');
  assert.equal((await (await get()).arrayBuffer()).byteLength, 11);
  const blob = await (await get()).blob();
  assert.equal(blob.size, 11);
  assert.equal(blob.type, 'application/json');
  const response = await get();
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const { value } = await reader.read();
  assert.equal(value?.byteLength, 11);
  assert.equal((await reader.read()).done, true);
  await assert.rejects(response.text(), TypeError);
});

test('R8: an empty body of a site that expects none is an empty body', async (t) => {
  const url = server.on('/beacon', ok(''));
  const engine = await engineFor(t);
  const posted = await engine.fetch(url, { method: 'POST', body: 'seen' });
  assert.equal(posted.status, 200);
  assert.equal(await posted.text(), '');
  assert.equal(await (await engine.fetch(url)).text(), '');
  assert.equal(server.seen('/beacon').length, 2);
});

test('R4: an opaque response is passed on, as fetch does', async (t) => {
  // Only browsers make them.
  const opaque = Object.create(Response.prototype, {
    ...{ type: { value: 'opaque' }, status: { value: 0 }, ok: { value: false } },
    ...{ url: { value: '' }, headers: { value: new Headers() }, body: { value: null } },
    ...{ statusText: { value: '' }, redirected: { value: false } },
  });
  const engine = await engineFor(t, {}, { fetch: async () => opaque });
  const ours = await engine.fetch(`${server.origin}/opaque`, { mode: 'no-cors' });
  assert.equal(ours.type, 'opaque');
  assert.equal(ours.status, 0);
});

test('a redirect that is to be handled by hand is passed on', async (t) => {
  const url = server.on('/manual', redirect('/elsewhere'));
  const engine = await engineFor(t);
  const usual = await fetch(url, { redirect: 'manual' });
  const ours = await engine.fetch(url, { redirect: 'manual' });
  assert.deepEqual(facts(ours), facts(usual));
});

test('the response of a retried request is that of the attempt that succeeded', async (t) => {
  const url = server.on('/second.ts', reset(), answer(203, 'second', { etag: '"2"' }));
  const engine = await engineFor(t);
  const ours = await engine.fetch(url);
  assert.equal(ours.status, 203);
  assert.equal(ours.headers.get('etag'), '"2"');
  assert.equal(ours.url, url);
  assert.equal(await ours.text(), 'second');
});

test("headers that a caller's own fetch makes need not be iterable", async (t) => {
  const { body } = new Response('media');
  const headers = { get: () => null, has: () => false };
  const made = { status: 200, statusText: '', ok: true, type: 'default', url: '', headers, body };
  const own = async () => /** @type {any} */ (made);
  const engine = await engineFor(t, {}, { fetch: own });
  const response = await engine.fetch('https://a.test/x.m4s', { site: 'segment' });
  assert.equal(await response.text(), 'media');
});
