// @ts-check
// What is known of the path, and what follows: what is held, what is cut, and what goes on.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { OptionsError } from 'holdfast';
import { engineFor as usual, eventually, failureOf, freshPackage, quick } from './fixture.mjs';
import { content, file, ok, serve } from './server.mjs';

/** @typedef {import('holdfast').Engine} Engine */

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const SIZE = 300_000;
const MEDIA = content(SIZE);
const TAG = { etag: '"one"' };
const CUT = 100_000;

/**
 * One that holds nothing for so long that a test would never end.
 *
 * @param {import('node:test').TestContext} t
 * @param {import('holdfast').SiteOptions} [policy]
 * @param {import('holdfast').EngineOptions} [options]
 */
const engineFor = (t, policy, options) => usual(t, policy, { holdLimit: 10_000, ...options });

let paths = 0;
/** @param {...import('./server.mjs').Answer} answers */
function put(...answers) {
  const path = `/${(paths += 1)}.mp4`;
  const url = server.on(path, ...answers);
  const seen = () => server.seen(path);
  return { url, seen, ranges: () => seen().map(({ headers }) => headers.range) };
}

/** A body that stops in the middle, and stays open. @returns {import('./server.mjs').Answer} */
const slow = () => file(MEDIA, TAG, { at: CUT, when: new Promise(() => {}) });

/** @param {Engine} engine */
const waits = (engine) => Object.values(engine.state.retryState).map((it) => it.waitReason);
/** @param {Engine} engine @param {string} reason */
const waitsFor = (engine, reason) =>
  eventually(() => waits(engine).join() === reason, `it waits: ${reason}`);

/** @param {Engine} engine @param {string} url */
async function ahead(engine, url) {
  const { data } = await engine.load({ url, purpose: 'ahead' });
  return Buffer.from(data);
}

test('R86: the path is shown, frozen, and replaced with each change', async (t) => {
  const engine = await engineFor(t);
  const before = engine.state.path;
  assert.deepEqual(before, {
    class: 'unmetered',
    generation: 0,
    allowed: 'all',
    maxInFlight: 128,
    rangeWindow: undefined,
    abrCapHint: undefined,
    maxBufferAheadHint: undefined,
  });
  assert.ok(Object.isFrozen(before) && Object.isFrozen(engine.state));
  let told = 0;
  engine.subscribe(() => (told += 1));
  engine.reportPath({ cost: 'metered' });
  await eventually(() => engine.state.path !== before);
  assert.deepEqual(engine.state.path, {
    class: 'metered',
    generation: 1,
    allowed: 'needed',
    maxInFlight: 128,
    rangeWindow: undefined,
    abrCapHint: undefined,
    maxBufferAheadHint: 30_000,
  });
  assert.ok(told > 0);
  assert.equal(before?.class, 'unmetered');
});

for (const [
  sample,
  kind,
  allowed,
  maxInFlight,
] of /** @type {Array<[any, string, string, number]>} */ ([
  [{}, 'unmetered', 'all', 128],
  [{ cost: 'unmetered', interface: 'cellular' }, 'unmetered', 'all', 128],
  [{ interface: 'cellular' }, 'metered', 'needed', 128],
  [{ cost: 'constrained' }, 'constrained', 'needed', 128],
  [{ reachability: 'none', cost: 'metered' }, 'offline', 'nothing', 0],
  [{ reachability: 'reachable', interface: 'wifi' }, 'unmetered', 'all', 128],
  [{ power: 'low-power' }, 'unmetered', 'needed', 1],
  [{ power: 'battery' }, 'unmetered', 'all', 128],
  [{ thermal: 'serious' }, 'unmetered', 'needed', 1],
  [{ thermal: 'critical' }, 'unmetered', 'nothing', 0],
  [{ execution: { deadline: 30_000 } }, 'unmetered', 'needed', 128],
  [{ execution: { deadline: 300_000 } }, 'unmetered', 'all', 128],
  [{ execution: 'background' }, 'unmetered', 'all', 128],
])) {
  test(`R83, R86: ${JSON.stringify(sample)} is ${kind}, and allows ${allowed}`, async (t) => {
    const engine = await engineFor(t);
    engine.reportPath({ thermal: 'fair' });
    const before = engine.state.path;
    engine.reportPath(sample);
    await eventually(() => engine.state.path !== before);
    const { path } = engine.state;
    assert.deepEqual([path?.class, path?.allowed, path?.maxInFlight], [kind, allowed, maxInFlight]);
  });
}

test('R83: a bad sample is refused by the name of its field, and changes nothing', async (t) => {
  const engine = await engineFor(t);
  engine.reportPath({ cost: 'metered' });
  await eventually(() => engine.state.path?.class === 'metered');
  for (const [sample, field] of /** @type {Array<[any, string]>} */ ([
    [{ cost: 'cheap' }, 'path.cost'],
    [{ reachability: true }, 'path.reachability'],
    [{ interface: 'ethernet' }, 'path.interface'],
    [{ power: 1 }, 'path.power'],
    [{ thermal: 'hot' }, 'path.thermal'],
    [{ execution: 'frozen' }, 'path.execution'],
    [{ execution: { deadline: -1 } }, 'path.execution'],
    [{ execution: { deadline: NaN } }, 'path.execution'],
    [null, 'path'],
    ['metered', 'path'],
  ])) {
    const report = () => engine.reportPath(sample);
    assert.throws(report, (error) => {
      assert.ok(error instanceof OptionsError);
      assert.equal(error.field, field);
      assert.equal(error.code, 'INVALID_OPTION');
      assert.ok(error.message.includes(field));
      return true;
    });
  }
  assert.equal(engine.state.path?.class, 'metered');
});

test('R86: a purpose that does not exist is refused', async (t) => {
  const engine = await engineFor(t);
  const purpose = /** @type {any} */ ('prefetch');
  for (const asking of [
    engine.fetch(put(ok(MEDIA)).url, { purpose }),
    engine.load({ url: '', purpose }),
  ]) {
    assert.equal((await failureOf(asking)).field, 'purpose');
  }
});

test('R86: where data costs, what is fetched ahead is held, and consent lets it go', async (t) => {
  const engine = await engineFor(t);
  engine.reportPath({ cost: 'metered' });
  const held = put(ok(MEDIA));
  const loading = ahead(engine, held.url);
  await waitsFor(engine, 'held');
  const [state] = Object.values(engine.state.retryState);
  assert.deepEqual([state.site, state.attempt, state.exhausted], ['segment', 0, false]);
  // What is needed goes.
  await engine.load({ url: put(ok(MEDIA)).url });
  await engine.load({ url: put(ok(MEDIA)).url, purpose: 'needed' });
  assert.equal(held.seen().length, 0);
  engine.setUserConsent(true);
  assert.ok(MEDIA.equals(await loading));
  assert.equal(held.seen().length, 1);
  // And is taken back.
  engine.setUserConsent(false);
  const again = put(ok(MEDIA));
  const second = ahead(engine, again.url);
  await waitsFor(engine, 'held');
  engine.reportPath({ cost: 'unmetered' });
  assert.ok(MEDIA.equals(await second));
});

test('R86: in each way that a request is made', async (t) => {
  const engine = await engineFor(t);
  engine.reportPath({ cost: 'metered' });
  const one = put(ok(MEDIA));
  const two = put(ok(MEDIA));
  const both = Promise.all([
    engine.fetch(one.url, { purpose: 'ahead' }).then((response) => response.arrayBuffer()),
    engine.load({ url: '', request: new Request(two.url), purpose: 'ahead' }),
  ]);
  await waitsFor(engine, 'held,held');
  assert.equal(one.seen().length + two.seen().length, 0);
  engine.setUserConsent(true);
  await both;
});

test('R10: what is held can be aborted', async (t) => {
  const engine = await engineFor(t);
  engine.reportPath({ cost: 'metered' });
  const controller = new AbortController();
  const { url, seen } = put(ok(MEDIA));
  const loading = failureOf(engine.load({ url, purpose: 'ahead', signal: controller.signal }));
  await waitsFor(engine, 'held');
  const reason = new Error('no more');
  controller.abort(reason);
  assert.equal(await loading, reason);
  await waitsFor(engine, '');
  engine.setUserConsent(true);
  await engine.load({ url: put(ok(MEDIA)).url });
  assert.equal(seen().length, 0);
});

test('R86: consent lifts no lack of a path, nor heat', async (t) => {
  const engine = await engineFor(t);
  engine.setUserConsent(true);
  for (const [sample, reason] of /** @type {const} */ ([
    [{ reachability: 'none' }, 'offline'],
    [{ thermal: 'critical' }, 'held'],
  ])) {
    engine.reportPath(sample);
    const { url, seen } = put(ok(MEDIA));
    const playlist = server.on(`/${(paths += 1)}.m3u8`, ok('#EXTM3U\n'));
    const both = Promise.all([engine.load({ url }), engine.fetchText({ url: playlist })]);
    await waitsFor(engine, `${reason},${reason}`);
    assert.equal(seen().length, 0);
    engine.reportPath({ reachability: 'reachable' });
    await both;
    assert.equal(seen().length, 1);
  }
});

test('R87: a body that nobody waits for is cut, and goes on from there when it may', async (t) => {
  const engine = await engineFor(t);
  const { url, seen, ranges } = put(slow(), file(MEDIA, TAG));
  /** @type {number[]} */
  const loadeds = [];
  const loading = engine.load({
    url,
    purpose: 'ahead',
    onProgress: ({ loaded }) => void loadeds.push(loaded),
  });
  await eventually(() => loadeds.at(-1) === CUT);
  engine.reportPath({ cost: 'metered' });
  await eventually(() => seen()[0].closedAt, 'the server sees it go');
  await waitsFor(engine, 'held');
  engine.setUserConsent(true);
  const { data } = await loading;
  assert.ok(MEDIA.equals(Buffer.from(data)));
  assert.deepEqual(ranges(), [undefined, `bytes=${CUT}-${SIZE - 1}`]);
  assert.deepEqual(
    loadeds,
    [...new Set(loadeds)].sort((a, b) => a - b),
  );
  assert.equal(engine.log().filter(({ event }) => event === 'failed').length, 0);
});

test('R87: without a path all is cut, and costs no attempt and nobody’s health', async (t) => {
  const engine = await engineFor(t, { attempts: 1 });
  const { url, seen, ranges } = put(slow(), slow(), file(MEDIA, TAG));
  const { body } = await engine.fetch(url);
  const chunks = [];
  let size = 0;
  let cuts = 0;
  for await (const chunk of /** @type {any} */ (body)) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size < CUT * (cuts + 1) || cuts === 2) continue;
    cuts += 1;
    engine.reportPath({ reachability: 'none' });
    await eventually(() => seen()[cuts - 1].closedAt, 'the server sees it go');
    await waitsFor(engine, 'offline');
    engine.reportPath({ reachability: 'reachable' });
  }
  assert.ok(MEDIA.equals(Buffer.concat(chunks)));
  assert.deepEqual(ranges(), [
    undefined,
    `bytes=${CUT}-${SIZE - 1}`,
    `bytes=${2 * CUT}-${SIZE - 1}`,
  ]);
  const { hostHealth, retryExhausted, path } = engine.state;
  assert.deepEqual(
    Object.values(hostHealth)
      .map(({ failures }) => failures)
      .filter(Boolean),
    [],
  );
  assert.equal(retryExhausted.length, 0);
  assert.equal(path?.class, 'unmetered');
});

test('R87: what is needed and cannot be gone on with is left to finish where data costs', async (t) => {
  const engine = await engineFor(t);
  /** @type {() => void} */
  let finish = () => {};
  const { url, seen } = put((_, response) => {
    response.writeHead(200, { 'content-length': SIZE }).write(MEDIA.subarray(0, CUT));
    finish = () => response.end(MEDIA.subarray(CUT));
  });
  const loading = engine.load({ url, onProgress: ({ loaded }) => loaded === CUT && finish() });
  await eventually(() => seen().length === 1);
  engine.reportPath({ cost: 'metered' });
  const { data } = await loading;
  assert.ok(MEDIA.equals(Buffer.from(data)));
  assert.equal(seen()[0].closedAt, undefined);
});

test('R86: low power and heat leave one request at a time, and the result is the same', async (t) => {
  const engine = await engineFor(t);
  engine.reportPath({ power: 'low-power' });
  let open = 0;
  let most = 0;
  const url = server.on('/one.mp4', (_, response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.end(MEDIA);
    }, 30);
  });
  const loads = [1, 2, 3, 4].map((i) => engine.load({ url: `${url}?${i}` }));
  for (const { data } of await Promise.all(loads)) assert.ok(MEDIA.equals(Buffer.from(data)));
  assert.equal(most, 1);
});

test('R85, R86: what is said before the module is there counts when it is', async (t) => {
  const { createEngine } = await (await freshPackage(t)).node();
  for (const [consent, allowed] of /** @type {const} */ ([
    [true, 'all'],
    [false, 'needed'],
  ])) {
    const engine = createEngine(quick());
    t.after(() => engine.destroy());
    engine.reportPath({ cost: 'constrained' });
    engine.setUserConsent(consent);
    if (consent) assert.equal(engine.state.mode, 'starting');
    assert.equal(await engine.ready, true);
    await eventually(() => engine.state.path?.class === 'constrained');
    assert.equal(engine.state.path?.allowed, allowed);
  }
});

test('R92: only what is fetched ahead is marked, and a priority of the caller stays', async (t) => {
  /** @type {Array<RequestInit['priority']>} */
  const priorities = [];
  /** @type {typeof fetch} */
  const spy = (input, init) => {
    priorities.push(init?.priority);
    return fetch(input, init);
  };
  const engine = await engineFor(t, {}, { fetch: spy });
  const url = () => put(ok(MEDIA)).url;
  await engine.load({ url: url() });
  await engine.load({ url: url(), purpose: 'needed' });
  await engine.fetchText({ url: server.on('/unmarked.m3u8', ok('#EXTM3U\n')) });
  await engine.fetchBytes({ url: url() });
  await engine.fetch(url());
  assert.deepEqual(priorities.splice(0), Array(5).fill(undefined));
  await engine.load({ url: url(), purpose: 'ahead' });
  await engine.fetch(url(), { purpose: 'ahead' });
  assert.deepEqual(priorities.splice(0), ['low', 'low']);
  await engine.fetch(url(), { purpose: 'ahead', priority: 'high' });
  await engine.fetch(url(), { priority: 'high' });
  await engine.load({ url: url(), init: { priority: 'auto' }, purpose: 'ahead' });
  assert.deepEqual(priorities, ['high', 'high', 'auto']);
});

test('R92: a caller’s init is not changed', async (t) => {
  const engine = await engineFor(t);
  const init = Object.freeze({
    purpose: /** @type {const} */ ('ahead'),
    headers: Object.freeze({}),
  });
  await (await engine.fetch(put(ok(MEDIA)).url, init)).arrayBuffer();
  assert.deepEqual(init, { purpose: 'ahead', headers: {} });
});
