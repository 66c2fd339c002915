// @ts-check
// The preset "naive", for comparison: what a player does by itself, and none of the rest.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createEngine } from 'holdfast';
import { failureOf } from './fixture.mjs';
import { answer, content, ok, reset, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(20_000);
const busy = answer(503, '', { 'retry-after': '30' });

/** @param {import('node:test').TestContext} t */
async function naive(t) {
  const asked = () => assert.fail('no hook is asked');
  const engine = createEngine({
    preset: 'naive',
    shouldRetry: asked,
    refreshPlaybackToken: asked,
    detectRateLimit: asked,
    onAttemptFailed: asked,
  });
  t.after(() => engine.destroy());
  assert.equal(await engine.ready, true);
  return engine;
}

describe('the preset "naive"', { concurrency: true }, () => {
  test('R7: asks again after 1, 2 and 4 s, without jitter, and then gives up', async (t) => {
    const engine = await naive(t);
    const paths = ['/dead.mp4', '/cut.mp4', '/limited.m3u8'];
    const answers = [busy, reset(), answer(502, '')];
    const errors = await Promise.all(
      paths.map((path, i) => failureOf(engine.load({ url: server.on(path, answers[i]) }))),
    );
    for (const [i, path] of paths.entries()) {
      assert.equal(errors[i].attempts, 4);
      const times = server.seen(path).map(({ at }) => at);
      const gaps = times.slice(1).map((at, n) => at - times[n]);
      assert.equal(gaps.length, 3);
      for (const [n, gap] of gaps.entries()) {
        const due = 1000 * 2 ** n;
        assert.ok(gap >= due - 2 && gap < due + 900, `${path}: ${gaps}`);
      }
    }
    assert.equal(engine.state.hostHealth[server.origin]?.state ?? 'closed', 'closed');
    assert.deepEqual(engine.state.throttle, {});
  });

  for (const status of [400, 401, 403, 404, 408, 410, 425, 429]) {
    test(`R7: ${status} is final`, async (t) => {
      const engine = await naive(t);
      const url = `${server.on(`/final-${status}.mp4`, answer(status, ''))}?token=0123456789`;
      const error = await failureOf(engine.load({ url }));
      assert.equal(error.attempts, 1);
      assert.equal(error.status, status);
    });
  }

  test('R7: one that gets there in the end succeeds', async (t) => {
    const engine = await naive(t);
    const { attempts } = await engine.load({ url: server.on('/second.mp4', busy, ok(MEDIA)) });
    assert.equal(attempts, 2);
  });
});
