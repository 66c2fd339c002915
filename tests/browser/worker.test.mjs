// @ts-check
/** The package in a dedicated worker, where there is no window and no import map. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, ok } from '../node/server.mjs';
import { PAGES, shared, startBrowser } from './fixture.mjs';

/** @type {import('./fixture.mjs').Browser} */
let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

test('the engine works in a module worker', async (t) => {
  const opened = await browser.open();
  t.after(opened.close);
  const url = browser.media.on('/a.m4s', shared(answer(503)), shared(ok('media')));
  const told = await opened.page.evaluate(
    ({ script, url }) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(script, { type: 'module' });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
        worker.postMessage(url);
      }),
    { script: `${PAGES}worker.js`, url },
  );
  assert.deepEqual(told, { ready: true, mode: 'engine', status: 200, text: 'media' });
  assert.equal(browser.media.all.length, 2);
});
