// @ts-check
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FILE, SIZE, request, startTestLab } from './lab-fixture.mjs';

/** @type {Awaited<ReturnType<typeof startTestLab>>} */
let lab;
before(async () => {
  lab = await startTestLab();
});
after(() => lab.close());

/**
 * Measures, and again if it was off: a busy machine adds time now and then, a
 * wrong pace is wrong every time.
 * @param {number} expected ms
 * @param {() => Promise<number>} measure
 */
async function takes(expected, measure) {
  let actual = 0;
  for (let tries = 0; tries < 3; tries += 1) {
    actual = await measure();
    if (Math.abs(actual - expected) < expected * 0.1) return;
  }
  assert.fail(`${actual.toFixed(0)} ms, expected ${expected.toFixed(0)} ms`);
}

/** Time of the file on a link of so many kbit/s. @param {number} kbps */
function nominalMs(kbps) {
  return (SIZE * 8) / kbps;
}

for (const kbps of [1600, 3200]) {
  test(`one response takes its time at ${kbps} kbit/s`, () =>
    takes(nominalMs(kbps), async () => {
      const session = lab.createSession({ link: { kbps } });
      return (await request(session.url(FILE))).ms;
    }));
}

test('responses in flight share the link fairly', () =>
  takes(3 * nominalMs(3200), async () => {
    const session = lab.createSession({ link: { kbps: 3200 } });
    const answers = await Promise.all([1, 2, 3].map(() => request(session.url(FILE))));
    // None of them may be done early.
    return Math.min(...answers.map(({ ms }) => ms));
  }));

test('a small response is not held up by a large one', () =>
  takes(2 * ((20_000 * 8) / 1600), async () => {
    const session = lab.createSession({ link: { kbps: 1600 } });
    const large = request(session.url(FILE));
    const small = await request(session.url(FILE), { headers: { Range: 'bytes=0-19999' } });
    await large;
    return small.ms;
  }));

test('headers wait for the delay of the link, with seeded jitter', async () => {
  const link = { delayMs: 100, jitterMs: 50, seed: 7 };
  const [first, second] = [lab.createSession({ link }), lab.createSession({ link })];
  const delays = [1, 2, 3].map(() => first.headerDelay());
  assert.deepEqual(
    delays,
    [1, 2, 3].map(() => second.headerDelay()),
  );
  assert.ok(new Set(delays).size > 1 && delays.every((ms) => ms >= 100 && ms < 150));
  const { ms } = await request(lab.createSession({ link: { delayMs: 100 } }).url(FILE));
  assert.ok(ms >= 99, `${ms} ms`);
});

// 200 ms at half the rate, the rest at the full one.
test('a response the client left frees its share', () =>
  takes(nominalMs(1600) + 100, async () => {
    const session = lab.createSession({ link: { kbps: 1600 } });
    const left = request(session.url(FILE), { patienceMs: 200 });
    const stayed = await request(session.url(FILE));
    await left;
    return stayed.ms;
  }));
