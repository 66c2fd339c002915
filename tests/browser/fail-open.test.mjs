// @ts-check
/**
 * Where the WebAssembly module cannot be had, media plays all the same, and the console says
 * once what to check.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { scenarios } from '../lab/scenarios.mjs';
import { answer, hang, ok } from '../node/server.mjs';
import { eventually, PAGES, startBrowser } from './fixture.mjs';

/** @typedef {Parameters<import('./fixture.mjs').Browser['open']>[0]} PageOptions */
/** @typedef {{ ready?: boolean, fatal: string[], mode: string, position: number }} Look */

const WASM = '/js/pkg/core_bg.wasm';
const garbage = ok('<!doctype html><title>Not found</title>', { 'content-type': 'text/html' });

/** The module as it is, once it is built. @type {Buffer} */
let wasm;
/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
before(async () => {
  browser = await startBrowser();
  wasm = await readFile(new URL('../../js/pkg/core_bg.wasm', import.meta.url));
  lab = await browser.startLab();
});
after(() => browser?.close());

/**
 * Plays the lab's stream over the link of its clean scenario for a few seconds.
 *
 * @param {{ after(fn: () => Promise<void>): void }} t
 * @param {PageOptions} options
 * @param {import('../lab/rules.mjs').Rule[]} [rules]
 */
async function play(t, options, rules) {
  const link = scenarios.find(({ name }) => name === 'clean')?.link;
  const session = lab.createSession({ link, rules });
  const opened = await browser.open({ ...options, script: `${PAGES}player.js` });
  t.after(opened.close);
  const { page, warnings } = opened;
  await page.waitForFunction('globalThis.player');
  await page.evaluate(`player.play('${session.url('main.m3u8')}')`);
  /** @returns {Promise<Look>} */
  const look = () => page.evaluate('player.look()');
  // Two segments of two seconds, and into the third.
  await eventually(async () => (await look()).position > 4.2, 'the third segment plays', 45_000);
  return { look: await look(), session, warnings };
}

/** @param {string[]} warnings */
function assertWarnsOnce(warnings) {
  assert.equal(warnings.length, 1, warnings.join('\n'));
  assert.match(warnings[0], /^Holdfast: .*core_bg\.wasm is served.*'wasm-unsafe-eval'/);
}

/** @type {import('../lab/rules.mjs').Rule} */
const twice503 = { match: '-02\\.m4s$', nth: [1, 2], act: 'status', status: 503 };
/** @param {import('../lab/session.mjs').Session} session */
const second = ({ log }) =>
  log.filter(({ file }) => file === 'audio-02.m4s').map(({ status }) => status);

const missing = { answers: { [WASM]: answer(404, 'no') } };
const forbidden = { csp: "'self'" };
const hung = { answers: { [WASM]: hang() } };

describe('hls.js plays through Holdfast', { concurrency: 4 }, () => {
  for (const [name, options] of Object.entries({
    'the module answers 404': missing,
    'the content security policy forbids WebAssembly': forbidden,
    'a page comes instead of the module': { answers: { [WASM]: garbage } },
  })) {
    test(`where ${name}`, async (t) => {
      const { look, session, warnings } = await play(t, options);
      assert.deepEqual([look.ready, look.mode, look.fatal], [false, 'plain', []]);
      assert.ok(session.log.every(({ attempt }) => attempt === 1));
      assertWarnsOnce(warnings);
    });
  }

  for (const [name, options] of Object.entries({
    'the module answers 404': missing,
    'the content security policy forbids WebAssembly': forbidden,
  })) {
    test(`where ${name}, and a segment answers 503 twice`, async (t) => {
      const { look, session, warnings } = await play(t, options, [twice503]);
      assert.deepEqual([look.ready, look.mode, look.fatal], [false, 'plain', []]);
      assert.deepEqual(second(session), [503, 503, 200]);
      assertWarnsOnce(warnings);
    });
  }

  test('where the module never comes: requests go out at once', async (t) => {
    const { look, session, warnings } = await play(t, hung);
    assert.deepEqual([look.ready, look.mode, look.fatal], [undefined, 'starting', []]);
    assert.ok(session.log.every(({ attempt }) => attempt === 1));
    assert.deepEqual(warnings, []);
  });

  test('where the module never comes, and a segment answers 503 twice', async (t) => {
    const { look, session } = await play(t, hung, [twice503]);
    assert.deepEqual([look.mode, look.fatal], ['starting', []]);
    assert.deepEqual(second(session), [503, 503, 200]);
  });

  test("where the content security policy has 'wasm-unsafe-eval': with the engine", async (t) => {
    const { look, warnings } = await play(t, { csp: "'self' 'wasm-unsafe-eval'" });
    assert.deepEqual([look.ready, look.mode, look.fatal], [true, 'engine', []]);
    assert.deepEqual(warnings, []);
  });

  test('where the module has the wrong type: with the engine', async (t) => {
    const octets = ok(wasm, { 'content-type': 'application/octet-stream' });
    const { look } = await play(t, { answers: { [WASM]: octets } });
    assert.deepEqual([look.ready, look.mode, look.fatal], [true, 'engine', []]);
  });
});
