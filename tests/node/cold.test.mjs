// @ts-check
// Requests made before the module is there are sent at once, and taken over when it is.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import {
  bytesOf,
  catchUncaught,
  eventually,
  failureOf,
  freshPackage,
  hush,
  quick,
  sleep,
  within,
} from './fixture.mjs';
import {
  after as later,
  answer,
  breakOff,
  content,
  drip,
  ok,
  page,
  reset,
  serve,
  stall,
} from './server.mjs';

/** @typedef {import('holdfast').SiteOptions} SiteOptions */

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {Buffer} */
let wasm;
before(async () => {
  server = await serve();
  wasm = await readFile(new URL('../../js/pkg/core_bg.wasm', import.meta.url));
});
after(() => server.close());

const MEDIA = content(300_000);

/**
 * An engine whose module comes when `arrive` is called.
 *
 * @param {import('node:test').TestContext} t
 * @param {SiteOptions} [policy]
 */
async function coldEngine(t, policy) {
  const cold = await (await freshPackage(t)).node();
  /** @type {(bytes: unknown) => void} */
  let resolve = () => {};
  const source = /** @type {any} */ (new Promise((settle) => (resolve = settle)));
  const engine = cold.createEngine(quick(policy, { wasm: source }));
  t.after(() => engine.destroy());
  const arrive = async () => {
    resolve(wasm);
    assert.equal(await engine.ready, true);
  };
  return { engine, arrive };
}

/** @param {any} loaded */
const bytes = ({ data }) => Buffer.from(data);

describe('a request made before the module is there', { concurrency: true }, () => {
  test('is sent at once, and adopted while it waits for headers', async (t) => {
    const { engine, arrive } = await coldEngine(t);
    const url = server.on('/headers.mp4', later(200, ok(MEDIA)));
    const load = engine.load({ url });
    await eventually(() => server.seen('/headers.mp4').length === 1);
    assert.equal(engine.state.mode, 'starting');
    await arrive();
    assert.equal(engine.state.mode, 'engine');
    const loaded = await load;
    assert.deepEqual(bytes(loaded), MEDIA);
    assert.equal(loaded.attempts, 1);
    assert.equal(server.seen('/headers.mp4').length, 1);
    assert.deepEqual(
      engine.log().map(({ event }) => event),
      ['started', 'sent', 'accepted', 'succeeded'],
    );
  });

  test('is complete without the module when it answers first', async (t) => {
    const { engine, arrive } = await coldEngine(t);
    const url = server.on('/first.mp4', ok(MEDIA));
    assert.deepEqual(bytes(await engine.load({ url })), MEDIA);
    assert.equal(await (await engine.fetch(server.on('/first', ok('text')))).text(), 'text');
    assert.equal(engine.state.mode, 'starting');
    await arrive();
    assert.deepEqual(engine.log(), []);
    assert.equal(server.seen('/first.mp4').length, 1);
  });

  test('is adopted in the middle of its body', async (t) => {
    const { engine, arrive } = await coldEngine(t);
    const url = server.on('/middle.mp4', drip(MEDIA, 10, 40));
    const load = engine.load({ url });
    const chunks = engine.fetchBytes({ url }, { minChunkSize: 1000 }).then(bytesOf);
    const fetched = engine.fetch(url).then((response) => response.arrayBuffer());
    await sleep(150);
    await arrive();
    assert.deepEqual(bytes(await load), MEDIA);
    assert.deepEqual(await chunks, MEDIA);
    assert.deepEqual(Buffer.from(await fetched), MEDIA);
    assert.equal(server.seen('/middle.mp4').length, 3);
    assert.equal(engine.log().filter(({ event }) => event === 'succeeded').length, 3);
  });

  test('has the protection against silence from then on: headers', async (t) => {
    const { engine, arrive } = await coldEngine(t, { headersTimeout: 300 });
    const url = server.on('/silent-headers.mp4', later(60_000, ok('')), ok(MEDIA));
    /** @type {number[]} */
    const sent = [];
    const load = engine.load({ url, onAttempt: ({ at }) => void sent.push(at) });
    await eventually(() => server.seen('/silent-headers.mp4').length === 1);
    await arrive();
    assert.deepEqual(bytes(await within(load, 2000, 'the load')), MEDIA);
    const [first] = server.seen('/silent-headers.mp4');
    assert.ok(sent[1] - sent[0] >= 300, 'counted from when it was sent');
    assert.ok(first.closedAt, 'the attempt that was adopted was let go');
  });

  test('has the protection against silence from then on: body', async (t) => {
    const { engine, arrive } = await coldEngine(t, { stallTimeout: 300 });
    const url = server.on('/silent-body.mp4', stall(MEDIA, 100_000), ok(MEDIA));
    const load = engine.load({ url });
    await sleep(100);
    await arrive();
    const loaded = await within(load, 2000, 'the load');
    assert.deepEqual(bytes(loaded), MEDIA);
    assert.equal(loaded.attempts, 2);
    await eventually(() => server.seen('/silent-body.mp4')[0].closedAt);
  });

  test('R17: a body that nobody reads is no silent server after adoption', async (t) => {
    const { engine, arrive } = await coldEngine(t, { stallTimeout: 150 });
    const url = server.on('/unread.mp4', ok(MEDIA));
    const response = await engine.fetch(url);
    const chunks = await engine.fetchBytes({ url });
    const half = await engine.fetch(url);
    const reader = /** @type {ReadableStream<Uint8Array>} */ (half.body).getReader();
    let received = (await reader.read()).value?.byteLength ?? 0;
    await arrive();
    await sleep(500);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), MEDIA);
    assert.deepEqual(await bytesOf(chunks), MEDIA);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      received += value.byteLength;
    }
    assert.equal(received, MEDIA.byteLength);
    assert.equal(server.seen('/unread.mp4').length, 3);
  });

  for (const [name, fault] of /** @type {const} */ ([
    ['503', answer(503, 'busy')],
    ['a reset', reset()],
    ['a body that broke', breakOff(MEDIA, 100_000)],
    ['a page', page()],
    ['a page without a type', page({})],
  ])) {
    test(`and failed with ${name} before it came, is tried again by the engine`, async (t) => {
      const { engine, arrive } = await coldEngine(t);
      const path = `/failed-${name.replaceAll(' ', '-')}.mp4`;
      const url = server.on(path, fault, ok(MEDIA));
      const load = engine.load({ url });
      await sleep(200);
      await arrive();
      const loaded = await within(load, 5000, 'the load');
      assert.deepEqual(bytes(loaded), MEDIA);
      assert.equal(loaded.attempts, 2);
      assert.equal(server.seen(path).length, 2);
      const failed = engine.log().find(({ event }) => event === 'failed');
      const kinds = ['server-busy', 'transport', 'truncated', 'intercepted'];
      assert.ok(kinds.includes(String(failed?.detail)));
      if (name.startsWith('a page')) assert.equal(failed?.detail, 'intercepted');
    });
  }

  test('tells its hooks once what happened before and after', async (t) => {
    const { engine, arrive } = await coldEngine(t);
    /** @type {unknown[]} */
    const told = [];
    const url = server.on('/hooks.mp4', breakOff(MEDIA, 100_000), ok(MEDIA));
    const load = engine.load({
      url,
      onAttempt: ({ attempt }) => void told.push(`attempt ${attempt}`),
      onResponse: ({ response }) => void told.push(response.status),
    });
    await sleep(200);
    await arrive();
    await load;
    assert.deepEqual(told, ['attempt 1', 200, 'attempt 2', 200]);
  });

  test('R10: can be aborted after it was adopted', async (t) => {
    const { engine, arrive } = await coldEngine(t);
    const url = server.on('/abort.mp4', stall(MEDIA, 100_000));
    const controller = new AbortController();
    const { signal } = controller;
    const failures = [engine.load({ url, signal }), engine.load({ url, signal })].map(failureOf);
    await eventually(() => server.seen('/abort.mp4').length === 2);
    await sleep(50);
    await arrive();
    const reason = new Error('enough');
    controller.abort(reason);
    for (const failure of failures) assert.equal(await failure, reason);
    await eventually(() => server.seen('/abort.mp4').every(({ closedAt }) => closedAt));
    assert.equal(server.seen('/abort.mp4').length, 2);
  });

  test('goes to the small ladder when the module does not come', async (t) => {
    const warnings = hush(t, 'warn');
    const cold = await (await freshPackage(t)).node();
    /** @type {(bytes: unknown) => void} */
    let resolve = () => {};
    const source = /** @type {any} */ (new Promise((settle) => (resolve = settle)));
    const engine = cold.createEngine(quick({}, { wasm: source }));
    t.after(() => engine.destroy());
    const url = server.on('/no-module.mp4', answer(503, ''), ok(MEDIA));
    const load = engine.load({ url });
    await sleep(150);
    resolve(new Uint8Array([1, 2, 3]));
    assert.equal(await engine.ready, false);
    assert.deepEqual(bytes(await load), MEDIA);
    assert.equal(warnings.length, 1);
    assert.equal(server.seen('/no-module.mp4').length, 2);
  });

  test('a final answer does not wait for the module', async (t) => {
    const { engine } = await coldEngine(t);
    const url = server.on('/final.mp4', answer(404, 'no'));
    const error = await failureOf(within(engine.load({ url }), 2500, 'the verdict'));
    assert.equal(error.code, 'NOT_FOUND');
    const response = await within(engine.fetch(url), 2500, 'the response');
    assert.equal(response.status, 404);
  });

  test('a failure does not wait for ever for a module that never comes', async (t) => {
    const { engine } = await coldEngine(t);
    const url = server.on('/for-ever.mp4', answer(503, 'busy'), ok(MEDIA));
    const loaded = await within(engine.load({ url }), 15_000, 'the load');
    assert.deepEqual(bytes(loaded), MEDIA);
  });

  test('many at once are adopted in their order, each once', async (t) => {
    const { engine, arrive } = await coldEngine(t);
    const url = server.on('/many.mp4', later(150, ok(MEDIA)));
    const loads = Array.from({ length: 20 }, (_, i) => engine.load({ url: `${url}?${i}` }));
    await eventually(() => server.seen('/many.mp4').length >= 1);
    await arrive();
    loads.push(engine.load({ url: `${url}?20` }));
    for (const { bytes } of await Promise.all(loads)) assert.equal(bytes, MEDIA.byteLength);
    assert.equal(server.seen('/many.mp4').length, 21);
  });

  test('the module may come as a slow response of a server', async (t) => {
    server.on('/core.wasm', later(150, ok(wasm, { 'content-type': 'application/wasm' })));
    const cold = await (await freshPackage(t)).node();
    const engine = cold.createEngine(quick({}, { wasm: `${server.origin}/core.wasm` }));
    t.after(() => engine.destroy());
    const load = engine.load({ url: server.on('/response.mp4', later(1500, ok(MEDIA))) });
    assert.equal(await engine.ready, true);
    assert.deepEqual(bytes(await load), MEDIA);
    assert.equal(engine.log().at(-1)?.event, 'succeeded');
  });

  test('a hook that throws stops nothing', async (t) => {
    const uncaught = catchUncaught(t);
    const { engine } = await coldEngine(t);
    const broken = new Error('a hook');
    const hook = () => {
      throw broken;
    };
    const url = server.on('/cold-hook.mp4', ok(MEDIA));
    const loaded = await within(
      engine.load({ url, onAttempt: hook, onResponse: hook }),
      2000,
      'it',
    );
    assert.deepEqual(bytes(loaded), MEDIA);
    await eventually(() => uncaught.length === 2);
  });
});

test('what is asked for with the engine still being made goes out before all else', async (t) => {
  const { url } = await freshPackage(t);
  const { entry } = await import(new URL('create.js', url).href);
  /** @type {string[]} */
  const order = [];
  const { createEngine } = entry(() => {
    order.push('module');
    return wasm;
  });
  const engine = createEngine({
    async fetch(/** @type {string} */ input, /** @type {RequestInit} */ init) {
      order.push('request');
      return fetch(input, init);
    },
  });
  t.after(() => engine.destroy());
  const load = engine.load({ url: server.on('/first.mp4', ok(MEDIA)) });
  assert.deepEqual(Buffer.from((await load).data), MEDIA);
  assert.equal(await engine.ready, true);
  assert.deepEqual(order, ['request', 'module']);
});

test('an engine that is destroyed at once loads no module', async (t) => {
  const { url } = await freshPackage(t);
  const { entry } = await import(new URL('create.js', url).href);
  const { createEngine } = entry(() => assert.fail('it was loaded'));
  const engine = createEngine();
  engine.destroy();
  assert.equal(await engine.ready, false);
});
