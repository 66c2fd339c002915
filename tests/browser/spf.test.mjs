// @ts-check
/**
 * SPF from npm, bundled as applications bundle it, plays through faults that end or hang it alone.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import holdfast from 'holdfast/bundler';
import { eventually, PAGES, startBrowser } from './fixture.mjs';
import { ALONE, PLAYER, builders, serveWithVite } from './spf-bundles.mjs';

/** @typedef {import('../lab/session.mjs').Session} Session */
/** @typedef {import('../lab/rules.mjs').Rule} Rule */
/** @typedef {keyof typeof builders} Bundler */
/** @typedef {import('../node/server.mjs').Answer} Answer */

/** Short bounds, so that faults are over soon; long enough for a busy machine. */
const QUICK = {
  sites: {
    segment: { backoff: { base: 300, cap: 1000 }, stallTimeout: 1500 },
    manifest: { backoff: { base: 300, cap: 1000 }, firstHeadersTimeout: 1500 },
  },
};

/** @type {Rule} two bodies stop half way, once; without that audio, no browser plays on */
const STALL = { match: 'audio-02|mid-03', nth: 1, act: 'stallBody', at: 0.5 };
/** @type {Rule} the server is busy for as long as three attempts of the first segments take */
const BURST = { match: '01.m4s', nth: [1, 2, 3], act: 'status', status: 503, body: 'busy' };
/** @type {Rule} */
const HANG = { match: 'pinned.m3u8', nth: 1, act: 'stallHeaders' };
/** @type {Rule} a refusal that is final, once */
const GONE = {
  match: 'mid.m3u8',
  nth: 1,
  act: 'status',
  status: 410,
  headers: { 'cache-control': 'no-store' },
};
/** SPF's error where no video is left to play; its media element takes it for fatal. */
const NO_VIDEO = 2011;
/** Where SPF's buffer has got past every fault, in seconds. */
const BEYOND = 12;

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
/** @type {import('../lab/server.mjs').Lab} another CDN */
let second;
/** @type {Map<string, import('./spf-bundles.mjs').Built>} */
const built = new Map();

before(async () => {
  browser = await startBrowser();
  lab = await browser.startLab();
  second = await browser.startLab();
  for (const [name, build] of Object.entries(builders)) {
    built.set(name, await build(PLAYER, [holdfast()]));
  }
  built.set('alone', await builders.Vite(ALONE, []));
});
after(() => browser?.close());

/** @param {string | Uint8Array} body @param {string} type @returns {Answer} */
const serve = (body, type) => (_, response) =>
  void response.writeHead(200, { 'content-type': type }).end(body);

/**
 * A page with SPF: with Holdfast, built by one of the bundlers, or alone.
 *
 * @param {import('node:test').TestContext} t
 * @param {Bundler | 'alone' | 'nobody'} how
 * @param {{ options?: import('holdfast').EngineOptions, texts?: Record<string, string>,
 *   script?: string, imports?: Record<string, string> }} [more] options of the engine, playlists on
 *   the origin of the page, and the script and the import map of a page that nobody has bundled
 */
async function openPlayer(t, how, more = {}) {
  const { options = QUICK, texts = {}, script = '/bundle/main.js', imports = {} } = more;
  /** @type {Record<string, Answer>} */
  const answers = {};
  for (const [file, body] of built.get(how)?.files ?? []) {
    const type = file.endsWith('.wasm') ? 'application/wasm' : 'text/javascript';
    answers[`/bundle/${file}`] = serve(body, type);
  }
  for (const [path, text] of Object.entries(texts)) {
    answers[path] = serve(text, 'application/vnd.apple.mpegurl');
  }
  const opened = await browser.open({ answers, script, imports });
  t.after(() => opened.close());
  const { page } = opened;
  if (how === 'alone') await page.waitForFunction('globalThis.player');
  else {
    await page.waitForFunction('globalThis.start');
    await page.evaluate((options) => /** @type {any} */ (globalThis).start(options), options);
  }
  return {
    ...opened,
    /** @param {string} url @param {boolean} [autoplay] */
    play: (url, autoplay = true) =>
      page.evaluate(
        ([url, autoplay]) => /** @type {any} */ (globalThis).player.play(url, autoplay),
        [url, autoplay],
      ),
    look: () => page.evaluate(() => /** @type {any} */ (globalThis).player.look()),
    /** Waits until it has played, and has loaded beyond every fault without a gap. */
    playsOn() {
      return eventually(async () => {
        const { position, buffered } = await this.look();
        return position > 1 && buffered.length === 1 && buffered[0][1] > BEYOND;
      }, 'SPF plays, and has loaded on');
    },
  };
}

/**
 * A stream on two CDNs, the first one preferred.
 *
 * @param {Session} first @param {Session} other
 */
const onTwoCdns = (first, other) => `#EXTM3U
${[first, other]
  .map(
    (
      cdn,
      i,
    ) => `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-${i}",NAME="audio",DEFAULT=YES,URI="${cdn.url('audio.m3u8')}"
#EXT-X-STREAM-INF:BANDWIDTH=840400,RESOLUTION=320x180,CODECS="avc1.4d400d,mp4a.40.2",AUDIO="audio-${i}"
${cdn.url('mid.m3u8')}`,
  )
  .join('\n')}
`;

describe('alone', { concurrency: true }, () => {
  test('a body that stops hangs it', async (t) => {
    const session = lab.createSession({ rules: [STALL] });
    const player = await openPlayer(t, 'alone');
    await player.play(session.url('pinned.m3u8'));
    const stopped = () => session.log.filter(({ file }) => file === 'audio-02.m4s');
    await eventually(() => stopped().length, 'the segment is asked for');
    await sleep(6000);
    assert.ok((await player.look()).position < 3);
    assert.deepEqual(
      stopped().map(({ how }) => how),
      ['open'],
      'it waits for that one body still',
    );
  });

  test('a busy server ends it', async (t) => {
    const session = lab.createSession({ rules: [BURST], cache: 'no-store' });
    const player = await openPlayer(t, 'alone');
    await player.play(session.url('pinned.m3u8'));
    await eventually(() => session.log.some(({ act }) => act === 'status'), 'the first 503');
    await sleep(6000);
    const { position, buffered } = await player.look();
    assert.equal(position, 0);
    assert.ok(!buffered.length || buffered[0][1] < 2, `buffered: ${buffered}`);
    const first = session.log.filter(({ file }) => file === 'mid-01.m4s');
    assert.equal(first.length, 1, 'it does not ask again');
  });

  test('a multivariant playlist that never comes hangs it', async (t) => {
    const session = lab.createSession({ rules: [HANG] });
    const player = await openPlayer(t, 'alone');
    await player.play(session.url('pinned.m3u8'));
    await eventually(() => session.log.length, 'its request');
    await sleep(6000);
    assert.deepEqual(
      session.log.map(({ file, how }) => [file, how]),
      [['pinned.m3u8', 'open']],
    );
  });

  test('one refusal of a playlist ends it, as it gives up its only CDN', async (t) => {
    const session = lab.createSession({ rules: [GONE] });
    const player = await openPlayer(t, 'alone');
    await player.play(session.url('pinned.m3u8'));
    const { failedCdns } = await eventually(async () => {
      const seen = await player.look();
      return seen.errors.includes(NO_VIDEO) && seen;
    }, 'SPF reports that there is no video to play');
    assert.deepEqual(failedCdns, [lab.mediaOrigin]);
  });
});

describe('with Holdfast', { concurrency: true }, () => {
  for (const how of /** @type {Bundler[]} */ (Object.keys(builders))) {
    test(`bundled by ${how} it plays through a playlist that hangs, a burst of 503, and a body that stops`, async (t) => {
      assert.deepEqual(built.get(how)?.warnings, []);
      const session = lab.createSession({ rules: [HANG, BURST, STALL], cache: 'no-store' });
      const player = await openPlayer(t, how);
      await player.play(session.url('pinned.m3u8'));
      await player.playsOn();
      const acts = new Set(session.log.map(({ act }) => act));
      assert.deepEqual([...acts].sort(), ['normal', 'stallBody', 'stallHeaders', 'status']);
      const { failed, errors } = await player.look();
      assert.deepEqual({ failed, errors }, { failed: false, errors: [] });
      assert.deepEqual(player.warnings, []);
    });
  }
});

test("in Vite's dev server it plays through a body that stops", async (t) => {
  const server = await serveWithVite([holdfast()]);
  t.after(() => server.close());
  const session = lab.createSession({ rules: [STALL] });
  const player = await openPlayer(t, 'nobody', { script: server.script });
  await player.play(session.url('pinned.m3u8'));
  await player.playsOn();
  assert.equal(session.log.filter(({ act }) => act === 'stallBody').length, 2);
});

test('without a bundler, an import map has the same effect', async (t) => {
  const SPF = '/node_modules/@videojs/spf/dist/default';
  const utils = ['dom', 'events', 'object', 'predicate', 'string', 'time'];
  const imports = {
    holdfast: '/js/index.js',
    'holdfast/spf': '/js/adapters/spf.js',
    '@videojs/spf': `${SPF}/index.js`,
    '@videojs/spf/hls': `${SPF}/hls.js`,
    [`${SPF}/network/fetch.js`]: '/js/adapters/spf-network.js',
    ...Object.fromEntries(
      utils.map((name) => [
        `@videojs/utils/${name}`,
        `/node_modules/@videojs/utils/dist/${name}.js`,
      ]),
    ),
    'signal-polyfill': '/node_modules/signal-polyfill/dist/index.js',
  };
  const session = lab.createSession({ rules: [STALL] });
  const player = await openPlayer(t, 'nobody', { script: `${PAGES}spf-player.js`, imports });
  await player.play(session.url('pinned.m3u8'));
  await player.playsOn();
  assert.equal(session.log.filter(({ act }) => act === 'stallBody').length, 2);
});

test('a healthy stream is the same requests with Holdfast and without', async (t) => {
  const logs = [];
  for (const how of /** @type {const} */ (['alone', 'Vite'])) {
    const session = lab.createSession();
    const player = await openPlayer(t, how);
    // With several renditions, what it asks for hangs on how busy this machine is.
    await player.play(session.url('pinned.m3u8'), false);
    await eventually(async () => (await player.look()).buffered[0]?.[1] >= 30, 'it has loaded');
    await sleep(300);
    // Video and audio are loaded side by side.
    logs.push(session.log.map(({ file, range, act }) => `${file} ${range} ${act}`).sort());
  }
  assert.ok(logs[0].length > 30);
  assert.deepEqual(logs[1], logs[0]);
});

test('a verdict does not give up the only CDN', async (t) => {
  const session = lab.createSession({ rules: [GONE] });
  const player = await openPlayer(t, 'Vite');
  await player.play(session.url('pinned.m3u8'));
  await eventually(async () => (await player.look()).errors.length, 'the verdict is reported');
  await sleep(300);
  const { errors, failedCdns } = await player.look();
  assert.deepEqual({ errors, failedCdns }, { errors: [3410, 3008], failedCdns: [] });
});

test('a segment that is refused once is asked for again, and playback goes on', async (t) => {
  const rules = [{ ...GONE, match: 'mid-03' }];
  const session = lab.createSession({ rules, cache: 'no-store' });
  const player = await openPlayer(t, 'Vite');
  await player.play(session.url('pinned.m3u8'));
  await player.playsOn();
  assert.equal(session.log.filter(({ file }) => file === 'mid-03.m4s').length, 2);
});

test('a CDN that goes down is left for the other one', async (t) => {
  const down = { match: 'm4s$', act: 'status', status: 503 };
  const first = lab.createSession({ rules: [/** @type {Rule} */ (down)] });
  const other = second.createSession();
  const player = await openPlayer(t, 'Vite', { texts: { '/two.m3u8': onTwoCdns(first, other) } });
  await player.play(`${player.origin}/two.m3u8`);
  await player.playsOn();
  assert.deepEqual((await player.look()).failedCdns, [lab.mediaOrigin]);
  assert.ok(other.log.some(({ file }) => file === 'mid-01.m4s'));
});

test('a CDN whose bodies stop is left, too', async (t) => {
  // Too much of it is with the decoder by then to start it over.
  const segment = { ...QUICK.sites.segment, resume: false, allowOverride: true };
  const options = { sites: { ...QUICK.sites, segment } };
  const stops = { match: 'mid-03', act: 'stallBody', at: 0.9 };
  const first = lab.createSession({ rules: [/** @type {Rule} */ (stops)] });
  const other = second.createSession();
  const texts = { '/two.m3u8': onTwoCdns(first, other) };
  const player = await openPlayer(t, 'Vite', { options, texts });
  await player.play(`${player.origin}/two.m3u8`);
  await eventually(async () => (await player.look()).failedCdns.length, 'the CDN has failed');
  await player.playsOn();
  assert.deepEqual((await player.look()).failedCdns, [lab.mediaOrigin]);
});

test('without the module it plays as it does alone', async (t) => {
  const session = lab.createSession({ rules: [GONE] });
  const player = await openPlayer(t, 'Vite', { options: { wasm: '/nowhere.wasm' } });
  await eventually(
    () =>
      player.page.evaluate(
        () => /** @type {any} */ (globalThis).player.engine.state.mode === 'plain',
      ),
    'the engine has failed open',
  );
  const healthy = lab.createSession();
  await player.play(healthy.url('pinned.m3u8'));
  await player.playsOn();
  await player.play(session.url('pinned.m3u8'));
  await eventually(async () => (await player.look()).errors.includes(NO_VIDEO), "SPF's own end");
  assert.equal(player.warnings.length, 1);
});

test('once bridge and engine are taken back, it is SPF alone', async (t) => {
  const session = lab.createSession({ rules: [GONE] });
  const player = await openPlayer(t, 'Vite');
  const slots = await player.page.evaluate(() => {
    const { leave, signals } = /** @type {any} */ (globalThis).player;
    leave();
    return Object.keys(signals.state);
  });
  assert.ok(slots.includes('failedCdns') && !slots.includes('retryState'));
  await player.play(session.url('pinned.m3u8'));
  await eventually(async () => (await player.look()).errors.includes(NO_VIDEO), "SPF's own end");
  const decisions = await player.page.evaluate(
    () => /** @type {any} */ (globalThis).player.engine.log().length,
  );
  assert.equal(decisions, 0);
  assert.match(player.warnings.join(), /useEngine/);
});
