// @ts-check
// The end of an engine, and its kill switch.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createEngine } from 'holdfast';
import {
  bytesOf,
  catchUncaught,
  engineFor,
  eventually,
  failureOf,
  freshPackage,
  hush,
  OWN_HOSTS,
  quick,
  sleep,
  spySignal,
  spyTimers,
} from './fixture.mjs';
import { answer, content, hang, ok, serve, stall } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(300_000);

test('destroy rejects all that is under way, wherever it is, and leaves nothing behind', async (t) => {
  const timers = spyTimers(t);
  const { signal, listeners } = spySignal();
  const engine = await engineFor(t, { attempts: 2, onExhausted: 'hold' }, OWN_HOSTS);
  const hung = server.on('/hang.mp4', hang());
  const half = server.on('/half.mp4', stall(MEDIA, 100_000));
  const busy = server.on('/busy.mp4', answer(503, '', { 'retry-after': '5' }));
  const held = server.on('/held.mp4', answer(503, ''));
  const failures = [
    engine.load({ url: hung, signal }),
    engine.fetch(hung, { signal }),
    engine.fetchText({ url: hung }, { signal }),
    engine.fetchBytes({ url: hung }, { signal }),
    engine.load({ url: half, signal }),
    engine.load({ url: busy, signal }),
    engine.load({ url: held, signal }),
  ].map(failureOf);
  const response = await engine.fetch(half, { signal });
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  await reader.read();
  const unread = await engine.fetch(half, { signal });
  const chunks = await engine.fetchBytes({ url: half }, { signal });
  await eventually(() => Object.values(engine.state.retryState).some(({ exhausted }) => exhausted));

  engine.destroy();
  engine.destroy();
  for (const failure of failures) assert.equal((await failure).code, 'DESTROYED');
  assert.equal((await failureOf(bytesOf(chunks))).code, 'DESTROYED');
  assert.equal((await failureOf(unread.text())).code, 'DESTROYED');
  const tail = await failureOf(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  );
  assert.equal(tail.code, 'DESTROYED');
  assert.equal(timers.size, 0);
  assert.equal(listeners(), 0);
  for (const path of ['/hang.mp4', '/half.mp4']) {
    await eventually(() => server.seen(path).every(({ closedAt }) => closedAt), path);
  }
  const count = server.all.length;
  await sleep(100);
  assert.equal(server.all.length, count);
  assert.deepEqual(engine.state.retryState, {}, 'nobody waits any more');
});

test('a destroyed engine refuses requests and takes every other call', async (t) => {
  const engine = await engineFor(t);
  engine.destroy();
  const url = server.on('/after.mp4', ok(MEDIA));
  for (const failure of [
    failureOf(engine.fetch(url)),
    failureOf(engine.load({ url })),
    failureOf(engine.fetchText({ url })),
    failureOf(engine.fetchBytes({ url })),
  ]) {
    const error = await failure;
    assert.equal(error.name, 'HoldfastError');
    assert.equal(error.code, 'DESTROYED');
  }
  engine.retryNow();
  engine.reportPlayback({ bufferAhead: 1 });
  engine.declareAlternatives('segment', 1);
  assert.deepEqual(engine.log(), []);
  assert.equal(await engine.ready, true);
  assert.equal(server.seen('/after.mp4').length, 0);
});

test('destroying one engine leaves another alone', async (t) => {
  const [one, other] = [await engineFor(t), await engineFor(t)];
  const url = server.on('/alone.mp4', answer(503, ''), ok(MEDIA));
  const load = other.load({ url });
  await eventually(() => server.seen('/alone.mp4').length === 1);
  one.destroy();
  assert.equal((await load).bytes, MEDIA.byteLength);
});

for (const hook of /** @type {const} */ (['onAttempt', 'onResponse', 'onProgress'])) {
  test(`destroy from inside ${hook} ends the request and reports nothing`, async (t) => {
    const complaints = hush(t, 'error');
    const uncaught = catchUncaught(t);
    const engine = await engineFor(t);
    const url = server.on(`/inside-${hook}.mp4`, stall(MEDIA, 100_000));
    const error = await failureOf(engine.load({ url, [hook]: () => engine.destroy() }));
    assert.equal(error.code, 'DESTROYED');
    await sleep(50);
    assert.deepEqual(complaints, []);
    assert.deepEqual(uncaught, []);
    const seen = server.seen(`/inside-${hook}.mp4`);
    await eventually(() => seen.every(({ closedAt }) => closedAt));
  });
}

for (const where of ['a listener', 'onExhausted']) {
  test(`destroy from inside ${where} ends the request and reports nothing`, async (t) => {
    const complaints = hush(t, 'error');
    const engine = await engineFor(
      t,
      { attempts: 1, onExhausted: 'hold' },
      { onExhausted: () => where === 'onExhausted' && engine.destroy() },
    );
    engine.subscribe(({ retryState }) => {
      if (where === 'a listener' && Object.keys(retryState).length) engine.destroy();
    });
    const url = server.on('/inside-state.mp4', answer(503, ''));
    assert.equal((await failureOf(engine.load({ url }))).code, 'DESTROYED');
    await sleep(20);
    assert.deepEqual(complaints, []);
  });
}

test('an engine that is destroyed before its module is there stays destroyed', async (t) => {
  const warnings = hush(t, 'warn');
  const cold = await (await freshPackage(t)).node();
  /** @type {(value: unknown) => void} */
  let fail = () => {};
  const late = new Promise((_, reject) => (fail = reject));
  const engine = cold.createEngine(quick({}, { wasm: /** @type {any} */ (late) }));
  const { signal, listeners } = spySignal();
  const url = server.on('/early.mp4', hang());
  const load = failureOf(engine.load({ url, signal }));
  await eventually(() => server.seen('/early.mp4').length === 1);
  engine.destroy();
  assert.equal((await load).code, 'DESTROYED');
  await eventually(() => server.seen('/early.mp4')[0].closedAt);
  assert.equal(listeners(), 0);
  fail(new Error('too late'));
  assert.equal(await engine.ready, false);
  assert.deepEqual(warnings, [], 'nobody cares any more');
  assert.equal((await failureOf(engine.fetch(url))).code, 'DESTROYED');
});

test('enabled: false sends new requests on the small ladder, and true puts them back', async (t) => {
  const engine = await engineFor(t);
  engine.enabled = false;
  const url = server.on('/disabled.mp4', answer(503, ''), ok(MEDIA), ok(MEDIA));
  const before = performance.now();
  const { attempts, bytes } = await engine.load({ url });
  assert.equal(attempts, 2);
  assert.equal(bytes, MEDIA.byteLength);
  assert.ok(performance.now() - before >= 1000, 'its first delay is a second');
  assert.deepEqual(engine.log(), [], 'the engine never heard of it');
  engine.enabled = true;
  await engine.load({ url });
  assert.ok(engine.log().length > 0);
});

test('enabled: false leaves what is under way where it is', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/under-way.mp4', answer(503, ''), ok(MEDIA));
  const load = engine.load({ url });
  engine.enabled = false;
  assert.equal((await load).attempts, 2);
  assert.equal(engine.log().at(-1)?.event, 'succeeded');
});

test('destroy ends the small ladder too', async (t) => {
  const timers = spyTimers(t);
  const engine = await engineFor(t);
  engine.enabled = false;
  const url = server.on('/small.mp4', answer(503, ''));
  const hung = server.on('/small-hang.mp4', hang());
  const failures = [failureOf(engine.load({ url })), failureOf(engine.fetch(hung))];
  await eventually(() => server.seen('/small.mp4').length === 1 && timers.size > 0);
  engine.destroy();
  for (const failure of failures) assert.equal((await failure).code, 'DESTROYED');
  assert.equal(timers.size, 0);
  await eventually(() => server.seen('/small-hang.mp4')[0].closedAt);
});

test('an idle engine leaves no timer', async (t) => {
  const timers = spyTimers(t);
  const engine = createEngine(quick());
  t.after(() => engine.destroy());
  await engine.ready;
  const url = server.on('/idle.mp4', answer(503, ''), ok(MEDIA));
  await engine.load({ url });
  assert.equal(timers.size, 0);
});

test('a page keeps its timer for the next request, until the engine is destroyed', async (t) => {
  Object.assign(globalThis, { document: { baseURI: server.origin } });
  t.after(() => void Reflect.deleteProperty(globalThis, 'document'));
  const timers = spyTimers(t);
  /** @type {Set<unknown>} */
  const seen = new Set();
  const engine = await engineFor(t);
  for (let n = 0; n < 5; n += 1) {
    await engine.load({ url: server.on(`/kept-${n}.mp4`, ok(MEDIA)) });
    assert.equal(timers.size, 1);
    for (const timer of timers) seen.add(timer);
  }
  // That of the first headers, or that of the first body, which is due sooner.
  assert.equal(seen.size, 1);
  engine.destroy();
  assert.equal(timers.size, 0);
});
