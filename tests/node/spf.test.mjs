// @ts-check
// `createTrackedFetch` and `fetchBytes` against SPF's own functions.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTrackedFetch as ours } from 'holdfast';
import { bytesOf, engineFor, eventually, failureOf, sleep } from './fixture.mjs';
import { answer, breakOff, content, drip, ok, serve, stall } from './server.mjs';
import { createTrackedFetch as theirs, fetchResolvableText, fetchStream } from './spf.mjs';

/** @typedef {import('holdfast').BandwidthState} State */

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const ZERO = {
  fastEstimate: 0,
  fastTotalWeight: 0,
  slowEstimate: 0,
  slowTotalWeight: 0,
  bytesSampled: 0,
};
// Not to begin like a box that is cut.
const MEDIA = content(1_000_001).subarray(1);
const usualFetch = globalThis.fetch;

/** A response whose body comes in chunks of these sizes, and counts how often it is read. @param {number[]} sizes */
function fakeBody(sizes) {
  const counts = { reads: 0, cancelled: /** @type {unknown} */ (undefined) };
  let offset = 0;
  const rest = [...sizes];
  const stream = new ReadableStream(
    {
      pull(controller) {
        counts.reads += 1;
        const size = rest.shift();
        if (size === undefined) return controller.close();
        controller.enqueue(new Uint8Array(MEDIA.subarray(offset, (offset += size))));
      },
      cancel(reason) {
        counts.cancelled = reason ?? 'cancelled';
      },
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(stream), counts };
}

/** Puts a fetch in place of the global one. @param {import('node:test').TestContext} t @param {any} fake */
function replaceFetch(t, fake) {
  globalThis.fetch = fake;
  t.after(() => void (globalThis.fetch = usualFetch));
}

const SIZES = [
  [1],
  [131_072],
  [131_071, 1, 131_072],
  [131_071, 2],
  [200_000, 200_000, 1],
  [1000, 1000, 1000],
  Array.from({ length: 40 }, (_, i) => 5000 + i * 500),
];
const LEAST = [undefined, 0, 1, 1000, 131_072, 500_000, Infinity];

for (const minChunkSize of LEAST) {
  test(`R65: chunks of at least ${minChunkSize} bytes are cut where SPF cuts them`, async (t) => {
    const engine = await engineFor(t);
    for (const sizes of SIZES) {
      replaceFetch(t, async () => fakeBody(sizes).response);
      const options = minChunkSize === undefined ? {} : { minChunkSize };
      const resource = { url: `${server.origin}/fake.mp4` };
      /** @param {AsyncIterable<Uint8Array>} chunks */
      const cut = async (chunks) => {
        const all = [];
        for await (const chunk of chunks) all.push(Buffer.from(chunk));
        return all;
      };
      const tracked = ours(ZERO, () => {}, { engine });
      const spf = await cut(await theirs(ZERO, () => {})(resource, options));
      assert.deepEqual(await cut(await fetchStream(resource, options)), spf);
      assert.deepEqual(await cut(await engine.fetchBytes(resource, options)), spf);
      assert.deepEqual(await cut(await tracked(resource, options)), spf);
    }
  });
}

test('R3: nothing of the body is read before it is iterated', async (t) => {
  const engine = await engineFor(t);
  for (const way of /** @type {const} */ (['tracked', 'bytes', 'fetch'])) {
    const { response, counts } = fakeBody([1000, 1000]);
    replaceFetch(t, async () => response);
    const url = `${server.origin}/lazy.mp4`;
    const tracked = ours(ZERO, () => assert.fail('sampled'), { engine });
    const body = await {
      tracked: () => tracked({ url }),
      bytes: () => engine.fetchBytes({ url }),
      fetch: () => engine.fetch(url),
    }[way]();
    await sleep(30);
    assert.ok(body);
    assert.equal(counts.reads, 0, way);
  }
});

test('R3: a consumer that pauses holds the network back', async (t) => {
  const engine = await engineFor(t);
  const { response, counts } = fakeBody(Array.from({ length: 100 }, () => 1000));
  replaceFetch(t, async () => response);
  const chunks = await engine.fetchBytes({ url: `${server.origin}/a.mp4` }, { minChunkSize: 3000 });
  const iterator = chunks[Symbol.asyncIterator]();
  await iterator.next();
  await sleep(20);
  assert.equal(counts.reads, 3);
  await iterator.next();
  assert.equal(counts.reads, 6);
});

test('R3: the promise resolves at headers, long before the body is there', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/stages.mp4', drip(MEDIA, 10, 30));
  const before = performance.now();
  const chunks = await ours(ZERO, () => {}, { engine })({ url });
  assert.ok(performance.now() - before < 200);
  assert.deepEqual(await bytesOf(chunks), MEDIA);
  assert.ok(performance.now() - before >= 270);
});

test('R3: a body can be iterated once', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/once.mp4', ok(MEDIA));
  // One after the other: of a response that SPF keeps no hold of, Node lets the body go.
  for (const begin of [
    () => engine.fetchBytes({ url }),
    () => ours(ZERO, () => {}, { engine })({ url }),
    () => fetchStream({ url }),
  ]) {
    const chunks = await begin();
    assert.deepEqual(await bytesOf(chunks), MEDIA);
    assert.equal((await bytesOf(chunks)).byteLength, 0);
  }
  assert.equal(server.seen('/once.mp4').length, 3);
});

test('R3: leaving the iteration early lets the network go', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/early.mp4', stall(MEDIA, 500_000));
  for (const chunks of [
    await engine.fetchBytes({ url }),
    await ours(ZERO, () => {}, { engine })({ url }),
  ]) {
    for await (const chunk of chunks) {
      assert.ok(chunk.byteLength >= 131_072);
      break;
    }
  }
  await eventually(() => server.seen('/early.mp4').every(({ closedAt }) => closedAt));
  assert.equal(engine.log().filter(({ event }) => event === 'aborted').length, 2);
});

test('R3: an iterator that is returned before it began lets the network go', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/unbegun.mp4', stall(MEDIA, 500_000));
  for (const chunks of [
    await engine.fetchBytes({ url }),
    await ours(ZERO, () => {}, { engine })({ url }),
  ]) {
    await chunks[Symbol.asyncIterator]().return?.();
  }
  await eventually(() => server.seen('/unbegun.mp4').every(({ closedAt }) => closedAt));
});

test('R64, R65: each chunk of a first attempt is sampled, with the sums that SPF has', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/sampled.mp4', drip(MEDIA, 10, 20));
  /** @type {State[]} */
  const mine = [];
  /** @type {State[]} */
  const spf = [];
  const chunks = await bytesOf(await ours(ZERO, (state) => mine.push(state), { engine })({ url }));
  await bytesOf(await theirs(ZERO, (/** @type {State} */ state) => spf.push(state))({ url }));
  assert.deepEqual(chunks, MEDIA);
  assert.equal(mine.at(-1)?.bytesSampled, MEDIA.byteLength);
  assert.equal(mine.at(-1)?.bytesSampled, spf.at(-1)?.bytesSampled);
  assert.ok(mine.length >= 5);
  const [a, b] = [mine.at(-1)?.fastTotalWeight ?? 0, spf.at(-1)?.fastTotalWeight ?? 0];
  assert.ok(a > 0.1 && b > 0.1 && Math.abs(a - b) < 0.1, `seconds of transfer: ${a} and ${b}`);
});

test('the accumulator goes on from one request to the next, from where it began', async (t) => {
  const engine = await engineFor(t);
  const initial = { ...ZERO, bytesSampled: 7 };
  /** @type {State[]} */
  const states = [];
  const tracked = ours(initial, (state) => states.push(state), { engine });
  const url = server.on('/goes-on.mp4', ok(MEDIA));
  await bytesOf(await tracked({ url }));
  await bytesOf(await tracked({ url }));
  assert.equal(states.at(-1)?.bytesSampled, 7 + 2 * MEDIA.byteLength);
  assert.equal(initial.bytesSampled, 7);
});

test('R2: neither the wait for headers nor a slow consumer is sampled', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/waits.mp4', (request, response) => {
    setTimeout(() => ok(MEDIA)(request, response), 500);
  });
  /** @type {State[]} */
  const states = [];
  const chunks = await ours(ZERO, (state) => states.push(state), { engine })({ url });
  await sleep(300);
  for await (const _ of chunks) await sleep(50);
  const seconds = states.at(-1)?.fastTotalWeight ?? 0;
  assert.ok(seconds < 0.25, `${seconds} s were sampled`);
});

test('R2: a back-off of seconds before success adds nothing to what is sampled', async (t) => {
  const engine = await engineFor(t);
  const busy = answer(503, '', { 'retry-after': '2' });
  const url = server.on('/back-off.mp4', busy, drip(MEDIA, 5, 20), drip(MEDIA, 5, 20));
  /** @type {State[]} */
  const states = [];
  const tracked = ours(ZERO, (state) => states.push(state), { engine });
  assert.deepEqual(await bytesOf(await tracked({ url })), MEDIA);
  assert.equal(states.length, 0, 'the body of a retry is not sampled at all');
  await bytesOf(await tracked({ url }));
  assert.ok((states.at(-1)?.fastTotalWeight ?? 9) < 0.5);
});

test('R2, R64: a body that is fetched again unseen is not sampled', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/again.mp4', breakOff(MEDIA, 300_000), ok(MEDIA));
  /** @type {State[]} */
  const states = [];
  const tracked = ours(ZERO, (state) => states.push(state), { engine });
  const chunks = await tracked({ url }, { minChunkSize: Infinity });
  assert.deepEqual(await bytesOf(chunks), MEDIA);
  assert.equal(states.length, 0);
});

test('R4: where SPF streams the body of an error, it is refused', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/error.mp4', answer(403, '<Error/>'));
  assert.equal((await bytesOf(await fetchStream({ url }))).byteLength, 8, "SPF's own does");
  const error = await failureOf(ours(ZERO, () => {}, { engine })({ url }));
  assert.equal(error.code, 'DENIED');
});

test('the site of a tracked fetch is that of its options, or of the call', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/site', answer(404, ''));
  await failureOf(ours(ZERO, () => {}, { engine })({ url }));
  await failureOf(ours(ZERO, () => {}, { engine, site: 'init' })({ url }));
  await failureOf(
    ours(ZERO, () => {}, { engine, site: 'init' })({ url }, { site: 'text-segment' }),
  );
  assert.deepEqual(
    engine.state.retryExhausted.map(({ site }) => site),
    ['segment', 'init', 'text-segment'],
  );
});

test('R65: text is decoded as SPF decodes it', async (t) => {
  const engine = await engineFor(t);
  const bytes = Buffer.from('\ufeff#EXTM3U\n#ü\u{1F3AC}\xff');
  const url = server.on('/text.m3u8', ok(Buffer.concat([bytes, Buffer.from([0xff, 0xfe])])));
  assert.equal(await engine.fetchText({ url }), await fetchResolvableText({ url }));
});
