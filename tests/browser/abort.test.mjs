// @ts-check
/**
 * An abort, at whatever point: the caller's own reason at once, the socket closed, and nothing
 * sent afterwards.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { answer, content, hang, stall } from '../node/server.mjs';
import { eventually, quick, shared, startBrowser } from './fixture.mjs';

const BODY = content(200_000);
const WASM = '/js/pkg/core_bg.wasm';

/** @type {import('./fixture.mjs').Browser} */
let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

/** @typedef {{ engine: import('./fixture.mjs').Engine, url: string, signal: AbortSignal }} Given */

/** Each runs in the page and ends with the body. */
const calls = {
  fetch: async (/** @type {Given} */ { engine, url, signal }) => {
    await (await engine.fetch(url, { site: 'segment', signal })).arrayBuffer();
  },
  load: async (/** @type {Given} */ { engine, url, signal }) => {
    await engine.load({ url, site: 'segment', signal });
  },
  fetchText: async (/** @type {Given} */ { engine, url, signal }) => {
    await engine.fetchText({ url }, { site: 'segment', signal });
  },
  fetchBytes: async (/** @type {Given} */ { engine, url, signal }) => {
    for await (const _ of await engine.fetchBytes({ url }, { signal, minChunkSize: 1 }));
  },
};

const DAY = 86_400_000;
const busy = shared(answer(503, 'busy'));
/** Delays are random; one out of a day is hardly ever over within a test. */
const slow = { backoff: { base: DAY, cap: DAY }, deadline: DAY };
const hold = { attempts: 1, onExhausted: /** @type {const} */ ('hold') };

/**
 * When to abort: what the server does, the policy, and what has to be seen first.
 *
 * @typedef {object} Moment
 * @property {import('./fixture.mjs').Answer} answer
 * @property {import('holdfast').SiteOptions} [policy]
 * @property {import('holdfast').WaitReason} [waits] what the request waits for
 */
/** @type {Record<string, Moment>} */
const moments = {
  'before headers': { answer: shared(hang()) },
  'in the middle of the body': { answer: shared(stall(BODY, 100_000)) },
  'in a back-off': { answer: busy, policy: slow, waits: 'backoff' },
  'in a hold': { answer: busy, policy: hold, waits: 'hold' },
};

// A context for each: six hung requests would use up the connections to the host.
describe('aborted', { concurrency: true }, () => {
  for (const [name, call] of Object.entries(calls)) {
    for (const plain of [false, true]) {
      describe(`${name}${plain ? ', without the module' : ''}`, { concurrency: true }, () => {
        /** @type {Awaited<ReturnType<import('./fixture.mjs').Browser['open']>>} */
        let opened;
        before(async () => {
          opened = await browser.open(plain ? { answers: { [WASM]: answer(404) } } : {});
        });
        after(() => opened?.close());

        for (const [when, moment] of Object.entries(moments)) {
          if (plain && moment.waits === 'hold') continue;
          const path = `/${name}-${plain}-${when.replaceAll(' ', '-')}.m4s`;
          test(when, () => abortAt(moment, call, opened, path, plain));
        }
      });
    }
  }
});

/**
 * @param {Moment} moment
 * @param {(given: Given) => Promise<void>} call
 * @param {Awaited<ReturnType<import('./fixture.mjs').Browser['open']>>} opened
 * @param {string} path
 * @param {boolean} plain
 */
async function abortAt(
  { answer: given, policy, waits },
  call,
  { page, engine: make },
  path,
  plain,
) {
  const url = browser.media.on(path, given);
  const patient = { headersTimeout: 30_000, stallTimeout: 30_000 };
  const engine = await make(quick({ ...patient, ...policy }), !plain);
  const run = await page.evaluateHandle(`(${call})`);
  const under = await page.evaluateHandle(
    ({ run, engine, url }) => {
      const controller = new AbortController();
      const call = /** @type {(given: Given) => Promise<void>} */ (run);
      const ended = call({ engine, url, signal: controller.signal }).then(
        () => 'success',
        (error) => error,
      );
      return { controller, ended };
    },
    { run, engine, url },
  );
  const seen = () => browser.media.seen(path);
  await eventually(() => seen().length > 0, 'the request arrives');
  if (waits && !plain) {
    const reasons = () =>
      engine.evaluate(({ state }) => Object.values(state.retryState).map((row) => row.waitReason));
    await eventually(async () => (await reasons()).includes(waits), `a wait for ${waits}`);
  } else {
    await sleep(300);
  }

  const abortedAt = performance.now();
  const ended = await under.evaluate(async ({ controller, ended }) => {
    const reason = new Error('enough');
    controller.abort(reason);
    const later = new Promise((resolve) => setTimeout(resolve, 0, 'nothing yet'));
    const error = await Promise.race([ended, later]);
    return error === reason ? 'the reason' : String(error);
  });
  assert.equal(ended, 'the reason');
  // The ladder without the module waits a second; a busy machine may be past it at the abort.
  if (!plain) assert.equal(seen().length, 1);
  await sleep(300);
  const sent = seen().length;
  await sleep(3000);
  assert.equal(seen().length, sent, 'nothing is sent afterwards');
  if (!waits) {
    const { closedAt } = seen()[0];
    assert.ok(closedAt && closedAt - abortedAt < 2500, 'the socket is closed, and soon');
  }
  assert.deepEqual(await engine.evaluate(({ state }) => state.retryState), {});
}
