// @ts-check
/** Without a network nothing is sent; with it back, all goes on at once. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { content, hang, ok, stall } from '../node/server.mjs';
import { eventually, quick, shared, startBrowser } from './fixture.mjs';

const BODY = content(200_000);

/** @type {import('./fixture.mjs').Browser} */
let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

/** @type {Record<string, import('./fixture.mjs').Answer>} */
const underWay = {
  'before its headers': hang(),
  'in the middle of its body': stall(BODY, 100_000),
};

for (const [when, answer] of Object.entries(underWay)) {
  test(`a request that loses the network ${when} waits for it, and succeeds`, async (t) => {
    const { media } = browser;
    const opened = await browser.open();
    t.after(opened.close);
    const { page, context } = opened;
    /** @type {() => void} */
    let loseConnection = () => {};
    const path = `/${when.replaceAll(' ', '-')}.m4s`;
    const first = shared((request, response) => {
      loseConnection = () => request.socket.resetAndDestroy();
      answer(request, response);
    });
    const url = media.on(path, first, shared(ok(BODY)));
    const engine = await opened.engine(quick({ headersTimeout: 60_000, stallTimeout: 60_000 }));
    const under = await page.evaluateHandle(
      ({ engine, url }) => ({ loaded: engine.load({ url, site: 'segment' }) }),
      { engine, url },
    );
    await eventually(() => media.seen(path).length === 1, 'the request arrives');
    await sleep(300);

    // Offline as emulated leaves the connections alone; a network that goes takes them along.
    await context.setOffline(true);
    loseConnection();
    const waits = () => engine.evaluate(({ state }) => Object.values(state.retryState));
    await eventually(async () => (await waits()).length > 0, 'the request has failed');
    await sleep(2000);
    assert.equal(media.seen(path).length, 1, 'nothing is sent while there is no network');
    assert.deepEqual(
      (await waits()).map(({ waitReason }) => waitReason),
      ['offline'],
    );

    const back = performance.now();
    await context.setOffline(false);
    const loaded = await under.evaluate(async ({ loaded }) => {
      const { bytes, attempts } = await loaded;
      return { bytes, attempts };
    });
    // The network is all that it waits for: without its news it would wait for minutes.
    assert.ok(performance.now() - back < 6000, 'at once');
    assert.deepEqual(loaded, { bytes: BODY.length, attempts: 2 });
    assert.deepEqual(await waits(), []);
  });
}

test('a request that begins without a network waits for it', async (t) => {
  const opened = await browser.open();
  t.after(opened.close);
  const url = browser.media.on('/begun.m4s', shared(ok(BODY)));
  const engine = await opened.engine(quick());
  await opened.context.setOffline(true);
  const under = await opened.page.evaluateHandle(
    ({ engine, url }) => ({ loaded: engine.load({ url, site: 'segment' }) }),
    { engine, url },
  );
  await sleep(1000);
  await opened.context.setOffline(false);
  const bytes = await under.evaluate(async ({ loaded }) => (await loaded).bytes);
  assert.equal(bytes, BODY.length);
  assert.equal(browser.media.seen('/begun.m4s').length, 1);
});
