// @ts-check
/**
 * hls.js's own bandwidth estimate on a constant link: a segment that is refused once, or that is
 * fetched on after it broke off, leaves it as it is without faults (R64).
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PAGES, startBrowser } from './fixture.mjs';

/** Of each kind; the median counts, as the machine is busy now and then. */
const RUNS = 5;
/** Where runs without faults scatter themselves, more of them are needed for a median to say something. */
const MOST_RUNS = 15;
const SEGMENTS = 10;
const TOLERANCE = 0.03;
const LINK = { kbps: 4000, delayMs: 40 };

/** @type {Record<string, import('../lab/rules.mjs').Rule[]>} */
const FAULTS = {
  'without faults': [],
  'one retry': [{ match: '^mid-06\\.m4s$', nth: 1, act: 'status', status: 503 }],
  'one resume': [{ match: '^mid-06\\.m4s$', nth: 1, act: 'resetBody', at: 0.5 }],
};

const KINDS = ['one retry', 'one resume'];

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
before(async () => {
  browser = await startBrowser();
  lab = await browser.startLab();
});
after(() => browser?.close());

/** @param {import('../lab/rules.mjs').Rule[]} rules */
async function run(rules) {
  const session = lab.createSession({ link: LINK, rules, expose: ['*'] });
  const opened = await browser.open({ script: `${PAGES}hls-estimate.js` });
  await opened.page.waitForFunction('globalThis.estimate');
  /** @type {{ estimate: number, attempts: number }} */
  const measured = await opened.page.evaluate(
    `estimate('${session.url('mid.m3u8')}', ${SEGMENTS})`,
  );
  const { log } = session;
  await opened.close();
  return { ...measured, log };
}

const median = (/** @type {number[]} */ values) =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

test('R64: one retry or one resume leaves the estimate of hls.js within 3 %', async (t) => {
  /** @type {Record<string, number[]>} */
  const estimates = {};
  const ratios = (/** @type {string} */ kind) =>
    // Each against its own round.
    estimates[kind].map((estimate, i) => estimate / estimates['without faults'][i]);
  const isWithin = (/** @type {string} */ kind) => Math.abs(median(ratios(kind)) - 1) <= TOLERANCE;
  const hasEnough = (/** @type {number} */ rounds) =>
    rounds >= RUNS && (rounds >= MOST_RUNS || KINDS.every(isWithin));
  // Kinds take turns, so that what slows the machine down slows all of them.
  for (let i = 0; !hasEnough(i); i += 1) {
    for (const [kind, rules] of Object.entries(FAULTS)) {
      const { estimate, log } = await run(rules);
      (estimates[kind] ??= []).push(estimate);
      const failed = log.filter(({ act }) => act !== 'normal');
      assert.equal(failed.length, rules.length, `${kind}: the fault was met once`);
      const ranges = log.filter(({ range }) => range !== null);
      assert.equal(ranges.length, Number(kind === 'one resume'), `${kind}: requests with a range`);
    }
  }
  for (const kind of KINDS) {
    const off = (median(ratios(kind)) - 1) * 100;
    t.diagnostic(`${kind}: ${off.toFixed(2)} % after ${estimates[kind].length} rounds`);
    assert.ok(isWithin(kind), `${kind}: ${JSON.stringify(estimates)}`);
  }
});
