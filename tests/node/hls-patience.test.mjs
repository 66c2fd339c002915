// @ts-check
/** When a load is taken back because its level has gone to another host; `tests/browser/hls.test.mjs` plays it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchLevel } from '../../js/adapters/hls-patience.js';

const A = 'https://a.example/3.m4s';
const B = 'https://b.example/3.m4s';
const INIT = { sn: 'initSegment', url: 'https://ads.example/init.mp4' };

/**
 * What is done to a load within two seconds.
 *
 * @param {import('node:test').TestContext} t
 * @param {{ sn?: number | string, url: string, part?: { url: string } }} load
 * @param {any[]} fragments of its level by now
 * @param {any} [hls]
 */
function watched(t, { sn = 3, url, part }, fragments, hls = {}) {
  /** @type {string[]} */
  const calls = [];
  const frag = { sn, url, level: 0, abortRequests: () => calls.push('abort') };
  hls.levels = [{ details: { fragments } }];
  hls.trigger = (/** @type {string} */ event) => calls.push(event);
  const its = { hls, playlist: {}, left: -Infinity, failing: () => [] };
  const load = { site: /** @type {const} */ ('segment'), frag, part, stats: { loaded: 0 } };
  const timer = watchLevel(its, { ...load, last: performance.now() - 2000 }, () => {});
  t.after(() => clearInterval(timer));
  t.mock.timers.tick(1000);
  return calls;
}

test('a load is taken back only where its level is at other hosts alone', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const back = ['abort', 'hlsFragLoadEmergencyAborted'];
  assert.deepEqual(watched(t, { url: A }, [{ sn: 3, url: B }]), back);
  assert.deepEqual(watched(t, { url: A }, [{ sn: 900, url: B }]), back, 'counted in another way');
  assert.deepEqual(watched(t, { url: A }, [{ sn: 3, url: A }]), []);
  assert.deepEqual(watched(t, { url: A }, []), [], 'nothing of it is known yet');
  const mixed = [
    { sn: 3, url: B },
    { sn: 4, url: A },
  ];
  assert.deepEqual(watched(t, { url: A }, mixed), [], 'hosts take turns within the playlist');
});

test('an initialisation segment of an advertisement, and parts, are where they belong', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const withAd = [
    { sn: 3, url: A, initSegment: { url: A } },
    { sn: 4, url: A, initSegment: INIT },
  ];
  assert.deepEqual(watched(t, INIT, withAd), []);
  // What a segment in the making is made of has an URL, and the segment has none.
  assert.deepEqual(watched(t, { url: '', part: { url: A } }, [{ sn: 2, url: A }]), []);
});

test('a load is taken back once, however often hosts take turns', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const hls = {};
  const times = [`${A}?token=1`, B, `${A}?token=2`, B].map((url) => {
    const other = url === B ? A : B;
    return watched(t, { url }, [{ sn: 3, url: other }], hls).length;
  });
  assert.deepEqual(times, [2, 2, 0, 0]);
});
