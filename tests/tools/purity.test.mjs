// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { impureLines } from './purity.mjs';

const numbers = (/** @type {string} */ source) => impureLines(source).map(({ number }) => number);

test('a browser crate is found, imported or named in full', () => {
  assert.deepEqual(numbers('use js_sys::Date;\n\nlet x = web_sys::window();'), [1, 3]);
});

test('serialisation, randomness and the machine are found', () => {
  const source =
    'use serde::Serialize;\nuse std::time::Instant;\nstd::thread::spawn(f);\nuse getrandom;';
  assert.deepEqual(numbers(source), [1, 2, 3, 4]);
});

test('comments and plain std are left alone', () => {
  const source =
    '//! Unlike js_sys, this\nuse std::time::Duration;\nlet x = 1; // serde\nlet unserded = 2;';
  assert.deepEqual(numbers(source), []);
});
