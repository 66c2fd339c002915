// @ts-check
// The entries: none does anything at import, and each finds the module in its own way.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { failureOf, freshPackage, quick, sleep, within } from './fixture.mjs';
import { answer, content, ok, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {Buffer} */
let wasm;
before(async () => {
  server = await serve();
  wasm = await readFile(new URL('../../js/pkg/core_bg.wasm', import.meta.url));
});
after(() => server.close());

const MEDIA = content(10_000);
const ENTRIES = ['index.js', 'node.js', 'slim.js', 'inline.js'];

/** Says what an import does, in a process of its own. */
const WATCHER = `
  const done = [];
  const watch = (owner, name, label) => {
    const usual = owner[name];
    owner[name] = (...args) => (done.push(label), usual.apply(owner, args));
  };
  watch(globalThis, 'fetch', 'fetch');
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'atob']) watch(globalThis, name, name);
  for (const name of ['compile', 'instantiate', 'compileStreaming', 'instantiateStreaming', 'Module', 'Instance']) {
    watch(WebAssembly, name, 'WebAssembly.' + name);
  }
  globalThis.addEventListener = (type) => done.push('addEventListener ' + type);
  const before = Object.keys(globalThis).length;
  await import(process.argv[1]);
  if (Object.keys(globalThis).length !== before) done.push('a new global');
  process.once('beforeExit', () => console.log(JSON.stringify({ done, active: process.getActiveResourcesInfo() })));
`;

for (const entry of ENTRIES) {
  test(`importing ${entry} does nothing`, () => {
    const url = new URL(`../../js/${entry}`, import.meta.url).href;
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', WATCHER, url],
      { encoding: 'utf8' },
    );
    assert.equal(status, 0, stderr);
    assert.equal(stderr, '');
    const { done, active } = JSON.parse(stdout);
    assert.deepEqual(done, []);
    assert.deepEqual(
      active.filter((/** @type {string} */ name) => name !== 'PipeWrap'),
      [],
    );
  });
}

test('all entries export the same, and slim the way to load', async (t) => {
  const fresh = await freshPackage(t);
  const [node, slim, inline] = [await fresh.node(), await fresh.slim(), await fresh.inline()];
  const names = Object.keys(node).sort();
  assert.deepEqual(names, [
    ...['DEFAULT_BREAKER', 'DEFAULT_BUDGET', 'DEFAULT_SITES'],
    ...['HoldfastError', 'OptionsError', 'RequestError', 'createEngine'],
    ...['createTrackedFetch', 'isHoldfastError', 'isReady', 'withRetry'],
  ]);
  assert.deepEqual(Object.keys(inline).sort(), names);
  assert.deepEqual(Object.keys(slim).sort(), [...names, 'init', 'initSync'].sort());
});

test('inline needs nothing beside it', async (t) => {
  const { createEngine, isReady } = await (await freshPackage(t)).inline();
  const engine = createEngine(quick());
  t.after(() => engine.destroy());
  assert.equal(await engine.ready, true);
  assert.equal(isReady(), true);
  const { attempts } = await engine.load({
    url: server.on('/inline.mp4', answer(503, ''), ok(MEDIA)),
  });
  assert.equal(attempts, 2);
});

test('slim: init with bytes puts engines in charge that were made before it', async (t) => {
  const { createEngine, init, isReady } = await (await freshPackage(t)).slim();
  const engine = createEngine(quick());
  t.after(() => engine.destroy());
  const early = await engine.load({ url: server.on('/early.mp4', ok(MEDIA)) });
  assert.equal(early.attempts, 1);
  await sleep(20);
  assert.equal(engine.state.mode, 'starting');
  assert.equal(isReady(), false);
  await Promise.all([init(wasm), init(wasm)]);
  assert.equal(await engine.ready, true);
  assert.equal(engine.state.mode, 'engine');
  assert.equal(isReady(), true);
  await engine.load({ url: server.on('/late.mp4', ok(MEDIA)) });
  assert.equal(engine.log().at(-1)?.event, 'succeeded');
});

test('slim: initSync does the same at once', async (t) => {
  const { createEngine, initSync, isReady } = await (await freshPackage(t)).slim();
  const engine = createEngine(quick());
  t.after(() => engine.destroy());
  initSync(new WebAssembly.Module(new Uint8Array(wasm)));
  initSync(wasm);
  assert.equal(isReady(), true);
  assert.equal(await engine.ready, true);
  const second = createEngine(quick());
  t.after(() => second.destroy());
  assert.equal(second.state.mode, 'engine', 'from its first moment');
});

test('slim: init that fails can be repeated', async (t) => {
  const { createEngine, init, initSync, isReady } = await (await freshPackage(t)).slim();
  const engine = createEngine(quick());
  t.after(() => engine.destroy());
  await assert.rejects(init(new Uint8Array([1, 2, 3])), WebAssembly.CompileError);
  assert.throws(() => initSync(new Uint8Array([1, 2, 3])), WebAssembly.CompileError);
  assert.equal(isReady(), false);
  assert.equal(engine.state.mode, 'starting', 'it still waits');
  await init(wasm);
  assert.equal(await engine.ready, true);
});

test('slim: until init, a final answer is delivered', async (t) => {
  const { createEngine } = await (await freshPackage(t)).slim();
  const engine = createEngine(quick());
  t.after(() => engine.destroy());
  const url = server.on('/refused.mp4', answer(403, 'no'));
  const error = await failureOf(within(engine.load({ url }), 2500, 'the verdict'));
  assert.equal(error.code, 'DENIED');
});

test('slim: the wasm option loads the module too', async (t) => {
  const { createEngine } = await (await freshPackage(t)).slim();
  const engine = createEngine(quick({}, { wasm: new Uint8Array(wasm) }));
  t.after(() => engine.destroy());
  assert.equal(await engine.ready, true);
});

test('the module is loaded once for all engines', async (t) => {
  const { createEngine } = await (await freshPackage(t)).node();
  const { instantiate } = WebAssembly;
  let count = 0;
  t.after(() => void (WebAssembly.instantiate = instantiate));
  WebAssembly.instantiate = /** @type {any} */ (
    (/** @type {[any, any]} */ ...args) => {
      count += 1;
      return instantiate.apply(WebAssembly, args);
    }
  );
  const engines = Array.from({ length: 5 }, () => createEngine(quick()));
  t.after(() => engines.forEach((engine) => engine.destroy()));
  assert.deepEqual(await Promise.all(engines.map(({ ready }) => ready)), Array(5).fill(true));
  createEngine(quick()).destroy();
  assert.equal(count, 1);
});

test('createTrackedFetch and withRetry without an engine share one', async (t) => {
  const { createTrackedFetch, withRetry } = await (await freshPackage(t)).node();
  const url = server.on('/shared.mp4', ok(MEDIA));
  const zero = { fastEstimate: 0, fastTotalWeight: 0, slowEstimate: 0, slowTotalWeight: 0 };
  const tracked = createTrackedFetch({ ...zero, bytesSampled: 0 }, () => {});
  for await (const chunk of await tracked({ url })) assert.equal(chunk.byteLength, 10_000);
  const response = await withRetry(fetch)(url);
  assert.equal((await response.arrayBuffer()).byteLength, 10_000);
  assert.equal(server.seen('/shared.mp4').length, 2);
});
