// @ts-check
// The decision log.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { engineFor, failureOf } from './fixture.mjs';
import { answer, content, ok, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(10_000);

/** @param {import('holdfast').LogEntry[]} log */
const story = (log) => log.map(({ event, detail, attempt }) => [event, detail, attempt]);

test('the log tells the story of a request that succeeds at its second attempt', async (t) => {
  const engine = await engineFor(t);
  const before = performance.now();
  await engine.load({ url: server.on('/story.mp4', answer(503, ''), ok(MEDIA)) });
  const log = engine.log();
  assert.deepEqual(story(log), [
    ['started', 'segment', 0],
    ['sent', 0, 1],
    ['failed', 'server-busy', 1],
    ['waiting', 'backoff', 1],
    ['sent', 0, 2],
    ['accepted', 200, 2],
    ['succeeded', 0, 2],
  ]);
  assert.equal(log[2].value, 503);
  assert.equal(log[3].value, 50);
  assert.equal(log[6].value, MEDIA.byteLength);
  for (const [i, { at, request }] of log.entries()) {
    assert.equal(request, 1);
    assert.ok(at >= (log[i - 1]?.at ?? before) && at <= performance.now());
  }
  assert.deepEqual(JSON.parse(JSON.stringify(log)), log);
});

test('the log tells why a request was given up', async (t) => {
  const engine = await engineFor(t);
  await failureOf(engine.load({ url: server.on('/given-up.m3u8', answer(404, '')) }));
  assert.deepEqual(story(engine.log()), [
    ['started', 'playlist', 0],
    ['sent', 0, 1],
    ['failed', 'not-found', 1],
    ['exhausted', 'terminal', 1],
    ['given-up', 'terminal', 1],
  ]);
});

for (const capacity of [0, 1, 10]) {
  test(`a log of ${capacity} keeps the last ${capacity}`, async (t) => {
    const engine = await engineFor(t, {}, { logCapacity: capacity });
    const url = server.on('/capacity.mp4', ok(MEDIA));
    for (let i = 0; i < 5; i += 1) await engine.load({ url });
    const log = engine.log();
    assert.equal(log.length, capacity);
    if (capacity > 0) assert.equal(log.at(-1)?.event, 'succeeded');
  });
}

test('the log keeps 256 entries by default', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/default.mp4', ok(MEDIA));
  for (let i = 0; i < 80; i += 1) await engine.load({ url });
  assert.equal(engine.log().length, 256);
  assert.equal(engine.log().at(-1)?.request, 80);
});
