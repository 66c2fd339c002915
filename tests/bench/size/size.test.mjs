// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { PEERS, measurePeer } from './peers.mjs';
import { report } from './report.mjs';

test('no two peers have the same name', () => {
  assert.equal(new Set(PEERS.map(({ entry }) => entry)).size, PEERS.length);
});

test('a peer without a file for pages is bundled and minified', async () => {
  const ky = PEERS.find(({ entry }) => entry === 'ky');
  assert.ok(ky);
  const { rawB, gzipB, brotliB } = await measurePeer(ky);
  assert.ok(brotliB < gzipB && gzipB < rawB);
});

test('an entry that is over its limit is said to be', () => {
  const size = { version: '1', rawB: 9, gzipB: 9, laterB: null, kind: 'ours', package: 'holdfast' };
  const rows = [
    { ...size, entry: '.', brotliB: 48_001, limitB: 48_000 },
    { ...size, entry: './hls', brotliB: 4000, limitB: 4000 },
  ];
  const { headline, body } = report(rows);
  assert.match(String(headline), /`\.` is over its limit\*\*: 48001 of 48000/);
  assert.doesNotMatch(body, /Every limit is met/);
});
