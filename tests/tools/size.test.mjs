// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { entriesOf, measure, overLimit } from './size.mjs';

test('only JavaScript entries are measured, as a browser resolves them', () => {
  const exports = {
    '.': { types: './js/index.d.ts', node: './js/node.js', default: './js/index.js' },
    './core.wasm': './js/pkg/core_bg.wasm',
    './package.json': './package.json',
  };
  assert.deepEqual(entriesOf(exports), [{ entry: '.', file: './js/index.js' }]);
});

test('sizes are those of the compressed bytes', () => {
  const bytes = new TextEncoder().encode('holdfast '.repeat(100));
  const { rawB, gzipB, brotliB } = measure(bytes);
  assert.equal(rawB, 900);
  assert.ok(gzipB < 60 && brotliB < 60);
});

test('the main entry and adapters have limits, each to the byte', () => {
  const main = { entry: '.', file: './js/index.js' };
  const hls = { entry: './hls', file: './js/adapters/hls.js' };
  assert.equal(overLimit({ ...main, brotliB: 48_000 }), undefined);
  assert.match(String(overLimit({ ...main, brotliB: 48_001 })), /'\.' is 48001 bytes/);
  assert.equal(overLimit({ ...hls, brotliB: 4_000 }), undefined);
  assert.match(String(overLimit({ ...hls, brotliB: 4_001 })), /the limit is 4000/);
});

test('other entries have none', () => {
  const inline = { entry: './inline', file: './js/inline.js', brotliB: 1_000_000 };
  assert.equal(overLimit(inline), undefined);
});
