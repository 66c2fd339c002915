// @ts-check
// R10: a caller's abort ends a request at any stage, at once, and leaves nothing behind.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  engineFor,
  eventually,
  failureOf,
  freshPackage,
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

/** Every way to ask, to be aborted before it has its answer. */
const WAYS =
  /** @type {Record<string, (engine: any, url: string, signal: AbortSignal) => Promise<any>>} */ ({
    fetch: async (engine, url, signal) => (await engine.fetch(url, { signal })).arrayBuffer(),
    'fetch of a Request': async (engine, url, signal) =>
      (await engine.fetch(new Request(url, { signal }))).arrayBuffer(),
    load: (engine, url, signal) => engine.load({ url, signal }),
    'load with init': (engine, url, signal) => engine.load({ url, init: { signal } }),
    fetchText: (engine, url, signal) => engine.fetchText({ url }, { signal }),
    fetchBytes: async (engine, url, signal) => {
      for await (const _ of await engine.fetchBytes({ url }, { signal }));
    },
  });

/** Where a request can be when it is aborted; `reached` resolves once it is there. */
const STAGES = {
  'waiting for headers': {
    answers: [hang()],
    reached: (/** @type {string} */ path) => eventually(() => server.seen(path).length === 1),
    options: {},
  },
  'backing off': {
    answers: [answer(503, '', { 'retry-after': '5' })],
    reached: (/** @type {string} */ _, /** @type {any} */ engine) =>
      eventually(() => firstRetry(engine)?.waitReason === 'retry-after'),
    options: {},
  },
  'waiting for headers again': {
    answers: [answer(503, ''), hang()],
    reached: (/** @type {string} */ path) => eventually(() => server.seen(path).length === 2),
    options: {},
  },
  'in the body': {
    answers: [stall(MEDIA, 100_000)],
    reached: async (/** @type {string} */ path) => {
      await eventually(() => server.seen(path).length === 1);
      await sleep(50);
    },
    options: {},
  },
  'in a hold': {
    answers: [answer(503, '')],
    reached: (/** @type {string} */ _, /** @type {any} */ engine) =>
      eventually(() => firstRetry(engine)?.waitReason === 'hold'),
    options: { attempts: 1, onExhausted: /** @type {const} */ ('hold') },
  },
};

/** @param {any} engine @returns {import('holdfast').RetryState | undefined} */
const firstRetry = (engine) => Object.values(engine.state.retryState)[0];

for (const [stage, { answers, reached, options }] of Object.entries(STAGES)) {
  for (const [way, ask] of Object.entries(WAYS)) {
    test(`R10: ${way} aborted ${stage} rejects with the caller's reason`, async (t) => {
      const path = `/${stage}/${way}.mp4`.replaceAll(' ', '-');
      const url = server.on(path, ...answers);
      const engine = await engineFor(t, options);
      const timers = spyTimers(t);
      const { controller, signal, listeners } = spySignal();
      const reason = { why: 'the caller had enough' };

      let settled = false;
      const failure = failureOf(ask(engine, url, signal)).finally(() => (settled = true));
      await reached(path, engine);
      assert.equal(timers.size, 1, 'an engine has one timer');
      const requests = server.seen(path).length;
      controller.abort(reason);
      await new Promise(setImmediate);
      assert.ok(settled, 'within a tick');
      assert.equal(await failure, reason);
      assert.equal(timers.size, 0, 'no timer is left');
      assert.deepEqual(engine.state.retryState, {});
      if (way !== 'fetch of a Request') assert.equal(listeners(), 0, 'no listener is left');
      if (!/backing|hold/.test(stage)) {
        await eventually(() => server.seen(path).at(-1)?.closedAt, 'the server sees it');
      }
      await sleep(60);
      assert.equal(server.seen(path).length, requests, 'no further request');
      assert.equal(engine.log().at(-1)?.event, 'aborted');
    });
  }
}

for (const [way, ask] of Object.entries(WAYS)) {
  test(`R10: ${way} with a signal that is aborted already is never sent`, async (t) => {
    const path = `/before/${way.replaceAll(' ', '-')}.mp4`;
    const url = server.on(path, ok(MEDIA));
    const engine = await engineFor(t);
    const reason = new Error('too late');
    assert.equal(await failureOf(ask(engine, url, AbortSignal.abort(reason))), reason);
    await sleep(30);
    assert.equal(server.seen(path).length, 0);
    assert.deepEqual(engine.log(), []);
  });

  test(`R10: ${way} aborted while the module is not there yet rejects at once`, async (t) => {
    const path = `/cold/${way.replaceAll(' ', '-')}.mp4`;
    const url = server.on(path, hang());
    const { createEngine } = await (await freshPackage(t)).node();
    const never = /** @type {any} */ (new Promise(() => {}));
    const engine = createEngine(quick({}, { wasm: never }));
    const { controller, signal, listeners } = spySignal();
    const failure = failureOf(ask(engine, url, signal));
    await eventually(() => server.seen(path).length === 1);
    const reason = new Error('changed my mind');
    controller.abort(reason);
    assert.equal(await failure, reason);
    await eventually(() => server.seen(path)[0].closedAt);
    if (way !== 'fetch of a Request') assert.equal(listeners(), 0);
    engine.destroy();
  });

  test(`${way} leaves no listener on the caller's signal after success and failure`, async (t) => {
    if (way === 'fetch of a Request') return t.skip('copies of a Request listen to it themselves');
    const path = `/listeners/${way.replaceAll(' ', '-')}.mp4`;
    const url = server.on(path, ok(MEDIA), answer(503, ''), ok(MEDIA), answer(403, ''));
    const engine = await engineFor(t);
    const { signal, listeners } = spySignal();
    await ask(engine, url, signal);
    await ask(engine, url, signal);
    await ask(engine, url, signal).catch(() => {});
    assert.equal(listeners(), 0);
    assert.equal(server.seen(path).length, 4);
  });
}

test('R10: a streaming body that nobody reads errors with the reason', async (t) => {
  const path = '/unread.mp4';
  const url = server.on(path, stall(MEDIA, 200_000));
  const engine = await engineFor(t);
  const controller = new AbortController();
  const { signal } = controller;
  const response = await engine.fetch(url, { signal });
  const chunks = await engine.fetchBytes({ url }, { signal });
  const reason = new Error('not needed');
  controller.abort(reason);
  assert.equal(await failureOf(response.text()), reason);
  const iteration = chunks[Symbol.asyncIterator]().next();
  assert.equal(await failureOf(iteration), reason);
  await eventually(() => server.seen(path).every(({ closedAt }) => closedAt));
});

test('R10: cancelling the body lets the network go', async (t) => {
  const path = '/cancelled.mp4';
  const url = server.on(path, stall(MEDIA, 200_000));
  const engine = await engineFor(t);
  const response = await engine.fetch(url);
  await response.body?.cancel('enough');
  await eventually(() => server.seen(path)[0].closedAt);
  assert.equal(engine.log().at(-1)?.event, 'aborted');
});

test('R10: without a reason the caller gets the AbortError that fetch gives', async (t) => {
  const url = server.on('/plain-abort.mp4', hang());
  const engine = await engineFor(t);
  const controller = new AbortController();
  const failure = failureOf(engine.fetch(url, { signal: controller.signal }));
  await sleep(20);
  controller.abort();
  assert.equal((await failure).name, 'AbortError');
  assert.equal(await failure, controller.signal.reason);
});

test('R10: a TimeoutError of the caller stays one', async (t) => {
  const url = server.on('/timeout-abort.mp4', hang());
  const engine = await engineFor(t);
  const signal = AbortSignal.timeout(30);
  assert.equal((await failureOf(engine.load({ url, signal }))).name, 'TimeoutError');
});

test('R10: an abort after success changes nothing', async (t) => {
  const url = server.on('/done.mp4', ok(MEDIA));
  const engine = await engineFor(t);
  const controller = new AbortController();
  const { signal } = controller;
  const { data } = await engine.load({ url, signal });
  const response = await engine.fetch(url, { signal });
  const read = await response.arrayBuffer();
  controller.abort();
  await sleep(10);
  assert.deepEqual(Buffer.from(read), Buffer.from(/** @type {ArrayBuffer} */ (data)));
  assert.equal(engine.log().at(-1)?.event, 'succeeded');
});

for (const hook of /** @type {const} */ (['onAttempt', 'onResponse', 'onProgress', 'onChunk'])) {
  test(`R10: an abort from inside ${hook} rejects with its reason`, async (t) => {
    const path = `/inside/${hook}.mp4`;
    const url = server.on(path, stall(MEDIA, 200_000));
    const engine = await engineFor(t);
    const controller = new AbortController();
    const reason = new Error(`from ${hook}`);
    const { signal } = controller;
    const request = { url, signal, [hook]: () => controller.abort(reason) };
    assert.equal(await failureOf(engine.load(request)), reason);
    await sleep(50);
    assert.ok(server.seen(path).every(({ closedAt }) => closedAt));
    assert.deepEqual(engine.state.retryState, {});
  });
}

test('R10: one abort ends all requests that share its signal, and no other', async (t) => {
  const engine = await engineFor(t);
  const controller = new AbortController();
  const { signal } = controller;
  const hung = server.on('/shared.mp4', hang());
  const busy = server.on('/shared-busy.mp4', answer(503, '', { 'retry-after': '5' }));
  const kept = engine.load({ url: server.on('/kept.mp4', answer(503, ''), ok(MEDIA)) });
  const failures = [hung, busy, hung, busy].map((url) => failureOf(engine.load({ url, signal })));
  await eventually(() => server.seen('/shared.mp4').length === 2);
  await eventually(() => server.seen('/shared-busy.mp4').length === 2);
  const reason = new Error('seek');
  controller.abort(reason);
  for (const failure of failures) assert.equal(await failure, reason);
  assert.equal((await kept).bytes, MEDIA.byteLength);
});
