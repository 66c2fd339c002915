// @ts-check
// What is over is forgotten.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import load from '../../js/pkg/core.js';
import { engineFor, eventually, sleep } from './fixture.mjs';
import { answer, content, ok, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(10_000);

setFlagsFromString('--expose-gc');
const collect = /** @type {() => void} */ (runInNewContext('gc'));

/** A transport that fails as it is told, without a network. @param {'hang' | number} how */
const transport = (how) =>
  /** @type {typeof fetch} */ (
    (_, init) =>
      how === 'hang'
        ? new Promise((_, reject) => {
            init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
          })
        : Promise.resolve(new Response('body', { status: how }))
  );

/**
 * Whether what each of so many requests was given is free afterwards.
 *
 * @param {number} count
 * @param {(headers: Headers, i: number) => Promise<void>} request
 */
async function leftOf(count, request) {
  /** @type {WeakRef<Headers>[]} */
  const refs = [];
  for (let i = 0; i < count; i += 1) {
    const headers = new Headers({ a: String(i) });
    refs.push(new WeakRef(headers));
    await request(headers, i);
  }
  let left = refs.length;
  for (let i = 0; i < 20 && left > 5; i += 1) {
    await sleep(20);
    collect();
    left = refs.filter((ref) => ref.deref()).length;
  }
  return left;
}

for (const [stage, how] of /** @type {const} */ ([
  ['waiting for headers', 'hang'],
  ['backing off', 503],
  ['with an unread body', 200],
])) {
  test(`2,000 requests aborted ${stage} leave nothing behind`, async (t) => {
    // So many failures would open the breaker, and nothing would be sent.
    const breaker = { consecutive: 1e6, minRequests: 1e6 };
    const engine = await engineFor(t, { attempts: 3 }, { fetch: transport(how), breaker });
    const { memory } = await load({ module_or_path: new Uint8Array() });
    const url = `${server.origin}/memory.mp4`;
    let size = 0;
    const left = await leftOf(2000, async (headers, i) => {
      const controller = new AbortController();
      const { signal } = controller;
      const pending = engine.fetch(`${url}?${i}`, { signal, headers });
      pending.catch(() => {});
      if (how === 200) await pending;
      else await sleep(0);
      controller.abort();
      await pending.catch(() => {});
      if (i === 200) size = memory.buffer.byteLength;
    });
    assert.ok(left <= 5, `${left} of 2000 are still held`);
    assert.deepEqual(engine.state.retryState, {});
    const log = engine.log();
    assert.equal(log.length, 256);
    const waits = log.filter(({ event }) => event === 'waiting').map(({ detail }) => detail);
    assert.deepEqual([...new Set(waits)], how === 503 ? ['backoff'] : []);
    assert.ok(memory.buffer.byteLength - size <= 65_536, 'the memory of the module is flat');
  });
}

test('500 requests that succeeded or were refused leave nothing behind', async (t) => {
  const engine = await engineFor(t);
  const good = server.on('/good.mp4', ok(MEDIA));
  const bad = server.on('/bad.mp4', answer(403, 'no'));
  const left = await leftOf(500, async (headers, i) => {
    // An URL that was refused rests a while, so each is another one.
    const url = `${i % 2 ? good : bad}?${i}`;
    await engine.load({ url, init: { headers } }).catch(() => {});
  });
  assert.ok(left <= 5, `${left} of 500 are still held`);
});

test('a refusal whose body nobody reads is not held for ever', async (t) => {
  const engine = await engineFor(t, {}, { fetch: transport(403) });
  const left = await leftOf(500, async (headers, i) => {
    const response = await engine.fetch(`${server.origin}/unread.mp4?${i}`, { headers });
    assert.equal(response.status, 403);
  });
  assert.ok(left <= 5, `${left} of 500 are still held`);
});

test('a destroyed engine can be collected', async (t) => {
  /** @type {WeakRef<object>[]} */
  const refs = [];
  for (let i = 0; i < 20; i += 1) {
    const engine = await engineFor({ after() {} });
    await engine.load({ url: server.on('/destroyed.mp4', ok(MEDIA)) });
    engine.destroy();
    refs.push(new WeakRef(engine));
  }
  await sleep(20);
  await eventually(() => {
    collect();
    return refs.filter((ref) => ref.deref()).length <= 2;
  }, 'engines are collected');
  t.diagnostic('collected');
});
