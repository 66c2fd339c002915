// @ts-check
// The module traps: bodies finish, it is said once, and a fresh instance takes over.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FACT } from '../../js/names.js';
import load, { Driver } from '../../js/pkg/core.js';
import {
  bytesOf,
  catchUncaught,
  engineFor,
  eventually,
  failureOf,
  hush,
  sleep,
  within,
} from './fixture.mjs';
import { after as later, answer, breakOff, content, drip, hang, ok, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(300_000);

/**
 * Lets the next call of a method trap, or the next one that tells a fact: really, so that the
 * instance is of no more use.
 *
 * @param {{ after(fn: () => void): void }} test
 * @param {'start' | 'settled' | 'bodyLost' | 'view' | keyof typeof FACT} what
 * @param {number} [nth]
 */
function trapIn(test, what, nth = 1) {
  const method = what in FACT ? 'tell' : /** @type {'view'} */ (what);
  const fact = FACT[/** @type {keyof typeof FACT} */ (what)];
  const usual = Driver.prototype[method];
  let calls = 0;
  /** @this {Driver} */
  function trapping(/** @type {any[]} */ ...args) {
    const isMeant = method !== 'tell' || args[0] === fact;
    if (isMeant) calls += 1;
    if (isMeant && calls === nth) throw new WebAssembly.RuntimeError('unreachable');
    return /** @type {any} */ (usual).apply(this, args);
  }
  Driver.prototype[method] = /** @type {any} */ (trapping);
  const restore = () => void (Driver.prototype[method] = /** @type {any} */ (usual));
  test.after(restore);
  return { count: () => calls };
}

/** Every shape of a body in flight. */
const BODIES = {
  load: async (/** @type {any} */ engine, /** @type {string} */ url) =>
    Buffer.from((await engine.load({ url })).data),
  fetch: async (/** @type {any} */ engine, /** @type {string} */ url) =>
    Buffer.from(await (await engine.fetch(url)).arrayBuffer()),
  fetchBytes: async (/** @type {any} */ engine, /** @type {string} */ url) =>
    bytesOf(await engine.fetchBytes({ url }, { minChunkSize: 1000 })),
};

for (const [shape, read] of Object.entries(BODIES)) {
  for (const [method, nth] of /** @type {const} */ ([
    ['chunk', 2],
    ['reading', 1],
    ['bodyEnd', 1],
  ])) {
    test(`a trap in ${method}: the body of ${shape} finishes, with one request`, async (t) => {
      const complaints = hush(t, 'error');
      const uncaught = catchUncaught(t);
      const path = `/${shape}-${method}.mp4`;
      const url = server.on(path, drip(MEDIA, 6, 20));
      const engine = await engineFor(t);
      const trap = trapIn(t, method, nth);
      assert.deepEqual(await read(engine, url), MEDIA);
      assert.ok(trap.count() >= nth, 'it trapped');
      await sleep(20);
      assert.equal(server.seen(path).length, 1, 'one request');
      assert.equal(complaints.length, 1, 'said once');
      assert.match(String(complaints[0][0]), /Holdfast.*trapped/);
      assert.ok(complaints[0][1] instanceof WebAssembly.RuntimeError);

      const next = server.on(`${path}-next.mp4`, answer(503, ''), ok(MEDIA));
      assert.deepEqual(await read(engine, next), MEDIA);
      assert.ok(engine.log().length > 0, 'a fresh instance took the next request');
      assert.equal(engine.state.mode, 'engine');
      assert.equal(complaints.length, 1);
      assert.deepEqual(uncaught, []);
    });
  }
}

test('after a trap the fresh instance has the options of the engine', async (t) => {
  hush(t, 'error');
  const engine = await engineFor(t, { attempts: 2 });
  engine.declareAlternatives('segment', 1);
  trapIn(t, 'reading');
  await engine.load({ url: server.on('/options.mp4', ok(MEDIA)) });
  const error = await failureOf(engine.load({ url: server.on('/busy.mp4', answer(503, '')) }));
  assert.equal(error.attempts, 2);
  assert.ok(error.elapsed < 1000);
  const hung = server.on('/hung.mp4', hang());
  const aborted = failureOf(engine.load({ url: hung, signal: AbortSignal.timeout(300) }));
  assert.equal((await aborted).name, 'TimeoutError', 'a bound of 5 s is not over after 300 ms');
  for (let i = 0; i < 50; i += 1) {
    await engine.load({ url: server.on('/many.mp4', ok(MEDIA)) });
  }
  assert.equal(server.seen('/many.mp4').length, 50);
});

test('requests that wait for headers, or between attempts, go on after a trap', async (t) => {
  const complaints = hush(t, 'error');
  const uncaught = catchUncaught(t);
  const engine = await engineFor(t);
  const slow = engine.load({ url: server.on('/slow.mp4', later(300, ok(MEDIA))) });
  const retry = { 'retry-after': '1' };
  const waiting = engine.load({ url: server.on('/wait.mp4', answer(503, '', retry), ok(MEDIA)) });
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = failureOf(engine.load({ url: server.on('/abort.mp4', hang()), signal }));
  await eventually(() => Object.keys(engine.state.retryState).length === 1);
  trapIn(t, 'reading');
  await engine.load({ url: server.on('/trap.mp4', ok(MEDIA)) });
  assert.equal(complaints.length, 1);
  const reason = new Error('no longer');
  controller.abort(reason);
  assert.equal(await aborted, reason);
  assert.equal((await slow).bytes, MEDIA.byteLength);
  assert.equal((await waiting).bytes, MEDIA.byteLength);
  // The timer and the promises of the instance that is gone must not come back as errors.
  await sleep(1500);
  assert.deepEqual(uncaught, []);
  assert.deepEqual(engine.state.retryState, {});
});

test('R77: what is not safe to send twice is not sent again after a trap', async (t) => {
  hush(t, 'error');
  catchUncaught(t);
  const engine = await engineFor(t);
  const url = server.on('/post', later(300, ok('done')));
  const post = engine.fetch(url, { method: 'POST', body: 'once' }).catch(() => {});
  await eventually(() => server.seen('/post').length === 1);
  trapIn(t, 'reading');
  await engine.load({ url: server.on('/trap-post.mp4', ok(MEDIA)) });
  await post;
  assert.equal(server.seen('/post').length, 1);
});

test('bytes that were released are not delivered again after a trap', async (t) => {
  hush(t, 'error');
  catchUncaught(t);
  const engine = await engineFor(t);
  const url = server.on('/released.mp4', breakOff(MEDIA, 100_000), ok(MEDIA));
  trapIn(t, 'bodyLost');
  const { body } = await engine.fetch(url);
  let released = 0;
  const reading = (async () => {
    for await (const chunk of /** @type {any} */ (body)) released += chunk.byteLength;
  })();
  const error = await failureOf(reading);
  assert.equal(error.code, 'TRAPPED');
  assert.equal(released, 100_000);
});

test('other engines of the page go on after a trap', async (t) => {
  const complaints = hush(t, 'error');
  const uncaught = catchUncaught(t);
  const [trapped, other] = [await engineFor(t), await engineFor(t)];
  const busy = server.on('/other.mp4', answer(503, '', { 'retry-after': '1' }), ok(MEDIA));
  const waiting = other.load({ url: busy });
  waiting.catch(() => {});
  const slow = other.load({ url: server.on('/other-slow.mp4', later(300, ok(MEDIA))) });
  slow.catch(() => {});
  await eventually(() => Object.keys(other.state.retryState).length === 1);
  trapIn(t, 'reading');
  await trapped.load({ url: server.on('/trap-other.mp4', ok(MEDIA)) });
  // Nobody calls the other engine now: its own timer has to wake it.
  const both = Promise.all([slow, waiting]);
  for (const { bytes } of await within(both, 4000, 'both')) assert.equal(bytes, MEDIA.byteLength);
  assert.deepEqual(uncaught, []);
  assert.ok(complaints.length <= 2, 'once for each engine');
});

/**
 * Breaks what the driver of the next request has in the memory of the module, so that whatever
 * touches it traps: its cells say that they are lent out.
 *
 * @param {{ after(fn: () => void): void }} test
 */
async function breakable(test) {
  const { memory } = await load({ module_or_path: new Uint8Array() });
  const usual = Driver.prototype.start;
  /** @type {any} */
  let driver;
  Driver.prototype.start = function (...args) {
    driver = this;
    return usual.apply(this, args);
  };
  test.after(() => void (Driver.prototype.start = usual));
  return () => {
    const words = new Uint32Array(memory.buffer);
    const own = [...words.subarray(driver.__wbg_ptr / 4 - 2, driver.__wbg_ptr / 4 + 3)];
    const inner = own.find(
      (word) => word > 0x10000 && word % 4 === 0 && word < memory.buffer.byteLength,
    );
    assert.ok(inner, 'where the driver is');
    // Behind the counts of those who hold it.
    words.fill(0xffffffff, inner / 4 + 2, inner / 4 + 300);
  };
}

test('a real trap in a call is survived', async (t) => {
  const complaints = hush(t, 'error');
  const uncaught = catchUncaught(t);
  const engine = await engineFor(t);
  const url = server.on('/real.mp4', drip(MEDIA, 6, 40), ok(MEDIA));
  const breakIt = await breakable(t);
  const body = engine.load({ url });
  await eventually(() => server.seen('/real.mp4').length === 1);
  await sleep(60);
  breakIt();
  assert.equal((await body).bytes, MEDIA.byteLength);
  assert.equal((await engine.load({ url })).bytes, MEDIA.byteLength);
  assert.equal(complaints.length, 1);
  assert.ok(complaints[0][1] instanceof WebAssembly.RuntimeError);
  await sleep(50);
  assert.deepEqual(uncaught, []);
});

test('a trap while nobody calls, in a timer or an answer, is survived', async (t) => {
  const complaints = hush(t, 'error');
  const uncaught = catchUncaught(t);
  const retry = { 'retry-after': '1' };
  for (const [method, path, ...answers] of /** @type {const} */ ([
    ['wake', '/timer.mp4', answer(503, '', retry), ok(MEDIA)],
    ['settled', '/answer.mp4', later(300, ok(MEDIA)), ok(MEDIA)],
  ])) {
    const engine = await engineFor(t);
    const body = engine.load({ url: server.on(path, ...answers) });
    await eventually(() => server.seen(path).length === 1);
    await sleep(100);
    trapIn(t, method);
    const { bytes } = await within(body, 3000, path);
    assert.equal(bytes, MEDIA.byteLength);
  }
  assert.equal(complaints.length, 2);
  assert.deepEqual(uncaught, []);
});

test('a trap while the state is read, or the log, costs that reading alone', async (t) => {
  const complaints = hush(t, 'error');
  const uncaught = catchUncaught(t);
  const engine = await engineFor(t);
  await sleep(0);
  trapIn(t, 'view');
  const url = server.on('/view.mp4', answer(503, ''), ok(MEDIA));
  assert.equal((await engine.load({ url })).bytes, MEDIA.byteLength);
  await eventually(() => engine.state.mode === 'engine');
  assert.equal(complaints.length, 1);
  trapIn(t, 'view');
  assert.deepEqual(engine.log(), []);
  await sleep(0);
  assert.equal(complaints.length, 2);
  assert.equal((await engine.load({ url })).bytes, MEDIA.byteLength);
  assert.ok(engine.log().length > 0);
  assert.deepEqual(uncaught, []);
});

test('R10: a trap in an abort still ends the request with the reason', async (t) => {
  const complaints = hush(t, 'error');
  const uncaught = catchUncaught(t);
  const engine = await engineFor(t);
  const controller = new AbortController();
  const { signal } = controller;
  const failure = failureOf(engine.load({ url: server.on('/end.mp4', hang()), signal }));
  await eventually(() => server.seen('/end.mp4').length === 1);
  trapIn(t, 'abort');
  const reason = new Error('enough');
  controller.abort(reason);
  assert.equal(await failure, reason);
  await eventually(() => server.seen('/end.mp4')[0].closedAt, 'the server sees it');
  await sleep(50);
  assert.equal(server.seen('/end.mp4').length, 1, 'it is not carried on');
  assert.equal(complaints.length, 1);
  assert.deepEqual(uncaught, []);
});

test('a module that cannot be started again leaves requests to plain fetch', async (t) => {
  const complaints = hush(t, 'error');
  const warnings = hush(t, 'warn');
  catchUncaught(t);
  const engine = await engineFor(t);
  const url = server.on('/no-restart.mp4', drip(MEDIA, 6, 20), answer(503, ''), ok(MEDIA));
  const { Instance } = WebAssembly;
  t.after(() => void (WebAssembly.Instance = Instance));
  WebAssembly.Instance = /** @type {any} */ (
    class {
      constructor() {
        throw new RangeError('no memory');
      }
    }
  );
  trapIn(t, 'chunk', 2);
  assert.equal((await engine.load({ url })).bytes, MEDIA.byteLength);
  assert.equal(engine.state.mode, 'plain');
  assert.equal(complaints.length, 1);
  assert.equal(warnings.length, 1);
  assert.equal((await engine.load({ url })).attempts, 2);
});
