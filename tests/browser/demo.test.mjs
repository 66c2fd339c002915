// @ts-check
/**
 * The demo's scenarios in a real browser: with Holdfast each has to reach its bar,
 * and one of them is played with hls.js alone to show that the fault is real.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { scenarioOf } from '../bench/faults/scenarios.mjs';
import { missedBars } from '../lab/bars.mjs';
import { demoScenarios, scenarios } from '../lab/scenarios.mjs';
import { ensureReady } from '../tools/setup.mjs';

/** @typedef {import('../lab/runner.mjs').Run} Run */

/** @type {Awaited<ReturnType<typeof import('../lab/runner.mjs').createRunner>>} */
let runner;
before(async () => {
  await ensureReady(['npm', 'media', 'browser', 'build']);
  const { createRunner } = await import('../lab/runner.mjs');
  runner = await createRunner({ log: console.error });
});
after(() => runner?.close());

/** What to read when a bar is missed. @param {Run} run */
function evidence({ row, playerErrors, decisions, requests }) {
  const lines = [
    JSON.stringify(row),
    ...playerErrors,
    ...(decisions ?? []).slice(-60).map((record) => JSON.stringify(record)),
    ...requests.filter(({ act }) => act !== 'normal').map((entry) => JSON.stringify(entry)),
  ];
  return lines.join('\n');
}

// Two pages at a time leave the measurements alone, more do not.
describe('in Chromium', { concurrency: 2 }, () => {
  for (const name of demoScenarios) {
    test(`${name} with Holdfast reaches its bar`, async () => {
      const scenario = scenarios.find((candidate) => candidate.name === name);
      assert.ok(scenario);
      const run = await runner.run({ scenario: name, variant: 'holdfast' });
      const missed = missedBars(run.row, scenario);
      assert.deepEqual(missed, [], `${missed.join('\n')}\n${evidence(run)}`);
    });
  }

  test('manifest-hang with hls.js alone keeps the viewer waiting', async () => {
    const run = await runner.run({ scenario: 'manifest-hang', variant: 'plain' });
    assert.equal(run.row.outcome, 'ended', evidence(run));
    assert.ok(run.row.startS !== null && run.row.startS > 15, evidence(run));
  });

  // One whose engine is in a bundle: what the page knows has to get there.
  test('SPF with Holdfast gets a fresh credential when that of its URLs has ended', async () => {
    const scenario = { name: 'F16', ...scenarioOf('F16').play };
    // It has about 13 s when the credential ends.
    const asked = { player: 'spf', variant: /** @type {const} */ ('holdfast'), untilS: 16 };
    const run = await runner.run({ ...asked, scenario, capS: 40 });
    assert.equal(run.row.outcome, 'ended', evidence(run));
    assert.equal(run.requests.filter(({ file }) => file === 'token').length, 1, evidence(run));
  });
});
