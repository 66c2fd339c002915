// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { checkRule } from '../../lab/rules.mjs';
import { random } from '../order.mjs';
import { VARIANTS, cellsOf, playOf } from './cells.mjs';
import { earlyRetries, lateRequests } from './observe.mjs';
import { report } from './report.mjs';
import { scenarios } from './scenarios.mjs';
import { atHosts, withTokens } from './streams.mjs';
import { cellsIn } from './summary.mjs';
import { controlChecks, lostRows, nearRows, worseRows } from './verdicts.mjs';
import { WEIGHTINGS, weighted } from './weightings.mjs';

/** A run that played to its end without waiting. @param {object} differs */
const run = (differs) => ({
  scenario: 'F09',
  mode: 'vod',
  player: 'hls.js',
  variant: 'holdfast',
  run: 1,
  outcome: 'ended',
  startS: 1.5,
  stallS: 4,
  longestStallS: 4,
  skippedS: 0,
  playedS: 40,
  requests: 46,
  amplification: 1,
  kB: 4000,
  wastedKB: 0,
  estimateKbps: 1500,
  truthKbps: 1600,
  oracleStallS: 3.5,
  oracleStartS: 1.5,
  oracleSkippedS: 0,
  oracleOutcome: 'ended',
  ...differs,
});

/** @param {object} differs */
const entry = (differs) => ({
  ...{ t: 0, end: 10, file: 'a', attempt: 1, range: null, act: 'normal', status: 200 },
  ...{ from: 0, bytes: 1, how: /** @type {const} */ ('sent') },
  ...differs,
});

test('every fault has a name of its own, rules that can be, and a reason to be weighted', () => {
  assert.equal(new Set(scenarios.map(({ id }) => id)).size, scenarios.length);
  for (const { id, kind, play } of scenarios) {
    play.rules.forEach(checkRule);
    assert.equal(kind === undefined, id.startsWith('N'), id);
  }
  const kinds = WEIGHTINGS.uniform.flatMap(({ kinds }) => kinds);
  for (const { kind } of scenarios) assert.ok(kind === undefined || kinds.includes(kind));
});

test('the first run of everything comes before the second, and variants stand together', () => {
  const asked = { parts: new Set(['grid', 'no-store']), players: ['hls', 'dash'], n: 2 };
  const cells = cellsOf(/** @type {any} */ ({ ...asked, variants: VARIANTS, random: random(1) }));
  const second = cells.findIndex(({ run }) => run === 2);
  assert.ok(cells.slice(second).every(({ run, mode }) => run === 2 && mode === 'vod'));
  for (let i = 0; i < cells.length; i += 3) {
    const [one, ...others] = cells.slice(i, i + 3);
    for (const { scenario, player } of others) {
      assert.deepEqual([scenario, player], [one.scenario, one.player]);
    }
  }
  const stored = cells.find(({ mode }) => mode === 'no-store');
  assert.equal(stored && playOf(stored).cache, 'no-store');
});

test('only repetitions before the server wanted them are early', () => {
  const refused = entry({ t: 0, end: 100, status: 503 });
  const log = [refused, entry({ file: 'b', t: 150 }), entry({ t: 3000, end: 3100, status: 503 })];
  assert.equal(earlyRetries([...log, entry({ t: 8200 })], 5000), 1);
  assert.equal(earlyRetries([refused, entry({ t: 5100 })], 5000), 0);
});

test('after a seek only what was refused before it is late', () => {
  const log = [entry({ t: 6000, status: 503 }), entry({ t: 10_050 }), entry({ t: 12_000 })];
  assert.equal(lateRequests([...log, entry({ file: 'b', t: 12_000 })], 10_000), 1);
});

test('a row is the median of its runs, and of the outcome most of them had', () => {
  const [cell] = cellsIn([
    run({ stallS: 4 }),
    run({ run: 2, stallS: 5 }),
    run({ run: 3, stallS: 30, outcome: 'dead', playedS: 12 }),
  ]);
  assert.deepEqual([cell.outcome, cell.endedRuns, cell.runs, cell.stallS], ['ended', 2, 3, 5]);
  assert.deepEqual([cell.minStallS, cell.maxStallS], [4, 30]);
  assert.equal(cell.lostS, 6.5);
  assert.equal(cellsIn([run({}), run({ run: 2, outcome: 'hung' })])[0].outcome, 'hung');
  const [mixed] = cellsIn([run({ untilS: 40, requests: 45 }), run({ run: 2 }), run({ run: 3 })]);
  assert.deepEqual([mixed.runs, mixed.requests], [2, run({}).requests], 'of the same length');
});

test('the bars see what is lost, far and worse', () => {
  const cells = cellsIn([
    run({}),
    run({ variant: 'tuned', stallS: 3.6 }),
    run({ variant: 'plain', stallS: 3.4 }),
    run({ scenario: 'F05', stallS: 1.2, oracleStallS: 0 }),
    run({ scenario: 'F05', variant: 'tuned', stallS: 4.5, oracleStallS: 0 }),
    run({ scenario: 'F18', outcome: 'hung', stallS: 60 }),
    run({ scenario: 'F32', startS: 9, stallS: 0, oracleStallS: 0 }),
    run({ scenario: 'F18', variant: 'plain', outcome: 'dead' }),
  ]);
  assert.deepEqual(
    lostRows(cells).map(({ scenario }) => scenario),
    ['F18'],
  );
  const ours = cells.filter(({ variant }) => variant === 'holdfast');
  assert.deepEqual(
    nearRows(ours).far.map(({ scenario }) => scenario),
    ['F05', 'F18'],
  );
  assert.equal(nearRows(ours).of, 3, 'nothing of the start-up');
  // Against 3.4 s, not against 3.6 s; and not where the other one ended nowhere.
  assert.deepEqual(
    worseRows(cells).map(({ ours, theirs }) => [ours.scenario, theirs.variant]),
    [['F09', 'plain']],
  );
});

test('the controls are held to what they promise', () => {
  const cells = cellsIn([
    run({ scenario: 'N1', startS: 1.7 }),
    run({ scenario: 'N1', variant: 'plain' }),
    run({ scenario: 'N2', outcome: 'dead', oracleOutcome: 'dead', surfacedS: 7 }),
    run({ scenario: 'N3', lateRequests: 0 }),
    run({ scenario: 'N4', earlyRetries: 1 }),
  ]);
  const failed = controlChecks(cells).filter(({ holds }) => !holds);
  assert.deepEqual(
    failed.map(({ cell, what }) => [cell.scenario, what]),
    [
      ['N1', 'start-up within 0.1 s'],
      ['N2', 'given up within 5 s'],
      ['N4', 'Retry-After obeyed'],
    ],
  );
});

test('weights count classes, not faults', () => {
  const cells = cellsIn([
    run({ scenario: 'F05', stallS: 10 }),
    run({ scenario: 'F09', stallS: 4 }),
    run({ scenario: 'F14', stallS: 6 }),
  ]);
  assert.equal(
    weighted(cells, 'uniform', ({ stallS }) => stallS),
    20 / 3,
  );
  assert.equal(
    weighted(cells, 'mobile', ({ stallS }) => stallS),
    null,
  );
});

test('a stream at two hosts names both, in either manifest', () => {
  const session = /** @type {any} */ ({
    url: (/** @type {string} */ file, /** @type {string} */ host) => `http://${host}/s/1/${file}`,
  });
  const file = (/** @type {string} */ text) =>
    /** @type {any} */ ({ data: Buffer.from(text), etag: '"1"', modified: '' });
  const hls =
    '#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="group_audio",URI="audio.m3u8"\n' +
    '#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="group_audio"\nmid.m3u8\n';
  const rewrite = atHosts('a.test', 'b.test');
  const text = String(rewrite('pinned.m3u8', file(hls), session)?.data);
  assert.equal(text.match(/#EXT-X-STREAM-INF/g)?.length, 2);
  assert.match(text, /AUDIO="b\.test"\nhttp:\/\/b\.test\/s\/1\/mid\.m3u8/);
  assert.match(text, /GROUP-ID="a\.test",URI="http:\/\/a\.test\/s\/1\/audio\.m3u8"/);
  const mpd = String(rewrite('pinned.mpd', file('<MPD x="1">\n</MPD>'), session)?.data);
  assert.match(mpd, /<MPD x="1">\s+<BaseURL[^>]*>http:\/\/a\.test\/s\/1\/<\/BaseURL>\s+<BaseURL/);
  assert.equal(
    String(withTokens('mid.m3u8', file('a.m4s\n'), session)?.data),
    'a.m4s?token=first\n',
  );
});

test('a page is made of whatever there is', () => {
  const { body, plots, headline } = report([run({})]);
  assert.match(body, /F09: 503 for 10 s \| hls\.js \| – \| – \| 4\.0 \| 3\.5/);
  assert.match(plots['faults-hlsjs.svg'], /<svg/);
  assert.match(headline ?? '', /0 of 0 \| 1 of 1/);
});
