// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { difference, normalise } from './imports.mjs';

const glue = './core_bg.js';

test("wasm-bindgen's hashes are dropped from names", () => {
  const imports = [
    { module: glue, name: '__wbg_fetch_0123456789abcdef' },
    { module: glue, name: '__wbg_new_typed_ffffffffffffffff' },
    { module: glue, name: '__wbindgen_cast_0000000000000001' },
  ];
  assert.deepEqual(normalise(imports), [
    './core_bg.js __wbg_fetch',
    './core_bg.js __wbg_new_typed',
    './core_bg.js __wbindgen_cast',
  ]);
});

test('a name without a hash is kept whole, underscores and all', () => {
  const imports = [{ module: glue, name: '__wbg__wbg_cb_unref_0123456789abcde' }];
  assert.deepEqual(normalise(imports), ['./core_bg.js __wbg__wbg_cb_unref_0123456789abcde']);
});

test('the list is sorted, each import once, and the module it comes from is kept', () => {
  const imports = [
    { module: 'env', name: 'b' },
    { module: glue, name: '__wbg_then_0123456789abcdef' },
    { module: glue, name: '__wbg_then_fedcba9876543210' },
    { module: 'env', name: 'a' },
  ];
  assert.deepEqual(normalise(imports), ['./core_bg.js __wbg_then', 'env a', 'env b']);
});

test('equal lists have no difference', () => {
  assert.deepEqual(difference(['a', 'b'], ['a', 'b']), []);
});

test('what is new is marked + and what is gone is marked -', () => {
  assert.deepEqual(difference(['a', 'b'], ['b', 'c']), ['+ c', '- a']);
});
