// @ts-check
// Rate limits: who says so, what waits, and how it goes on.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  catchUncaught,
  engineFor,
  eventually,
  failureOf,
  sleep,
  spyTimers,
  within,
} from './fixture.mjs';
import { answer, content, ok, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** Another host. @type {typeof server} */
let other;
before(async () => ([server, other] = await Promise.all([serve(), serve()])));
after(() => Promise.all([server.close(), other.close()]));
const uncaught = catchUncaught({ after });
after(() => assert.ok(uncaught.every((error) => String(error) === 'Error: boom')));

const MEDIA = content(20_000);
const slowDown = answer(420, '<Code>SlowDown</Code>', { 'x-limit': 'yes' });

/** @param {any} engine */
const waits = (engine) => Object.values(engine.state.retryState).map((it) => it.waitReason);

describe('a detector', { concurrency: true }, () => {
  test('R45: is told the status, the headers, 8 KiB of the body, the site and the URL', async (t) => {
    /** @type {any[]} */
    const told = [];
    const engine = await engineFor(t, {}, { detectRateLimit: (facts) => void told.push(facts) });
    const body = 'x'.repeat(20_000);
    const url = `${server.on('/facts.mp4', answer(410, body, { 'x-limit': 'yes' }))}?a=1`;
    await failureOf(engine.load({ url, site: 'init' }));
    const [{ headers, ...facts }] = told;
    assert.equal(headers.get('x-limit'), 'yes');
    assert.deepEqual(facts, { status: 410, body: body.slice(0, 8192), site: 'init', url });
    assert.ok(Object.isFrozen(told[0]));
    await engine.load({ url: server.on('/fine.mp4', ok(MEDIA)) });
    assert.equal(told.length, 1, 'not asked about a success');
  });

  test('R46, R47: a match waits as long as it says, and is no attempt of the ladder', async (t) => {
    const engine = await engineFor(
      t,
      { attempts: 1 },
      {
        detectRateLimit: ({ body }) =>
          body.includes('SlowDown') ? { scope: 'host', waitMs: 400 } : null,
      },
    );
    const url = server.on('/waits.mp4', slowDown, ok(MEDIA));
    const load = engine.load({ url });
    await eventually(() => waits(engine)[0] === 'vrlt');
    const { blockedUntil, rate } = engine.state.throttle[server.origin];
    assert.ok(blockedUntil > performance.now() && rate > 0);
    const next = server.on('/queues.mp4', ok(MEDIA));
    const queued = engine.load({ url: next });
    assert.equal((await load).attempts, 2);
    assert.equal((await queued).attempts, 1);
    const [first, second] = server.seen('/waits.mp4');
    assert.ok(second.at - first.at >= 400);
    assert.ok(server.seen('/queues.mp4')[0].at > first.at + 400, 'new requests queue');
    assert.equal(engine.state.hostHealth[server.origin]?.state ?? 'closed', 'closed');
  });

  test('R46: the scope is the host: another one is not concerned', async (t) => {
    const engine = await engineFor(
      t,
      {},
      { detectRateLimit: ({ status }) => (status === 420 ? { scope: 'host', waitMs: 600 } : null) },
    );
    const load = engine.load({ url: server.on('/here.mp4', slowDown, ok(MEDIA)) });
    await eventually(() => waits(engine)[0] === 'vrlt');
    const there = engine.load({ url: other.on('/there.mp4', ok(MEDIA)) });
    await within(there, 400, 'the other host');
    await load;
  });

  test('R46: the scope is the session: all wait', async (t) => {
    const engine = await engineFor(
      t,
      {},
      {
        detectRateLimit: ({ status }) =>
          status === 420 ? { scope: 'session', waitMs: 500 } : null,
      },
    );
    const load = engine.load({ url: server.on('/session.mp4', slowDown, ok(MEDIA)) });
    await eventually(() => waits(engine)[0] === 'vrlt');
    assert.ok(engine.state.throttle.session.blockedUntil > 0);
    const there = engine.load({ url: other.on('/session-there.mp4', ok(MEDIA)) });
    await Promise.all([load, there]);
    const [refused] = server.seen('/session.mp4');
    assert.ok(other.seen('/session-there.mp4')[0].at - refused.at >= 490);
  });

  test('R46: the scope is a prefix: only URLs that start with it wait', async (t) => {
    const prefix = `${server.origin}/slow/`;
    const engine = await engineFor(
      t,
      {},
      {
        detectRateLimit: ({ status }) => (status === 420 ? { scope: prefix, waitMs: 600 } : null),
      },
    );
    const load = engine.load({ url: server.on('/slow/1.mp4', slowDown, ok(MEDIA)) });
    await eventually(() => waits(engine)[0] === 'vrlt');
    const same = engine.load({ url: server.on('/slow/2.mp4', ok(MEDIA)) });
    await within(engine.load({ url: server.on('/quick/1.mp4', ok(MEDIA)) }), 400, 'the other path');
    await Promise.all([load, same]);
    const [refused] = server.seen('/slow/1.mp4');
    assert.ok(server.seen('/slow/2.mp4')[0].at - refused.at >= 590);
  });

  /** @type {[string, () => any][]} */
  const useless = [
    [
      'throws',
      () => {
        throw new Error('boom');
      },
    ],
    ['answers true', () => true],
    ['answers with a number', () => ({ scope: 3, waitMs: 5000 })],
    ['answers without a scope', () => ({ waitMs: 5000 })],
    ['answers with a promise', async () => ({ scope: 'host', waitMs: 5000 })],
  ];
  for (const [i, [what, detectRateLimit]] of useless.entries()) {
    test(`R44: one that ${what} leaves it to what is built in`, async (t) => {
      const engine = await engineFor(t, {}, { detectRateLimit });
      const url = server.on(`/useless-${i}.mp4`, answer(503, ''), ok(MEDIA));
      assert.equal((await within(engine.load({ url }), 3000, 'the load')).attempts, 2);
      assert.deepEqual(engine.state.throttle, {});
    });
  }

  /** @type {[string, any][]} */
  const odd = [
    ['NaN', NaN],
    ['a negative number', -5],
    ['a text', '100'],
  ];
  for (const [i, [what, waitMs]] of odd.entries()) {
    test(`R44: a wait that is ${what} is as long as the engine thinks`, async (t) => {
      const engine = await engineFor(t, {}, { detectRateLimit: () => ({ scope: 'host', waitMs }) });
      const url = server.on(`/odd-${i}.mp4`, answer(503, ''), ok(MEDIA));
      const load = engine.load({ url });
      await eventually(() => waits(engine)[0] === 'vrlt');
      assert.equal((await within(load, 8000, 'the load')).attempts, 2);
    });
  }

  test('R46: a prefix that is not one of the URL, or empty, holds nobody up', async (t) => {
    const scopes = ['https://elsewhere.example/', ''];
    const engine = await engineFor(
      t,
      { attempts: 4 },
      {
        detectRateLimit: ({ status }) =>
          status === 420 ? { scope: scopes.shift() ?? '', waitMs: 60_000 } : null,
      },
    );
    const url = server.on('/no-prefix.mp4', slowDown, slowDown, ok(MEDIA));
    await within(engine.load({ url }), 3000, 'the load');
  });

  test('R47: Retry-After is kept to where the detector names no wait', async (t) => {
    const engine = await engineFor(t, {}, { detectRateLimit: () => ({ scope: 'host' }) });
    const url = server.on('/named.mp4', answer(503, '', { 'retry-after': '1' }), ok(MEDIA));
    await engine.load({ url });
    const [first, second] = server.seen('/named.mp4');
    assert.ok(second.at - first.at >= 1000);
  });

  test('R10: an abort in wait mode rejects at once', async (t) => {
    const engine = await engineFor(
      t,
      {},
      { detectRateLimit: () => ({ scope: 'host', waitMs: 5000 }) },
    );
    const controller = new AbortController();
    const url = server.on('/abort.mp4', slowDown);
    const load = failureOf(engine.load({ url, signal: controller.signal }));
    await eventually(() => waits(engine)[0] === 'vrlt');
    controller.abort(new Error('enough'));
    assert.equal((await within(load, 100, 'the abort')).message, 'enough');
  });

  test('R48: the preset "naive" takes it for final', async (t) => {
    const engine = await engineFor(
      t,
      {},
      { preset: 'naive', detectRateLimit: () => ({ scope: 'host', waitMs: 10 }) },
    );
    const error = await failureOf(engine.load({ url: server.on('/naive.mp4', answer(429, '')) }));
    assert.equal(error.status, 429);
    assert.equal(error.attempts, 1);
    assert.equal(error.reason, 'terminal');
  });

  test('R48: without a detector 429 backs off for long', async (t) => {
    const engine = await engineFor(t, { backoff: { base: 200, factor: 1, cap: 200 } });
    const url = server.on('/built-in.mp4', answer(429, ''), ok(MEDIA));
    const load = engine.load({ url });
    await eventually(() => waits(engine)[0] === 'vrlt');
    await load;
    const [first, second] = server.seen('/built-in.mp4');
    assert.ok(second.at - first.at >= 100);
  });
});

test('R10: destroy in wait mode, and while a refusal is looked at, leaves no timer', async (t) => {
  const armed = spyTimers(t);
  const engine = await engineFor(
    t,
    {},
    { detectRateLimit: () => ({ scope: 'host', waitMs: 5000 }) },
  );
  const loads = [
    failureOf(engine.load({ url: server.on('/left.mp4', slowDown) })),
    failureOf(
      engine.load({
        url: server.on('/left-open.mp4', (_, response) => void response.writeHead(420).write('x')),
      }),
    ),
  ];
  await eventually(() => waits(engine).includes('vrlt'));
  engine.destroy();
  for (const load of loads) assert.equal((await load).code, 'DESTROYED');
  await sleep(0);
  assert.equal(armed.size, 0);
});

test('R46: a server whose penalty grows with the rate is asked less than by the naive preset', async (t) => {
  /** One in 100 ms, and each that comes too early makes it longer. */
  const strict = () => {
    let until = 0;
    let penalty = 100;
    return (/** @type {any} */ request, /** @type {any} */ response) => {
      const now = performance.now();
      const early = now < until;
      penalty = early ? Math.min(penalty * 2, 1500) : 100;
      until = now + penalty;
      (early ? answer(429, '') : ok('x'))(request, response);
    };
  };
  const engine = await engineFor(t, {
    ...{ attempts: 4, backoff: { base: 100, factor: 2, cap: 500 }, deadline: 60_000 },
  });
  const answers = strict();
  const urls = Array.from({ length: 4 }, (_, i) => server.on(`/strict-${i}.mp4`, answers));
  const loads = await Promise.all(urls.map((url) => engine.load({ url })));
  const sent = loads.reduce((sum, { attempts }) => sum + attempts, 0);
  // How many depends on how busy the machine is; that all four are there does not.
  assert.ok(sent <= 24, `${sent} requests for 4`);
  const naive = await engineFor(t, {}, { preset: 'naive' });
  const again = strict();
  const results = await Promise.allSettled(
    urls.map((_, i) => naive.load({ url: server.on(`/naive-${i}.mp4`, again) })),
  );
  assert.ok(
    results.some(({ status }) => status === 'rejected'),
    'the naive preset does not get there',
  );
});
