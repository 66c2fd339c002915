// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { difference, normalise } from './imports.mjs';

const glue = `({
    '.': {
        a /* fetch */: () => {},
        b /* new_typed */: () => {},
        c /* new_typed */: () => {},
    },
})`;

test('an import is called what the comment beside its short name says', () => {
  const imports = [
    { module: '.', name: 'a' },
    { module: '.', name: 'b' },
  ];
  assert.deepEqual(normalise(imports, glue), ['. fetch', '. new_typed']);
});

test('an import that the glue says nothing of keeps its name', () => {
  assert.deepEqual(normalise([{ module: '.', name: 'd' }], glue), ['. d']);
});

test('the list is sorted, each import once, and the module it comes from is kept', () => {
  const imports = [
    { module: 'env', name: 'z' },
    { module: '.', name: 'c' },
    { module: '.', name: 'b' },
    { module: 'env', name: 'y' },
  ];
  assert.deepEqual(normalise(imports, glue), ['. new_typed', 'env y', 'env z']);
});

test('equal lists have no difference', () => {
  assert.deepEqual(difference(['a', 'b'], ['a', 'b']), []);
});

test('what is new is marked + and what is gone is marked -', () => {
  assert.deepEqual(difference(['a', 'b'], ['b', 'c']), ['+ c', '- a']);
});
