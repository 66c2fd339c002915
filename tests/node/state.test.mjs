// @ts-check
// The state slots: what they show, and that they are replaced, never changed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { catchUncaught, engineFor, eventually, failureOf, sleep } from './fixture.mjs';
import { answer, content, drip, hang, ok, reset, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(300_000);
const busy = answer(503, 'busy', { 'retry-after': '1' });

test('R8: on a healthy network no listener is told of a retry', async (t) => {
  const engine = await engineFor(t);
  await sleep(0);
  /** @type {any[]} */
  const states = [];
  engine.subscribe((state) => states.push(state));
  await engine.load({ url: server.on('/healthy.mp4', ok(MEDIA)) });
  await sleep(0);
  for (const { retryState, retryExhausted } of states) {
    assert.deepEqual(retryState, {});
    assert.deepEqual(retryExhausted, []);
  }
});

test('the retry state shows who waits, why, and until when', async (t) => {
  const engine = await engineFor(t, { attempts: 4 });
  const url = server.on('/waits.mp4', busy, hang());
  const sentAt = performance.now();
  const controller = new AbortController();
  const load = failureOf(engine.load({ url, signal: controller.signal }));
  const entry = await eventually(() => Object.values(engine.state.retryState)[0]);
  const { nextAt, ...rest } = entry;
  assert.deepEqual(rest, {
    site: 'segment',
    url,
    host: server.origin,
    attempt: 1,
    maxAttempts: 4,
    class: 'server-busy',
    lastStatus: 503,
    waitReason: 'retry-after',
    exhausted: false,
  });
  assert.ok(nextAt !== undefined && nextAt >= sentAt + 1000 && nextAt < sentAt + 2000);

  await eventually(() => server.seen('/waits.mp4').length === 2);
  const [second] = Object.values(engine.state.retryState);
  assert.equal(second.attempt, 2);
  assert.equal(second.waitReason, undefined);
  assert.equal(second.nextAt, undefined);
  controller.abort();
  await load;
  assert.deepEqual(engine.state.retryState, {});
});

test('a status that never came is not shown', async (t) => {
  const engine = await engineFor(t, { headersTimeout: 50 });
  const controller = new AbortController();
  const url = server.on('/no-status.mp4', hang());
  const load = failureOf(engine.load({ url, signal: controller.signal }));
  const entry = await eventually(() => Object.values(engine.state.retryState)[0]);
  assert.equal(entry.class, 'timeout');
  assert.equal(entry.lastStatus, undefined);
  controller.abort();
  await load;
});

test('slots are replaced and frozen, and survive JSON', async (t) => {
  const engine = await engineFor(t);
  const old = engine.state;
  const copy = JSON.stringify(old);
  const url = server.on('/slots.mp4', busy, ok(MEDIA));
  const failing = server.on('/slots-410.mp4', answer(410, ''));
  const load = engine.load({ url });
  await engine.load({ url: failing }).catch(() => {});
  await eventually(() => Object.keys(engine.state.retryState).length === 1);
  const { state } = engine;
  assert.notEqual(state, old);
  assert.notEqual(state.retryState, old.retryState);
  assert.notEqual(state.retryExhausted, old.retryExhausted);
  assert.equal(JSON.stringify(old), copy, 'what was read once stays as it was');
  for (const value of [
    state,
    state.retryState,
    Object.values(state.retryState)[0],
    state.retryExhausted,
    state.retryExhausted[0],
  ]) {
    assert.ok(Object.isFrozen(value), `frozen: ${JSON.stringify(value)}`);
  }
  const entry = Object.values(state.retryState)[0];
  const parsed = JSON.parse(JSON.stringify(state));
  assert.equal(Object.values(parsed.retryState)[0].nextAt, entry.nextAt);
  assert.equal(parsed.retryExhausted[0].status, 410);
  const seen = state.retryState;
  await load;
  await sleep(0);
  assert.equal(Object.keys(seen).length, 1, 'not changed afterwards');
  assert.deepEqual(engine.state.retryState, {});
});

test('listeners are told of each change, with the state as it is, until they leave', async (t) => {
  const engine = await engineFor(t);
  await sleep(0);
  /** @type {any[]} */
  const first = [];
  /** @type {any[]} */
  const second = [];
  const leave = engine.subscribe((state) => {
    assert.equal(state, engine.state);
    first.push(state);
  });
  engine.subscribe((state) => second.push(state));
  const url = server.on('/told.mp4', answer(503, ''), ok(MEDIA), answer(503, ''), ok(MEDIA));
  await engine.load({ url });
  await sleep(0);
  assert.ok(first.length >= 3, 'waits, sent again, succeeded');
  assert.equal(Object.keys(first[0].retryState).length, 1);
  assert.deepEqual(first.at(-1).retryState, {});
  const told = first.length;
  leave();
  leave();
  await engine.load({ url });
  await sleep(0);
  assert.equal(first.length, told);
  assert.ok(second.length > told);
});

test('R19: failed attempts, the exhausted slot, onExhausted, the rejection: in this order', async (t) => {
  /** @type {string[]} */
  const order = [];
  /** @type {any} */
  let event;
  const engine = await engineFor(
    t,
    { attempts: 2 },
    {
      onExhausted(told) {
        event = told;
        order.push('onExhausted');
        assert.equal(engine.state.retryExhausted.at(-1), told, 'the slot was written before');
      },
    },
  );
  engine.subscribe(({ retryState, retryExhausted }) => {
    const [entry] = Object.values(retryState);
    if (entry?.waitReason) order.push('waiting');
    if (retryExhausted.length) order.push('slot');
  });
  const url = server.on('/order.mp4', answer(503, 'busy'));
  const before = performance.now();
  const error = await failureOf(
    engine.load({ url, onAttempt: ({ attempt }) => void order.push(`attempt ${attempt}`) }),
  );
  order.push('rejected');
  await sleep(20);
  assert.deepEqual(
    order.filter((what, i) => what !== order[i - 1]),
    ['attempt 1', 'waiting', 'attempt 2', 'slot', 'onExhausted', 'rejected'],
  );
  const { at, elapsed, errors, ...rest } = event;
  assert.deepEqual(rest, {
    class: 'server-busy',
    reason: 'attempts',
    status: 503,
    attempts: 2,
    retryAt: undefined,
    limit: undefined,
    svta: 3503,
    severity: 'error',
    suspectCors: false,
    holding: false,
    site: 'segment',
    url,
    host: server.origin,
    terminal: false,
  });
  const about = { site: 'segment', host: server.origin, url, attempts: 2, lastStatus: 503 };
  assert.deepEqual(
    errors,
    [3503, 3008].map((code) => ({ code, data: { ...about, elapsedMs: elapsed } })),
  );
  assert.ok(at >= before && at <= performance.now());
  assert.ok(elapsed > 0 && elapsed < 1000);
  assert.equal(error.attempts, 2);
});

test('R19: a terminal failure is an exhaustion too, and says so', async (t) => {
  /** @type {any[]} */
  const events = [];
  const engine = await engineFor(t, {}, { onExhausted: (event) => void events.push(event) });
  await failureOf(engine.load({ url: server.on('/terminal.mp4', answer(410, '')) }));
  const refused = await engine.fetch(server.on('/terminal-fetch.mp4', answer(403, '')));
  await refused.text();
  assert.deepEqual(
    events.map(({ class: kind, terminal, reason }) => [kind, terminal, reason]),
    [
      ['gone', true, 'terminal'],
      ['denied', true, 'terminal'],
    ],
  );
  assert.equal(engine.state.retryExhausted.length, 2);
});

test('the last hundred exhaustions are kept', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/hundred.mp4', answer(403, ''));
  for (let i = 0; i < 120; i += 1) await engine.load({ url: `${url}?${i}` }).catch(() => {});
  const { retryExhausted } = engine.state;
  assert.equal(retryExhausted.length, 100);
  assert.equal(retryExhausted.at(-1)?.url, `${url}?119`);
  assert.equal(retryExhausted[0].url, `${url}?20`);
});

test('listeners and hooks that throw are reported and break nothing', async (t) => {
  const uncaught = catchUncaught(t);
  const broken = [new Error('a listener'), new Error('onExhausted'), new Error('getCdnId')];
  const engine = await engineFor(
    t,
    { attempts: 2 },
    {
      onExhausted() {
        throw broken[1];
      },
      getCdnId() {
        throw broken[2];
      },
    },
  );
  let told = 0;
  const unsubscribe = engine.subscribe(() => {
    throw broken[0];
  });
  engine.subscribe(() => void (told += 1));
  const url = server.on('/throws.mp4', answer(503, ''), ok(MEDIA), answer(503, ''));
  assert.equal((await engine.load({ url })).bytes, MEDIA.byteLength);
  assert.equal((await failureOf(engine.load({ url }))).code, 'SERVER_BUSY');
  await eventually(() => broken.every((error) => uncaught.includes(error)));
  assert.ok(told > 3, 'the listener after it was told');
  unsubscribe();
  assert.ok(uncaught.every((error) => broken.includes(/** @type {Error} */ (error))));
});

test('getCdnId names the host; without a name it is the origin', async (t) => {
  const engine = await engineFor(
    t,
    {},
    { getCdnId: (url) => new URL(url).searchParams.get('cdn') ?? undefined },
  );
  const url = server.on('/cdn.mp4', answer(403, ''));
  await engine.load({ url: `${url}?cdn=a` }).catch(() => {});
  await engine.load({ url }).catch(() => {});
  assert.deepEqual(
    engine.state.retryExhausted.map(({ host }) => host),
    ['a', server.origin],
  );
});

test('the bandwidth is shown once enough was seen, without any failure', async (t) => {
  const engine = await engineFor(t);
  assert.equal(engine.state.bandwidth, undefined);
  const url = server.on('/bandwidth.mp4', drip(MEDIA, 6, 20));
  await engine.load({ url });
  await sleep(0);
  const { bandwidth, excludedBytes } = engine.state;
  assert.ok(bandwidth !== undefined, 'a first attempt of 300 kB in 100 ms is a sample');
  assert.ok(bandwidth > 1e6 && bandwidth < 1e8, String(bandwidth));
  assert.equal(excludedBytes, 0);
});

test('R2, R64: bytes of retries are excluded from the bandwidth, and counted', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/excluded.mp4', answer(503, ''), drip(MEDIA, 6, 20));
  await engine.load({ url });
  await sleep(0);
  assert.equal(engine.state.bandwidth, undefined);
  assert.equal(engine.state.excludedBytes, MEDIA.byteLength);
});

/** The breaker opens at the second failure, and is closed again soon. */
const BREAKER = { consecutive: 2, base: 300, factor: 1, cap: 300 };

test('R42: the health of a host is shown, frozen, replaced, and survives JSON', async (t) => {
  const engine = await engineFor(t, { attempts: 1 }, { breaker: BREAKER });
  const { origin } = server;
  await engine.load({ url: server.on('/well.mp4', ok(MEDIA)) });
  await sleep(0);
  const well = engine.state.hostHealth;
  assert.deepEqual(well, {
    [origin]: {
      state: 'closed',
      failures: 0,
      openedAt: undefined,
      retryAt: undefined,
      trips: 0,
    },
  });
  const before = performance.now();
  const failures = ['/down-1.mp4', '/down-2.mp4'].map((path) =>
    failureOf(engine.load({ url: server.on(path, reset()) })),
  );
  await Promise.all(failures);
  await sleep(0);
  const { hostHealth } = engine.state;
  assert.notEqual(hostHealth, well);
  assert.equal(well[origin].state, 'closed', 'what was read once stays as it was');
  assert.ok(Object.isFrozen(hostHealth) && Object.isFrozen(hostHealth[origin]));
  const { openedAt, retryAt, ...rest } = hostHealth[origin];
  assert.deepEqual(rest, { state: 'open', failures: 2, trips: 1 });
  assert.ok(openedAt && openedAt >= before && openedAt <= performance.now());
  assert.ok(retryAt && retryAt > openedAt);
  const copy = JSON.parse(JSON.stringify(engine.state));
  assert.deepEqual(copy.hostHealth[origin], hostHealth[origin]);
  assert.equal(engine.state.hostHealth, hostHealth, 'and is the same until something happens');
});

test('R42: onHostHealth is told of each change of a host, in order, with the slot written', async (t) => {
  /** @type {any[]} */
  const events = [];
  const engine = await engineFor(
    t,
    { attempts: 1 },
    {
      breaker: BREAKER,
      onHostHealth(event) {
        events.push(event);
        const { host, was, ...health } = event;
        assert.notEqual(was, health.state);
        assert.deepEqual(engine.state.hostHealth[host], health, 'the slot was written before');
      },
      getCdnId: () => 'a',
    },
  );
  await engine.load({ url: server.on('/up.mp4', ok(MEDIA)) });
  await sleep(0);
  assert.deepEqual(events, [], 'a host that is well is no news');
  const paths = ['/out-1.mp4', '/out-2.mp4'];
  await Promise.all(paths.map((path) => failureOf(engine.load({ url: server.on(path, reset()) }))));
  // It waits for its turn, and is the probe.
  assert.equal((await engine.load({ url: server.on('/back.mp4', ok(MEDIA)) })).attempts, 1);
  await sleep(0);
  assert.deepEqual(
    events.map(({ host, was, state }) => [host, was, state]),
    [
      ['a', 'closed', 'open'],
      ['a', 'open', 'half-open'],
      ['a', 'half-open', 'closed'],
    ],
  );
  assert.ok(events.every((event) => Object.isFrozen(event)));
});

test('a rate limit is shown for its host until it is over, frozen, and survives JSON', async (t) => {
  const engine = await engineFor(t);
  const { origin } = server;
  await engine.load({ url: server.on('/free.mp4', ok(MEDIA)) });
  await sleep(0);
  assert.deepEqual(engine.state.throttle, {});
  const before = performance.now();
  const url = server.on('/limited.mp4', answer(429, '', { 'retry-after': '1' }), ok(MEDIA));
  const load = engine.load({ url });
  const { throttle } = await eventually(
    () => engine.state.throttle[origin] && engine.state,
    'the limit is shown',
  );
  assert.ok(Object.isFrozen(throttle) && Object.isFrozen(throttle[origin]));
  const { blockedUntil, rate } = throttle[origin];
  assert.ok(blockedUntil >= before + 1000 && blockedUntil < performance.now() + 1500);
  assert.ok(rate > 0);
  assert.deepEqual(JSON.parse(JSON.stringify(engine.state)).throttle, throttle);
  const seen = JSON.stringify(throttle);
  assert.equal((await load).attempts, 2);
  await sleep(0);
  assert.notEqual(engine.state.throttle, throttle);
  assert.equal(JSON.stringify(throttle), seen, 'what was read once stays as it was');
});

test('R42: resetHealth closes the breaker of one host, or of all, and says so', async (t) => {
  /** @type {any[]} */
  const events = [];
  const engine = await engineFor(
    t,
    { attempts: 1 },
    {
      breaker: { consecutive: 2, base: 60_000, cap: 60_000 },
      getCdnId: (url) => new URL(url).pathname[1],
      onHostHealth: ({ host, state }) => void events.push(`${host} ${state}`),
    },
  );
  const fail = (/** @type {string} */ path) =>
    failureOf(engine.load({ url: server.on(path, reset()) }));
  await Promise.all(['/a1.mp4', '/a2.mp4', '/b1.mp4', '/b2.mp4'].map(fail));
  await sleep(0);
  assert.deepEqual(events.splice(0).sort(), ['a open', 'b open']);
  engine.resetHealth('nobody');
  engine.setPathways({ first: 'a' });
  engine.resetHealth('first');
  await sleep(0);
  const states = () => Object.values(engine.state.hostHealth).map(({ state }) => state);
  assert.deepEqual(states(), ['closed', 'open']);
  assert.equal((await engine.load({ url: server.on('/a3.mp4', ok(MEDIA)) })).attempts, 1);
  engine.resetHealth();
  await sleep(0);
  assert.deepEqual(states(), ['closed', 'closed']);
  assert.deepEqual(events, ['a closed', 'b closed']);
});

test('R43: what is known of hosts outlives a change of source, retries and exhaustions do not', async (t) => {
  const breaker = { consecutive: 2, base: 60_000, cap: 60_000 };
  const hosts = { getCdnId: (/** @type {string} */ url) => new URL(url).pathname[1] };
  const engine = await engineFor(t, { attempts: 1 }, { breaker, ...hosts });
  const fail = (/** @type {string} */ path) =>
    failureOf(engine.load({ url: server.on(path, reset()) }));
  await Promise.all(['/a1.mp4', '/a2.mp4'].map(fail));
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = engine.load({ url: server.on('/c.mp4', busy), signal, site: 'init' });
  waiting.catch(() => {});
  const held = engine.load({ url: server.on('/a3.mp4', ok(MEDIA)), signal });
  held.catch(() => {});
  await eventually(() => Object.keys(engine.state.retryState).length > 0);
  assert.ok(engine.state.retryExhausted.length >= 2);
  const before = engine.state.hostHealth.a;
  await engine.startSource();
  await sleep(0);
  assert.deepEqual(engine.state.retryState, {});
  assert.deepEqual(engine.state.retryExhausted, []);
  assert.deepEqual(engine.state.hostHealth.a, before);
  assert.equal(before.state, 'open');
  controller.abort();
});
