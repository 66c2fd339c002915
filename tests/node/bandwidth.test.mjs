// @ts-check
// The estimator that SPF reads back is SPF's own, to the last bit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleBandwidth as ours } from '../../js/bandwidth.js';
import { sampleBandwidth as theirs } from './spf.mjs';
import { random } from './random.mjs';

const ZERO = {
  fastEstimate: 0,
  fastTotalWeight: 0,
  slowEstimate: 0,
  slowTotalWeight: 0,
  bytesSampled: 0,
};

for (const seed of [1, 2, 3, 4, 5]) {
  test(`R65: ten thousand random samples give SPF's numbers bit by bit (seed ${seed})`, () => {
    const dice = random(seed);
    /** @type {any} */
    let [mine, spf] = [ZERO, ZERO];
    for (let i = 0; i < 10_000; i += 1) {
      // From far below both thresholds to far above.
      const duration = 10 ** (dice() * 5 - 1);
      const bytes = Math.floor(10 ** (dice() * 7));
      mine = ours(mine, duration, bytes);
      spf = theirs(spf, duration, bytes);
      assert.deepEqual(mine, spf);
    }
  });
}

test('R65: the edges of both thresholds fall on the same side', () => {
  for (const bytes of [0, 1, 15_999, 16_000, 16_001, 128_000]) {
    for (const duration of [0, 4.999999, 5, 5.000001, 1e6, Number.MIN_VALUE]) {
      assert.deepEqual(ours(ZERO, duration, bytes), theirs(ZERO, duration, bytes));
    }
  }
});

test('a state is replaced, never changed', () => {
  const state = Object.freeze({ ...ZERO });
  assert.notEqual(ours(state, 100, 100_000), state);
  assert.notEqual(ours(state, 1, 1), state);
});
