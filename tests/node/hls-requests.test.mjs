// @ts-check
// Every kind of request that the real hls.js makes goes through the engine: each is refused once, and
// hls.js hears nothing of it.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { attachHls, hlsConfig } from '../../js/adapters/hls.js';
import { engineFor } from './hls/engine.mjs';
import { until } from './hls/loader.mjs';
import { Hls, IS_OLD, play } from './hls/player.mjs';
import { body, hang, inTurn, media, multivariant, segment, serve, status } from './hls/server.mjs';

/** @type {(() => void)[]} */
const cleanups = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** @typedef {ReturnType<typeof play>} Player */

/**
 * A player and a server that refuses each path at first.
 *
 * @param {Record<string, string | Buffer>} files
 * @param {{ path?: string, config?: object }} [options]
 */
async function refusing(files, { path, config } = {}) {
  const routes = Object.entries(files).map(([name, text]) => [
    name,
    inTurn(status(503), body(text)),
  ]);
  const http = await serve(Object.fromEntries(routes));
  const engine = await engineFor();
  const player = play(hlsConfig(engine, config), path && http.base + path);
  const stop = attachHls(engine, player.hls);
  cleanups.push(http.close, engine.destroy, () => player.hls.destroy(), stop);
  return {
    http,
    player,
    /** @param {Record<string, string>} sites by path */
    async went(sites) {
      for (const name in sites) await until(() => http.count(name) >= 2);
      const { requests } = engine;
      const asked = Object.keys(sites).map((name) => [
        name,
        requests.find(({ url }) => new URL(url).pathname === name)?.site,
      ]);
      assert.deepEqual(Object.fromEntries(asked), sites);
      const errors = player.all(Hls.Events.ERROR).filter(({ type }) => type === 'networkError');
      assert.deepEqual(errors, [], 'hls.js hears nothing of it');
    },
  };
}

const SEGMENT = segment();

describe('all that hls.js asks for goes through the engine:', () => {
  test('playlists, initialisation segments, segments and keys', async () => {
    const tags =
      '#EXT-X-MAP:URI="/init.mp4"\n' +
      '#EXT-X-KEY:METHOD=AES-128,URI="/key",IV=0x00000000000000000000000000000001\n';
    const files = {
      '/m.m3u8': multivariant('/v.m3u8'),
      '/v.m3u8': media({ segments: ['/s.mp4'], tags }),
      '/init.mp4': SEGMENT,
      '/s.mp4': SEGMENT,
      '/key': Buffer.alloc(16),
    };
    const { went } = await refusing(files, { path: '/m.m3u8' });
    await went({
      '/m.m3u8': 'manifest',
      '/v.m3u8': 'playlist',
      '/init.mp4': 'init',
      '/key': 'key',
    });
  });

  test('steering manifests', async () => {
    const steering = '#EXT-X-CONTENT-STEERING:SERVER-URI="/steering.json",PATHWAY-ID="."\n';
    const files = {
      '/m.m3u8': multivariant('/v.m3u8').replace('#EXTM3U\n', `#EXTM3U\n${steering}`),
      '/steering.json': JSON.stringify({ VERSION: 1, TTL: 300, 'PATHWAY-PRIORITY': ['.'] }),
      '/v.m3u8': media({ segments: ['/s.ts'] }),
      '/s.ts': SEGMENT,
    };
    const { went, player } = await refusing(files, { path: '/m.m3u8' });
    const { steeringManifest } = await player.event(Hls.Events.STEERING_MANIFEST_LOADED);
    assert.equal(steeringManifest.TTL, 300);
    await went({ '/steering.json': 'steering' });
  });

  test('audio and subtitle playlists', async () => {
    const track = (/** @type {string} */ type) =>
      `#EXT-X-MEDIA:TYPE=${type},GROUP-ID="${type}",NAME="en",DEFAULT=YES,AUTOSELECT=YES,LANGUAGE="en",URI="/${type}.m3u8"\n`;
    const files = {
      '/m.m3u8': multivariant('/v.m3u8')
        .replace('#EXTM3U\n', `#EXTM3U\n${track('AUDIO')}${track('SUBTITLES')}`)
        .replace('BANDWIDTH', 'AUDIO="AUDIO",SUBTITLES="SUBTITLES",BANDWIDTH'),
      '/v.m3u8': media({ segments: ['/s.ts'] }),
      '/AUDIO.m3u8': media({ segments: ['/a.ts'] }),
      '/SUBTITLES.m3u8': media({ segments: ['/t.vtt'] }),
    };
    const config = { renderTextTracksNatively: false };
    const { http, went, player } = await refusing(files, { path: '/m.m3u8', config });
    // Segments without media would end playback before 1.6.
    http.routes['*'] = hang();
    await player.event(Hls.Events.LEVEL_LOADED);
    const element = Object.assign(new EventTarget(), {
      currentTime: 0,
      textTracks: Object.assign(new EventTarget(), { length: 0 }),
      buffered: { length: 0 },
    });
    for (const controller of /** @type {any} */ (player.hls).networkControllers) {
      if (!/^Subtitle/.test(controller.constructor.name)) continue;
      controller.onMediaAttached('', { media: element });
    }
    player.hls.subtitleTrack = 0;
    await went({ '/AUDIO.m3u8': 'playlist', '/SUBTITLES.m3u8': 'playlist' });
  });

  test('reloads of low latency, with their directives', async () => {
    const tags =
      '#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5\n' +
      '#EXT-X-PART-INF:PART-TARGET=0.5\n';
    const part = '#EXT-X-PART:DURATION=0.5,INDEPENDENT=YES,URI="/p.ts"\n';
    let sequence = 0;
    const http = await serve({
      '/v.m3u8'(_, response, nth) {
        if (nth === 2) return void response.writeHead(500).end();
        const segments = Array.from({ length: 5 }, (_, i) => `/s${sequence + i}.ts`);
        const text = media({ segments, sequence, live: true, target: 1, tags }) + part;
        sequence += 1;
        setTimeout(() => response.end(text), 200);
      },
      '*': hang(),
    });
    const engine = await engineFor();
    const player = play(hlsConfig(engine), `${http.base}/v.m3u8`);
    cleanups.push(http.close, engine.destroy, () => player.hls.destroy());
    await until(() => http.count('/v.m3u8') >= 5);
    const reloads = engine.requests.filter(({ site }) => site === 'playlist-reload');
    assert.ok(reloads.some(({ url }) => url.includes('_HLS_msn=')));
    assert.equal(http.count('/v.m3u8'), reloads.length + 2, 'the first, and one attempt more');
    assert.deepEqual(player.fatal(), []);
  });

  test('certificates of DRM servers', async () => {
    const { http, player, went } = await refusing({ '/cert': Buffer.from('certificate') });
    const { hls } = player;
    Object.assign(hls.config, {
      emeEnabled: true,
      drmSystems: { 'com.widevine.alpha': { serverCertificateUrl: `${http.base}/cert` } },
    });
    const { emeController } = /** @type {any} */ (hls);
    const data = await emeController.fetchServerCertificate('com.widevine.alpha');
    assert.equal(Buffer.from(data).toString(), 'certificate');
    await went({ '/cert': 'certificate' });
  });

  test('asset lists of interstitials', { skip: IS_OLD && 'none before 1.6' }, async () => {
    const { http, player, went } = await refusing({ '/list.json': '{"ASSETS":[]}' });
    const { interstitialsController } = /** @type {any} */ (player.hls);
    const event = { assetListUrl: '/list.json', baseUrl: http.base };
    interstitialsController.assetListLoader.loadAssetList(event, 0);
    const { assetListResponse } = await player.event(Hls.Events.ASSET_LIST_LOADED);
    assert.deepEqual(assetListResponse, { ASSETS: [] });
    await went({ '/list.json': 'playlist' });
  });
});
