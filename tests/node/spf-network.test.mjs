// @ts-check
// What takes the place of SPF's network module, against that module.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createEngine } from 'holdfast';
import * as ours from '../../js/adapters/spf-network.js';
import { useEngine } from '../../js/adapters/spf.js';
import { bytesOf, engineFor, failureOf } from './fixture.mjs';
import { random } from './random.mjs';
import { answer, breakOff, content, ok, serve } from './server.mjs';
import { network as theirs } from './spf.mjs';

/** @typedef {import('holdfast').BandwidthState} State */
/** @typedef {import('node:test').TestContext} TestContext */

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

// Not to begin like a box that is cut.
const MEDIA = content(400_001).subarray(1);
const ZERO = {
  fastEstimate: 0,
  fastTotalWeight: 0,
  slowEstimate: 0,
  slowTotalWeight: 0,
  bytesSampled: 0,
};

/** An engine that SPF's requests go through. @param {TestContext} t @param {import('holdfast').SiteOptions} [policy] */
async function inUse(t, policy) {
  const engine = await engineFor(t, policy);
  t.after(useEngine(engine));
  return engine;
}

/** Console warnings, which are kept from the console. @param {TestContext} t */
function warningsOf(t) {
  const { mock } = t.mock.method(console, 'warn', () => {});
  return () => mock.calls.map(({ arguments: [text] }) => String(text));
}

// First of all tests: it is said once.
test('without an engine it does as SPF does, and says so once', async (t) => {
  const warnings = warningsOf(t);
  const url = server.on('/none.mp4', ok(MEDIA));
  const text = server.on('/none.m3u8', ok('#EXTM3U'));
  const refused = server.on('/none-403', answer(403, '<Error/>'));
  const byteRange = { start: 10, end: 19 };

  for (const least of [undefined, 0, 1, 100_000, Infinity]) {
    const options = least === undefined ? {} : { minChunkSize: least };
    const chunks = await ours.fetchStream({ url }, options);
    assert.deepEqual(await bytesOf(chunks), MEDIA);
  }
  assert.equal(await ours.fetchResolvableText({ url: text }), '#EXTM3U');
  await assert.rejects(ours.fetchResolvableText({ url: refused }), /403/);
  await assert.rejects(theirs.fetchResolvableText({ url: refused }), /403/);
  for (const network of [ours, theirs]) {
    assert.equal((await bytesOf(await network.fetchStream({ url: refused }))).length, 8);
    assert.equal((await network.fetchResolvable({ url: refused })).status, 403);
    await network.fetchResolvable({ url, byteRange });
  }
  const ranges = server.seen('/none.mp4').map(({ headers }) => headers.range);
  assert.deepEqual(ranges.slice(-2), ['bytes=10-19', 'bytes=10-19']);
  assert.equal(warnings().length, 1);
  assert.match(warnings()[0], /^\[holdfast\].*useEngine/);
});

// Before the module is there for good.
test('an engine that has failed open is passed by', async (t) => {
  warningsOf(t);
  const engine = createEngine({ wasm: new Uint8Array(3) });
  t.after(() => engine.destroy());
  t.after(useEngine(engine));
  assert.equal(await engine.ready, false);
  const url = server.on('/open.mp4', answer(403, '<Error/>'));
  assert.equal((await bytesOf(await ours.fetchStream({ url }))).length, 8);
});

test("it has SPF's names, and no other", () => {
  assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort());
});

test('the site of a request is told by the call, and by what SPF knows already', async (t) => {
  const engine = await inUse(t);
  const url = server.on('/sites', ok('#EXTM3U'));
  await ours.fetchResolvable({ url });
  await ours.fetchResolvableText({ url });
  await ours.fetchResolvableText(/** @type {any} */ ({ url, segments: [] }));
  const tracked = ours.createTrackedFetch(ZERO, () => {});
  for (const fetchBytes of [ours.fetchStream, tracked]) {
    await bytesOf(await fetchBytes({ url }, { minChunkSize: Infinity }));
    await bytesOf(await fetchBytes({ url }));
  }
  const started = engine.log().filter(({ event }) => event === 'started');
  assert.deepEqual(
    started.map(({ detail }) => detail),
    ['manifest', 'playlist', 'playlist-reload', 'init', 'segment', 'init', 'segment'],
  );
});

test('the multivariant playlist comes as a response, and one that breaks is fetched again', async (t) => {
  await inUse(t);
  const text = '#EXTM3U\n#ü\n'.repeat(1000);
  const url = server.on('/main.m3u8', breakOff(Buffer.from(text), 500), ok(text, { 'x-a': 'b' }));
  const response = await ours.fetchResolvable({ url });
  assert.equal(response.headers.get('x-a'), 'b');
  assert.equal(await ours.getResponseText(response), text);
});

test('refusals reject, whatever was asked for', async (t) => {
  await inUse(t);
  const url = server.on('/gone', answer(410, 'a page'));
  const calls = [
    ours.fetchResolvable({ url }),
    ours.fetchResolvableText({ url }),
    ours.fetchStream({ url }),
    ours.createTrackedFetch(ZERO, () => {})({ url }),
  ];
  for (const call of calls) assert.equal((await failureOf(call)).code, 'GONE');
});

test('only what the caller aborts is an AbortError', async (t) => {
  await inUse(t, { attempts: 1 });
  const url = server.on('/abort.mp4', (_, response) => void response.writeHead(200).write('a'));
  for (const call of [ours.fetchResolvable, ours.fetchResolvableText]) {
    const controller = new AbortController();
    const failure = failureOf(call({ url }, { signal: controller.signal }));
    controller.abort();
    assert.equal((await failure).name, 'AbortError');
  }
  const controller = new AbortController();
  const chunks = await ours.fetchStream({ url }, { signal: controller.signal });
  const failure = failureOf(bytesOf(chunks));
  controller.abort();
  assert.equal((await failure).name, 'AbortError');

  const reset = server.on('/reset.mp4', (request) => void request.socket.resetAndDestroy());
  assert.notEqual((await failureOf(ours.fetchStream({ url: reset }))).name, 'AbortError');
});

test('a range is asked for as SPF asks for it, and stays beside headers of the caller', async (t) => {
  await inUse(t);
  const url = server.on('/range.mp4', (request, response) => {
    const bytes = MEDIA.subarray(0, 10);
    response.writeHead(206, { 'content-range': `bytes 0-9/${MEDIA.length}` }).end(bytes);
  });
  const byteRange = { start: 0, end: 9 };
  const headers = { 'x-a': 'b' };
  await theirs.fetchResolvable({ url, byteRange });
  await ours.fetchResolvable({ url, byteRange }, { headers });
  assert.equal((await bytesOf(await ours.fetchStream({ url, byteRange }, { headers }))).length, 10);
  const seen = server.seen('/range.mp4').map(({ headers }) => [headers.range, headers['x-a']]);
  assert.deepEqual(seen, [
    ['bytes=0-9', undefined],
    ['bytes=0-9', 'b'],
    ['bytes=0-9', 'b'],
  ]);
});

test('the engine that was named last is used, and taken back', async (t) => {
  const [one, other] = [await engineFor(t), await engineFor(t)];
  const url = server.on('/which', ok('#EXTM3U'));
  const asked = () => [one, other].map((engine) => engine.log().length > 0);
  const takeBack = [useEngine(one), useEngine(other)];
  await ours.fetchResolvableText({ url });
  assert.deepEqual(asked(), [false, true]);
  takeBack[1]();
  await ours.fetchResolvableText({ url });
  assert.deepEqual(asked(), [true, true]);
  takeBack[0]();
  takeBack[0]();
});

// The estimator: SPF's own functions, bodies in random pieces, and a clock that only they move.

/**
 * Bodies of the same random pieces at the same random times, as often as asked for.
 *
 * @param {() => number} dice
 */
function randomBodies(dice) {
  const count = 1 + Math.floor(dice() * 30);
  const pieces = Array.from({ length: count }, (_, i) => ({
    // The engine looks at the first 16 bytes of a body before it lets go of any.
    size: (i ? 1 : 16) + Math.floor(10 ** (dice() * 5.5)),
    ms: dice() < 0.2 ? 0 : 10 ** (dice() * 4 - 1),
  }));
  return (/** @type {{ now: number }} */ clock) => {
    const rest = [...pieces];
    return new Response(
      new ReadableStream(
        {
          pull(controller) {
            const piece = rest.shift();
            if (!piece) return controller.close();
            clock.now += piece.ms;
            controller.enqueue(new Uint8Array(piece.size));
          },
        },
        { highWaterMark: 0 },
      ),
    );
  };
}

/**
 * All states that a tracked fetch reports for these bodies.
 *
 * @param {TestContext} t
 * @param {typeof ours.createTrackedFetch} create
 * @param {Array<ReturnType<typeof randomBodies>>} bodies
 * @param {number[]} least
 */
async function statesOf(t, create, bodies, least) {
  const clock = { now: 1_000_000 };
  const { mock: now } = t.mock.method(performance, 'now', () => clock.now);
  const { mock: fetch } = t.mock.method(globalThis, 'fetch', async () =>
    /** @type {any} */ (bodies.shift())(clock),
  );
  try {
    /** @type {State[]} */
    const states = [];
    const tracked = create(ZERO, (next) => void states.push(next));
    for (const minChunkSize of least) {
      const chunks = await tracked({ url: `${server.origin}/random` }, { minChunkSize });
      // A consumer that takes its time is no slow network.
      for await (const _ of chunks) clock.now += 1000;
    }
    return states;
  } finally {
    now.restore();
    fetch.restore();
  }
}

for (const way of ['an engine', 'no engine']) {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    test(`R65: random bodies over ${way} give SPF's estimates bit by bit (seed ${seed})`, async (t) => {
      const dice = random(seed);
      const bodies = Array.from({ length: 25 }, () => randomBodies(dice));
      const least = bodies.map(
        () => [131_072, 131_072, 1, 50_000, Infinity][Math.floor(dice() * 5)],
      );
      if (way === 'an engine') await inUse(t);
      else warningsOf(t);
      const spf = await statesOf(t, theirs.createTrackedFetch, [...bodies], least);
      const mine = await statesOf(t, ours.createTrackedFetch, [...bodies], least);
      assert.ok(spf.length >= bodies.length);
      assert.ok(/** @type {State} */ (spf.at(-1)).fastEstimate > 0);
      assert.deepEqual(mine, spf);
    });
  }
}
