// @ts-check
// Bodies that break, fall silent, or are merely slow.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTrackedFetch } from 'holdfast';
import { Body, LOST } from '../../js/body.js';
import { Integrity } from '../../js/integrity.js';
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
      /** @type {Uint8Array[]} */
      const chunks = [];
      const { data, attempts } = await engine.load({ url, onChunk: (chunk) => chunks.push(chunk) });
      assert.equal(attempts, 2);
      assert.deepEqual(Buffer.concat(chunks), MEDIA, 'each byte came once');
      assert.deepEqual(bytes(data), MEDIA);
    });

    test(`${how}, and others come in its place: who takes chunks is given none of them`, async (t) => {
      const engine = await engineFor(t, { stallTimeout: 300 });
      const changed = Buffer.from(MEDIA);
      changed[1000] ^= 1;
      for (const other of [changed, MEDIA.subarray(0, 1000)]) {
        const url = server.on(`/${name}-${other.length}.mp4`, lose(MEDIA, PART), ok(other));
        /** @type {Uint8Array[]} */
        const chunks = [];
        const loading = engine.load({ url, onChunk: (chunk) => chunks.push(chunk) });
        const error = await failureOf(loading);
        assert.equal(error.code, 'CHANGED');
        assert.equal(error.reason, 'released');
        assert.equal(error.attempts, 2);
        // A reset may take along what had arrived, but was not read yet.
        const given = Buffer.concat(chunks);
        assert.deepEqual(given, MEDIA.subarray(0, given.length));
      }
    });

    test(`${how}: who takes chunks may write to them, and send them to a worker`, async (t) => {
      const engine = await engineFor(t, { stallTimeout: 300 });
      const url = server.on(`/taken-${name}.mp4`, lose(MEDIA, PART), ok(MEDIA));
      /** @type {Uint8Array[]} */
      const chunks = [];
      const onChunk = (/** @type {Uint8Array} */ chunk) => {
        chunks.push(structuredClone(chunk, { transfer: [chunk.buffer] }));
      };
      const { data } = await engine.load({ url, onChunk });
      assert.deepEqual(Buffer.concat(chunks), MEDIA);
      assert.deepEqual(bytes(data), MEDIA);
    });

    test(`${how}, twice, the second time sooner: who takes chunks is given each byte once`, async (t) => {
      const engine = await engineFor(t, { stallTimeout: 300 });
      const path = `/twice-${name}.mp4`;
      const url = server.on(path, lose(MEDIA, PART), lose(MEDIA, PART / 2), ok(MEDIA));
      /** @type {Uint8Array[]} */
      const chunks = [];
      await engine.load({ url, onChunk: (chunk) => chunks.push(chunk) });
      assert.deepEqual(Buffer.concat(chunks), MEDIA);
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
    // A second, as a busy machine drips late now and then.
    const url = server.on('/drip.mp4', drip(MEDIA, 55, 200));
    const engine = await engineFor(t, { stallTimeout: 1000, headersTimeout: 1000, attempts: 2 });
    const before = performance.now();
    const [loaded, streamed] = await Promise.all([
      engine.load({ url }),
      engine.fetchBytes({ url }).then(bytesOf),
    ]);
    assert.ok(performance.now() - before >= 10_000);
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

/**
 * A response whose body comes in chunks, only when it is asked for, and what became of it.
 *
 * @param {Uint8Array} body
 * @param {number} size of the chunks
 * @param {boolean} [breaks] instead of ending
 */
function source(body, size, breaks = false) {
  const state = { pulls: 0, cancelled: false };
  let at = 0;
  const stream = new ReadableStream(
    {
      pull(controller) {
        state.pulls += 1;
        if (at < body.byteLength) controller.enqueue(body.subarray(at, (at += size)));
        else if (breaks) controller.error(new TypeError('reset'));
        else controller.close();
      },
      cancel: () => void (state.cancelled = true),
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(stream), state };
}

/** A monitor that writes down what it is told, and agrees with all of it. */
function recorder() {
  /** @type {Array<string | [bytes: number, more: boolean]>} */
  const told = [];
  return {
    told,
    /** @type {import('../../js/body.js').Monitor} */
    monitor: {
      reading: () => void told.push('reading'),
      chunk: (bytes, more) => told.push([bytes, more]) > 0,
      end: (whole) => told.push(whole ? 'whole' : 'cut') > 0,
      lost: () => void told.push('lost'),
      page: () => void told.push('page'),
    },
    /** Bytes that it was told of. */
    get bytes() {
      return told.reduce((sum, each) => sum + (typeof each === 'string' ? 0 : each[0]), 0);
    },
  };
}

/** All chunks, and whether they ended well. @param {Body} body @param {number} [wanted] */
async function drain(body, wanted = 0) {
  const chunks = [];
  for (;;) {
    const chunk = await body.read(wanted);
    if (chunk === null || chunk === LOST) return { chunks, isWhole: chunk === null };
    chunks.push(chunk);
  }
}

/** Each part of each small body, in each size of chunks. */
function* parts() {
  for (let length = 0; length <= 7; length += 1) {
    for (let size = 1; size <= Math.max(length, 1); size += 1) {
      for (let skip = 0; skip <= length + 1; skip += 1) {
        for (const take of [...Array(length + 2).keys(), Infinity]) {
          yield { body: Uint8Array.from({ length }, (_, i) => i + 1), size, skip, take };
        }
      }
    }
  }
}

describe('a part of a body', () => {
  test('R20: is passed on to the byte, whatever the chunks, and all of it is told', async () => {
    let cases = 0;
    for (const { body: all, size, skip, take } of parts()) {
      const name = `${all.byteLength} by ${size}, skip ${skip}, take ${take}`;
      const { response, state } = source(all, size);
      const record = recorder();
      const { monitor, told } = record;
      const body = new Body(response, monitor, { skip, take });
      const { chunks, isWhole } = await drain(body);
      assert.deepEqual([...Buffer.concat(chunks)], [...all.subarray(skip, skip + take)], name);
      assert.ok(
        chunks.every((chunk) => chunk.buffer === all.buffer && chunk.byteLength),
        name,
      );
      assert.equal(isWhole, true, name);
      // One that is shorter than what the caller has already is not the same.
      const isSame = take === 0 || skip <= all.byteLength;
      assert.deepEqual(
        told.filter((each) => typeof each === 'string' && each !== 'reading'),
        [isSame ? 'whole' : 'cut'],
        name,
      );
      const wanted = take === 0 ? 0 : Math.min(skip + take, all.byteLength);
      assert.equal(record.bytes, wanted, name);
      assert.equal(body.received, wanted, name);
      // What follows lets the network go; where nothing does, the connection may serve again.
      await new Promise((resolve) => setImmediate(resolve));
      const read = Math.ceil(wanted / size) * size;
      assert.equal(state.cancelled, read < all.byteLength, name);
      assert.equal(state.pulls, Math.ceil(wanted / size) + 1, name);
      cases += 1;
    }
    assert.equal(cases, 1658);
  });

  test('R20: what is passed on is judged, and nothing else', async () => {
    for (const { body: all, size, skip, take } of parts()) {
      /** @type {Uint8Array[]} */
      const seen = [];
      let ends = 0;
      const integrity = new Integrity({
        ...{ inspect: false, type: '', boxes: false },
        validate: (chunk) => void (chunk ? seen.push(chunk) : (ends += 1)),
      });
      const { monitor } = recorder();
      const body = new Body(source(all, size).response, monitor, { integrity, skip, take });
      const { chunks } = await drain(body);
      assert.deepEqual(seen, chunks);
      assert.equal(ends, 1);
    }
  });

  test('R20: a body that is fetched on, either way, is one representation to its judge', async () => {
    const text = Buffer.from('#EXTM3U\n#EXTINF:2,\nsegment.mp4\n');
    for (const isRanged of [true, false]) {
      for (let at = 0; at <= text.byteLength; at += 1) {
        /** @type {Uint8Array[]} */
        const seen = [];
        const judge = () =>
          new Integrity({
            ...{ inspect: true, type: 'text/html', boxes: false },
            validate: (chunk) => void (chunk && seen.push(chunk)),
          });
        let integrity = judge();
        const broken = source(text.subarray(0, at), 5, true);
        const first = new Body(broken.response, recorder().monitor, { integrity });
        const begun = await drain(first);
        const { received } = first;
        assert.equal(received, at < 16 ? 0 : at, 'what is held back does not count');
        // Where nothing was passed on, the body starts over.
        if (received === 0) integrity = judge();
        const { response } = source(isRanged ? text.subarray(received) : text, 7);
        const skip = isRanged ? 0 : received;
        const rest = new Body(response, recorder().monitor, { integrity, skip });
        const { chunks, isWhole } = await drain(rest);
        assert.ok(isWhole);
        assert.equal(String(Buffer.concat([...begun.chunks, ...chunks])), String(text));
        assert.equal(String(Buffer.concat(seen)), String(text));
      }
    }
  });

  test('R20: the network is let go with the last byte, not with the next read', async () => {
    const { response, state } = source(new Uint8Array(100), 10);
    const { monitor, told } = recorder();
    const body = new Body(response, monitor, { skip: 15, take: 20 });
    const sizes = [];
    for (let i = 0; i < 3; i += 1) {
      assert.equal(state.cancelled, false);
      const chunk = await body.read(100);
      await new Promise((resolve) => setImmediate(resolve));
      sizes.push(chunk !== LOST && chunk?.byteLength);
    }
    assert.deepEqual(sizes, [5, 10, 5]);
    assert.equal(state.cancelled, true);
    assert.equal(body.state, 'open', 'its end is told when it is read');
    assert.equal(await body.read(0), null);
    assert.equal(body.state, 'whole');
    assert.deepEqual(told, [
      // That the next one is waited for comes with the chunk.
      ...['reading', [10, true], [10, true], [10, true], [5, false], 'whole'],
    ]);
    assert.equal(await body.read(0), null);
    assert.equal(told.length, 6, 'an end is told once');
  });

  test('R20: an endless body is cut', async () => {
    let cancelled = false;
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: () => void (cancelled = true),
    });
    const { monitor, told } = recorder();
    const body = new Body(new Response(stream), monitor, { take: 12_345 });
    const { chunks, isWhole } = await drain(body);
    assert.equal(Buffer.concat(chunks).byteLength, 12_345);
    assert.equal(isWhole, true);
    assert.equal(told.at(-1), 'whole');
    assert.equal(cancelled, true);
  });

  test('R17: after fewer bytes than are wanted the next ones are waited for', async () => {
    const { monitor, told } = recorder();
    const body = new Body(source(new Uint8Array(30), 10).response, monitor, { skip: 5 });
    assert.equal((await drain(body, 10)).isWhole, true);
    assert.deepEqual(
      told.filter((each) => Array.isArray(each)),
      [
        [10, true],
        [10, false],
        [10, false],
      ],
    );
  });

  test('R20: a monitor that says no makes any end a loss', async () => {
    for (const part of [{}, { take: 0 }, { take: 10 }, { skip: 100 }]) {
      const { monitor } = recorder();
      const body = new Body(source(new Uint8Array(30), 10).response, monitor, part);
      body.monitor = { ...monitor, end: () => false };
      assert.equal((await drain(body)).isWhole, false);
      assert.equal(body.state, 'lost');
    }
  });

  test('R20: a chunk that does not count any more is not passed on', async () => {
    for (const part of [{}, { skip: 5 }, { skip: 20 }, { take: 5 }]) {
      const { monitor } = recorder();
      const { response, state } = source(new Uint8Array(30), 10);
      const body = new Body(response, { ...monitor, chunk: () => false }, part);
      assert.equal(await body.read(0), LOST);
      assert.equal(state.pulls, 1);
    }
  });

  test('R20: a body that is cut while it skips is lost, and says nothing more', async () => {
    const stream = new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(10)) });
    const { monitor, told } = recorder();
    const body = new Body(new Response(stream), monitor, { skip: 20 });
    const reading = body.read(0);
    await eventually(() => body.received === 10);
    assert.equal(body.isAwaited, true);
    body.cut();
    assert.equal(await reading, LOST);
    assert.equal(body.isAwaited, false);
    assert.deepEqual(told, ['reading', [10, true]]);
  });

  test('R20: what was looked at when a body is cut is not lost', async () => {
    const { monitor } = recorder();
    const body = new Body(source(new Uint8Array(30), 10).response, monitor);
    assert.equal(await body.look(), true);
    assert.equal(body.received, 10);
    assert.equal(body.cut()?.byteLength, 10);
    assert.equal(body.cut(), undefined, 'it is given once');
    assert.equal(await body.read(0), LOST);
  });

  test('R20: a stream that breaks while it skips is told as lost', async () => {
    /** @type {ReadableStreamDefaultController | undefined} */
    let controller;
    const stream = new ReadableStream({ start: (c) => void (controller = c) });
    const { monitor, told } = recorder();
    const body = new Body(new Response(stream), monitor, { skip: 20 });
    const reading = body.read(0);
    controller?.enqueue(new Uint8Array(10));
    await eventually(() => body.received === 10);
    controller?.error(new TypeError('reset'));
    assert.equal(await reading, LOST);
    assert.equal(body.state, 'lost');
    assert.equal(told.at(-1), 'lost');
  });

  test('R20: who is told may be exchanged while the body is under way', async () => {
    const { response } = source(new Uint8Array(30), 10);
    const [one, two] = [recorder(), recorder()];
    const body = new Body(response, one.monitor, { skip: 15 });
    await body.read(0);
    body.monitor = two.monitor;
    await drain(body);
    assert.equal(one.bytes, 20);
    assert.equal(two.bytes, 10);
    assert.equal(two.told.at(-1), 'whole');
  });

  test('R20: a response without a body is whole', async () => {
    const { monitor, told } = recorder();
    const body = new Body(new Response(null, { status: 204 }), monitor);
    assert.equal(await body.read(0), null);
    assert.deepEqual(told, ['reading', 'whole']);
  });

  test('R20: a response without a body is whole for each who reads it, and ends once', async () => {
    const { monitor, told } = recorder();
    const body = new Body(new Response(null, { status: 204 }), monitor);
    assert.deepEqual(await Promise.all([body.read(0), body.read(Infinity)]), [null, null]);
    assert.deepEqual(told, ['reading', 'reading', 'whole']);
  });
});
