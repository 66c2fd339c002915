// @ts-check
/** Who sends the requests of a page: several players of Shaka, 4 and 5, their engines, and others. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { answer } from '../node/server.mjs';
import { startBrowser } from './fixture.mjs';
import { openShaka } from './shaka-fixture.mjs';

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof openShaka>>} */
let page;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
before(async () => {
  browser = await startBrowser();
  lab = await browser.startLab();
  page = await openShaka(browser);
});
after(() => browser?.close());

/** Everything is fetched at once. */
const STREAMING = { bufferingGoal: 60, updateIntervalSeconds: 0.05 };
const CONFIG = { streaming: STREAMING, abr: { enabled: false } };

for (const version of [4, 5]) {
  describe(`Shaka ${version}`, () => {
    for (const isFirst of [true, false]) {
      const who = isFirst ? 'first' : 'second';
      test(`of two players with an engine each, the ${who} can leave alone`, async () => {
        const sessions = [lab.createSession(), lab.createSession()];
        const silent = browser.media.on('/silent', () => {});
        const result = await page.run(
          async ({ shakaPage, version, urls, isFirst, silent, config }) => {
            const { bufferEnd, until } = shakaPage;
            const start = async (/** @type {string} */ url) => {
              const started = await shakaPage.start(version, { media: true });
              started.player.configure(config);
              started.player.configure({ streaming: { bufferingGoal: 6 } });
              await started.player.load(url);
              return started;
            };
            const players = [await start(urls[0]), await start(urls[1])];
            await until(() => players.every(({ video }) => bufferEnd(video) > 5));
            const [leaving, staying] = isFirst ? players : [...players].reverse();
            const logs = () => [leaving, staying].map(({ engine }) => engine.log().length);
            const start1 = logs();
            leaving.uninstall();
            for (const { player } of players)
              player.configure({ streaming: { bufferingGoal: 60 } });
            const isAll = await until(() => players.every(({ video }) => bufferEnd(video) > 39));
            const attempts = [leaving, staying].map(
              ({ player }) => player.getConfiguration().streaming.retryParameters.maxAttempts,
            );
            const after = logs();
            staying.uninstall();
            staying.uninstall();
            const other = await shakaPage.start(version, { isAlone: true });
            const isAsFound = await shakaPage.isAsFound(other, silent);
            for (const each of [...players, other]) await each.end();
            return { before: start1, after, attempts, isAll, isAsFound };
          },
          {
            ...{ version, isFirst, silent, config: CONFIG },
            urls: sessions.map((session) => session.url('pinned.mpd')),
          },
        );
        assert.ok(result.isAll, 'both have played on');
        assert.ok(result.before.every((count) => count > 5));
        assert.equal(result.after[0], result.before[0], 'one without its engine');
        assert.ok(result.after[1] > result.before[1] + 20, 'one with it');
        assert.deepEqual(result.attempts, [2, 1]);
        assert.ok(result.isAsFound, 'the last one leaves the registry as it was');
      });
    }

    test('an engine that fails open gives Shaka its own network and retries back', async () => {
      const rules = [
        { match: '^mid-03', nth: 1, act: /** @type {const} */ ('status'), status: 503 },
      ];
      const session = lab.createSession({ rules });
      const answers = { '/js/pkg/core_bg.wasm': answer(404) };
      const own = await openShaka(browser, { answers });
      const result = await own.run(
        async ({ shakaPage, version, url, config }) => {
          const { player, video, events, engine } = await shakaPage.start(version, { media: true });
          player.configure(config);
          await player.load(url);
          const isThere = await shakaPage.until(() => shakaPage.bufferEnd(video) > 39);
          const { retryParameters } = player.getConfiguration().streaming;
          return { events, retryParameters, mode: engine.state.mode, isThere };
        },
        { version, url: session.url('pinned.mpd'), config: CONFIG },
      );
      await own.close();
      assert.equal(result.mode, 'plain');
      assert.ok(result.isThere);
      assert.equal(result.retryParameters.maxAttempts, 2);
      assert.ok(result.events.some(([name, code]) => name === 'retry' && code === 1001));
      assert.ok(own.warnings.every((line) => !line.includes('without effect')));
    });

    test('another plugin sends each attempt, and has its schemes back afterwards', async () => {
      const rules = [
        { match: '^mid-03', nth: 1, act: /** @type {const} */ ('status'), status: 503 },
      ];
      const session = lab.createSession({ rules });
      const result = await page.run(
        async ({ shakaPage, version, url, config }) => {
          const shaka = shakaPage.versions[version];
          const { HttpFetchPlugin, NetworkingEngine } = shaka.net;
          /** @type {(string | undefined)[]} */
          const calls = [];
          // As a peer-to-peer loader does: what peers do not have comes by Shaka's own plugin.
          /** @type {import('shaka-player').default.extern.SchemePlugin} */
          const transport = (uri, ...rest) => {
            calls.push(uri.split('/').at(-1));
            return HttpFetchPlugin.parse(uri, ...rest);
          };
          NetworkingEngine.registerScheme('http', transport);
          const started = await shakaPage.start(version, { media: true, options: { transport } });
          const { player, video, events, uninstall, request } = started;
          player.configure(config);
          await player.load(url);
          const isThere = await shakaPage.until(() => shakaPage.bufferEnd(video) > 39);
          const sent = calls.splice(0);
          uninstall();
          await request('MANIFEST', url).outcome;
          await started.end();
          NetworkingEngine.unregisterScheme('http');
          const { PREFERRED } = NetworkingEngine.PluginPriority;
          NetworkingEngine.registerScheme('http', HttpFetchPlugin.parse, PREFERRED, true);
          return { events, isThere, sent, back: calls };
        },
        { version, url: session.url('pinned.mpd'), config: CONFIG },
      );
      assert.ok(result.isThere);
      assert.deepEqual(
        result.events.filter(([name]) => name === 'error'),
        [],
      );
      assert.equal(result.sent.filter((file) => file === 'mid-03.m4s').length, 2);
      assert.ok(result.sent.length > 43);
      assert.deepEqual(result.back, ['pinned.mpd']);
    });
  });
}
