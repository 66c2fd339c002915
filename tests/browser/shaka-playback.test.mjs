// @ts-check
/** Shaka Player, 4 and 5, playing real media through faults with Holdfast underneath. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { atHosts } from '../bench/faults/streams.mjs';
import { CLEARKEY_LICENSE, ensureProtectedMedia } from '../lab/protected-media.mjs';
import { answer, ok } from '../node/server.mjs';
import { shared, startBrowser } from './fixture.mjs';
import { openShaka } from './shaka-fixture.mjs';

/** @typedef {import('../lab/session.mjs').Session} Session */
/** @typedef {import('../lab/session.mjs').SessionOptions} SessionOptions */

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof openShaka>>} */
let page;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
/** @type {import('../lab/server.mjs').Lab} */
let protectedLab;
before(async () => {
  browser = await startBrowser();
  lab = await browser.startLab();
  protectedLab = await browser.startLab(ensureProtectedMedia);
  page = await openShaka(browser);
});
after(() => browser?.close());

/** Everything is fetched at once. */
const STREAMING = { bufferingGoal: 60, updateIntervalSeconds: 0.05 };
const CONFIG = { streaming: STREAMING, abr: { enabled: false } };

/**
 * Starts a player and waits until its stream has been fetched, or an error has ended it. A stream
 * that a test may not wait for is fetched until `enough`, in seconds of it.
 *
 * @param {number} version
 * @param {string} url
 * @param {Partial<import('./pages/shaka-page.js').Setup> & { config?: object, from?: number, enough?: number }} [setup]
 *   `config` of the player; `from` where to play then, in seconds
 */
const playAll = (version, url, { config = CONFIG, from = -1, enough = 39, ...setup } = {}) =>
  page.run(
    async ({ shakaPage, version, url, config, from, enough, setup }) => {
      const { bufferEnd, until } = shakaPage;
      const started = await shakaPage.start(version, { media: true, ...setup });
      const { player, video, engine, events } = started;
      player.configure(config);
      const isOver = () => events.some(([name, , severity]) => name === 'error' && severity === 2);
      await player.load(url);
      await until(() => isOver() || bufferEnd(video) > enough, 30_000);
      if (from >= 0 && !isOver()) {
        video.currentTime = from;
        await video.play();
        await until(() => isOver() || video.currentTime > from + 3);
      }
      const { video: ranges, audio } = player.getBufferedInfo();
      const facts = {
        ...{ events, ranges, audio },
        position: video.currentTime,
        mode: engine.state.mode,
        carried: engine.log().filter(({ event }) => event === 'succeeded').length,
      };
      await started.end();
      return facts;
    },
    { version, url, config, from, enough, setup },
  );

/** Files and ranges, in the order of their names: two streams are fetched side by side. @param {Session} session */
const asked = ({ log }) => log.map(({ file, range, act }) => `${file} ${range} ${act}`).sort();

/** @param {Session} session @param {RegExp} pattern */
const times = ({ log }, pattern) => log.filter(({ file }) => pattern.test(file)).length;

const segment = {
  attempts: 4,
  backoff: { base: 100, factor: 1, cap: 100 },
  stallTimeout: 1000,
  headersTimeout: 2500,
};
const engine = { sites: { segment, init: segment } };

for (const version of [4, 5]) {
  describe(`Shaka ${version}`, () => {
    for (const manifest of ['pinned.mpd', 'pinned.m3u8']) {
      test(`a healthy stream sends the same requests as without (${manifest})`, async () => {
        const [alone, with_] = [lab.createSession(), lab.createSession()];
        const first = await playAll(version, alone.url(manifest), { isAlone: true });
        const second = await playAll(version, with_.url(manifest), { engine });
        assert.deepEqual(first.events, []);
        assert.deepEqual(second.events, []);
        assert.equal(second.mode, 'engine');
        assert.ok(alone.log.length > 40);
        assert.deepEqual(asked(with_), asked(alone));
        // What the browser's cache answers is not in the log of the server.
        assert.ok(second.carried >= alone.log.length);
      });
    }

    test('bodies that stall and servers that are busy do not reach the player', async () => {
      const session = lab.createSession({
        rules: [
          { match: '^pinned.mpd', nth: 1, act: 'status', status: 503 },
          { match: '^mid-init', nth: 1, act: 'resetHeaders' },
          { match: '^mid-03', nth: 1, act: 'stallBody', at: 0.5 },
          { match: '^(mid|audio)-05', nth: [1, 2], act: 'status', status: 503 },
          { match: '^mid-09', nth: 1, act: 'resetBody', at: 0.7 },
        ],
      });
      const { events, ranges } = await playAll(version, session.url('pinned.mpd'), { engine });
      assert.deepEqual(
        events.filter(([name]) => name === 'error'),
        [],
      );
      assert.equal(ranges.length, 1);
      assert.ok(ranges[0].end > 39);
      assert.equal(times(session, /^mid-05/), 3);
      assert.equal(times(session, /^mid-20/), 1);
    });

    for (const hosts of [1, 2]) {
      test(`a body that is cut without a word goes on behind what Shaka was fed of it (hosts: ${hosts})`, async () => {
        const session = lab.createSession({
          rules: [
            { match: '^(mid|audio)-0[37]', nth: 1, act: 'truncateSilent', at: 0.5 },
            { match: '^mid-05', nth: [1, 2], act: 'truncateSilent', at: 0.7 },
          ],
          rewrite: hosts > 1 ? atHosts('a.test', 'b.test') : undefined,
        });
        const config = { ...CONFIG, streaming: { ...STREAMING, lowLatencyMode: true } };
        const setup = { engine, config, from: 2 };
        const { events, ranges } = await playAll(version, session.url('pinned.mpd'), setup);
        const isError = (/** @type {any[]} */ [name]) => name === 'error';
        assert.deepEqual(events.filter(isError), []);
        assert.equal(ranges.length, 1);
        assert.ok(ranges[0].end > 39);
        assert.equal(times(session, /^mid-0[37]/), 4);
        assert.equal(times(session, /^mid-05/), 3);
      });
    }

    test('where there is nothing to turn to, an outage is waited out', async () => {
      /** @type {import('../lab/rules.mjs').Rule} */
      const rule = { match: '^mid-05', nth: [1, 2, 3, 4], act: 'status', status: 503 };
      const session = lab.createSession({ rules: [rule] });
      const { events, ranges } = await playAll(version, session.url('pinned.mpd'), {
        engine: { sites: { segment: { ...segment, attempts: 2 } } },
        // The segment that was not there; how fast the buffer fills again is paced.
        enough: 9.9,
      });
      assert.deepEqual(
        events.filter(([name]) => name === 'error'),
        [],
      );
      assert.equal(ranges.length, 1);
      assert.ok(ranges[0].end > 9.9, String(ranges[0].end));
      assert.equal(times(session, /^mid-05/), 5);
    });

    for (const manifest of ['pinned.mpd', 'pinned.m3u8']) {
      test(`a hole in VOD costs its own duration (${manifest})`, async () => {
        const rules = [{ match: '^mid-05', act: /** @type {const} */ ('status'), status: 404 }];
        const session = lab.createSession({ rules });
        const { events, ranges, audio, position } = await playAll(version, session.url(manifest), {
          engine,
          from: 7.5,
        });
        assert.deepEqual(
          events.filter(([name]) => name === 'error'),
          [],
        );
        assert.ok(events.some(([name]) => name === 'gapjumped'));
        assert.ok(position > 10, `at ${position}`);
        assert.equal(audio.length, 1);
        // The picture goes on where it belongs, beside the sound.
        assert.equal(ranges.length, 2);
        assert.ok(Math.abs(ranges[0].end - 8) < 0.2, String(ranges[0].end));
        assert.ok(Math.abs(ranges[1].start - 10) < 0.2, String(ranges[1].start));
        assert.ok(Math.abs(ranges[1].end - 40) < 0.2, String(ranges[1].end));
      });
    }

    test('without Holdfast such a hole ends playback', async () => {
      const rules = [{ match: '^mid-05', act: /** @type {const} */ ('status'), status: 404 }];
      const session = lab.createSession({ rules });
      const { events } = await playAll(version, session.url('pinned.mpd'), { isAlone: true });
      assert.ok(
        events.some(
          ([name, code, severity]) => name === 'error' && code === 1001 && severity === 2,
        ),
      );
    });

    test('what one rendition lacks is played from another', async () => {
      const rules = [
        { match: '^(low|high)-0[5-9]', act: /** @type {const} */ ('status'), status: 404 },
      ];
      const session = lab.createSession({ rules });
      const { ranges, events } = await playAll(version, session.url('main.mpd'), {
        engine,
        config: { streaming: STREAMING },
      });
      assert.ok(!events.some(([name, , severity]) => name === 'error' && severity === 2));
      assert.equal(ranges.length, 1);
      assert.ok(ranges[0].end > 39);
    });

    test('a verdict that nothing can heal is an error as without, and the own callback is told', async () => {
      const rules = [{ match: '^mid-05', act: /** @type {const} */ ('status'), status: 503 }];
      const session = lab.createSession({ rules });
      const result = await page.run(
        async ({ shakaPage, version, url, config, segment }) => {
          /** @type {any[][]} */
          const told = [];
          const failureCallback = (/** @type {any} */ { code, data }) => told.push([code, data[1]]);
          const { player, uninstall, events, end } = await shakaPage.start(version, {
            media: true,
            engine: { sites: { segment: { ...segment, onExhausted: 'reject' } } },
            before: (player) => player.configure({ streaming: { failureCallback } }),
          });
          player.configure(config);
          await player.load(url);
          await shakaPage.until(() => told.length);
          uninstall();
          const { failureCallback: left, retryParameters } = player.getConfiguration().streaming;
          await end();
          return { told, events, isBack: left === failureCallback, retryParameters };
        },
        { version, url: session.url('pinned.mpd'), config: CONFIG, segment },
      );
      assert.deepEqual(result.told, [[1001, 503]]);
      assert.deepEqual(
        result.events.filter(([name]) => name === 'error'),
        [['error', 1001, 2]],
      );
      assert.equal(times(session, /^mid-05/), 4);
      assert.ok(result.isBack);
      assert.equal(result.retryParameters.maxAttempts, 2);
    });

    test('a licence comes through a fault, with its challenge and its hook', async () => {
      const session = protectedLab.createSession();
      const licences = [answer(503), answer(401), ok(CLEARKEY_LICENSE)];
      /** @type {string[]} */
      const bodies = [];
      const url = browser.media.on(`/licence-${version}`, (request, response) => {
        shared((request, response) => {
          response.setHeader('access-control-allow-headers', '*');
          if (request.method === 'OPTIONS') return void response.writeHead(204).end();
          request.on('data', (data) => bodies.push(String(data)));
          (licences.shift() ?? answer(500))(request, response);
        })(request, response);
      });
      const result = await page.run(
        async ({ shakaPage, version, manifest, url }) => {
          let refreshed = 0;
          const policy = { attempts: 3, backoff: { base: 50, factor: 1, cap: 50 } };
          const { player, video, events, end } = await shakaPage.start(version, {
            media: true,
            engine: {
              sites: { license: policy },
              refreshLicenseRequest: ({ url, headers, body }) => {
                refreshed++;
                const fresh = new Headers(headers);
                fresh.set('x-fresh', 'yes');
                return { url: `${url}?fresh`, headers: fresh, body };
              },
            },
          });
          player.configure({ drm: { servers: { 'org.w3.clearkey': url } } });
          await player.load(manifest);
          await video.play();
          await shakaPage.until(() => video.currentTime > 1);
          const position = video.currentTime;
          await end();
          return { events, position, refreshed };
        },
        { version, manifest: session.url('cenc.mpd'), url },
      );
      assert.deepEqual(
        result.events.filter(([name]) => name === 'error'),
        [],
      );
      assert.ok(result.position >= 1, `at ${result.position}`);
      assert.equal(result.refreshed, 1);
      assert.equal(new Set(bodies).size, 1, 'the same challenge each time');
      assert.equal(bodies.length, 3);
      const last = browser.media.all.at(-1);
      assert.match(last?.url ?? '', /\?fresh$/);
      assert.equal(last?.headers['x-fresh'], 'yes');
    });
  });
}
