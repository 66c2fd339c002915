// @ts-check
// rx-player with Holdfast in a real Chromium, on real media, through faults; and, where it tells
// whether the fault is one, rx-player alone.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CLEARKEY_LICENSE, ensureProtectedMedia } from '../lab/protected-media.mjs';
import { answer, file, ok } from '../node/server.mjs';
import { eventually, PAGES, shared, startBrowser } from './fixture.mjs';

/** @typedef {import('../lab/rules.mjs').Rule} Rule */
/** @typedef {import('../lab/session.mjs').Session} Session */
/** @typedef {Omit<Partial<import('./pages/rx-player-page.js').Play>, 'options'>} Play */

const LINK = { kbps: 6000 };
const imports = {
  holdfast: '/js/index.js',
  'holdfast/rx-player': '/js/adapters/rx-player.js',
  'rx-player': '/rx-player.js',
};
const backoff = { base: 200, factor: 1, cap: 200 };
const names = /** @type {const} */ (['manifest', 'playlist-reload', 'init', 'segment', 'license']);
/** @param {import('holdfast').SiteOptions} [policy] */
const sitesWith = (policy) =>
  Object.fromEntries(names.map((name) => [name, { backoff, ...policy }]));
/** Quick between attempts. */
const sites = sitesWith();
/** Quick to find silence too; a busy machine takes a second for an answer now and then. */
const hasty = sitesWith({ headersTimeout: 1500, firstHeadersTimeout: 1500, stallTimeout: 1500 });

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** Two origins with the same media. @type {import('../lab/server.mjs').Lab[]} */
let labs;
/** @type {import('../lab/server.mjs').Lab} */
let protectedLab;
/** rx-player as a bundler makes it: its modules name each other in Node's way. @type {Uint8Array} */
let player;
before(async () => {
  browser = await startBrowser();
  labs = [await browser.startLab(), await browser.startLab()];
  protectedLab = await browser.startLab(ensureProtectedMedia);
  const { build } = await import('esbuild');
  const contents = "export { default } from 'rx-player';";
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    ...{ bundle: true, format: 'esm', minify: true, write: false },
  });
  player = outputFiles[0].contents;
});
after(() => browser?.close());

/**
 * A page with rx-player.
 *
 * @param {import('node:test').TestContext} t
 * @param {Record<string, import('../node/server.mjs').Answer>} [answers] instead of files
 */
async function open(t, answers) {
  const script = ok(player, { 'content-type': 'text/javascript' });
  const opened = await browser.open({
    imports,
    answers: { '/rx-player.js': script, ...answers },
    script: `${PAGES}rx-player-page.js`,
  });
  t.after(opened.close);
  await opened.page.waitForFunction('globalThis.rx');
  let count = 0;
  /** @param {string} url @param {Play & { options?: object }} [play] */
  const play = async (url, play = {}) => {
    const name = `rx${(count += 1)}`;
    const options = { ...play, options: { url, ...play.options } };
    const started = { engine: { sites }, ...options };
    await opened.page.evaluate(
      `rx.start(${JSON.stringify(started)}).then((made) => void (globalThis.${name} = made))`,
    );
    /** @returns {Promise<any>} */
    const look = () => opened.page.evaluate(`${name}.look()`);
    return {
      look,
      /** @param {string} call of what the page's script gives */
      run: (call) => opened.page.evaluate(`void ${name}.${call}`),
      /** Waits until playback is there, and nothing has ended it. @param {number} seconds */
      plays: (seconds) =>
        eventually(
          async () => {
            const seen = await look();
            assert.deepEqual(seen.errors, []);
            return seen.position > seconds && seen;
          },
          `${seconds} s are played`,
          40_000,
        ),
      /** Waits for the error that ends playback. */
      fails: () =>
        eventually(async () => (await look()).errors[0], 'playback ends with an error', 40_000),
    };
  };
  return { ...opened, play };
}

/** @param {Session} session @param {RegExp} [pattern] */
const asked = ({ log }, pattern = /./) =>
  log.filter(({ file }) => pattern.test(file)).map(({ file }) => file);
/** @param {Session} session @param {string} name */
const statuses = ({ log }, name) =>
  log.filter(({ file }) => file === name).map(({ status }) => status);

describe('rx-player with Holdfast', { concurrency: 4 }, () => {
  test('asks for the same files as rx-player alone while all is well', async (t) => {
    const { play } = await open(t);
    const files = await Promise.all(
      [true, false].map(async (alone) => {
        const session = labs[0].createSession({ link: LINK });
        const { plays } = await play(session.url('pinned.mpd'), { alone, engine: {} });
        const { sites } = await plays(3);
        assert.equal(sites.includes('segment'), !alone);
        assert.ok(session.log.every(({ act, range }) => act === 'normal' && range === null));
        const first = asked(session, /^(?!.*-0[4-9])/).sort();
        return { first, once: session.log.every(({ attempt }) => attempt === 1) };
      }),
    );
    assert.deepEqual(files[1], files[0]);
    assert.equal(files[0].first.length, 9);
  });

  test('fetches the rest of a segment that falls silent', async (t) => {
    const { play } = await open(t);
    /** @type {Rule[]} */
    const rules = [{ match: 'mid-02', nth: 1, act: 'stallBody', at: 0.5 }];
    const session = labs[0].createSession({ rules, link: LINK });
    const { plays } = await play(session.url('pinned.mpd'), { engine: { sites: hasty } });
    await plays(5);
    const parts = session.log.filter(({ file }) => file === 'mid-02.m4s');
    assert.equal(parts[0].how, 'client-closed');
    assert.ok(
      parts.length > 1 && parts.slice(1).every(({ status, from }) => status === 206 && from),
    );
  });

  test('outlives refusals that end playback with rx-player alone', async (t) => {
    const { play } = await open(t);
    /** @type {Rule[]} */
    const rules = [{ match: '-03', nth: [1, 2, 3, 4, 5], act: 'status', status: 503 }];
    const sessions = [0, 0].map(() => labs[0].createSession({ rules, link: LINK }));
    const [alone, held] = await Promise.all([
      play(sessions[0].url('pinned.mpd'), { alone: true }),
      play(sessions[1].url('pinned.mpd')),
    ]);
    const [error] = await Promise.all([alone.fails(), held.plays(8)]);
    assert.deepEqual([error.type, error.status], ['NETWORK_ERROR', 503]);
  });

  test('starts though the first manifest request is never answered', async (t) => {
    const { play } = await open(t);
    /** @type {Rule[]} */
    const rules = [{ match: 'mpd$', nth: 1, act: 'stallHeaders' }];
    const session = labs[0].createSession({ rules, link: LINK });
    const { plays } = await play(session.url('pinned.mpd'), { engine: { sites: hasty } });
    await plays(1);
    const answered = statuses(session, 'pinned.mpd');
    assert.deepEqual([answered[0], answered.at(-1)], [0, 200]);
  });

  test('ends at a hole with the error of rx-player alone, and asks less often for it', async (t) => {
    const { play } = await open(t);
    /** @type {Rule[]} */
    const rules = [{ match: 'mid-03', act: 'status', status: 404 }];
    const seen = await Promise.all(
      [true, false].map(async (alone) => {
        const session = labs[0].createSession({ rules, link: LINK });
        const { fails } = await play(session.url('pinned.mpd'), { alone });
        const { message: _, cause, ...error } = await fails();
        return { error, cause, requests: statuses(session, 'mid-03.m4s').length };
      }),
    );
    assert.deepEqual(seen[1].error, seen[0].error);
    assert.deepEqual(seen[1].error, {
      ...{ name: 'NetworkError', type: 'NETWORK_ERROR', code: 'PIPELINE_LOAD_ERROR' },
      ...{ status: 404, errorType: 'ERROR_HTTP_CODE', isHttpError: true, file: 'mid-03.m4s' },
    });
    assert.deepEqual(seen[1].cause, { code: 'NOT_FOUND', attempts: 2 });
    assert.deepEqual([seen[0].requests, seen[1].requests], [5, 2]);
  });

  test('tells rx-player of silence as of a time-out', async (t) => {
    const { play } = await open(t);
    /** @type {Rule[]} */
    const rules = [{ match: 'mid-02', act: 'stallHeaders' }];
    const session = labs[0].createSession({ rules, link: LINK });
    const policy = { ...hasty.segment, attempts: 2, onExhausted: /** @type {const} */ ('reject') };
    const { fails } = await play(session.url('pinned.mpd'), {
      engine: { sites: { ...hasty, segment: policy } },
    });
    const { type, errorType, status } = await fails();
    assert.deepEqual([type, errorType, status], ['NETWORK_ERROR', 'TIMEOUT', 0]);
  });

  test('passes over a hole where that is asked for', async (t) => {
    const { play } = await open(t);
    /** @type {Rule[]} */
    const rules = [{ match: 'mid-02', act: 'status', status: 404 }];
    const session = labs[0].createSession({ rules, link: LINK });
    const { plays } = await play(session.url('pinned.mpd'), { settings: { skipMissing: true } });
    const { warnings } = await plays(5);
    assert.deepEqual(
      warnings.map((/** @type {any} */ { code }) => code),
      ['DISCONTINUITY_ENCOUNTERED'],
    );
  });

  test('does not take a stream that is gone for holes', async (t) => {
    const { play } = await open(t);
    /** @type {Rule[]} */
    const rules = [{ match: 'mid-(0[3-9]|[12])', act: 'status', status: 410 }];
    const session = labs[0].createSession({ rules, link: LINK });
    const { fails } = await play(session.url('pinned.mpd'), { settings: { skipMissing: true } });
    const { status } = await fails();
    assert.equal(status, 410);
    const missing = new Set(asked(session, /^mid-(0[3-9]|[12])/));
    assert.ok(missing.size <= 7, [...missing].join());
  });

  test('leaves a CDN that is down for another one, with the warning that rx-player gives', async (t) => {
    const { play } = await open(t);
    const [down, up] = labs.map((lab, i) => {
      /** @type {Rule[]} */
      const rules = i === 0 ? [{ match: '-0[2-9]', act: 'status', status: 503 }] : [];
      return lab.createSession({ rules, link: LINK });
    });
    const manifest = await readFile(path.join(labs[0].mediaDir, 'pinned.mpd'), 'utf8');
    const cdns = [down, up].map(({ baseUrl }) => `<BaseURL>${baseUrl}</BaseURL>`).join('\n  ');
    const url = browser.media.on(
      '/cdns.mpd',
      shared(ok(manifest.replace('<Period', `${cdns}\n<Period`))),
    );
    const { plays } = await play(url);
    const { warnings } = await plays(5);
    assert.ok(asked(up, /-02/).length > 0);
    const [{ type, code, status, file }] = warnings;
    assert.deepEqual([type, code, status], ['NETWORK_ERROR', 'PIPELINE_LOAD_ERROR', 503]);
    assert.match(file, /-02\.m4s$/);
    // Not again and again: the next segments are asked of the other one at once.
    const later = [down, up].map((session) => asked(session, /-0[4-9]/).length);
    assert.ok(later[0] < later[1], later.join());
  });

  test('holds on to the last CDN', async (t) => {
    const { play } = await open(t);
    const [gone, last] = labs.map((lab, i) => {
      /** @type {Rule[]} */
      const rules = [
        { match: '-0[2-9]', act: 'status', status: 503, window: [0, i ? 4500 : 60_000] },
      ];
      return lab.createSession({ rules, link: LINK });
    });
    const manifest = await readFile(path.join(labs[0].mediaDir, 'pinned.mpd'), 'utf8');
    const cdns = [gone, last].map(({ baseUrl }) => `<BaseURL>${baseUrl}</BaseURL>`).join('');
    const url = browser.media.on(
      '/last.mpd',
      shared(ok(manifest.replace('<Period', `${cdns}<Period`))),
    );
    const { plays } = await play(url);
    await plays(5);
    assert.ok(statuses(last, 'mid-02.m4s').includes(503));
  });

  test('sends each attempt with the segment loader of the user, and keeps its error', async (t) => {
    const { play } = await open(t);
    const names = /^\/tenant\//;
    await serveMedia('/tenant/', (name, answers) => {
      if (name === 'mid-02.m4s') return [answer(503), ...answers];
      return name === 'mid-03.m4s' ? [answer(404)] : answers;
    });
    const { plays, fails } = await play(`${browser.media.origin}/tenant/pinned.mpd`, {
      loader: 'withXhr',
    });
    const { message, type, status, cause } = await fails();
    assert.match(message, /tenant: 404$/);
    assert.deepEqual([type, status, cause.code], ['NETWORK_ERROR', 404, 'NOT_FOUND']);
    const sent = browser.media.all.filter(({ url, method }) => names.test(url) && method === 'GET');
    const segments = sent.filter(({ url }) => !url.endsWith('mpd'));
    assert.ok(segments.every(({ headers }) => headers['x-tenant'] === 'rx'));
    const count = (/** @type {string} */ name) =>
      segments.filter(({ url }) => url.endsWith(name)).length;
    assert.deepEqual([count('mid-01.m4s'), count('mid-02.m4s'), count('mid-03.m4s')], [1, 2, 2]);
    void plays;
  });

  test('leaves to peers what they have, however long they are silent', async (t) => {
    const { page, play } = await open(t);
    const session = labs[0].createSession({ link: LINK });
    await page.evaluate(async (url) => {
      const { peers } = /** @type {any} */ (globalThis).rx;
      for (const name of ['mid-02.m4s', 'mid-03.m4s']) {
        peers.set(name, await (await fetch(url + name)).arrayBuffer());
      }
    }, session.url(''));
    const { plays } = await play(session.url('pinned.mpd'), {
      loader: 'fromPeers',
      engine: { sites: hasty },
    });
    const { sites } = await plays(5);
    assert.ok(sites.includes('segment'));
    // By the test itself, and by no one else.
    assert.deepEqual(
      [statuses(session, 'mid-02.m4s'), statuses(session, 'mid-03.m4s')],
      [[200], [200]],
    );
    assert.deepEqual(statuses(session, 'mid-01.m4s'), [200]);
  });

  for (const communicationType of /** @type {const} */ (['query', 'headers'])) {
    test(`sends CMCD in ${communicationType} with each attempt, and signed URLs as they are`, async (t) => {
      const { play } = await open(t);
      const signature = '?sig=a%2Fb+c%3D&Expires=1~2';
      const prefix = `/cmcd-${communicationType}/`;
      await serveMedia(
        prefix,
        (name, answers) => (name === 'mid-02.m4s' ? [answer(503), ...answers] : answers),
        (manifest) => manifest.replaceAll('.m4s"', `.m4s${signature.replace('&', '&amp;')}"`),
      );
      const { plays } = await play(`${browser.media.origin}${prefix}pinned.mpd`, {
        options: { cmcd: { contentId: 'c', sessionId: 's', communicationType } },
      });
      await plays(3);
      const sent = browser.media.all.filter(
        ({ url, method }) => url.startsWith(prefix) && method === 'GET',
      );
      assert.equal(
        browser.media.seen(`${prefix}mid-02.m4s`).length,
        communicationType === 'query' ? 2 : 3,
      );
      for (const { url, headers } of sent) {
        const [, query = ''] = url.split(/(?<=mpd|mp4|m4s)/);
        const own = url.includes('.m4s') ? signature : '';
        if (communicationType === 'query') {
          assert.match(query.slice(own.length), /^[?&]CMCD=[^&?]*$/);
          assert.ok(query.startsWith(own), url);
        } else {
          assert.equal(query, own);
          assert.match(String(headers['cmcd-session']), /cid%3D%22c%22|cid="c"/);
        }
      }
    });
  }

  test('fetches licenses through the engine, and rx-player asks once', async (t) => {
    const { play } = await open(t);
    const session = protectedLab.createSession({ link: LINK });
    const { url, seen } = serveLicenses('/license', answer(503), answer(503), ok(CLEARKEY_LICENSE));
    const { plays } = await play(session.url('cenc.mpd'), { license: url });
    const { sites, warnings } = await plays(2);
    assert.deepEqual([seen.length, warnings], [3, []]);
    assert.equal(sites.filter((/** @type {string} */ site) => site === 'license').length, 1);
    for (const { method, headers, body } of seen) {
      assert.deepEqual([method, headers['x-session']], ['POST', 'a1']);
      assert.ok(JSON.parse(String(await body)).kids.length > 0);
    }
  });

  test('ends with the error that rx-player has for licenses, after one ladder', async (t) => {
    const { play } = await open(t);
    const session = protectedLab.createSession({ link: LINK });
    const { url, seen } = serveLicenses('/license-down', answer(503));
    const { fails } = await play(session.url('cenc.mpd'), { license: url });
    const { type, code, message } = await fails();
    assert.deepEqual([type, code, seen.length], ['ENCRYPTED_MEDIA_ERROR', 'KEY_LOAD_ERROR', 3]);
    assert.match(message, /^license .*answered 503 \(attempts: 3\)/);
  });

  test('asks for the same ranges as rx-player alone', async (t) => {
    const { play } = await open(t);
    const whole = await Promise.all(
      ['init.mp4', '01.m4s', '02.m4s', '03.m4s', '04.m4s'].map((name) =>
        readFile(path.join(labs[0].mediaDir, `mid-${name}`)),
      ),
    );
    const media = Buffer.concat(whole);
    let at = 0;
    const ranges = whole.map(({ length }) => `${at}-${(at += length) - 1}`);
    const list = ranges.slice(1).map((range) => `<SegmentURL mediaRange="${range}" />`);
    const manifest = (/** @type {string} */ name) => `<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT8S"
  profiles="urn:mpeg:dash:profile:isoff-main:2011" minBufferTime="PT2S"><Period id="0">
  <AdaptationSet contentType="video" mimeType="video/mp4" codecs="avc1.4d400c">
    <Representation id="v" bandwidth="700000" width="320" height="180"><BaseURL>${name}</BaseURL>
      <SegmentList timescale="1" duration="2"><Initialization range="${ranges[0]}" />${list.join('')}
      </SegmentList></Representation></AdaptationSet></Period></MPD>`;
    const sent = await Promise.all(
      [true, false].map(async (alone) => {
        const name = `ranges-${alone}`;
        browser.media.on(`/${name}.mp4`, shared(file(media, { etag: '"m"' })));
        const url = browser.media.on(`/${name}.mpd`, shared(ok(manifest(`${name}.mp4`))));
        const { plays } = await play(url, { alone, engine: {} });
        await plays(5);
        return browser.media
          .seen(`/${name}.mp4`)
          .map(({ headers }) => headers.range)
          .sort();
      }),
    );
    assert.deepEqual(sent[1], sent[0]);
    assert.deepEqual(sent[1], ranges.map((range) => `bytes=${range}`).sort());
  });

  test('goes on reloading a live manifest after an outage, where rx-player alone stops for good', async (t) => {
    const { play } = await open(t);
    const session = labs[0].createSession({ link: LINK });
    const start = new Date(Date.now() - 14_000).toISOString();
    const manifest = await readFile(path.join(labs[0].mediaDir, 'pinned.mpd'), 'utf8');
    const live = manifest
      .replace(
        'type="static"',
        `type="dynamic" minimumUpdatePeriod="PT1S" availabilityStartTime="${start}"`,
      )
      .replace(/mediaPresentationDuration="[^"]*"/, 'timeShiftBufferDepth="PT30S"')
      .replace('<Period', `<BaseURL>${session.baseUrl}</BaseURL>\n<Period`);
    // As often as rx-player asks for the second reload.
    const serveLive = (/** @type {string} */ name) =>
      browser.media.on(
        name,
        shared((request, response) => {
          const count = browser.media.seen(name).length;
          (count > 2 && count <= 7 ? answer(503) : ok(live))(request, response);
        }),
      );
    const held = await play(serveLive('/live-b.mpd'));
    const alone = await play(serveLive('/live-a.mpd'), { alone: true });
    const [gone, back] = ['/live-a.mpd', '/live-b.mpd'].map(
      (name) => () => browser.media.seen(name),
    );
    await eventually(() => gone().length >= 7, 'rx-player alone has asked five times', 40_000);
    await eventually(() => back().length > 7, 'reloads go on', 40_000);
    const count = back().length;
    await eventually(() => back().length > count + 2, 'and on', 40_000);
    assert.equal(gone().length, 7);
    assert.equal((await alone.look()).errors.length, 0);
    const { errors, sites, live: isLive } = await held.look();
    assert.deepEqual([errors, isLive], [[], true]);
    const manifests = sites.filter((/** @type {string} */ site) => /manifest|reload/.test(site));
    assert.deepEqual(new Set(manifests), new Set(['manifest', 'playlist-reload']));
    assert.equal(manifests.indexOf('playlist-reload'), 1);
  });

  test('gives requests and retries back to rx-player where the module cannot be had', async (t) => {
    const { play, warnings } = await open(t, { '/js/pkg/core_bg.wasm': answer(404, 'no') });
    /** @type {Rule[]} */
    const rules = [{ match: 'mid-03', nth: [1, 2], act: 'status', status: 503 }];
    const session = labs[0].createSession({ rules, link: LINK });
    const { plays } = await play(session.url('pinned.mpd'));
    const seen = await plays(5);
    assert.equal(seen.mode, 'plain');
    assert.ok(seen.byXhr.includes('pinned.mpd') && seen.byXhr.includes('mid-03.m4s'));
    assert.deepEqual(statuses(session, 'mid-03.m4s').slice(0, 3), [503, 503, 200]);
    assert.deepEqual(
      seen.warnings.map((/** @type {any} */ { status }) => status),
      [503, 503],
    );
    assert.equal(warnings.filter((text) => text.startsWith('Holdfast')).length, 1);
  });

  test('plays what was begun before the module is known to be missing', async (t) => {
    const { play } = await open(t, { '/js/pkg/core_bg.wasm': answer(404, 'no') });
    const session = labs[0].createSession({ link: LINK });
    const { plays } = await play(session.url('pinned.mpd'), { early: true });
    const { mode, byXhr } = await plays(5);
    assert.equal(mode, 'plain');
    assert.ok(!byXhr.includes('pinned.mpd') && byXhr.includes('mid-03.m4s'));
  });

  test('gives licenses back to rx-player where the module cannot be had', async (t) => {
    const { play } = await open(t, { '/js/pkg/core_bg.wasm': answer(404, 'no') });
    const session = protectedLab.createSession({ link: LINK });
    const { url, seen } = serveLicenses('/license-plain', answer(503), ok(CLEARKEY_LICENSE));
    const { plays } = await play(session.url('cenc.mpd'), { license: url });
    const { warnings } = await plays(2);
    // Its own retry, and its own word for it.
    assert.deepEqual(
      [seen.length, warnings.map((/** @type {any} */ { code }) => code)],
      [2, ['KEY_LOAD_ERROR']],
    );
  });

  test('leaves the player as it was', async (t) => {
    const { play } = await open(t);
    /** @type {Rule[]} */
    const rules = [{ match: 'mid-05', nth: 1, act: 'status', status: 503 }];
    const session = labs[0].createSession({ rules, link: LINK });
    const { plays, run, look } = await play(session.url('pinned.mpd'));
    await plays(0.5);
    const { byXhr } = await look();
    assert.deepEqual(byXhr, []);
    await run('stop()');
    const { byXhr: after, warnings, sites } = await plays(8);
    // What is played goes on with rx-player's own loaders, and with its retries.
    assert.ok(after.includes('mid-06.m4s'));
    assert.equal(warnings.filter((/** @type {any} */ { status }) => status === 503).length, 1);
    await run('load({}, true)');
    const last = await plays(1);
    assert.deepEqual(last.sites, sites);
  });

  test('keeps two players and their engines apart', async (t) => {
    const { play } = await open(t);
    /** @type {Rule[]} */
    const rules = [{ match: '-0[2-9]', act: 'status', status: 503 }];
    const broken = await play(labs[0].createSession({ rules, link: LINK }).url('pinned.mpd'));
    const { plays } = await play(labs[1].createSession({ link: LINK }).url('pinned.mpd'));
    const { waiting } = await plays(6);
    assert.ok(!waiting.includes('segment'));
    const seen = await broken.look();
    assert.deepEqual([seen.errors, seen.waiting.includes('segment')], [[], true]);
  });

  test('is given up with its engine: what is played goes on with rx-player alone', async (t) => {
    const { play } = await open(t);
    const session = labs[0].createSession({ link: LINK });
    const { plays, run } = await play(session.url('pinned.mpd'));
    await plays(0.5);
    await run('engine.destroy()');
    const { byXhr } = await plays(8);
    assert.ok(byXhr.includes('mid-06.m4s'));
  });
});

describe('the samples of bandwidth', () => {
  test('hold no waits: a retry and a resume measure the link as a clean request does', async (t) => {
    const { page } = await open(t);
    /** @type {Rule[]} */
    const rules = [
      { match: 'mid-03', nth: 1, act: 'status', status: 503 },
      { match: 'mid-04', nth: 1, act: 'stallBody', at: 0.5 },
    ];
    const session = labs[0].createSession({ rules, link: { kbps: 1500, delayMs: 30 } });
    const urls = ['02', '03', '04', '05'].map((number) => session.url(`mid-${number}.m4s`));
    /** @type {{ rate: number, took: number, duration: number, progress: number[] }[]} */
    const [clean, retried, resumed, last] = await page.evaluate(
      `rx.measure(${JSON.stringify(urls)}, ${JSON.stringify({ sites: hasty })})`,
    );
    const reference = (clean.rate + last.rate) / 2;
    t.diagnostic(
      `bit/ms: clean ${reference.toFixed(0)}, retried ${retried.rate.toFixed(0)}, resumed ${resumed.rate.toFixed(0)}`,
    );
    for (const { rate } of [retried, resumed]) {
      assert.ok(Math.abs(rate / reference - 1) < 0.4, `${rate} against ${reference}`);
    }
    assert.ok(resumed.took - resumed.duration > 1000, 'the silence is no part of the sample');
    const { progress } = resumed;
    assert.deepEqual(
      progress,
      progress.toSorted((a, b) => a - b),
    );
  });
});

/**
 * Serves the test stream from where requests are seen with their queries and headers.
 *
 * @param {string} prefix
 * @param {(name: string, answers: import('../node/server.mjs').Answer[]) => import('../node/server.mjs').Answer[]} script
 * @param {(manifest: string) => string} [edit]
 */
async function serveMedia(prefix, script, edit = (manifest) => manifest) {
  const manifest = edit(await readFile(path.join(labs[0].mediaDir, 'pinned.mpd'), 'utf8'));
  const allowed = 'x-tenant, cmcd-object, cmcd-request, cmcd-session, cmcd-status';
  const put = (/** @type {string} */ name, /** @type {Uint8Array} */ body) => {
    const answers = script(name, [file(body, { etag: `"${name}"` })]);
    let sent = 0;
    browser.media.on(`${prefix}${name}`, (request, response) => {
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('access-control-allow-headers', allowed);
      if (request.method === 'OPTIONS') return void response.writeHead(204).end();
      answers[Math.min(sent++, answers.length - 1)](request, response);
    });
  };
  put('pinned.mpd', Buffer.from(manifest));
  for (const kind of ['mid', 'audio']) {
    for (const part of ['init.mp4', ...Array.from({ length: 8 }, (_, i) => `0${i + 1}.m4s`)]) {
      put(`${kind}-${part}`, await readFile(path.join(labs[0].mediaDir, `${kind}-${part}`)));
    }
  }
}

/**
 * A license server: answers preflights, and each request by script.
 *
 * @param {string} name
 * @param {...import('../node/server.mjs').Answer} answers
 */
function serveLicenses(name, ...answers) {
  /** @type {import('../node/server.mjs').Seen[]} */
  const seen = [];
  const url = browser.media.on(name, (request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', 'x-session');
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    seen.push(/** @type {import('../node/server.mjs').Seen} */ (browser.media.all.at(-1)));
    answers[Math.min(seen.length, answers.length) - 1](request, response);
  });
  return { url, seen };
}
