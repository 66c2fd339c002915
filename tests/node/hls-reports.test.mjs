// What users of hls.js reported, each against the real hls.js and a server that misbehaves in the same way.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { attachHls, hlsConfig } from '../../js/adapters/hls.js';
import { engineFor } from './hls/engine.mjs';
import { until, wait } from './hls/loader.mjs';
import { Hls, play } from './hls/player.mjs';
import { body, hang, live, media, multivariant, segment, serve, status } from './hls/server.mjs';

/** @type {(() => void)[]} */
const cleanups = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

const SEGMENT = segment();

/** @param {Parameters<typeof serve>[0]} routes */
async function server(routes) {
  const started = await serve(routes);
  cleanups.push(started.close);
  return started;
}

/** @param {string} url @param {Parameters<typeof engineFor>[0]} [options] @param {object} [config] */
async function player(url, options, config) {
  const engine = await engineFor({ attempts: 2, hold: true, ...options });
  const started = play(hlsConfig(engine, config), url);
  const stop = attachHls(engine, started.hls);
  cleanups.push(engine.destroy, () => started.hls.destroy(), stop);
  return started;
}

/** The most requests of a path in any second. @param {import('./hls/server.mjs').Seen[]} log @param {string} path */
function busiestSecond(log, path) {
  const times = log.filter((seen) => seen.path === path).map(({ at }) => at);
  return Math.max(
    ...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length),
  );
}

test('field A34: a level that failed is left, not hammered, and had again once it is well', async () => {
  const [first, second] = [live({ target: 1 }), live({ target: 1 })];
  let down = false;
  const http = await server({
    '/m.m3u8': body(multivariant('a.m3u8', 'b.m3u8')),
    '/a.m3u8': (_, response) => void response.end(first()),
    '/b.m3u8': (_, response) =>
      void (down ? response.writeHead(500).end() : response.end(second())),
    '*': body(SEGMENT),
  });
  const { hls, event, all, fatal } = await player(
    `${http.base}/m.m3u8`,
    {},
    { startLevel: 1, errorPenaltyExpireMs: 1000 },
  );
  await event(Hls.Events.LEVEL_LOADED, ({ level }) => level === 1);
  down = true;
  await event(Hls.Events.LEVEL_LOADED, ({ level }) => level === 0, 8000);
  assert.ok(busiestSecond(http.log, '/b.m3u8') <= 3);
  down = false;
  await wait(1100);
  const before = all(Hls.Events.LEVEL_LOADED).length;
  hls.nextLoadLevel = 1;
  await until(
    () => all(Hls.Events.LEVEL_LOADED).some(({ level }, i) => i >= before && level === 1),
    3000,
  );
  assert.deepEqual(fatal(), []);
});

test('field A35: redundant playlists that are both gone are not asked for over and over', async () => {
  const other = await server({ '*': status(404) });
  const redundant =
    multivariant('a.m3u8') + multivariant(`${other.base}/a.m3u8`).replace('#EXTM3U\n', '');
  const http = await server({ '/m.m3u8': body(redundant), '*': status(404) });
  const { hls, event } = await player(`${http.base}/m.m3u8`, { hold: false });
  await event(Hls.Events.ERROR);
  // A page that starts over after each fatal error, as many do.
  const timer = setInterval(() => hls.startLoad(), 100);
  await wait(5000);
  clearInterval(timer);
  for (const { log } of [http, other]) {
    assert.ok(log.filter(({ path }) => path === '/a.m3u8').length <= 6, String(log.length));
  }
});

test('field A36: a segment that is blocked for ever is asked for at the pace of play', async () => {
  const http = await server({
    '/v.m3u8': body(media({ segments: ['/blocked.ts', '/seg1.ts'], target: 2 })),
    '/blocked.ts': (request) => void request.socket.destroy(),
    '*': body(SEGMENT),
  });
  const { fatal } = await player(`${http.base}/v.m3u8`);
  await wait(6000);
  const asked = http.count('/blocked.ts');
  assert.ok(asked >= 4 && asked <= 12, `${asked} requests in 6 s`);
  assert.ok(busiestSecond(http.log.slice(4), '/blocked.ts') <= 2);
  assert.deepEqual(fatal(), []);
});

test('field A38: a key server that is down is asked as often as the engine says, not 81 times', async () => {
  const tags = '#EXT-X-KEY:METHOD=AES-128,URI="/key",IV=0x00000000000000000000000000000001\n';
  const playlist = body(media({ segments: ['/seg0.ts', '/seg1.ts'], tags }));
  const http = await server({
    '/m.m3u8': body(multivariant('a.m3u8', 'b.m3u8')),
    '/a.m3u8': playlist,
    '/b.m3u8': playlist,
    '/key': status(503),
    '*': body(SEGMENT),
  });
  const { hls, event } = await player(`${http.base}/m.m3u8`, { attempts: 3, hold: false });
  await event(Hls.Events.ERROR, ({ details }) => details === Hls.ErrorDetails.KEY_LOAD_ERROR);
  // Whoever starts over at once finds that the key rests.
  for (let i = 0; i < 30; i += 1) {
    hls.startLoad();
    await wait(100);
  }
  assert.ok(http.count('/key') <= 9, `${http.count('/key')} requests`);
});

test('field A44: a first live segment that is gone is skipped within seconds', async () => {
  const segments = Array.from({ length: 5 }, (_, i) => `/live${i}.ts`);
  const http = await server({
    '/v.m3u8': body(media({ segments, live: true, target: 2 })),
    '/live0.ts': status(404),
    '*': body(SEGMENT),
  });
  const { event, fatal } = await player(`${http.base}/v.m3u8`, {}, { startPosition: 0 });
  const began = performance.now();
  const { frag } = await event(Hls.Events.FRAG_LOADED);
  assert.equal(frag.sn, 1);
  assert.ok(performance.now() - began < 4000, 'two repeats within a target duration');
  assert.deepEqual(fatal(), []);
});

test('field A47: an audio host that hangs is left for the rendition on another host', async () => {
  const rendition = (/** @type {string} */ group, /** @type {string} */ uri) =>
    `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="${group}",NAME="en",DEFAULT=YES,AUTOSELECT=YES,LANGUAGE="en",CHANNELS="2",URI="${uri}"\n`;
  const variant = (/** @type {string} */ group, /** @type {string} */ uri) =>
    `#EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="${group}"\n${uri}\n`;
  const playlist = media({ segments: ['s0.ts', 's1.ts'] });
  const well = await server({
    '/a.m3u8': body(playlist),
    '/v.m3u8': body(playlist),
    '*': body(SEGMENT),
  });
  const dead = await server({ '*': hang() });
  const http = await server({
    '/v.m3u8': body(playlist),
    '*': body(SEGMENT),
    '/m.m3u8': body(
      `#EXTM3U\n${rendition('one', `${dead.base}/a.m3u8`)}${rendition('two', `${well.base}/a.m3u8`)}` +
        variant('one', 'v.m3u8') +
        variant('two', `${well.base}/v.m3u8`),
    ),
  });
  const { fatal } = await player(`${http.base}/m.m3u8`, { headersTimeout: 400, delay: 50 });
  await until(() => well.count('/a.m3u8') > 0, 8000);
  const tries = dead.count('/a.m3u8');
  assert.ok(tries >= 1 && tries <= 4, `${tries} tries`);
  assert.deepEqual(fatal(), []);
});
