// @ts-check
// What follows when a ladder is spent: reject, hold, or what fits.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createEngine } from 'holdfast';
import { engineFor, eventually, failureOf, freshPackage, quick, sleep } from './fixture.mjs';
import { answer, content, ok, reset, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(20_000);
const busy = answer(503, '');

/** @param {any} engine */
const waits = (engine) => Object.values(engine.state.retryState).map((entry) => entry.waitReason);

/** Makes sure that a load goes into a hold. @param {any} engine @param {object} request */
async function holds(engine, request) {
  const controller = new AbortController();
  const failure = failureOf(engine.load({ ...request, signal: controller.signal }));
  await eventually(() => waits(engine)[0] === 'hold');
  controller.abort();
  assert.equal((await failure).name, 'AbortError');
}

describe('a spent ladder', { concurrency: true }, () => {
  test('R35: "reject" rejects after its attempts', async (t) => {
    const engine = await engineFor(t, { attempts: 2, onExhausted: 'reject' });
    const url = server.on('/reject.mp4', busy);
    const error = await failureOf(engine.load({ url }));
    assert.equal(error.reason, 'attempts');
    assert.equal(error.attempts, 2);
    assert.equal(server.seen('/reject.mp4').length, 2);
  });

  for (const mode of /** @type {const} */ (['hold', 'auto'])) {
    test(`R35: "${mode}" goes on slowly, with one event, until the server is back`, async (t) => {
      /** @type {any[]} */
      const events = [];
      const engine = await engineFor(
        t,
        { attempts: 2, onExhausted: mode },
        { onExhausted: (event) => void events.push(event) },
      );
      const url = server.on(`/${mode}.mp4`, busy, busy, reset(), ok(MEDIA));
      const load = engine.load({ url });
      await eventually(() => waits(engine)[0] === 'hold');
      assert.equal(engine.state.retryExhausted.length, 1);
      const [entry] = Object.values(engine.state.retryState);
      assert.equal(entry.exhausted, true);
      const { attempts, bytes } = await load;
      assert.equal(attempts, 4);
      assert.equal(bytes, MEDIA.byteLength);
      assert.equal(events.length, 1, 'once an episode');
      assert.equal(events[0].holding, true);
      assert.equal(events[0].terminal, false);
      assert.equal(engine.state.retryExhausted.length, 1);
      const [, , third, fourth] = server.seen(`/${mode}.mp4`);
      assert.ok(fourth.at - third.at >= 800, 'about a second apart');
      await sleep(0);
      assert.deepEqual(engine.state.retryState, {});
    });
  }

  test('R35: a terminal answer ends a hold', async (t) => {
    const engine = await engineFor(t, { attempts: 1, onExhausted: 'hold' });
    const url = server.on('/ends.mp4', busy, answer(410, ''));
    const load = failureOf(engine.load({ url }));
    await eventually(() => waits(engine)[0] === 'hold');
    engine.retryNow();
    const error = await load;
    assert.equal(error.code, 'GONE');
    assert.equal(error.reason, 'terminal');
    assert.equal(engine.state.retryExhausted.length, 1, 'the episode was told already');
  });

  test('R35: the hold limit ends a hold', async (t) => {
    const engine = await engineFor(t, { attempts: 1, onExhausted: 'hold' }, { holdLimit: 100 });
    const url = server.on('/limit.mp4', busy);
    const error = await failureOf(engine.load({ url }));
    assert.equal(error.reason, 'hold-limit');
  });

  test('retryNow ends a hold at once', async (t) => {
    const engine = await engineFor(t, { attempts: 1, onExhausted: 'hold' });
    const url = server.on('/now.mp4', busy, ok(MEDIA));
    const load = engine.load({ url });
    await eventually(() => waits(engine)[0] === 'hold');
    const before = performance.now();
    engine.retryNow();
    await load;
    assert.ok(performance.now() - before < 500);
    assert.ok(engine.log().some(({ event, detail }) => event === 'hurried' && detail === 'caller'));
  });

  test('retryNow ends a back-off, but not what the server asked to wait', async (t) => {
    const engine = await engineFor(t, { backoff: { base: 2000, factor: 1, cap: 2000 } });
    const url = server.on('/backoff.mp4', answer(500, ''), ok(MEDIA));
    const load = engine.load({ url });
    await eventually(() => waits(engine)[0] === 'backoff');
    engine.retryNow();
    await load;
    const asked = server.on('/asked.mp4', answer(503, '', { 'retry-after': '3' }), ok(MEDIA));
    const other = engine.load({ url: asked });
    await eventually(() => waits(engine)[0] === 'retry-after');
    engine.retryNow();
    await other;
    const [first, second] = server.seen('/asked.mp4');
    assert.ok(second.at - first.at >= 3000);
  });

  test('R41: an alternative that is declared for the site rejects, none holds', async (t) => {
    const engine = await engineFor(t, { attempts: 1, onExhausted: 'auto' });
    const url = server.on('/site.mp4', busy);
    engine.declareAlternatives('segment', 1);
    assert.equal((await failureOf(engine.load({ url }))).reason, 'attempts');
    engine.declareAlternatives('segment', 0);
    const held = failureOf(engine.load({ url }));
    await eventually(() => waits(engine)[0] === 'hold');
    engine.declareAlternatives('segment', 2);
    engine.retryNow();
    assert.equal((await held).code, 'SERVER_BUSY', 'a hold ends when there is somewhere to go');
    const playlist = engine.load({ url: server.on('/site.m3u8', busy, ok('#EXTM3U')) });
    await eventually(() => waits(engine)[0] === 'hold');
    engine.retryNow();
    await playlist;
  });

  test('R41: a declaration for an URL counts more than its site, until it is taken back', async (t) => {
    const engine = await engineFor(t, { attempts: 1, onExhausted: 'auto' });
    const url = server.on('/url.mp4', busy);
    engine.declareAlternatives('segment', 0);
    engine.declareAlternatives(url, 1);
    assert.equal((await failureOf(engine.load({ url }))).reason, 'attempts');
    engine.declareAlternatives(url, undefined);
    await holds(engine, { url });
    engine.declareAlternatives('segment', 1);
    engine.declareAlternatives(url, 0);
    await holds(engine, { url });
  });

  test('R41: a declaration made before the module is there counts', async (t) => {
    const cold = await (await freshPackage(t)).node();
    const engine = cold.createEngine(quick({ attempts: 1, onExhausted: 'auto' }));
    t.after(() => engine.destroy());
    engine.declareAlternatives('segment', 1);
    await engine.ready;
    const url = server.on('/early.mp4', busy);
    const error = await failureOf(engine.load({ url, signal: AbortSignal.timeout(1500) }));
    assert.equal(error.reason, 'attempts');
  });

  test('the mode of all sites gives way to that of one', async (t) => {
    const policy = { attempts: 1, headersTimeout: 1000 };
    const engine = createEngine({
      onExhausted: 'reject',
      sites: { segment: policy, init: { ...policy, onExhausted: 'hold' } },
    });
    t.after(() => engine.destroy());
    await engine.ready;
    const url = server.on('/modes.mp4', busy);
    assert.equal((await failureOf(engine.load({ url, site: 'segment' }))).reason, 'attempts');
    await holds(engine, { url, site: 'init' });
  });
});
