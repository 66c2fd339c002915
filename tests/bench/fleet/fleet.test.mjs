// @ts-check
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OURS, allowedPeak, barsOf, better, totals } from './bars.mjs';
import { report } from './report.mjs';

/** @param {Partial<import('./bars.mjs').FleetRow>} fields */
const run = (fields) =>
  /** @type {import('./bars.mjs').FleetRow} */ ({
    part: 'sweep',
    policy: OURS,
    mode: 'error',
    phase: 'uniform',
    outageS: 60,
    headroom: 1.3,
    queueS: 2,
    viewers: 10_000,
    outageLoad: 0.9,
    lateLoad: 1,
    load: 0.95,
    peak: 1.3,
    healthyPeak: 1,
    endLoad: 1,
    recover95S: 8,
    recover99S: 9,
    stallPerViewerS: 50,
    deadPct: 0,
    gonePct: 0,
    wastedPct: 0,
    retryAfterViolations: 0,
    wallS: 1,
    ...fields,
  });

/** @param {readonly import('./bars.mjs').FleetRow[]} rows */
const misses = (rows) =>
  barsOf(rows)
    .filter(({ met }) => met === false)
    .map(({ name }) => name);

test('a fleet that keeps to everything misses nothing', () => {
  const peers = [run({ policy: 'a', outageLoad: 2 }), run({ policy: 'b', stallPerViewerS: 90 })];
  assert.deepEqual(misses([run({}), ...peers]), []);
});

test('each bar is missed by what it is about, and only by that', () => {
  const peer = run({ policy: 'peer', outageLoad: 99 });
  /** @type {[string, Partial<import('./bars.mjs').FleetRow>][]} */
  const cases = [
    ['load from 30 s', { lateLoad: 1.11 }],
    ['peak', { peak: 1.44 }],
    ['back after a minute', { recover95S: 10.1 }],
    ['back after a minute', { recover95S: null }],
    ['Retry-After', { retryAfterViolations: 1 }],
    ['dead', { deadPct: 0.01 }],
    ['Pareto', { outageLoad: 100, stallPerViewerS: 51 }],
  ];
  for (const [name, fields] of cases) assert.deepEqual(misses([run(fields), peer]), [name]);
});

test('a peer is better only where it is better on both', () => {
  const rows = [
    run({}),
    run({ policy: 'less load', outageLoad: 0.1, stallPerViewerS: 51 }),
    run({ policy: 'less of both', outageLoad: 0.1, stallPerViewerS: 49 }),
    run({ policy: 'the same', outageLoad: 0.9, stallPerViewerS: 50 }),
  ];
  const names = better(totals(rows)).map(({ policy }) => policy);
  assert.deepEqual(names, ['less of both']);
});

test('viewers at the live edge are held to their own healthy peak, the others to the capacity', () => {
  const close = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) < 1e-9;
  assert.ok(close(allowedPeak(run({ headroom: 1.3 })), 1.43));
  assert.ok(close(allowedPeak(run({ phase: 'edge', healthyPeak: 2.7 })), 2.97));
  assert.ok(close(allowedPeak(run({ phase: 'join', headroom: 1.05, healthyPeak: 1.2 })), 1.32));
});

test('nothing is said of what was not measured', () => {
  assert.ok(barsOf([]).every(({ met }) => met === null));
});

test('the page has its plots, and names who is better', () => {
  const phase = run({ part: 'phase', recover95S: null, queueS: 30 });
  const load = { part: 'load', series: [1, 1.5, 1], onsetS: 1, outageS: 1 };
  const series = run(/** @type {any} */ (load));
  const peer = run({ policy: 'peer', outageLoad: 0.5, stallPerViewerS: 40 });
  const { body, plots } = report([run({}), peer, phase, series]);
  assert.deepEqual(Object.keys(plots).sort(), [
    'fleet-load-error-uniform.svg',
    'fleet-pareto.svg',
    'fleet-phase-error.svg',
  ]);
  for (const name of Object.keys(plots)) assert.ok(body.includes(`(${name})`), name);
  assert.match(body, /Better than Holdfast on both mean stall and load: peer\./);
});
