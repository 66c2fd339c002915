// @ts-check
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlaybackMeter } from '../../www/meter.js';

/**
 * Feeds positions 100 ms apart.
 * @param {number[]} positions
 * @param {{ ended?: boolean }} [options] ended: the last sample is the end
 */
function measure(positions, { ended = false } = {}) {
  const meter = new PlaybackMeter();
  positions.forEach((currentTime, i) =>
    meter.add({
      at: i * 100,
      currentTime,
      bufferedEnd: currentTime + 1,
      readyState: 4,
      ended: ended && i === positions.length - 1,
    }),
  );
  return meter;
}

test('start is the first sample beyond 50 ms of media', () => {
  assert.equal(measure([0, 0, 0.04, 0.14]).startS, 0.3);
  assert.equal(measure([0, 0]).startS, null);
});

test('waiting before the start is not rebuffering', () => {
  assert.equal(measure([0, 0, 0, 0.1, 0.2]).stallS, 0);
});

test('waits count, each for its length', () => {
  const meter = measure([0, 0.1, 0.2, 0.2, 0.2, 0.3, 0.3, 0.4]);
  assert.ok(Math.abs(meter.stallS - 0.3) < 1e-9);
  assert.equal(meter.waits.length, 2);
  assert.equal(meter.waiting, false);
});

test('a wait that goes on counts so far', () => {
  const meter = measure([0, 0.1, 0.2, 0.2, 0.2]);
  assert.ok(Math.abs(meter.stallS - 0.2) < 1e-9);
  assert.equal(meter.waiting, true);
});

test('the pause between the last frame and the end is no wait', () => {
  const meter = measure([0, 0.1, 0.2, 0.2, 0.2], { ended: true });
  assert.equal(meter.stallS, 0);
});

test('a jump is skipped media', () => {
  const meter = measure([0, 0.1, 0.2, 2.3, 2.4]);
  assert.ok(Math.abs(meter.skippedS - 2) < 1e-9);
});

test('in a live stream the start is counted from where the player jumps to', () => {
  assert.equal(measure([0, 0, 6, 6, 6.02, 6.12]).startS, 0.5);
});
