// @ts-check
/** The real dash.js with Holdfast under it, through faults of a real server. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FRESH_TOKEN } from '../lab/rules.mjs';
import { answer, ok } from '../node/server.mjs';
import { eventually, PAGES, startBrowser } from './fixture.mjs';

/** @typedef {import('../lab/session.mjs').Session} Session */
/** @typedef {Awaited<ReturnType<typeof open>>} Opened */

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
/** Another host. @type {import('../lab/server.mjs').Lab} */
let elsewhere;
/** The manifest of one rendition. */
let manifest = '';
before(async () => {
  browser = await startBrowser();
  lab = await browser.startLab();
  elsewhere = await browser.startLab();
  manifest = await readFile(path.join(lab.mediaDir, 'pinned.mpd'), 'utf8');
});
after(() => browser?.close());

/** Short bounds and ladders; a busy machine takes a second for an answer now and then. */
const QUICK = {
  attempts: 3,
  backoff: { base: 100, factor: 1, cap: 100 },
  headersTimeout: 2500,
  stallTimeout: 2000,
};
/** @type {import('holdfast').EngineOptions} */
const quick = { sites: { init: QUICK, segment: QUICK } };

/**
 * A page with dash.js that plays.
 *
 * @param {{ after(fn: () => Promise<void>): void }} t
 * @param {Record<string, any>} setup as `start` of the page takes it
 * @param {import('./fixture.mjs').PageOptions} [options]
 */
async function open(t, { url = '/media.mpd', ...setup }, options) {
  const opened = await browser.open({ ...options, script: `${PAGES}dash-player.js` });
  t.after(() => opened.close());
  const { page } = opened;
  /** @type {import('playwright-core').Request[]} */
  const requests = [];
  page.on('request', (request) => requests.push(request));
  await page.waitForFunction('globalThis.start');
  const given = { options: quick, ...setup, url: new URL(url, opened.origin).href };
  await page.evaluate((given) => /** @type {any} */ (globalThis).start(given), given);
  const look = () => page.evaluate(() => /** @type {any} */ (globalThis).dash.look());
  return {
    ...opened,
    requests,
    look,
    /** @param {number} seconds */
    async plays(seconds) {
      const what = `dash.js plays past ${seconds} s`;
      return eventually(async () => (await look()).position > seconds, what, 30_000);
    },
    /** @param {number} seconds */
    seek: (seconds) =>
      page.evaluate((to) => /** @type {any} */ (globalThis).dash.player.seek(to), seconds),
  };
}

/** How often each file was asked for. @param {Session} session */
function counts({ log }) {
  /** @type {Record<string, number>} */
  const all = {};
  for (const { file } of log) all[file] = (all[file] ?? 0) + 1;
  return all;
}

/** The manifest with other places for its media, and other changes. @param {string[]} places @param {(mpd: string) => string} [edit] */
function mpd(places, edit = (text) => text) {
  const urls = places.map((place) => `<BaseURL>${place}</BaseURL>`);
  const whole = manifest.replace('<Period', `${urls.join('')}<Period`);
  return ok(edit(whole), { 'content-type': 'application/dash+xml' });
}

describe('dash.js with Holdfast', { concurrency: 2 }, () => {
  test('asks for each file of a healthy stream once, plainly', async (t) => {
    const session = lab.createSession();
    const opened = await open(t, { url: session.url('pinned.mpd') });
    await opened.plays(1);
    const asked = counts(session);
    assert.ok(Object.keys(asked).length > 10);
    assert.deepEqual(new Set(Object.values(asked)), new Set([1]));
    assert.ok(session.log.every(({ act }) => act === 'normal'));
    assert.deepEqual(opened.warnings, []);
  });

  test('plays through a refusal, a cut body and silence', async (t) => {
    const session = lab.createSession({
      rules: [
        { match: 'mid-02', nth: 1, act: 'status', status: 503 },
        { match: 'audio-02', nth: 1, act: 'resetHeaders' },
        { match: 'mid-03', nth: 1, act: 'resetBody', at: 0.5 },
        { match: 'mid-04', nth: 1, act: 'stallBody', at: 0.5 },
      ],
    });
    const opened = await open(t, { url: session.url('pinned.mpd') });
    await opened.plays(8);
    const { errors } = await opened.look();
    assert.deepEqual(errors, []);
    const { 'mid-02.m4s': refused, 'mid-05.m4s': healthy } = counts(session);
    assert.deepEqual([refused, healthy], [2, 1]);
  });

  test('skips a missing segment at the cost of its own duration', async (t) => {
    const rules = [{ match: 'mid-02', act: /** @type {const} */ ('status'), status: 404 }];
    const session = lab.createSession({ rules });
    const opened = await open(t, { url: session.url('pinned.mpd') });
    await opened.plays(5);
    const { errors, buffered } = await opened.look();
    assert.deepEqual(errors, []);
    assert.deepEqual(
      buffered.map((/** @type {number[]} */ [start]) => Math.round(start)),
      [0, 4],
    );
    assert.equal(counts(session)['mid-02.m4s'], 2);
    // What lies behind the hole counts as buffered.
    assert.ok(buffered[1][1] < 39, 'all of the stream was loaded at once');
  });

  for (const loader of ['XHRLoader', 'FetchLoader']) {
    test(`sends what the engine sends and no more, with 15 retries set, by ${loader}`, async (t) => {
      const rules = [{ match: 'mid-0[34]', act: /** @type {const} */ ('status'), status: 503 }];
      const session = lab.createSession({ rules });
      const progressive = loader === 'FetchLoader';
      const media = mpd([session.baseUrl], (text) =>
        progressive
          ? text.replaceAll('<SegmentTemplate', '<SegmentTemplate availabilityTimeComplete="false"')
          : text,
      );
      const settings = { streaming: { retryAttempts: { MediaSegment: 15 } } };
      const options = { sites: { segment: { ...QUICK, onExhausted: 'reject' } } };
      const opened = await open(t, { settings, options }, { answers: { '/media.mpd': media } });
      await eventually(async () => (await opened.look()).errors.length, 'dash.js tells');
      await opened.plays(1);
      const [{ code, status }, ...others] = (await opened.look()).errors;
      assert.deepEqual([code, status, others], [27, 503, []]);
      assert.equal(counts(session)['mid-03.m4s'], 3);
      assert.equal(counts(session)['mid-04.m4s'], undefined);
      /** @type {string[]} */
      const kinds = await opened.page.evaluate(() => {
        const { player } = /** @type {any} */ (globalThis).dash;
        const requests = player.getDashMetrics().getHttpRequests('video');
        return requests.map((/** @type {any} */ request) => request._fileLoaderType);
      });
      assert.equal(kinds.includes('fetch_loader'), progressive);
    });
  }

  test('moves to another place when one fails', async (t) => {
    const rules = [{ match: 'm4s', act: /** @type {const} */ ('status'), status: 503 }];
    const [down, up] = [lab.createSession({ rules }), elsewhere.createSession()];
    const answers = { '/media.mpd': mpd([down.baseUrl, up.baseUrl]) };
    const opened = await open(t, {}, { answers });
    await opened.plays(3);
    const [failed, served] = [counts(down), counts(up)];
    for (const file of ['mid-01.m4s', 'audio-01.m4s']) {
      assert.ok(failed[file] <= 3, `${file} was asked for ${failed[file]} times`);
      assert.equal(served[file], 1);
    }
    assert.equal(failed['mid-03.m4s'], undefined);
  });

  test('tells a refusal as dash.js tells one', async (t) => {
    const rules = [{ match: 'mid-02', act: /** @type {const} */ ('status'), status: 403 }];
    const session = lab.createSession({ rules });
    const opened = await open(t, { url: session.url('pinned.mpd') });
    await eventually(async () => (await opened.look()).errors.length, 'dash.js tells');
    const [{ code, message, status }] = (await opened.look()).errors;
    assert.deepEqual([code, status], [27, 403]);
    assert.match(message, /mid-02\.m4s is not available/);
  });

  test('runs interceptors and CMCD anew for each attempt, on the URL as it was', async (t) => {
    const rules = [
      {
        match: 'mid-03',
        nth: [1, 2],
        act: /** @type {const} */ ('status'),
        status: 503,
        headers: { 'retry-after': '1' },
      },
    ];
    const session = lab.createSession({ rules, expose: ['Retry-After'] });
    const prepare = (/** @type {any} */ { player, statuses }) => {
      let token = 0;
      player.updateSettings({ streaming: { cmcd: { enabled: true, mode: 'query' } } });
      player.addRequestInterceptor(async (/** @type {any} */ request) => {
        request.url += `&token=${++token}`;
        return request;
      });
      player.addResponseInterceptor(async (/** @type {any} */ response) => {
        if (/mid-03\.m4s\?/.test(response.url)) statuses.push(response.status);
        return response;
      });
    };
    const media = mpd([session.baseUrl], (text) => text.replaceAll('.m4s"', '.m4s?sig=a%2Fb"'));
    const opened = await open(
      t,
      { prepare: String(prepare) },
      { answers: { '/media.mpd': media } },
    );
    await opened.plays(5);
    const urls = opened.requests
      .map((request) => request.url())
      .filter((url) => /mid-03\.m4s\?/.test(url));
    assert.equal(urls.length, 3, urls.join('\n'));
    for (const url of urls) {
      assert.equal(url.match(/CMCD=/g)?.length, 1, url);
      assert.equal(url.match(/token=/g)?.length, 1, url);
      assert.match(url, /\?sig=a%2Fb&CMCD=/);
    }
    const numbers = urls.map((url) => Number(/token=(\d+)/.exec(url)?.[1]));
    assert.ok(numbers[0] < numbers[1] && numbers[1] < numbers[2], numbers.join());
    // The buffer that it tells of (bl) shrinks while the server is waited for.
    const buffers = urls.map((url) => Number(/bl%3D(\d+)/.exec(url)?.[1]));
    assert.ok(buffers[0] > buffers[2], buffers.join());
    assert.deepEqual((await opened.look()).statuses, [503, 503, 200]);
  });

  test('sends the credential that replaced its own, from the first attempt on', async (t) => {
    const rules = [
      { match: 'm4s', unless: FRESH_TOKEN, act: /** @type {const} */ ('status'), status: 403 },
    ];
    const session = lab.createSession({ rules });
    const media = mpd([session.baseUrl], (text) => text.replaceAll('.m4s"', '.m4s?token=first"'));
    const opened = await open(t, { token: 'fresh' }, { answers: { '/media.mpd': media } });
    await opened.plays(5);
    assert.deepEqual((await opened.look()).errors, []);
    // What was asked for before there was another, and what came after.
    const { 'mid-init.mp4': first, 'mid-01.m4s': second, 'mid-03.m4s': later } = counts(session);
    assert.deepEqual([first, second, later], [1, 2, 1]);
  });

  test('runs interceptors and CMCD on the URL with the credential that replaced its own', async (t) => {
    const rules = [
      { match: 'm4s', unless: FRESH_TOKEN, act: /** @type {const} */ ('status'), status: 403 },
      { match: 'mid-03', nth: 1, act: /** @type {const} */ ('status'), status: 503 },
    ];
    const session = lab.createSession({ rules });
    const prepare = (/** @type {any} */ { player }) => {
      let count = 0;
      player.updateSettings({ streaming: { cmcd: { enabled: true, mode: 'query' } } });
      player.addRequestInterceptor(async (/** @type {any} */ request) => {
        request.url += `&count=${++count}`;
        return request;
      });
    };
    const media = mpd([session.baseUrl], (text) => text.replaceAll('.m4s"', '.m4s?token=first"'));
    const opened = await open(
      t,
      { token: 'fresh', prepare: String(prepare) },
      { answers: { '/media.mpd': media } },
    );
    await opened.plays(5);
    assert.deepEqual((await opened.look()).errors, []);
    const urls = opened.requests.map((request) => request.url());
    const sent = urls.filter((url) => /m4s\?/.test(url));
    for (const url of sent) {
      for (const name of ['token', 'CMCD', 'count']) {
        assert.equal(url.match(new RegExp(`\\b${name}=`, 'g'))?.length, 1, url);
      }
    }
    const again = sent.filter((url) => /mid-03\.m4s\?/.test(url));
    assert.equal(again.length, 2, again.join('\n'));
    const numbers = again.map((url) => Number(/count=(\d+)/.exec(url)?.[1]));
    assert.ok(numbers[0] < numbers[1], numbers.join());
  });

  test('reloads a live manifest again after reloads that failed', async (t) => {
    const session = lab.createSession();
    const began = new Date(Date.now() - 14_000).toISOString();
    const live = mpd([session.baseUrl], (text) =>
      text
        .replace(
          'type="static"',
          `type="dynamic" minimumUpdatePeriod="PT1S" availabilityStartTime="${began}"`,
        )
        .replace(/mediaPresentationDuration="[^"]*"/, ''),
    );
    let reloads = 0;
    /** @type {import('../node/server.mjs').Answer} */
    const media = (request, response) =>
      (++reloads === 3 || reloads === 4 ? answer(503) : live)(request, response);
    const reload = { ...QUICK, attempts: 1, onExhausted: 'reject', allowOverride: true };
    const options = { sites: { ...quick.sites, 'playlist-reload': reload } };
    const opened = await open(t, { options }, { answers: { '/media.mpd': media } });
    await eventually(() => reloads > 6, 'the manifest is reloaded', 25_000);
    assert.deepEqual((await opened.look()).errors, []);
  });

  test('plays on without a subtitle file that is not there', async (t) => {
    const session = lab.createSession();
    const text = `<AdaptationSet contentType="text" mimeType="text/vtt" lang="en">
      <Representation id="text" bandwidth="100"><BaseURL>none.vtt</BaseURL></Representation></AdaptationSet>`;
    const media = mpd([session.baseUrl], (whole) => whole.replace('</Period>', `${text}</Period>`));
    const settings = { streaming: { text: { defaultEnabled: true } } };
    const opened = await open(t, { settings }, { answers: { '/media.mpd': media } });
    await opened.plays(4);
    assert.deepEqual((await opened.look()).errors, []);
    assert.equal(counts(session)['none.vtt'], 1);
  });

  test('measures the attempt that won, without waits and lost bytes', async (t) => {
    const link = { kbps: 3000, delayMs: 20 };
    const rules = [
      { match: 'mid-03', nth: 1, act: /** @type {const} */ ('status'), status: 503 },
      { match: 'mid-05', nth: 1, act: /** @type {const} */ ('resetBody'), at: 0.5 },
      { match: 'mid-06', nth: 1, act: /** @type {const} */ ('stallBody'), at: 0.5 },
    ];
    const alone = lab.createSession({ link });
    const faulty = lab.createSession({ link, rules });
    const averages = await Promise.all(
      [alone, faulty].map(async (session) => {
        const plain = session === alone;
        const opened = await open(t, { url: session.url('pinned.mpd'), plain });
        await eventually(() => counts(session)['mid-10.m4s'], 'nine segments', 40_000);
        return opened.page.evaluate(() =>
          /** @type {any} */ (globalThis).dash.player.getAverageThroughput('video'),
        );
      }),
    );
    const ratio = averages[1] / averages[0];
    assert.ok(ratio > 0.85 && ratio < 1.15, `${averages.join(' and ')} kbit/s`);
  });
});

describe('dash.js has its own way back', { concurrency: 2 }, () => {
  const own = (/** @type {Opened} */ opened) =>
    opened.page.evaluate(() => {
      const { player, before } = /** @type {any} */ (globalThis).dash;
      const now = structuredClone(player.getSettings().streaming);
      const fields = ['retryAttempts', 'fragmentRequestTimeout', 'manifestRequestTimeout'];
      return fields.every((name) => JSON.stringify(now[name]) === JSON.stringify(before[name]));
    });
  const kinds = (/** @type {Opened} */ { requests }) =>
    new Set(
      requests
        .filter((request) => /m4s/.test(request.url()))
        .map((request) => request.resourceType()),
    );

  test('when the module cannot be loaded', async (t) => {
    const rules = [{ match: 'mid-03', nth: 1, act: /** @type {const} */ ('status'), status: 503 }];
    const session = lab.createSession({ rules });
    const answers = { '/js/pkg/core_bg.wasm': answer(404) };
    const opened = await open(t, { url: session.url('pinned.mpd') }, { answers });
    await opened.plays(4);
    assert.equal((await opened.look()).mode, 'plain');
    assert.equal(await own(opened), true);
    assert.equal(counts(session)['mid-03.m4s'], 2);
  });

  test('when the adapter is taken off', async (t) => {
    const session = lab.createSession();
    const opened = await open(t, { url: session.url('pinned.mpd') });
    await opened.plays(1);
    assert.deepEqual(kinds(opened), new Set(['fetch']));
    assert.equal(await own(opened), false);
    await opened.page.evaluate(() => /** @type {any} */ (globalThis).dash.detach());
    assert.equal(await own(opened), true);
    opened.requests.length = 0;
    await opened.plays(3);
    await eventually(() => opened.requests.length > 0, 'dash.js loads on');
    assert.deepEqual(kinds(opened), new Set(['xhr']));
  });

  test('when the engine is destroyed under it', async (t) => {
    // Slow enough that there is a body under way.
    const session = lab.createSession({ link: { kbps: 4000, delayMs: 20 } });
    const opened = await open(t, { url: session.url('pinned.mpd') });
    await opened.plays(1);
    await opened.page.evaluate(() => /** @type {any} */ (globalThis).dash.engine.destroy());
    opened.requests.length = 0;
    await opened.seek(36);
    await opened.plays(37);
    assert.deepEqual(kinds(opened), new Set(['xhr']));
    assert.deepEqual((await opened.look()).errors, []);
  });

  test('when it has been reset, and Holdfast again with the next source', async (t) => {
    const [first, second] = [lab.createSession(), lab.createSession()];
    const opened = await open(t, { url: first.url('pinned.mpd') });
    await opened.plays(1);
    await opened.page.evaluate((url) => {
      const { player, video } = /** @type {any} */ (globalThis).dash;
      player.reset();
      player.initialize(video, url, true);
    }, second.url('pinned.mpd'));
    await eventually(() => second.log.length > 10, 'the next source is loaded');
    assert.deepEqual(kinds(opened), new Set(['fetch']));
    assert.equal(await own(opened), false);
  });
});
