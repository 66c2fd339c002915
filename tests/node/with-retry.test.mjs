// @ts-check
// R1: `withRetry` puts a transport of any of the three shapes under the engine.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withRetry } from 'holdfast';
import { bytesOf, engineFor, eventually, failureOf, sleep } from './fixture.mjs';
import { answer, content, ok, reset, serve, stall } from './server.mjs';
import { createTrackedFetch, fetchResolvable, fetchResolvableText, fetchStream } from './spf.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(300_000);
const RESOURCE = { url: 'http://example.test/a.mp4' };

/**
 * A transport that fails so often and then succeeds.
 *
 * @param {number} failures @param {() => unknown} result
 */
function failing(failures, result) {
  /** @type {any[]} */
  const calls = [];
  const transport = async (/** @type {any} */ resource, /** @type {any} */ init) => {
    calls.push({ resource, init });
    if (calls.length <= failures) throw new Error(`failure ${calls.length}`);
    return result();
  };
  return { transport: /** @type {any} */ (transport), calls };
}

test('R1: a FetchText that fails twice resolves with its text', async (t) => {
  const engine = await engineFor(t);
  const { transport, calls } = failing(2, () => '#EXTM3U\u00fc');
  const text = await withRetry(transport, { engine, site: 'playlist' })(RESOURCE, {
    headers: { a: 'b' },
  });
  assert.equal(text, '#EXTM3U\u00fc');
  assert.equal(calls.length, 3);
  for (const { resource, init } of calls) {
    assert.deepEqual(resource, RESOURCE);
    assert.deepEqual(init.headers, { a: 'b' });
    assert.ok(init.signal instanceof AbortSignal);
  }
  assert.equal(engine.log()[0].detail, 'playlist');
});

test('R1: a FetchBytes that fails twice resolves with its chunks, as they are', async (t) => {
  const engine = await engineFor(t);
  const sizes = [100, 1000, 200_000];
  const { transport, calls } = failing(2, async function* () {
    let offset = 0;
    for (const size of sizes) yield new Uint8Array(MEDIA.subarray(offset, (offset += size)));
  });
  const chunks = await withRetry(transport, { engine })(RESOURCE, { minChunkSize: 1 });
  const received = [];
  for await (const chunk of /** @type {any} */ (chunks)) received.push(Buffer.from(chunk));
  assert.deepEqual(
    received.map(({ byteLength }) => byteLength),
    sizes,
  );
  assert.deepEqual(Buffer.concat(received), MEDIA.subarray(0, 201_100));
  assert.equal(calls[2].init.minChunkSize, 1, 'is forwarded');
});

test('R1: a fetch that fails twice resolves with its response', async (t) => {
  const engine = await engineFor(t);
  const { transport, calls } = failing(2, () => new Response('body', { headers: { a: 'b' } }));
  for (const input of ['http://example.test/a.ts', new URL('http://example.test/a.ts')]) {
    calls.length = 0;
    const response = await withRetry(transport, { engine })(input, { cache: 'no-store' });
    assert.equal(await response.text(), 'body');
    assert.equal(response.headers.get('a'), 'b');
    assert.equal(calls.length, 3);
    assert.equal(calls[2].init.cache, 'no-store');
  }
  calls.length = 0;
  const request = new Request('http://example.test/a.ts', { headers: { c: 'd' } });
  assert.equal(await (await withRetry(transport, { engine })(request)).text(), 'body');
  assert.equal(calls[2].resource.headers.get('c'), 'd');
});

test('R1: a fetch shows its status, so a 503 is tried again and a 403 is not', async (t) => {
  const engine = await engineFor(t);
  const statuses = [503, 503, 200, 403];
  let calls = 0;
  const transport = /** @type {typeof fetch} */ (
    async () => new Response('body', { status: statuses[calls++] })
  );
  const wrapped = withRetry(transport, { engine });
  assert.equal((await wrapped('http://example.test/a.ts')).status, 200);
  assert.equal((await wrapped('http://example.test/a.ts')).status, 403);
  assert.equal(calls, 4);
});

test('R1: what a transport rejects with is the cause of the verdict', async (t) => {
  const engine = await engineFor(t, { attempts: 2 });
  const { transport } = failing(9, () => '');
  for (const ask of [
    () => withRetry(transport, { engine })(RESOURCE),
    () => withRetry(transport, { engine })('http://example.test/a.ts'),
  ]) {
    const error = await failureOf(ask());
    assert.equal(error.code, 'TRANSPORT');
    assert.match(error.cause.message, /^failure \d$/);
    assert.equal(error.attempts, 2);
  }
});

test("R1: SPF's own transports work under it", async (t) => {
  const engine = await engineFor(t);
  const text = server.on('/spf.m3u8', answer(503, ''), ok('#EXTM3U'));
  assert.equal(await withRetry(fetchResolvableText, { engine })({ url: text }), '#EXTM3U');
  const url = server.on('/spf.mp4', reset(), ok(MEDIA));
  const chunks = await withRetry(fetchStream, { engine })({ url });
  assert.deepEqual(await bytesOf(chunks), MEDIA);
  const zero = { fastEstimate: 0, fastTotalWeight: 0, slowEstimate: 0, slowTotalWeight: 0 };
  /** @type {any[]} */
  const samples = [];
  const tracked = createTrackedFetch({ ...zero, bytesSampled: 0 }, (state) => samples.push(state));
  assert.deepEqual(await bytesOf(await withRetry(tracked, { engine })({ url })), MEDIA);
  assert.equal(samples.at(-1).bytesSampled, MEDIA.byteLength);
});

test('R1: a transport that resolves with a response for a resource keeps its shape', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/response.mp4', reset(), answer(503, ''), ok(MEDIA));
  const response = await withRetry(/** @type {any} */ (fetchResolvable), { engine })({ url });
  assert.ok(response instanceof Response);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), MEDIA);
});

test('R1: an empty text is a text', async (t) => {
  const engine = await engineFor(t);
  const { transport, calls } = failing(0, () => '');
  assert.equal(await withRetry(transport, { engine, site: 'text-segment' })(RESOURCE), '');
  assert.equal(calls.length, 1);
});

test('R3: nothing is read from a FetchBytes before it is iterated', async (t) => {
  const engine = await engineFor(t);
  let reads = 0;
  let returned = false;
  const { transport } = failing(0, () => ({
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: (reads += 1) > 3, value: new Uint8Array(1000) }),
      return: async () => ((returned = true), { done: true, value: undefined }),
    }),
  }));
  const chunks = await withRetry(transport, { engine })(RESOURCE);
  await sleep(20);
  assert.equal(reads, 0);
  for await (const _ of /** @type {any} */ (chunks)) break;
  assert.equal(reads, 1);
  await eventually(() => returned, 'the iterator was returned');
});

test('R10: an abort reaches the transport, and rejects with its reason', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/abort.mp4', stall(MEDIA, 0));
  for (const transport of [fetchStream, fetchResolvableText, fetch]) {
    const controller = new AbortController();
    const { signal } = controller;
    const input = transport === fetch ? url : { url };
    const reason = new Error('enough');
    const failure = failureOf(
      (async () => {
        const result = await withRetry(/** @type {any} */ (transport), { engine })(input, {
          signal,
        });
        if (result instanceof Response) return result.text();
        for await (const _ of result);
      })(),
    );
    await sleep(50);
    controller.abort(reason);
    assert.equal(await failure, reason);
  }
  await eventually(() => server.seen('/abort.mp4').every(({ closedAt }) => closedAt));
  assert.equal(server.seen('/abort.mp4').length, 3);
});

test('a resource with a range is passed on whole', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/range.mp4', reset(), answer(206, MEDIA.subarray(0, 10)));
  const resource = { url, byteRange: { start: 0, end: 9 } };
  assert.equal((await bytesOf(await withRetry(fetchStream, { engine })(resource))).byteLength, 10);
  assert.equal(server.seen('/range.mp4')[1].headers.range, 'bytes=0-9');
});
