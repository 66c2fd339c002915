// @ts-check
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateOracle } from './oracle.mjs';

/**
 * Two tracks of twenty 2 s segments: 175 kB of video and 16 kB of audio each.
 * @type {import('./playlist.mjs').Stream}
 */
const stream = {
  main: { file: 'main.m3u8', bytes: 400 },
  tracks: [
    ['mid', 175_000],
    ['audio', 16_000],
  ].map(([name, bytes]) => ({
    playlist: { file: `${name}.m3u8`, bytes: 800 },
    init: { file: `${name}-init.mp4`, bytes: 800 },
    segments: Array.from({ length: 20 }, (_, i) => ({
      file: `${name}-${String(i + 1).padStart(2, '0')}.m4s`,
      bytes: Number(bytes),
      seconds: 2,
    })),
  })),
};
const link = { kbps: 1600, delayMs: 40 };

/** @param {import('./rules.mjs').Rule[]} rules */
function simulate(rules, options = {}) {
  return simulateOracle({ stream, link, rules, ...options });
}

/** @param {number} actual @param {number} expected @param {number} tolerance */
function near(actual, expected, tolerance) {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual}, expected ${expected}`);
}

test('a clean run starts after four round trips and one segment, and never waits', () => {
  const { startS, stallS, endS } = simulate([], { setupS: 0 });
  near(startS, 4 * 0.04 + (400 + 2 * 1600 + 175_000 + 16_000) / 200_000, 0.02);
  assert.equal(stallS, 0);
  near(endS - startS, 40, 1e-6);
});

test('a body that stops half way costs nothing while there is a buffer', () => {
  const { stallS } = simulate([{ match: '^mid-05', nth: 1, act: 'stallBody', at: 0.5 }]);
  assert.equal(stallS, 0);
});

test('a burst of ten seconds costs what the buffer does not cover', () => {
  const rules = /** @type {import('./rules.mjs').Rule[]} */ ([
    { match: '\\.m4s$', window: [6000, 16000], act: 'status', status: 503 },
  ]);
  // Six segments are asked for before second 6. Playback, begun at 1.4 s, runs dry
  // 12 s later; the next segment is there one round trip and 191 kB after second 16.
  const { startS, stallS } = simulate(rules);
  near(stallS, 16 + 0.04 + 191_000 / 200_000 - (startS + 12), 0.1);
});

test('a request that is never answered costs one round trip', () => {
  const clean = simulate([]);
  const hang = simulate([{ match: '^main', nth: 1, act: 'stallHeaders' }]);
  near(hang.startS - clean.startS, 0.04, 1e-6);
  assert.equal(hang.stallS, 0);
});

test('bytes before a fault are kept', () => {
  const { startS } = simulate([{ match: '^mid-01', nth: [1, 2], act: 'resetBody', at: 0.5 }]);
  near(startS - simulate([]).startS, 0.08, 0.02);
});

test('a link slower than the stream makes even a perfect client wait', () => {
  const slow = { kbps: 382, delayMs: 0 };
  const { stallS } = simulateOracle({ stream, link: slow, rules: [], setupS: 0 });
  // 191 kB a segment at 47.75 kB/s: 4 s for each 2 s of media.
  near(stallS, 19 * 2, 0.5);
});

test('a small buffer goal leaves less to live on', () => {
  const rules = /** @type {import('./rules.mjs').Rule[]} */ ([
    { match: '\\.m4s$', window: [15000, 25000], act: 'status', status: 503 },
  ]);
  assert.equal(simulate(rules).stallS, 0);
  const { stallS } = simulate(rules, { goalS: 4 });
  assert.ok(stallS > 3 && stallS < 7.5, String(stallS));
});

test('what is gone for good is skipped, and costs its own duration', () => {
  const oracle = simulate([{ match: '^mid-05', act: 'status', status: 404 }]);
  const { outcome, skippedS, stallS, startS, endS } = oracle;
  assert.deepEqual([outcome, skippedS, stallS], ['ended', 2, 0]);
  near(endS - startS, 38, 1e-6);
});

test('any other fault that never ends, ends playback', () => {
  const rules = /** @type {import('./rules.mjs').Rule[]} */ ([
    { match: '\\.m4s$', window: [6000, Infinity], act: 'status', status: 403 },
  ]);
  const { outcome, stallS, startS, endS } = simulate(rules);
  assert.deepEqual([outcome, stallS], ['dead', 0]);
  near(endS - startS, 12, 0.1);
  const never = simulate([{ match: '^main', act: 'status', status: 503 }]);
  assert.deepEqual([never.outcome, never.startS], ['dead', Infinity]);
});

test('without a network nothing moves and nothing is lost', () => {
  const { stallS } = simulate([], { outages: [[6000, 16000]] });
  const burst = simulate([{ match: '\\.m4s$', window: [6000, 16000], act: 'status', status: 503 }]);
  // What is under way at the beginning of a burst still comes; here it waits too.
  assert.ok(stallS > burst.stallS && stallS < burst.stallS + 2.1, String(stallS));
  const trace = [
    { ms: 6000, kbps: 1600 },
    { ms: 10_000, kbps: 0 },
    { ms: 100_000, kbps: 1600 },
  ];
  near(simulate([], { link: { trace, delayMs: 40 } }).stallS, stallS, 1e-6);
});

test('a fault of one host costs nothing where there is another', () => {
  const rules = /** @type {import('./rules.mjs').Rule[]} */ ([
    { match: '\\.m4s$', host: '^a\\.', window: [6000, 60_000], act: 'status', status: 502 },
  ]);
  assert.deepEqual(simulate(rules), simulate([]));
});
