// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { Link } from '../../lab/link.mjs';
import { CASES, linkTrace, turned } from './cases.mjs';
import { accountPlayed, playedRenditions } from './played.mjs';
import { report } from './report.mjs';
import { bitrateWord, stallWord, startWord, summary } from './summary.mjs';

/** @type {Map<string, number>} */
const sizes = new Map(
  Object.entries({ low: 100, mid: 200, high: 400, top: 800 }).flatMap(([name, kB]) =>
    [1, 2, 3].map((i) => /** @type {[string, number]} */ ([`${name}-0${i}.m4s`, kB * 1000])),
  ),
);

/**
 * @param {string} file
 * @param {number} end
 * @param {{ from?: number, bytes?: number }} [part]
 * @returns {import('../../lab/session.mjs').LogEntry}
 */
function entry(file, end, { from = 0, bytes = sizes.get(file) ?? 0 } = {}) {
  const fixed = { attempt: 1, range: null, act: 'normal', status: 200 };
  return { ...fixed, t: end - 10, end, file, from, bytes, how: 'sent' };
}

/** Plays from second 1 on without waiting. @param {number} seconds */
const samples = (seconds) =>
  Array.from({ length: seconds + 1 }, (_, i) => ({
    ...{ at: 1000 + i * 1000, currentTime: i, bufferedEnd: 6, readyState: 4 },
    ended: i === seconds,
  }));

test('the bitrate is that of what was shown, and the rest was wasted', () => {
  const log = [
    entry('low-01.m4s', 500),
    entry('mid-02.m4s', 900),
    // It came before the playhead, so it took the place of the other one.
    entry('high-02.m4s', 2500),
    // It was left for a lower one.
    entry('top-03.m4s', 2800, { bytes: 150_000 }),
    entry('mid-03.m4s', 3500),
    entry('audio-01.m4s', 400, { bytes: 16_000 }),
  ];
  const run = { log, sizes, samples: samples(6), playedS: 6 };
  assert.deepEqual(playedRenditions(run), ['low', 'high', 'mid']);
  assert.deepEqual(accountPlayed(run), {
    meanKbps: (700 * 8) / 6,
    switches: 2,
    requests: 6,
    wastedKB: 200 + 150,
  });
});

test('a body that came in parts counts when it is whole, and twice what was sent twice', () => {
  const log = [
    entry('mid-01.m4s', 300, { bytes: 120_000 }),
    entry('low-01.m4s', 500),
    entry('mid-01.m4s', 700, { from: 100_000, bytes: 100_000 }),
  ];
  const run = { log, sizes, samples: samples(2), playedS: 2 };
  assert.deepEqual(playedRenditions(run), ['mid']);
  assert.equal(accountPlayed(run).wastedKB, 100 + 20);
});

test('what came too late to be shown is not what was played', () => {
  const log = [entry('low-01.m4s', 500), entry('low-02.m4s', 800), entry('top-02.m4s', 3500)];
  const run = { log, sizes, samples: samples(4), playedS: 4 };
  assert.deepEqual(playedRenditions(run), ['low', 'low']);
});

test('what was not played yet is no waste', () => {
  const log = [entry('low-01.m4s', 500), entry('low-02.m4s', 800), entry('low-03.m4s', 900)];
  const run = { log, sizes, samples: samples(2), playedS: 2.1 };
  assert.deepEqual(playedRenditions(run), ['low']);
  assert.equal(accountPlayed(run).wastedKB, 0);
});

test('nothing that was played has no bitrate', () => {
  const run = { log: [], sizes, samples: [], playedS: 0 };
  assert.deepEqual(accountPlayed(run), { meanKbps: null, switches: 0, requests: 0, wastedKB: 0 });
});

test('a trace that begins later ends with what was left out', () => {
  const steps = [
    { ms: 100, kbps: 1 },
    { ms: 200, kbps: 2 },
    { ms: 300, kbps: 3 },
  ];
  assert.deepEqual(turned(steps, 150), [
    { ms: 150, kbps: 2 },
    { ms: 300, kbps: 3 },
    { ms: 100, kbps: 1 },
    { ms: 50, kbps: 2 },
  ]);
  assert.deepEqual(turned(steps, 0), steps);
  assert.throws(() => turned(steps, 600), RangeError);
});

test('every recording is a link', () => {
  for (const one of CASES) {
    const link = new Link(linkTrace(one), () => 0);
    assert.ok(link.capacity(0, 120_000) > 0 && link.headerDelay() > 0, one.name);
  }
});

/**
 * @param {Partial<import('./summary.mjs').Measured>} [some]
 * @returns {import('./summary.mjs').Measured}
 */
const measured = (some) => ({
  ...{ outcome: 'ended', startS: 1, stallS: 0, longestStallS: 0, playedS: 60, meanKbps: 700 },
  ...{ switches: 2, requests: 66, wastedKB: 0, ahead: [0, 1.234, 2] },
  ...some,
});

/** @param {'plain' | 'holdfast'} variant @param {Partial<import('./summary.mjs').Measured>[]} runs */
const row = (variant, runs) =>
  summary({ trace: 'belgium4g-bus', player: 'hls.js', variant }, runs.map(measured));

test('runs are summed up by their medians, with spread, and the outcome of most', () => {
  const { startS, stallS, minStallS, maxStallS, outcome, ended, n, ahead, meanKbps } = row(
    'plain',
    [
      { stallS: 4.04, startS: null, outcome: 'hung', meanKbps: null },
      { stallS: 2, startS: 3, ahead: [0, 0.5] },
      { stallS: 1, startS: 1 },
    ],
  );
  assert.deepEqual(
    { startS, stallS, minStallS, maxStallS, outcome, ended, n, ahead, meanKbps },
    {
      ...{ startS: 2, stallS: 2, minStallS: 1, maxStallS: 4, outcome: 'ended', ended: 2, n: 3 },
      ...{ ahead: [0, 0.5], meanKbps: 700 },
    },
  );
});

test('a difference counts beyond the margin and beyond the spread', () => {
  const plain = row('plain', [{ stallS: 3 }, { stallS: 4 }, { stallS: 5 }]);
  const word = (/** @type {number[]} */ ...stalls) =>
    stallWord(
      plain,
      row(
        'holdfast',
        stalls.map((stallS) => ({ stallS })),
      ),
    );
  assert.equal(word(1, 2, 2.9), 'better');
  assert.equal(word(1, 2, 3.5), 'same');
  assert.equal(word(5.1, 6, 6), 'worse');
  assert.equal(
    stallWord(row('plain', [{ stallS: 0 }]), row('holdfast', [{ stallS: 0.4 }])),
    'same',
  );
});

test('to play to the end beats any figure, and to play on beats giving up sooner', () => {
  /** @type {Partial<import('./summary.mjs').Measured>} */
  const dead = { outcome: 'dead', playedS: 20 };
  const long = { stallS: 30 };
  assert.equal(stallWord(row('plain', [dead]), row('holdfast', [long])), 'better');
  assert.equal(stallWord(row('plain', [long]), row('holdfast', [dead])), 'worse');
  assert.equal(
    stallWord(row('plain', [dead]), row('holdfast', [{ ...dead, playedS: 40 }])),
    'better',
  );
  assert.equal(bitrateWord(row('plain', [dead]), row('holdfast', [long])), null);
});

test('to start at all beats any figure', () => {
  const never = row('plain', [{ startS: null }]);
  assert.equal(startWord(never, row('holdfast', [{ startS: 60 }])), 'better');
  assert.equal(startWord(never, never), 'same');
  assert.equal(startWord(row('plain', [{ startS: 1 }]), row('holdfast', [{ startS: 2 }])), 'worse');
});

test('bitrates differ beyond the margin and beyond the spread', () => {
  const plain = row('plain', [{ meanKbps: 700 }, { meanKbps: 720 }]);
  assert.equal(bitrateWord(plain, row('holdfast', [{ meanKbps: 600 }])), 'worse');
  assert.equal(bitrateWord(plain, row('holdfast', [{ meanKbps: 690 }])), 'same');
  assert.equal(bitrateWord(plain, row('holdfast', [{ meanKbps: 800 }])), 'better');
});

test('the page says where Holdfast is worse', () => {
  const rows = [row('plain', [{ stallS: 1 }]), row('holdfast', [{ stallS: 5 }])];
  const { body, headline, plots } = report(rows);
  for (const text of [body, headline ?? '']) {
    assert.match(text, /more in 1 \(hls\.js on `belgium4g-bus`\)/);
    assert.match(text, /rebuffers more than alone: \*\*missed\*\*/);
  }
  for (const [, file] of body.matchAll(/\]\(([\w.-]+\.svg)\)/g)) assert.ok(plots[file], file);
});
