// @ts-check
/**
 * hls.js's own bandwidth estimate on a constant link: a segment that is refused once, or that is
 * fetched on after it broke off, leaves it as it is without faults (R64).
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ensureMedia } from '../lab/media.mjs';
import { startLab } from '../lab/server.mjs';
import { PAGES, startBrowser } from './fixture.mjs';

/** Of each kind; the median counts, as the machine is busy now and then. */
const RUNS = 5;
const SEGMENTS = 10;
const TOLERANCE = 0.03;
const LINK = { kbps: 4000, delayMs: 40 };

/** @type {Record<string, import('../lab/rules.mjs').Rule[]>} */
const FAULTS = {
  'without faults': [],
  'one retry': [{ match: '^mid-06\\.m4s$', nth: 1, act: 'status', status: 503 }],
  'one resume': [{ match: '^mid-06\\.m4s$', nth: 1, act: 'resetBody', at: 0.5 }],
};

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof startLab>>} */
let lab;
before(async () => {
  browser = await startBrowser(['media']);
  const { dir } = await ensureMedia({ log: console.error });
  lab = await startLab({ mediaDir: dir });
});
after(async () => {
  await browser?.close();
  await lab?.close();
});

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
  // Kinds take turns, so that what slows the machine down slows all of them.
  for (let i = 0; i < RUNS; i += 1) {
    for (const [kind, rules] of Object.entries(FAULTS)) {
      const { estimate, log } = await run(rules);
      (estimates[kind] ??= []).push(estimate);
      const failed = log.filter(({ act }) => act !== 'normal');
      assert.equal(failed.length, rules.length, `${kind}: the fault was met once`);
      const ranges = log.filter(({ range }) => range !== null);
      assert.equal(ranges.length, Number(kind === 'one resume'), `${kind}: requests with a range`);
    }
  }
  for (const kind of ['one retry', 'one resume']) {
    // Each against its own round.
    const ratio = median(
      estimates[kind].map((estimate, i) => estimate / estimates['without faults'][i]),
    );
    t.diagnostic(`${kind}: ${(ratio * 100 - 100).toFixed(2)} %`);
    assert.ok(Math.abs(ratio - 1) <= TOLERANCE, `${kind}: ${JSON.stringify(estimates)}`);
  }
});
