// @ts-check
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { account, unionLength } from './accounting.mjs';

/**
 * @param {Partial<import('./session.mjs').LogEntry>} values
 * @returns {import('./session.mjs').LogEntry}
 */
function entry(values) {
  return {
    t: 0,
    end: 1,
    file: 'a',
    attempt: 1,
    range: null,
    act: 'normal',
    status: 200,
    from: 0,
    bytes: 0,
    how: 'sent',
    ...values,
  };
}

test('a union counts overlaps once and leaves gaps out', () => {
  assert.equal(unionLength([]), 0);
  assert.equal(
    unionLength([
      [0, 10],
      [5, 15],
      [20, 30],
    ]),
    25,
  );
  assert.equal(
    unionLength([
      [20, 30],
      [0, 40],
      [10, 12],
    ]),
    40,
  );
});

test('a download continued where it stopped wastes nothing', () => {
  const log = [entry({ bytes: 500 }), entry({ from: 500, bytes: 500, status: 206 })];
  assert.deepEqual(account(log), {
    requests: 2,
    preflights: 0,
    files: 1,
    bytes: 1000,
    wastedBytes: 0,
  });
});

test('a download begun again wastes what it had', () => {
  const log = [entry({ bytes: 500 }), entry({ bytes: 1000 }), entry({ file: 'b', bytes: 700 })];
  assert.equal(account(log).wastedBytes, 500);
});

test('error bodies are wasted whole', () => {
  const log = [entry({ bytes: 30, from: null, status: 503 }), entry({ bytes: 1000 })];
  assert.equal(account(log).wastedBytes, 30);
});
