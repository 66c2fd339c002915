// @ts-check
// What is known of hosts, and what players say of them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { engineFor, eventually, failureOf, sleep, within } from './fixture.mjs';
import { answer, content, ok, reset, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** Another host. @type {typeof server} */
let other;
before(async () => ([server, other] = await Promise.all([serve(), serve()])));
after(() => Promise.all([server.close(), other.close()]));

const MEDIA = content(20_000);
const busy = answer(500, '');
const breaker = { consecutive: 2, base: 60_000, cap: 60_000 };

/** @param {any} engine */
const waits = (engine) => Object.values(engine.state.retryState).map((it) => it.waitReason);

/**
 * Opens the breaker of the server.
 *
 * @param {any} engine
 * @param {string} name
 */
async function takeDown(engine, name) {
  for (const i of [0, 1]) {
    await failureOf(engine.load({ url: server.on(`/${name}-${i}.mp4`, busy) }));
  }
  await eventually(() => engine.state.hostHealth[server.origin]?.state === 'open');
}

describe('the health of hosts', { concurrency: true }, () => {
  test('R38, R42: a host that fails is shown open, to subscribers and to onHostHealth', async (t) => {
    /** @type {any[]} */
    const events = [];
    const engine = await engineFor(
      t,
      { attempts: 1 },
      { breaker, onHostHealth: (event) => events.push(event) },
    );
    let told = 0;
    engine.subscribe((/** @type {any} */ { hostHealth }) => {
      if (hostHealth[server.origin]?.state === 'open') told += 1;
    });
    await takeDown(engine, 'shown');
    const health = engine.state.hostHealth[server.origin];
    assert.ok(Object.isFrozen(health) && Object.isFrozen(engine.state.hostHealth));
    assert.equal(health.failures, 2);
    assert.equal(health.trips, 1);
    const now = performance.now();
    assert.ok(Number(health.openedAt) <= now && Number(health.retryAt) > now);
    assert.ok(told > 0);
    assert.deepEqual(events, [{ host: server.origin, was: 'closed', ...health }]);
    assert.ok(Object.isFrozen(events[0]));
    assert.deepEqual(JSON.parse(JSON.stringify(engine.state.hostHealth)), {
      [server.origin]: { ...health },
    });
  });

  test('R38, R41: with somewhere else to go an open host rejects at once, with its cause', async (t) => {
    const engine = await engineFor(t, { attempts: 1, onExhausted: 'auto' }, { breaker });
    engine.declareAlternatives('segment', 1);
    await takeDown(engine, 'rejects');
    const url = server.on('/rejects.mp4', ok(MEDIA));
    const error = await failureOf(engine.load({ url }));
    assert.equal(error.reason, 'breaker');
    assert.equal(error.status, 500, 'the stored cause');
    assert.equal(error.code, 'SERVER');
    assert.ok(error.retryAt > performance.now());
    assert.equal(error.attempts, 0);
    assert.equal(server.seen('/rejects.mp4').length, 0, 'nothing was sent');
  });

  test('R41: with nowhere else to go it holds, and one probe at a time is sent', async (t) => {
    const engine = await engineFor(
      t,
      { attempts: 1, onExhausted: 'auto' },
      { breaker: { ...breaker, base: 400, cap: 400 } },
    );
    const urls = [0, 1, 2].map((i) => server.on(`/holds-${i}.mp4`, busy, ok(MEDIA)));
    const loads = urls.map((url) => engine.load({ url }));
    await eventually(() => engine.state.hostHealth[server.origin]?.state === 'open');
    await eventually(() => engine.state.hostHealth[server.origin]?.state !== 'open', '', 8000);
    for (const { bytes } of await within(Promise.all(loads), 15_000, 'the loads')) {
      assert.equal(bytes, MEDIA.byteLength);
    }
    await sleep(0);
    assert.equal(engine.state.hostHealth[server.origin]?.state ?? 'closed', 'closed');
  });

  test('R39: refusals say nothing against a host', async (t) => {
    const engine = await engineFor(t, { attempts: 1 }, { breaker });
    for (const [i, status] of [401, 403, 404, 410, 429].entries()) {
      const url = server.on(`/neutral-${i}.mp4`, answer(status, ''));
      const controller = new AbortController();
      const load = failureOf(engine.load({ url, signal: controller.signal }));
      if (status === 429) {
        await eventually(() => waits(engine).length === 1);
        controller.abort();
      }
      await load;
    }
    assert.equal(engine.state.hostHealth[server.origin]?.state ?? 'closed', 'closed');
  });

  test('R40: one URL that fails again and again does not open its host', async (t) => {
    const engine = await engineFor(t, { attempts: 4 }, { breaker });
    await failureOf(engine.load({ url: server.on('/lonely.mp4', busy) }));
    assert.equal(server.seen('/lonely.mp4').length, 4);
    assert.equal(engine.state.hostHealth[server.origin]?.state ?? 'closed', 'closed');
  });

  test('R38: getCdnId says what is one host', async (t) => {
    const engine = await engineFor(
      t,
      { attempts: 1 },
      { breaker, getCdnId: (url) => new URL(url).searchParams.get('cdn') ?? undefined },
    );
    const a = server.on('/cdn-a.mp4', busy);
    const b = other.on('/cdn-b.mp4', reset());
    await failureOf(engine.load({ url: `${a}?cdn=A` }));
    await failureOf(engine.load({ url: `${b}?cdn=A` }));
    await eventually(() => engine.state.hostHealth.A?.state === 'open');
    const fine = `${server.on('/cdn-c.mp4', ok(MEDIA))}`;
    assert.equal((await engine.load({ url: `${fine}?cdn=B` })).attempts, 1);
    assert.equal((await engine.load({ url: fine })).attempts, 1, 'its origin, where it says none');
    assert.equal(engine.state.retryExhausted[0].host, 'A');
  });

  test('R42: resetHealth forgets what is known against a host, or against all', async (t) => {
    /** @type {string[]} */
    const events = [];
    const engine = await engineFor(
      t,
      { attempts: 1, onExhausted: 'auto' },
      { breaker, onHostHealth: ({ was, state }) => events.push(`${was} ${state}`) },
    );
    engine.declareAlternatives('segment', 1);
    for (const host of [server.origin, undefined]) {
      await takeDown(engine, `reset-${host === undefined}`);
      engine.resetHealth('https://never-asked.example');
      await sleep(0);
      assert.equal(engine.state.hostHealth[server.origin].state, 'open');
      engine.resetHealth(host);
      const url = server.on('/well.mp4', ok(MEDIA));
      assert.equal((await engine.load({ url })).attempts, 1);
    }
    assert.deepEqual(events, ['closed open', 'open closed', 'closed open', 'open closed']);
  });

  test('R69: rotate ends the waits for a host, and no others', async (t) => {
    const engine = await engineFor(t, { backoff: { base: 4000, factor: 1, cap: 4000 } });
    const here = failureOf(engine.load({ url: server.on('/rotate.mp4', busy) }));
    const there = engine.load({ url: other.on('/rotate.mp4', busy, ok(MEDIA)) });
    await eventually(() => waits(engine).length === 2);
    engine.rotate(server.origin);
    const error = await within(here, 300, 'the verdict');
    assert.equal(error.reason, 'rotated');
    assert.equal(error.status, 500);
    assert.equal(waits(engine).length <= 2, true);
    engine.rotate('https://never-asked.example');
    engine.retryNow();
    assert.equal((await there).attempts, 2);
  });

  test('R69: rotateAfter gives up earlier where there is somewhere else to go', async (t) => {
    const engine = await engineFor(t, { attempts: 3, rotateAfter: 1, onExhausted: 'auto' });
    engine.declareAlternatives('segment', 1);
    const url = server.on('/rotate-after.mp4', busy);
    assert.equal((await failureOf(engine.load({ url }))).attempts, 1);
    engine.declareAlternatives('segment', undefined);
    const alone = await engineFor(t, { attempts: 3, rotateAfter: 1, onExhausted: 'reject' });
    const error = await failureOf(alone.load({ url: server.on('/rotate-alone.mp4', busy) }));
    assert.equal(error.attempts, 3);
  });

  test('R71: pathways are names of hosts', async (t) => {
    const engine = await engineFor(
      t,
      { attempts: 1, onExhausted: 'auto', backoff: { base: 4000, factor: 1, cap: 4000 } },
      { breaker },
    );
    engine.setPathways({ 'CDN-A': server.origin });
    engine.declareAlternatives('segment', 1);
    await takeDown(engine, 'pathway');
    engine.resetHealth('CDN-A');
    await eventually(() => engine.state.hostHealth[server.origin]?.state !== 'open');
    engine.declareAlternatives('segment', 0);
    const load = failureOf(engine.load({ url: server.on('/pathway.mp4', busy) }));
    await eventually(() => waits(engine).length === 1);
    engine.rotate('CDN-A');
    assert.equal((await within(load, 500, 'the verdict')).reason, 'rotated');
  });

  test('R68: the slots are replaced, frozen and JSON, with throttle and retryExhausted too', async (t) => {
    const engine = await engineFor(t, { attempts: 1 });
    const { state } = engine;
    const copy = JSON.stringify(state);
    const url = server.on('/slots.mp4', answer(429, '', { 'retry-after': '5' }));
    const controller = new AbortController();
    const load = failureOf(engine.load({ url, signal: controller.signal }));
    await eventually(() => engine.state.throttle[server.origin] !== undefined);
    assert.equal(JSON.stringify(state), copy);
    assert.ok(Object.isFrozen(engine.state.throttle[server.origin]));
    assert.deepEqual(JSON.parse(JSON.stringify(engine.state)).throttle, engine.state.throttle);
    controller.abort();
    await load;
  });
});
