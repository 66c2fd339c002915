// @ts-check
/** Two pages of one origin spare each other, and their host, what one of them has found out. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { after as later, answer, content, ok } from '../node/server.mjs';
import { eventually, shared, startBrowser } from './fixture.mjs';

const BODY = content(20_000);
const IMPORTS = { holdfast: '/js/index.js', 'holdfast/cross-tab': '/js/cross-tab.js' };
const OLD = 'token=old-0123456789';
const NEW = 'token=new-0123456789';

/** @type {import('./fixture.mjs').Browser} */
let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

/**
 * Two pages in one context, each with an engine that shares.
 *
 * @param {{ after(fn: () => Promise<void>): void }} t
 * @param {import('holdfast').EngineOptions} [options]
 * @param {string} [refreshUrl] what the hook asks before it answers
 */
async function twoTabs(t, options = {}, refreshUrl) {
  const opened = await browser.open({ imports: IMPORTS });
  t.after(opened.close);
  const other = await opened.context.newPage();
  other.on('pageerror', (error) => opened.errors.push(String(error)));
  await other.goto(opened.origin);
  return Promise.all(
    [opened.page, other].map(async (page) => {
      const made = await page.evaluateHandle(
        async ({ options, refreshUrl, tokens: [old, fresh] }) => {
          const { createEngine } = await import('holdfast');
          const { shareAcrossTabs, singleFlightAcrossTabs } = await import('holdfast/cross-tab');
          const refreshPlaybackToken = singleFlightAcrossTabs(async (url) => {
            await fetch(String(refreshUrl));
            return url.replace(old, fresh);
          });
          const engine = createEngine({
            .../** @type {any} */ (options),
            ...(refreshUrl && { refreshPlaybackToken }),
          });
          if (!(await engine.ready)) throw new Error('no module');
          const tabs = shareAcrossTabs(engine);
          /** @type {string[]} */
          const loaded = [];
          return { engine, tabs, loaded };
        },
        { options, refreshUrl, tokens: [OLD, NEW] },
      );
      return {
        page,
        /** @param {string[]} urls */
        load: (urls) =>
          made.evaluate(({ engine, loaded }, urls) => {
            for (const url of urls) {
              void engine.load({ url, site: 'segment' }).then(({ url }) => loaded.push(url));
            }
          }, urls),
        loaded: () => made.evaluate(({ loaded }) => loaded),
        /** @param {string} host */
        health: (host) => made.evaluate(({ engine }, host) => engine.state.hostHealth[host], host),
        /** @param {string} host */
        throttle: (host) => made.evaluate(({ engine }, host) => engine.state.throttle[host], host),
        close: () =>
          made.evaluate(({ engine, tabs }) => {
            tabs.close();
            engine.destroy();
          }),
      };
    }),
  );
}

test('a host that is down for one page is down for both, and one of them probes at a time', async (t) => {
  const { media } = browser;
  const host = media.origin;
  let isDown = true;
  let under = 0;
  let most = 0;
  /** @type {string[]} who was refused */
  const refused = [];
  /** @type {import('./fixture.mjs').Answer} */
  const scripted = shared((request, response) => {
    if (!isDown) return ok(BODY)(request, response);
    under += 1;
    most = Math.max(most, under);
    response.on('close', () => (under -= 1));
    refused.push(String(request.url).slice(1, 2));
    // Long enough for a second probe to meet the first.
    later(400, answer(503))(request, response);
  });
  const urls = (/** @type {string} */ tab) =>
    [1, 2, 3].map((nth) => media.on(`/${tab}${nth}.m4s`, scripted));
  const [a, b] = await twoTabs(t, { breaker: { base: 1000, cap: 1000 } });

  await a.load(urls('a'));
  await eventually(async () => (await a.health(host))?.state === 'open', 'the breaker of A opens');
  await eventually(async () => (await b.health(host))?.state === 'open', 'that of B follows', 1000);
  assert.ok(!refused.includes('b'), 'B has asked for nothing');

  await eventually(() => under === 0, 'what was under way is refused too', 1000);
  most = 0;
  refused.length = 0;
  await b.load(urls('b'));
  await eventually(() => refused.length >= 3, 'the host is probed', 45_000);
  assert.equal(most, 1, 'at a time');

  isDown = false;
  await eventually(async () => (await a.loaded()).length === 3, 'A plays', 45_000);
  await eventually(async () => (await b.loaded()).length === 3, 'B plays', 45_000);
  const held = () => a.page.evaluate(async () => (await navigator.locks.query()).held);
  await eventually(async () => (await held())?.length === 0, 'no lock is left');
  await a.close();
  await b.close();
});

test('a rate limit that one page meets holds back the other', async (t) => {
  const { media } = browser;
  const expose = { 'retry-after': '3', 'access-control-expose-headers': 'retry-after' };
  const urlA = media.on('/limited-a.m4s', shared(answer(429, '', expose)), shared(ok(BODY)));
  const urlB = media.on('/limited-b.m4s', shared(ok(BODY)));
  const [a, b] = await twoTabs(t);
  await a.load([urlA]);
  await eventually(() => b.throttle(media.origin), 'B is told');
  await b.load([urlB]);
  await eventually(async () => (await b.loaded()).length === 1, 'B plays');
  await eventually(async () => (await a.loaded()).length === 1, 'A plays');
  const [[limited], [asked]] = ['/limited-a.m4s', '/limited-b.m4s'].map((path) => media.seen(path));
  assert.ok(asked.at - limited.at >= 2990, `${asked.at - limited.at} ms`);
});

test('ten refusals in each of two pages lead to one refresh, and both go on', async (t) => {
  const { media } = browser;
  const refreshUrl = media.on('/refresh', shared(later(300, ok('fresh'))));
  const paths = Array.from({ length: 10 }, (_, nth) => `/signed-${nth}.m4s`);
  const urls = paths.map((path) => {
    const scripted = shared((request, response) =>
      (request.url?.includes(NEW) ? ok(BODY) : answer(403, 'token expired'))(request, response),
    );
    return `${media.on(path, scripted)}?${OLD}`;
  });
  const tabs = await twoTabs(t, {}, refreshUrl);
  await Promise.all(tabs.map(({ load }) => load(urls)));
  for (const { loaded } of tabs) {
    await eventually(async () => (await loaded()).length === 10, 'it plays');
    assert.ok((await loaded()).every((url) => url.includes(NEW)));
  }
  assert.equal(media.seen('/refresh').length, 1);

  // A segment that one of them asks for later is refused no more: by then it has the new one.
  await sleep(100);
  const before = media.all.length;
  await tabs[1].load([urls[0]]);
  await eventually(async () => (await tabs[1].loaded()).length === 11, 'it goes on');
  assert.equal(media.all.length, before + 1);
});
