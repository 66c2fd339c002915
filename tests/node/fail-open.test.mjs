// @ts-check
// Without the module requests still succeed, on plain fetch with a few retries.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  bytesOf,
  catchUncaught,
  eventually,
  failureOf,
  freshPackage,
  hush,
  quick,
} from './fixture.mjs';
import { answer, breakOff, content, hang, ok, page, reset, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(200_000);
const GARBAGE = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);
const EMPTY_MODULE = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/** Ways in which the module cannot be had. @type {Record<string, () => any>} */
const WAYS = {
  'garbage bytes': () => GARBAGE,
  'a module that is not this one': () => EMPTY_MODULE,
  'a file that is not there': () => fetch(`${server.origin}/no-such.wasm`),
  'a page in its place': () => fetch(server.on('/core.wasm', page())),
  'a promise that rejects': () => Promise.reject(new Error('offline')),
  'a URL that nothing answers': () => 'http://127.0.0.1:1/core.wasm',
  'something that is no source': () => ({ not: 'a source' }),
};

for (const [what, source] of Object.entries(WAYS)) {
  test(`${what}: one warning that says what to check, and requests succeed`, async (t) => {
    const warnings = hush(t, 'warn');
    const uncaught = catchUncaught(t);
    const { createEngine, isReady } = await (await freshPackage(t)).node();
    const engine = createEngine(quick({}, { wasm: source() }));
    t.after(() => engine.destroy());
    assert.equal(await engine.ready, false);
    assert.equal(engine.state.mode, 'plain');
    assert.equal(isReady(), false);
    const ours = warnings.filter(([text]) => /Holdfast/.test(String(text)));
    assert.equal(ours.length, 1);
    assert.match(String(ours[0][0]), /core_bg\.wasm/);
    assert.match(String(ours[0][0]), /wasm-unsafe-eval/);
    assert.ok(ours[0][1] instanceof Error, 'with its cause');
    const path = `/way-${Object.keys(WAYS).indexOf(what)}.mp4`;
    const url = server.on(path, answer(503, ''), ok(MEDIA));
    const { data, attempts } = await engine.load({ url });
    assert.deepEqual(Buffer.from(/** @type {ArrayBuffer} */ (data)), MEDIA);
    assert.equal(attempts, 2);
    const [first, second] = server.seen(path);
    assert.ok(second.at - first.at >= 1000, 'its first delay is a second');
    assert.equal(warnings.filter(([text]) => /Holdfast/.test(String(text))).length, 1);
    assert.deepEqual(uncaught, []);
  });
}

test('a policy that forbids WebAssembly: the same', async (t) => {
  const warnings = hush(t, 'warn');
  const { instantiate, instantiateStreaming } = WebAssembly;
  t.after(() => void Object.assign(WebAssembly, { instantiate, instantiateStreaming }));
  const refuse = async () => {
    throw new WebAssembly.CompileError(
      "Refused to compile or instantiate WebAssembly module because 'unsafe-eval' is not allowed",
    );
  };
  Object.assign(WebAssembly, { instantiate: refuse, instantiateStreaming: refuse });
  const cold = await (await freshPackage(t)).node();
  const engine = cold.createEngine(quick());
  t.after(() => engine.destroy());
  assert.equal(await engine.ready, false);
  assert.equal(warnings.length, 1);
  assert.equal((await engine.load({ url: server.on('/csp.mp4', ok(MEDIA)) })).attempts, 1);

  // A failed load is not remembered.
  Object.assign(WebAssembly, { instantiate, instantiateStreaming });
  const later = cold.createEngine(quick());
  t.after(() => later.destroy());
  assert.equal(await later.ready, true);
  assert.equal(later.state.mode, 'engine');
});

test('no WebAssembly at all: the same', async (t) => {
  const warnings = hush(t, 'warn');
  const { WebAssembly: usual } = globalThis;
  t.after(() => void (globalThis.WebAssembly = usual));
  const cold = await (await freshPackage(t)).inline();
  // @ts-expect-error an old browser
  globalThis.WebAssembly = undefined;
  const engine = cold.createEngine(quick());
  t.after(() => engine.destroy());
  assert.equal(await engine.ready, false);
  assert.equal(warnings.length, 1);
  assert.equal((await engine.load({ url: server.on('/old.mp4', ok(MEDIA)) })).attempts, 1);
});

describe('on the small ladder', { concurrency: true }, () => {
  /** @param {import('node:test').TestContext} t */
  async function plainEngine(t) {
    const cold = await (await freshPackage(t)).node();
    const engine = cold.createEngine(quick({}, { wasm: /** @type {any} */ (GARBAGE) }));
    t.after(() => engine.destroy());
    assert.equal(await engine.ready, false);
    return { engine, ...cold };
  }
  /** @type {typeof console.warn} */
  let warn;
  before(() => {
    warn = console.warn;
    console.warn = () => {};
  });
  after(() => void (console.warn = warn));

  test('every shape is served, one request a call', async (t) => {
    const { engine, createTrackedFetch, withRetry } = await plainEngine(t);
    const url = server.on('/shapes.mp4', ok(MEDIA));
    const zero = { fastEstimate: 0, fastTotalWeight: 0, slowEstimate: 0, slowTotalWeight: 0 };
    const tracked = createTrackedFetch({ ...zero, bytesSampled: 0 }, () => {}, { engine });
    const bytes = [
      await bytesOf(await engine.fetchBytes({ url })),
      Buffer.from(await (await engine.fetch(url)).arrayBuffer()),
      await bytesOf(await tracked({ url })),
      Buffer.from(await (await withRetry(fetch, { engine })(url)).arrayBuffer()),
    ];
    for (const one of bytes) assert.deepEqual(one, MEDIA);
    const text = server.on('/shapes.m3u8', ok('#EXTM3U'));
    assert.equal(await engine.fetchText({ url: text }), '#EXTM3U');
    assert.equal(server.seen('/shapes.mp4').length, 4);
    assert.equal(server.seen('/shapes.m3u8').length, 1);
  });

  test('a reset, a body that broke, and a page are tried again', async (t) => {
    const { engine } = await plainEngine(t);
    const all = [reset(), breakOff(MEDIA, 100_000), page()].map(async (fault, i) => {
      const url = server.on(`/fault-${i}.mp4`, fault, ok(MEDIA));
      const { data } = await engine.load({ url });
      assert.deepEqual(Buffer.from(/** @type {ArrayBuffer} */ (data)), MEDIA);
      assert.equal(server.seen(`/fault-${i}.mp4`).length, 2);
    });
    await Promise.all(all);
  });

  test('R4: a refusal rejects with its class, and fetch resolves with it', async (t) => {
    const { engine } = await plainEngine(t);
    for (const [status, code] of /** @type {const} */ ([
      [403, 'DENIED'],
      [404, 'NOT_FOUND'],
      [410, 'GONE'],
      [451, 'LEGAL'],
      [400, 'CONTRACT'],
    ])) {
      const url = server.on(`/refused-${status}.mp4`, answer(status, 'no'));
      const error = await failureOf(engine.load({ url }));
      assert.equal(error.status, status);
      assert.equal(error.code, code);
      assert.equal(error.reason, 'terminal');
      assert.equal(error.svta, 3000 + status);
      const response = await engine.fetch(url);
      assert.equal(response.status, status);
      assert.equal(await response.text(), 'no');
      assert.equal(server.seen(`/refused-${status}.mp4`).length, 2);
    }
  });

  test('R11: after its last attempt the failure is typed', async (t) => {
    const { engine } = await plainEngine(t);
    const url = server.on('/spent.mp4', reset());
    const before = performance.now();
    const error = await failureOf(engine.load({ url }));
    assert.equal(error.code, 'TRANSPORT');
    assert.equal(error.svta, 3007);
    assert.equal(error.reason, 'attempts');
    assert.equal(error.attempts, 4);
    assert.ok(error.elapsed >= 7000 && error.elapsed <= performance.now() - before + 1);
  });

  test('bytes that were released are not delivered again', async (t) => {
    const { engine } = await plainEngine(t);
    const url = server.on('/released.mp4', breakOff(MEDIA, 100_000), ok(MEDIA));
    const { body } = await engine.fetch(url);
    let released = 0;
    const reading = (async () => {
      for await (const chunk of /** @type {any} */ (body)) released += chunk.byteLength;
    })();
    const error = await failureOf(reading);
    assert.equal(error.code, 'TRUNCATED');
    assert.equal(released, 100_000);
    assert.equal(server.seen('/released.mp4').length, 1);

    /** @type {Uint8Array[]} */
    const chunks = [];
    const again = server.on('/compared.mp4', breakOff(MEDIA, 100_000), ok(MEDIA));
    await engine.load({ url: again, onChunk: (chunk) => chunks.push(chunk) });
    assert.deepEqual(Buffer.concat(chunks), Buffer.from(MEDIA));
  });

  test('R77: a POST is sent once, a license again', async (t) => {
    const { engine } = await plainEngine(t);
    const url = server.on('/post', answer(503, ''));
    const init = { method: 'POST', body: 'a' };
    assert.equal((await engine.fetch(url, init)).status, 503);
    assert.equal(server.seen('/post').length, 1);
    const license = server.on('/license', answer(503, ''), ok('license'));
    assert.equal(
      await (await engine.fetch(license, { ...init, site: 'license' })).text(),
      'license',
    );
    const [first, second] = server.seen('/license');
    assert.deepEqual(await first.body, await second.body);
  });

  test('R5, R12: a request of the site "other" is sent once', async (t) => {
    const { engine } = await plainEngine(t);
    const url = server.on('/beacon', answer(503, ''), ok(''));
    assert.equal((await engine.fetch(url)).status, 503);
    assert.equal(server.seen('/beacon').length, 1);
  });

  test('R10: an abort ends it at once, in any stage', async (t) => {
    const { engine } = await plainEngine(t);
    for (const [path, one] of /** @type {const} */ ([
      ['/abort-hang.mp4', hang()],
      ['/abort-wait.mp4', answer(503, '')],
    ])) {
      const url = server.on(path, one);
      const controller = new AbortController();
      const failure = failureOf(engine.load({ url, signal: controller.signal }));
      await eventually(() => server.seen(path).length === 1);
      await sleep(50);
      const reason = new Error('enough');
      controller.abort(reason);
      assert.equal(await failure, reason);
      await sleep(1200);
      assert.equal(server.seen(path).length, 1);
    }
    await eventually(() => server.seen('/abort-hang.mp4')[0].closedAt);
  });

  test('what needs the module answers harmlessly', async (t) => {
    const { engine } = await plainEngine(t);
    engine.retryNow();
    engine.reportPlayback({ bufferAhead: 3, targetDuration: 4 });
    engine.declareAlternatives('segment', 1);
    assert.deepEqual(engine.log(), []);
    assert.deepEqual(engine.state.retryState, {});
    assert.equal(engine.state.bandwidth, undefined);
  });
});
