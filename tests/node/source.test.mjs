// @ts-check
// Another source: what starts over, what stays, and what it brings with it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { engineFor, eventually, failureOf, freshPackage, quick, sleep } from './fixture.mjs';
import { answer, content, ok, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(20_000);
const busy = answer(503, '');

/** @param {any} engine */
const waits = (engine) => Object.values(engine.state.retryState).map((it) => it.waitReason);

function stopper() {
  const controller = new AbortController();
  return { abort: () => controller.abort(), signal: controller.signal };
}

describe('another source', { concurrency: true }, () => {
  test('R43: the health of hosts stays; the retry state and the exhaustions start over', async (t) => {
    const engine = await engineFor(
      t,
      { attempts: 1, onExhausted: 'auto' },
      { breaker: { consecutive: 2, base: 60_000, cap: 60_000 } },
    );
    engine.declareAlternatives('segment', 1);
    const urls = [0, 1].map((i) => server.on(`/down-${i}.mp4`, busy));
    for (const url of urls) await failureOf(engine.load({ url }));
    engine.declareAlternatives('segment', 0);
    const { abort, signal } = stopper();
    const held = failureOf(engine.load({ url: server.on('/held.mp4', busy), signal }));
    await eventually(() => waits(engine).length === 1);
    assert.ok(engine.state.retryExhausted.length >= 2);
    const { hostHealth } = engine.state;
    assert.equal(hostHealth[server.origin].state, 'open');
    await engine.startSource();
    await sleep(0);
    assert.deepEqual(engine.state.retryExhausted, []);
    assert.deepEqual(engine.state.retryState, {}, 'what is left of the source before');
    assert.deepEqual(engine.state.hostHealth, hostHealth);
    abort();
    await held;
  });

  test('R36, R43: each source has a budget of its own', async (t) => {
    const engine = await engineFor(
      t,
      { attempts: 2 },
      {
        budget: { source: 2, host: 100, session: 100, earn: 0 },
        breaker: { consecutive: 1000, minRequests: 1000 },
      },
    );
    /** @param {string} name */
    const spend = async (name) => {
      const urls = Array.from({ length: 5 }, (_, i) => server.on(`/${name}-${i}.mp4`, busy));
      const { abort, signal } = stopper();
      const loads = urls.map((url) => failureOf(engine.load({ url, signal })));
      // Each waits for the budget, or is through.
      await eventually(() => waits(engine).every((wait) => wait === 'budget'));
      await sleep(200);
      abort();
      await Promise.all(loads);
      return urls.flatMap((_, i) => server.seen(`/${name}-${i}.mp4`)).length;
    };
    assert.equal(await spend('first'), 7, 'five first attempts and two retries');
    assert.equal(await spend('spent'), 5, 'nothing is left, and first attempts are free');
    await engine.startSource();
    assert.equal(await spend('second'), 7);
  });

  test('R62: its policies count for what starts from now on, and end with it', async (t) => {
    const engine = await engineFor(t, { attempts: 3 }, { breaker: { consecutive: 100 } });
    /** @param {string} name */
    const attempts = async (name) =>
      (await failureOf(engine.load({ url: server.on(`/${name}.mp4`, busy) }))).attempts;
    assert.equal(await attempts('before'), 3);
    await engine.startSource({ sites: { segment: { attempts: 1 } } });
    assert.equal(await attempts('during'), 1);
    await engine.startSource();
    assert.equal(await attempts('afterwards'), 3);
  });

  test('R5, R62: its recovery matrix counts for it alone', async (t) => {
    const engine = await engineFor(t, { attempts: 2 });
    /** @param {string} name */
    const attempts = async (name) =>
      (await failureOf(engine.load({ url: server.on(`/${name}.mp4`, answer(410, '')) }))).attempts;
    await engine.startSource({ recovery: { 410: 'retry' } });
    assert.equal(await attempts('matrix'), 2);
    await engine.startSource();
    assert.equal(await attempts('no-matrix'), 1);
  });

  test('what was declared for the source before is forgotten', async (t) => {
    const engine = await engineFor(t, { attempts: 1, onExhausted: 'auto' });
    engine.declareAlternatives('segment', 1);
    const url = server.on('/declared.mp4', busy, busy, ok(MEDIA));
    engine.declareAlternatives(url, 1);
    assert.equal((await failureOf(engine.load({ url }))).reason, 'attempts');
    await engine.startSource();
    engine.resetHealth();
    const load = engine.load({ url });
    await eventually(() => waits(engine)[0] === 'hold');
    engine.retryNow();
    await load;
  });

  test('what it may not be is refused by name, and changes nothing', async (t) => {
    const engine = await engineFor(t, { attempts: 3 });
    /** @type {[any, string][]} */
    const refused = [
      [{ sites: { segment: { attempts: 0 } } }, 'source.sites.segment.attempts'],
      [{ hooks: { shouldRetry: 1 } }, 'source.hooks.shouldRetry'],
      [{ hooks: { onExhausted() {} } }, 'source.hooks.onExhausted'],
      [{ recovery: { 451: 'retry' } }, 'source.recovery.451'],
      [7, 'source'],
    ];
    for (const [source, field] of refused) {
      const error = await failureOf(engine.startSource(source));
      assert.equal(error.code, 'INVALID_OPTION');
      assert.equal(error.field, field);
    }
    const url = server.on('/unchanged.mp4', busy);
    assert.equal((await failureOf(engine.load({ url }))).attempts, 3);
  });

  test('R62: a source that starts before the module is there counts', async (t) => {
    const cold = await (await freshPackage(t)).node();
    const engine = cold.createEngine(quick({ attempts: 3 }));
    t.after(() => engine.destroy());
    const started = engine.startSource({
      sites: { segment: { attempts: 1 } },
      hooks: { shouldRetry: () => undefined },
    });
    await Promise.all([engine.ready, started]);
    const url = server.on('/early.mp4', busy);
    assert.equal((await failureOf(engine.load({ url }))).attempts, 1);
  });

  test('a source that starts on a destroyed engine does nothing', async (t) => {
    const engine = await engineFor(t);
    engine.destroy();
    await engine.startSource({ hooks: { shouldRetry: () => true } });
    assert.equal((await failureOf(engine.load({ url: server.origin }))).code, 'DESTROYED');
  });
});
