// @ts-check
// Bodies that break, fall silent, or are merely slow.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTrackedFetch } from 'holdfast';
import {
  bytesOf,
  catchUncaught,
  engineFor,
  eventually,
  failureOf,
  sleep,
  within,
} from './fixture.mjs';
import { breakOff, content, drip, ok, serve, stall, truncate } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(400_000);
const PART = 150_000;

/** @param {any} data */
const bytes = (data) => Buffer.from(data);

/** @param {Response} response */
const readerOf = (response) => {
  assert.ok(response.body);
  return response.body.getReader();
};

const LOSSES = /** @type {const} */ ([
  ['reset', breakOff, 'TRUNCATED'],
  ['ended too early', truncate, 'TRUNCATED'],
  ['silent', stall, 'STALL'],
]);

describe('a body that is', { concurrency: true }, () => {
  for (const [how, lose, code] of LOSSES) {
    const name = how.replaceAll(' ', '-');

    test(`${how} half way: a buffered load fetches it again, unseen`, async (t) => {
      const path = `/load-${name}.mp4`;
      const url = server.on(path, lose(MEDIA, PART), lose(MEDIA, 0), ok(MEDIA));
      const engine = await engineFor(t, { stallTimeout: 300 });
      const { data, attempts, bytes: size } = await engine.load({ url });
      assert.deepEqual(bytes(data), MEDIA);
      assert.equal(size, MEDIA.byteLength);
      assert.equal(attempts, 3);
      assert.equal(server.seen(path).length, 3);
    });

    test(`${how} half way: fetchText and unchunked fetchBytes fetch it again, unseen`, async (t) => {
      const engine = await engineFor(t, { stallTimeout: 300 });
      const text = Buffer.from('#EXTM3U\n'.repeat(5000));
      const playlist = server.on(`/text-${name}.m3u8`, lose(text, 1000), ok(text));
      assert.equal(await engine.fetchText({ url: playlist }), String(text));
      const url = server.on(`/whole-${name}.mp4`, lose(MEDIA, PART), ok(MEDIA));
      const chunks = [];
      for await (const chunk of await engine.fetchBytes({ url }, { minChunkSize: Infinity })) {
        chunks.push(chunk);
      }
      assert.equal(chunks.length, 1);
      assert.deepEqual(bytes(chunks[0]), MEDIA);
    });

    test(`R11: ${how} after bytes were released: a typed error at the tail`, async (t) => {
      const engine = await engineFor(t, { stallTimeout: 300 });
      const path = `/tail-${name}.mp4`;
      const url = server.on(path, lose(MEDIA, PART), ok(MEDIA));

      const reader = readerOf(await engine.fetch(url));
      /** @type {Uint8Array[]} */
      const received = [];
      const error = await failureOf(
        (async () => {
          for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            received.push(value);
          }
        })(),
      );
      assert.equal(error.code, code);
      assert.equal(error.reason, 'released');
      assert.notEqual(error.name, 'AbortError');
      assert.deepEqual(Buffer.concat(received), MEDIA.subarray(0, PART), 'no byte was lost');
      assert.equal(server.seen(path).length, 1);

      server.on(path, ok(MEDIA), lose(MEDIA, PART), ok(MEDIA));
      let released = 0;
      const onChunk = (/** @type {Uint8Array} */ chunk) => void (released += chunk.byteLength);
      const second = await failureOf(engine.load({ url, onChunk }));
      assert.equal(second.code, code);
      assert.equal(released, PART);
    });

    test(`${how} before its first byte: a streaming reader never learns of it`, async (t) => {
      const engine = await engineFor(t, { stallTimeout: 300 });
      const path = `/first-${name}.mp4`;
      const url = server.on(path, lose(MEDIA, 0), ok(MEDIA));
      const response = await engine.fetch(url);
      assert.deepEqual(bytes(await response.arrayBuffer()), MEDIA);
      assert.equal(server.seen(path).length, 2);

      server.on(path, ok(MEDIA), ok(MEDIA), lose(MEDIA, 0), ok(MEDIA));
      assert.deepEqual(await bytesOf(await engine.fetchBytes({ url })), MEDIA);
      assert.equal(server.seen(path).length, 4);
    });
  }

  test('silent: its request is let go before the next one is sent', async (t) => {
    const url = server.on('/silent.mp4', stall(MEDIA, PART), ok(MEDIA));
    const engine = await engineFor(t, { stallTimeout: 200 });
    await engine.load({ url });
    const [first, second] = server.seen('/silent.mp4');
    assert.ok(first.closedAt && first.closedAt <= second.at + 20);
    assert.ok(second.at - first.at >= 200, 'not before its bound');
  });

  test('R17: slow, for more than ten times the bound, is never cut', async (t) => {
    const url = server.on('/drip.mp4', drip(MEDIA, 36, 150));
    const engine = await engineFor(t, { stallTimeout: 500, headersTimeout: 500, attempts: 2 });
    const before = performance.now();
    const [loaded, streamed] = await Promise.all([
      engine.load({ url }),
      engine.fetchBytes({ url }).then(bytesOf),
    ]);
    assert.ok(performance.now() - before >= 5000);
    assert.deepEqual(bytes(loaded.data), MEDIA);
    assert.deepEqual(streamed, MEDIA);
    assert.equal(server.seen('/drip.mp4').length, 2);
  });
});

/** A reader of each shape that takes a chunk, pauses, and takes the rest. */
const PAUSED = {
  fetch: async (/** @type {any} */ engine, /** @type {string} */ url) => {
    const reader = readerOf(await engine.fetch(url));
    const chunks = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(chunks);
      chunks.push(value);
      if (chunks.length === 1) await sleep(700);
    }
  },
  fetchBytes: (/** @type {any} */ engine, /** @type {string} */ url) =>
    paused(engine.fetchBytes({ url })),
  'fetchBytes in small chunks': (/** @type {any} */ engine, /** @type {string} */ url) =>
    paused(engine.fetchBytes({ url }, { minChunkSize: 1000 })),
  createTrackedFetch: (/** @type {any} */ engine, /** @type {string} */ url) => {
    const zero = { fastEstimate: 0, fastTotalWeight: 0, slowEstimate: 0, slowTotalWeight: 0 };
    const tracked = createTrackedFetch({ ...zero, bytesSampled: 0 }, () => {}, { engine });
    return paused(tracked({ url }));
  },
};

/** @param {Promise<AsyncIterable<Uint8Array>>} body */
async function paused(body) {
  const chunks = [];
  for await (const chunk of await body) {
    chunks.push(chunk);
    if (chunks.length === 1) await sleep(700);
  }
  return Buffer.concat(chunks);
}

describe('a consumer that pauses is no silent server', { concurrency: true }, () => {
  for (const [name, read] of Object.entries(PAUSED)) {
    test(`R17: ${name} may pause for longer than the stall bound`, async (t) => {
      const path = `/paused-${Object.keys(PAUSED).indexOf(name)}.mp4`;
      const url = server.on(path, ok(MEDIA));
      const engine = await engineFor(t, { stallTimeout: 200 });
      assert.deepEqual(await read(engine, url), MEDIA);
      assert.equal(server.seen(path).length, 1);
    });
  }

  test('R17: a body that nobody has begun to read is no silent server', async (t) => {
    const engine = await engineFor(t, { stallTimeout: 200 });
    const text = Buffer.from('#EXTM3U\n'.repeat(5000));
    for (const [path, body, headers] of /** @type {const} */ ([
      ['/unread.mp4', MEDIA, {}],
      ['/unread.m3u8', text, { 'content-type': 'text/html' }],
    ])) {
      const url = server.on(path, drip(body, 4, 20, headers));
      const response = await engine.fetch(url);
      const chunks = await engine.fetchBytes({ url });
      await sleep(700);
      assert.deepEqual(bytes(await response.arrayBuffer()), body);
      assert.deepEqual(await bytesOf(chunks), body);
      assert.equal(server.seen(path).length, 2, path);
    }
  });
});

test('progress starts over with the attempt that does', async (t) => {
  const url = server.on('/progress.mp4', breakOff(MEDIA, PART), ok(MEDIA));
  const engine = await engineFor(t);
  /** @type {number[]} */
  const attempts = [];
  /** @type {number[]} */
  const responses = [];
  /** @type {Array<{ loaded: number, total: number }>} */
  const progress = [];
  const { timing, response } = await engine.load({
    url,
    onAttempt: ({ attempt, at }) => void attempts.push(attempt, at),
    onResponse: ({ response: { status }, at }) => void responses.push(status, at),
    onProgress: ({ loaded, total }) => void progress.push({ loaded, total }),
  });
  assert.deepEqual([attempts[0], attempts[2]], [1, 2]);
  assert.deepEqual([responses[0], responses[2]], [200, 200]);
  const restart = progress.findIndex(({ loaded }, i) => i > 0 && loaded < progress[i - 1].loaded);
  assert.equal(progress[restart - 1].loaded, PART);
  assert.equal(progress.at(-1)?.loaded, MEDIA.byteLength);
  assert.ok(progress.every(({ total }) => total === MEDIA.byteLength));
  assert.ok(attempts[3] <= timing.start + 1 && timing.start < timing.first);
  assert.ok(timing.first <= timing.end);
  assert.equal(response.bodyUsed, true);
});

for (const hook of /** @type {const} */ (['onAttempt', 'onResponse', 'onProgress', 'onChunk'])) {
  test(`a throwing ${hook} is reported and stops nothing`, async (t) => {
    const uncaught = catchUncaught(t);
    const url = server.on(`/${hook}.mp4`, ok(MEDIA));
    const engine = await engineFor(t);
    const broken = new Error(`a broken ${hook}`);
    const request = {
      url,
      [hook]() {
        throw broken;
      },
    };
    const loaded = await within(engine.load(request), 2000, 'the load');
    assert.equal(loaded.bytes, MEDIA.byteLength);
    await eventually(() => uncaught.includes(broken));
    assert.ok(uncaught.every((error) => error === broken));
  });
}
