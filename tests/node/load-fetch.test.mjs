// @ts-check
/** `load` with a `fetch` of its own: how adapters put a player's hooks and transports underneath. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { engineFor } from './fixture.mjs';
import { answer, ok, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => void (server = await serve()));
after(() => server.close());

test("each attempt of a load is sent by the load's own fetch", async (t) => {
  const url = server.on('/own', answer(503), ok('media'));
  /** @type {unknown[]} */
  const others = [];
  const engine = await engineFor(
    t,
    {},
    { fetch: (...args) => (others.push(args), fetch(...args)) },
  );
  /** @type {string[]} */
  const sent = [];
  const { data, attempts } = await engine.load({
    url,
    site: 'segment',
    responseType: 'text',
    fetch(input, init) {
      sent.push(String(input));
      return fetch(`${input}?attempt=${sent.length}`, init);
    },
  });
  assert.equal(data, 'media');
  assert.equal(attempts, 2);
  assert.deepEqual(sent, [url, url], 'it is told the URL of the load each time');
  assert.deepEqual(
    server.seen('/own').map((seen) => seen.url),
    ['/own?attempt=1', '/own?attempt=2'],
  );
  assert.equal(others.length, 0, "the engine's own is not asked");
});

test("a fetch of a load is given the engine's own, which sends it otherwise", async (t) => {
  const url = server.on('/next', ok('media'));
  /** @type {unknown[]} */
  const seen = [];
  const engine = await engineFor(
    t,
    {},
    { fetch: (input, init) => (seen.push(input), fetch(input, init)) },
  );
  await engine.load({
    url,
    site: 'segment',
    fetch: (input, init, next) => next(`${input}?own`, init),
  });
  assert.deepEqual(seen, [`${url}?own`]);
});

test('a fetch of a load that throws is an attempt that failed', async (t) => {
  const url = server.on('/throws', ok('media'));
  const engine = await engineFor(t);
  let calls = 0;
  const { attempts } = await engine.load({
    url,
    site: 'segment',
    fetch(input, init) {
      calls += 1;
      if (calls === 1) throw new TypeError('not yet');
      return fetch(input, init);
    },
  });
  assert.equal(attempts, 2);
  assert.equal(server.seen('/throws').length, 1);
});
