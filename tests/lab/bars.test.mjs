// @ts-check
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missedBars } from './bars.mjs';
import { table } from './report.mjs';
import { scenarios } from './scenarios.mjs';

/** @typedef {import('./runner.mjs').Row} Row */

/**
 * @param {string} scenario
 * @param {Partial<Row>} values
 */
function missed(scenario, values) {
  const found = scenarios.find(({ name }) => name === scenario);
  assert.ok(found);
  return missedBars(row(scenario, values), found);
}

/**
 * @param {string} scenario
 * @param {Partial<Row>} values
 * @returns {Row}
 */
function row(scenario, values) {
  return {
    scenario,
    player: 'hls.js@0.0.0',
    variant: 'holdfast',
    startS: 1.5,
    stallS: 0,
    oracleStallS: 0,
    outcome: 'ended',
    requests: 45,
    wastedKB: 0,
    ...values,
  };
}

test('a row at its bar misses nothing', () => {
  assert.deepEqual(missed('stall-body', { stallS: 1 }), []);
  assert.deepEqual(missed('burst-503', { stallS: 5, oracleStallS: 3.5 }), []);
  assert.deepEqual(missed('manifest-hang', { startS: 5.9 }), []);
});

test('a row beyond its bar says by how much', () => {
  assert.match(missed('stall-body', { stallS: 1.1 })[0], /1\.1 s of rebuffering, at most 1 s/);
  const burst = missed('burst-503', { stallS: 5.1, oracleStallS: 3.5 });
  assert.match(burst[0], /5\.1 s of rebuffering, at most 5\.0 s/);
  assert.match(missed('manifest-hang', { startS: 6 })[0], /start after 6 s, less than 6 s/);
  assert.match(missed('manifest-hang', { startS: null })[0], /never started/);
});

test('playback that did not end misses every bar', () => {
  assert.match(missed('stall-body', { outcome: 'hung' })[0], /playback is hung/);
});

test('the table marks a wait that was never over', () => {
  const [, , first, second] = table([
    row('stall-body', { stallS: 115.4 }),
    row('stall-body', { stallS: 57.6, outcome: 'dead', startS: null }),
  ]).split('\n');
  assert.match(first, /115\.4 s/);
  assert.match(second, /never +57\.6\+ s +0\.0 s +dead/);
});
