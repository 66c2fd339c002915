// @ts-check
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FILE, SIZE, request, startTestLab } from './lab-fixture.mjs';
import { Link } from './link.mjs';

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

// 100 bytes a ms, nothing, 50 bytes a ms; 12 500 bytes each time around.
const TRACE = [
  { ms: 100, kbps: 800, latencyMs: 30 },
  { ms: 200, kbps: 0, latencyMs: 70 },
  { ms: 50, kbps: 400 },
];

test('what a trace lets through is exact over its steps, and goes around', () => {
  const link = new Link(TRACE);
  assert.equal(link.capacity(0, 100), 10_000);
  assert.equal(link.capacity(50, 325), 5_000 + 1_250);
  assert.equal(link.capacity(120, 290), 0);
  assert.equal(link.capacity(340, 360), 500 + 1_000);
  assert.equal(link.capacity(30, 30 + 7 * 350), 7 * 12_500);
  // Together the parts are the whole, however they were cut.
  const cuts = Array.from({ length: 211 }, (_, i) => i * 10.37);
  const parts = cuts.slice(1).reduce((sum, to, i) => sum + link.capacity(cuts[i], to), 0);
  assert.ok(Math.abs(parts - link.capacity(0, /** @type {number} */ (cuts.at(-1)))) < 1e-6);
});

test('a constant link tells what it could have sent, too', () => {
  assert.equal(new Link(1600).capacity(500, 1500), 200_000);
});

test('a trace needs steps that let something through', () => {
  for (const steps of [[], [{ ms: 10, kbps: 0 }], [{ ms: 0, kbps: 5 }], [{ ms: 5, kbps: -1 }]]) {
    assert.throws(() => new Link(steps), RangeError);
  }
});

test('headers wait for the latency of a trace, and do not pass in an outage', () => {
  let now = 10;
  const link = new Link(TRACE, () => now);
  // 300 bytes take 3 ms.
  assert.equal(link.headerDelay(), 30 + 3);
  now = 150;
  assert.equal(link.headerDelay(), 70 + 150 + 6);
  // 100 bytes before the outage, 200 after it.
  now = 99;
  assert.equal(link.headerDelay(), 30 + 1 + 200 + 4);
});

// 100 000 bytes at 200 a ms, 400 ms of nothing, the rest at 400 a ms.
test('a response follows the trace, through an outage', () =>
  takes(500 + 400 + 250, async () => {
    const trace = [
      { ms: 500, kbps: 1600 },
      { ms: 400, kbps: 0 },
      { ms: 5000, kbps: 3200 },
    ];
    const session = lab.createSession({ link: { trace } });
    return (await request(session.url(FILE))).ms;
  }));

test('a trace begins with the first request, and a late response meets its later steps', async () => {
  const trace = [
    { ms: 300, kbps: 80_000 },
    { ms: 60_000, kbps: 1600 },
  ];
  await takes(nominalMs(1600), async () => {
    const session = lab.createSession({ link: { trace } });
    await request(session.url(FILE));
    await new Promise((resolve) => setTimeout(resolve, 320));
    return (await request(session.url(FILE))).ms;
  });
});
