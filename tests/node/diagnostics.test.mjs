// @ts-check
// What origins hide from pages is said once, and costs nothing else. Node's `fetch` hides nothing,
// so responses are dressed here as a browser shows them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { catchUncaught, engineFor, eventually } from './fixture.mjs';
import { after as later, answer, content, file, ok, redirect, serve } from './server.mjs';

/** @typedef {import('holdfast').Diagnostic} Diagnostic */
/** @typedef {import('holdfast').EngineOptions} EngineOptions */

/** @type {Array<Awaited<ReturnType<typeof serve>>>} */
let servers;
before(async () => (servers = await Promise.all([serve(), serve()])));
after(() => Promise.all(servers.map((server) => server.close())));

const MEDIA = content(30_000);
const TAG = { etag: '"one"' };
const SAFE =
  /^(cache-control|content-language|content-length|content-type|expires|last-modified|pragma)$/;
const ALL = ['Content-Encoding', 'Content-Range', 'Date', 'ETag', 'Retry-After'];

let paths = 0;
/** @param {import('./server.mjs').Answer[]} answers */
const put = (answers, server = servers[0], ending = 'mp4') =>
  server.on(`/${(paths += 1)}.${ending}`, ...answers);

/**
 * An engine whose responses come from another origin, which exposes these.
 *
 * @param {import('node:test').TestContext} t
 * @param {string[]} exposed
 * @param {EngineOptions} [options]
 */
async function abroad(t, exposed, options) {
  /** @type {Diagnostic[]} */
  const events = [];
  /** @type {typeof fetch} */
  const cors = async (input, init) => {
    const response = await fetch(input, init);
    const shown = [...response.headers].filter(
      ([name]) => SAFE.test(name) || exposed.includes(name),
    );
    return Object.defineProperties(response, {
      headers: { value: new Headers(shown) },
      type: { value: 'cors' },
    });
  };
  const engine = await engineFor(
    t,
    {},
    { fetch: cors, onDiagnostic: (event) => void events.push(event), ...options },
  );
  return { engine, events };
}

test('R22: an origin that exposes nothing is reported once, by all that it hides', async (t) => {
  const { engine, events } = await abroad(t, []);
  for (let i = 0; i < 3; i += 1) await engine.load({ url: put([ok(MEDIA, TAG)]) });
  const busy = answer(503, '', { 'retry-after': '0' });
  await engine.load({ url: put([busy, ok(MEDIA)]) });
  await eventually(() => events.length > 0);
  const { origin } = servers[0];
  assert.deepEqual(
    events.map((event) => [event.origin, event.missing]),
    [[origin, ALL]],
  );
  const [event] = events;
  assert.ok(event.message.startsWith(origin));
  for (const name of ALL) assert.ok(event.message.includes(name), name);
  assert.ok(event.message.includes('Access-Control-Expose-Headers'));
  assert.ok(Object.isFrozen(event) && Object.isFrozen(event.missing));
  assert.deepEqual(engine.state.diagnostics, [event]);
  assert.equal(engine.state.diagnostics[0], event, 'the callback and the state agree');
  assert.ok(Object.isFrozen(engine.state.diagnostics));
});

test('R22: each origin is reported, that which answered in the end', async (t) => {
  const { engine, events } = await abroad(t, []);
  const there = put([ok(MEDIA)], servers[1]);
  await engine.load({ url: put([redirect(there)]) });
  await eventually(() => events.length === 1);
  assert.equal(events[0].origin, servers[1].origin);
  await engine.load({ url: put([ok(MEDIA)]) });
  await eventually(() => events.length === 2);
  assert.equal(events[1].origin, servers[0].origin);
  assert.deepEqual(engine.state.diagnostics, events);
});

test('R22: from the own origin nothing is hidden', async (t) => {
  /** @type {Diagnostic[]} */
  const events = [];
  const engine = await engineFor(t, {}, { onDiagnostic: (event) => void events.push(event) });
  await engine.load({ url: put([ok(MEDIA)]) });
  await engine.load({ url: put([answer(503), ok(MEDIA)]) });
  // What there is to tell of these is told by now.
  await told(t);
  assert.deepEqual([events, engine.state.diagnostics], [[], []]);
});

test('R22: an origin that exposes what it has is not reported', async (t) => {
  const { engine, events } = await abroad(t, ['date', 'etag', 'content-range', 'retry-after']);
  await engine.load({ url: put([file(MEDIA, TAG)]) });
  await engine.load({
    url: put([file(MEDIA, TAG)]),
    init: { headers: { range: 'bytes=0-9' } },
  });
  await engine.load({ url: put([answer(503, '', { 'retry-after': '0' }), ok(MEDIA)]) });
  await told(t);
  assert.deepEqual([events, engine.state.diagnostics], [[], []]);
});

test('R22: a part whose place is hidden is reported by that alone', async (t) => {
  const { engine, events } = await abroad(t, ['date', 'etag']);
  const url = put([file(MEDIA, TAG)]);
  const response = await engine.fetch(url, { headers: { range: 'bytes=5-9' } });
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), MEDIA.subarray(5, 10));
  await eventually(() => events.length === 1);
  assert.deepEqual(events[0].missing, ['Content-Range']);
});

for (const status of [429, 503]) {
  test(`R22: a ${status} whose time is hidden is reported by that alone, and waited for all the same`, async (t) => {
    const { engine, events } = await abroad(t, ['date', 'etag']);
    const url = put([answer(status, '', { 'retry-after': '0' }), ok(MEDIA)]);
    const { attempts } = await engine.load({ url });
    assert.equal(attempts, 2);
    await eventually(() => events.length === 1);
    assert.deepEqual(events[0].missing, ['Retry-After']);
  });
}

test('R22: a date that is hidden counts a Retry-After by the own clock', async (t) => {
  const { engine } = await abroad(t, ['retry-after']);
  // Two seconds by this clock; the one of the server, which is ahead, would have it over.
  const at = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2000).toUTCString();
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const url = put([answer(503, '', { 'retry-after': at, date }), ok(MEDIA)]);
  const before = performance.now();
  await engine.load({ url });
  assert.ok(performance.now() - before >= 1900);
});

test('R22: a callback that throws is reported, and stops nothing', async (t) => {
  const uncaught = catchUncaught(t);
  const failure = new Error('mine');
  const { engine } = await abroad(t, [], {
    onDiagnostic: () => {
      throw failure;
    },
  });
  const { data } = await engine.load({ url: put([ok(MEDIA)]) });
  assert.ok(MEDIA.equals(Buffer.from(data)));
  await eventually(() => uncaught.length > 0);
  assert.deepEqual(uncaught, [failure]);
  assert.equal(engine.state.diagnostics.length, 1);
});

test('R22: an engine that was destroyed reports nothing more', async (t) => {
  const { engine, events } = await abroad(t, []);
  const loading = engine.load({ url: put([later(100, ok(MEDIA))]) }).catch(() => {});
  engine.destroy();
  await loading;
  await told(t);
  assert.deepEqual(events, []);
});

/** Waits until something is told that comes later. @param {import('node:test').TestContext} t */
async function told(t) {
  const { engine, events } = await abroad(t, []);
  await engine.load({ url: put([ok(MEDIA)], servers[1]) });
  await eventually(() => events.length === 1);
}
