// hlsConfig and attachHls: what they give to hls.js and what they tell the engine.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { attachHls, hlsConfig } from '../../js/adapters/hls.js';
import { engineFor, loaded, scripted } from './hls/engine.mjs';
import { fragment, playlist, start, wait } from './hls/loader.mjs';
import { Hls, IS_OLD, play } from './hls/player.mjs';
import { body, inTurn, media, multivariant, segment, serve, status } from './hls/server.mjs';

const POLICIES = /** @type {const} */ ([
  'certLoadPolicy',
  'fragLoadPolicy',
  'interstitialAssetListLoadPolicy',
  'keyLoadPolicy',
  'manifestLoadPolicy',
  'playlistLoadPolicy',
  'steeringManifestLoadPolicy',
]);

/** @type {string[]} */
let warnings = [];
/** @type {(() => void)[]} */
const cleanups = [];
beforeEach(() => {
  warnings = [];
  mock.method(
    console,
    'warn',
    (/** @type {any[]} */ ...args) => void warnings.push(args.join(' ')),
  );
});
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
  mock.restoreAll();
});

const idle = () => scripted(() => new Promise(() => {}));

describe('hlsConfig', () => {
  test('sets every load policy of hls.js to no retries, not null, and a far time-out', () => {
    const config = hlsConfig(idle());
    assert.deepEqual(
      Object.keys(config)
        .filter((name) => name.endsWith('Policy'))
        .sort(),
      POLICIES,
    );
    assert.deepEqual(
      Object.keys(Hls.DefaultConfig)
        .filter((name) => name.endsWith('LoadPolicy'))
        .sort(),
      POLICIES.filter((name) => !IS_OLD || !name.startsWith('interstitial')),
    );
    for (const name of POLICIES) {
      const { timeoutRetry, errorRetry, maxLoadTimeMs, maxTimeToFirstByteMs } =
        config[name].default;
      assert.equal(timeoutRetry?.maxNumRetry, 0, name);
      assert.equal(errorRetry?.maxNumRetry, 0, name);
      assert.notEqual(timeoutRetry, errorRetry);
      const limit = name === 'interstitialAssetListLoadPolicy' ? 30_000 : 1_000_000;
      assert.equal(maxLoadTimeMs, limit, name);
      assert.equal(maxTimeToFirstByteMs, limit, name);
    }
    assert.notEqual(
      hlsConfig(idle()).fragLoadPolicy,
      config.fragLoadPolicy,
      'not shared between players',
    );
    assert.deepEqual(warnings, []);
  });

  test('is taken by hls.js as it is', () => {
    const config = hlsConfig(idle(), { maxBufferLength: 12 });
    const hls = new Hls(config);
    cleanups.push(() => hls.destroy());
    assert.equal(hls.config.loader, config.loader);
    assert.equal(hls.config.maxBufferLength, 12);
    assert.equal(hls.config.errorPenaltyExpireMs, 60_000);
    assert.equal(hlsConfig(idle(), { errorPenaltyExpireMs: 1 }).errorPenaltyExpireMs, 1);
    for (const name of POLICIES) assert.deepEqual(hls.config[name], config[name]);
    assert.deepEqual(warnings, []);
  });

  test('merges an override of a policy field by field', () => {
    const { fragLoadPolicy } = hlsConfig(idle(), {
      fragLoadPolicy: { default: { maxLoadTimeMs: 20_000 } },
    });
    assert.equal(fragLoadPolicy.default.maxLoadTimeMs, 20_000);
    assert.equal(fragLoadPolicy.default.errorRetry?.maxNumRetry, 0);
    assert.deepEqual(warnings, []);
  });

  test('warns once when an override brings retries back, naming the field', () => {
    const retry = { maxNumRetry: 2, retryDelayMs: 100, maxRetryDelayMs: 100 };
    const config = hlsConfig(idle(), { fragLoadPolicy: { default: { errorRetry: retry } } });
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0],
      /two retry layers.*fragLoadPolicy\.default\.errorRetry\.maxNumRetry$/,
    );
    new config.loader(/** @type {any} */ (config));
    assert.equal(warnings.length, 1);
  });

  test('warns when retries come back past it, at the first request', () => {
    const config = /** @type {any} */ ({
      ...hlsConfig(idle()),
      keyLoadPolicy: Hls.DefaultConfig.keyLoadPolicy,
    });
    assert.equal(warnings.length, 0);
    new config.loader(config);
    new config.loader(config);
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0],
      /keyLoadPolicy\.default\.timeoutRetry\.maxNumRetry, keyLoadPolicy\.default\.errorRetry/,
    );
  });

  test('does not warn about its own class, nor about the wrappers of CMCD', async () => {
    const { loader } = hlsConfig(idle());
    hlsConfig(idle(), { fLoader: loader, pLoader: loader });
    const http = await serve({
      '/v.m3u8': body(media({ segments: ['/s.ts'] })),
      '/s.ts': body(segment()),
    });
    const engine = await engineFor();
    const { hls, event } = play(hlsConfig(engine, { cmcd: {} }), `${http.base}/v.m3u8`);
    cleanups.push(http.close, engine.destroy, () => hls.destroy());
    await event(Hls.Events.FRAG_LOADED);
    assert.deepEqual(warnings, []);
  });

  test('honours fetchSetup that returns a Request, a promise of one, or throws', async () => {
    const http = await serve({ '/s': body('x') });
    const engine = await engineFor();
    cleanups.push(http.close, engine.destroy);
    for (const setup of [
      (/** @type {{ url: string }} */ context) => new Request(`${context.url}?a`),
      async (/** @type {{ url: string }} */ context) => new Request(`${context.url}?a`),
    ]) {
      const config = hlsConfig(engine, { fetchSetup: setup });
      const run = start(config, fragment({ url: `${http.base}/s` }));
      assert.equal((await run.settled()).args[0].url, `${http.base}/s?a`);
      assert.equal(http.log.at(-1)?.url, '/s?a');
    }
    const fetchSetup = () => {
      throw new Error('no token');
    };
    const config = hlsConfig(engine, { fetchSetup });
    const { name, args } = await start(config, fragment({ url: `${http.base}/s` })).settled();
    assert.equal(name, 'onError');
    assert.deepEqual(args[0], { code: 0, text: 'no token' });
    assert.equal(http.log.length, 2);
  });

  test('the range of a resume is sent, whatever fetchSetup makes of it', async () => {
    const bytes = segment(500);
    const etag = { etag: '"a"' };
    const half = bytes.length / 2;
    const http = await serve({
      '/s': ({ headers }, response, nth) => {
        if (nth === 1) {
          response.writeHead(200, { ...etag, 'content-length': bytes.length });
          response.write(bytes.subarray(0, half));
          setTimeout(() => response.destroy(), 30);
          return;
        }
        const from = Number(/bytes=(\d+)-/.exec(headers.range ?? '')?.[1]);
        const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
        response.writeHead(206, { ...etag, 'content-range': range }).end(bytes.subarray(from));
      },
    });
    const engine = await engineFor();
    cleanups.push(http.close, engine.destroy);
    const config = hlsConfig(engine, { fetchSetup: ({ url }) => new Request(url) });
    const { name, args } = await start(config, fragment({ url: `${http.base}/s` })).settled();
    assert.equal(name, 'onSuccess');
    assert.ok(Buffer.from(args[0].data).equals(bytes));
    assert.equal(http.log[1].headers.range, `bytes=${half}-${bytes.length - 1}`);
    assert.equal(http.log[1].headers['if-range'], '"a"');
  });
});

describe('sites', () => {
  /** @param {any[]} contexts */
  async function sites(...contexts) {
    const engine = scripted(() => Promise.resolve(loaded('')));
    const config = hlsConfig(engine);
    for (const context of contexts) await start(config, context).settled();
    return engine.requests.map((request) => request.site);
  }
  const url = 'http://127.0.0.1/x';

  test('of each kind of request', async () => {
    const kinds = [
      ['manifest', { type: 'manifest', responseType: 'text' }],
      ['playlist', { type: 'level', responseType: 'text', url: `${url}1` }],
      ['playlist', { type: 'audioTrack', responseType: 'text', url: `${url}2` }],
      ['playlist', { type: 'subtitleTrack', responseType: 'text', url: `${url}3` }],
      ['init', fragment({ frag: { sn: 'initSegment', type: 'main' } })],
      ['segment', fragment()],
      ['segment', fragment({ frag: { sn: 4, type: 'audio' }, part: {} })],
      ['text-segment', fragment({ frag: { sn: 4, type: 'subtitle' } })],
      ['text-segment', fragment({ frag: { sn: 'initSegment', type: 'subtitle' } })],
      ['key', { type: 'key', responseType: 'arraybuffer', keyInfo: {}, frag: {} }],
      ['certificate', { type: 'server-certificate', responseType: 'arraybuffer' }],
      ['steering', { type: 'steering-manifest', responseType: 'json' }],
      ['playlist', { type: 'interstitial-asset-list', responseType: 'json' }],
      ['other', { type: 'something-new', responseType: 'text' }],
    ];
    assert.deepEqual(
      await sites(...kinds.map(([, context]) => ({ url, ...Object(context) }))),
      kinds.map(([site]) => site),
    );
  });

  test('of hls.js before 1.7, which gives a type to playlists only', async () => {
    const kinds = [
      ['segment', fragment({ type: undefined })],
      ['init', fragment({ type: undefined, frag: { sn: 'initSegment', type: 'main' } })],
      ['key', { responseType: 'arraybuffer', keyInfo: {}, frag: {} }],
      ['certificate', { responseType: 'arraybuffer' }],
      ['steering', { responseType: 'json', url: `${url}?_HLS_pathway=.&_HLS_throughput=1` }],
      ['playlist', { responseType: 'json', url: `${url}?_HLS_primary_id=1` }],
      ['other', { responseType: 'text' }],
    ];
    assert.deepEqual(
      await sites(...kinds.map(([, context]) => ({ url, ...Object(context) }))),
      kinds.map(([site]) => site),
    );
  });

  test('a playlist that was loaded before is a reload, whatever its directives', async () => {
    const context = (/** @type {string} */ query, /** @type {object} */ more = {}) =>
      playlist({ url: `http://127.0.0.1/v.m3u8?id=1${query}`, ...more });
    assert.deepEqual(
      await sites(
        context(''),
        context('&_HLS_msn=4&_HLS_part=0'),
        context('&CMCD=bl%3D1'),
        context('0'),
        context('00', { levelOrTrack: { details: {} } }),
        { ...context(''), type: 'manifest' },
        context('0'),
      ),
      [
        'playlist',
        'playlist-reload',
        'playlist-reload',
        'playlist',
        'playlist-reload',
        'manifest',
        'playlist',
      ],
    );
  });

  test('a playlist that never arrived is not a reload, nor is that of another player', async () => {
    let fail = true;
    const engine = scripted(() =>
      fail ? Promise.reject(new Error('no')) : Promise.resolve(loaded('')),
    );
    const config = hlsConfig(engine);
    await start(config, playlist({ url })).settled();
    fail = false;
    await start(config, playlist({ url })).settled();
    await start({ ...config }, playlist({ url })).settled();
    assert.deepEqual(
      engine.requests.map((request) => request.site),
      ['playlist', 'playlist', 'playlist'],
    );
  });
});

describe('attachHls', () => {
  /** @param {[number, number][]} ranges @param {number} currentTime */
  function fakeMedia(ranges, currentTime) {
    const media = /** @type {any} */ (new EventTarget());
    media.currentTime = currentTime;
    media.buffered = {
      length: ranges.length,
      start: (/** @type {number} */ i) => ranges[i][0],
      end: (/** @type {number} */ i) => ranges[i][1],
    };
    return media;
  }
  class FakeHls extends EventEmitter {
    levels = [{ uri: 'http://a.example/1' }];
    pathways = ['.'];
    loadLevel = 0;
    autoLevelEnabled = true;
    media = null;
    config = {};
    fire = (/** @type {string} */ name, /** @type {any} */ data) => {
      if (name === 'hlsMediaAttached') this.media = data.media;
      if (name === 'hlsMediaDetached') this.media = null;
      this.emit(name, name, data);
    };
  }

  test('reports what is buffered ahead, the target duration and whether it is live', () => {
    const hls = new FakeHls();
    const engine = idle();
    attachHls(engine, /** @type {any} */ (hls));
    assert.equal(engine.reports.length, 0);
    hls.fire('hlsLevelLoaded', { details: { targetduration: 6, live: true } });
    assert.deepEqual(engine.reports.pop(), { targetDuration: 6, live: true });

    const media = fakeMedia(
      [
        [0, 4],
        [10, 20],
        [20.05, 24],
        [30, 40],
      ],
      12,
    );
    hls.fire('hlsMediaAttached', { media });
    assert.deepEqual(engine.reports.pop(), { bufferAhead: 12, targetDuration: 6, live: true });
    for (const [name, time, ahead] of /** @type {const} */ ([
      ['timeupdate', 13, 11],
      ['progress', 23, 1],
      ['waiting', 24, 0],
      ['seeking', 26, 0],
      ['seeked', 1, 3],
    ])) {
      media.currentTime = time;
      media.dispatchEvent(new Event(name));
      assert.equal(engine.reports.pop().bufferAhead, ahead, name);
    }
    hls.fire('hlsMediaDetached', {});
    media.dispatchEvent(new Event('timeupdate'));
    assert.equal(engine.reports.length, 0);
  });

  test('takes media that is attached already', () => {
    const hls = new FakeHls();
    hls.media = fakeMedia([[0, 4]], 1);
    const engine = idle();
    attachHls(engine, /** @type {any} */ (hls));
    assert.equal(engine.reports[0].bufferAhead, 3);
  });

  test('leaves nothing behind when stopped, by hand or by the end of the player', () => {
    for (const end of ['stop', 'hlsDestroying']) {
      const hls = new FakeHls();
      const engine = idle();
      const stop = attachHls(engine, /** @type {any} */ (hls));
      const media = fakeMedia([[0, 4]], 1);
      hls.fire('hlsMediaAttached', { media });
      hls.fire('hlsLevelSwitching', {});
      assert.equal(engine.alternatives.get('segment'), 0);
      if (end === 'stop') stop();
      else hls.fire(end, {});
      stop();
      assert.deepEqual(hls.eventNames(), []);
      assert.equal(engine.alternatives.get('segment'), undefined);
      engine.reports.length = 0;
      media.dispatchEvent(new Event('timeupdate'));
      assert.equal(engine.reports.length, 0);
    }
  });

  test('forgets a host that failed as an alternative, for as long as hls.js does', () => {
    const hls = new FakeHls();
    const engine = idle();
    attachHls(engine, /** @type {any} */ (hls));
    hls.fire('hlsManifestLoaded', {
      levels: [{ url: 'http://a.example/1' }, { url: 'http://b.example/1' }],
    });
    assert.equal(engine.alternatives.get('segment'), 1);
    hls.fire('hlsError', { type: 'networkError', frag: { url: 'http://a.example/1/s.ts' } });
    hls.levels = [{ uri: 'http://b.example/1' }];
    hls.fire('hlsLevelsUpdated', {});
    assert.equal(engine.alternatives.get('segment'), 0, 'nothing left to move to: hold');
    const now = performance.now();
    mock.method(performance, 'now', () => now + 301_000);
    hls.fire('hlsLevelSwitching', {});
    assert.equal(engine.alternatives.get('segment'), 1);
  });

  const SEGMENT = segment();
  const one = media({ segments: ['/s.ts'] });
  /** @param {Record<string, string>} playlists @param {object} [config] */
  async function real(playlists, config) {
    const http = await serve({
      ...Object.fromEntries(Object.entries(playlists).map(([path, text]) => [path, body(text)])),
      '*': body(SEGMENT),
    });
    const engine = await engineFor();
    const { hls, event } = play(hlsConfig(engine, config));
    const stop = attachHls(engine, hls);
    cleanups.push(http.close, engine.destroy, () => hls.destroy(), stop);
    hls.loadSource(`${http.base}/m.m3u8`);
    return { http, engine, hls, event };
  }
  const MEDIA_SITES = ['playlist', 'playlist-reload', 'init', 'segment', 'key'];
  const same = (/** @type {any} */ engine) => {
    const [count, ...rest] = new Set(MEDIA_SITES.map((site) => engine.alternatives.get(site)));
    assert.deepEqual(rest, []);
    return count;
  };

  test('a single level has no alternative', async () => {
    const { engine, event, hls } = await real({ '/m.m3u8': one });
    await event(Hls.Events.FRAG_LOADED);
    assert.equal(same(engine), 0);
    assert.deepEqual(engine.reports.at(-1), { targetDuration: 4, live: false });
    // hls.js 1.5 throws where it is destroyed while it looks at a segment.
    await wait(50);
    hls.destroy();
    assert.equal(same(engine), undefined, 'and no say once the player is gone');
  });

  test('levels on one host are for the engine to judge; a pinned one has no alternative', async () => {
    const { engine, event, hls } = await real({
      '/m.m3u8': multivariant('a.m3u8', 'b.m3u8'),
      '/a.m3u8': one,
      '/b.m3u8': one,
    });
    await event(Hls.Events.FRAG_LOADED);
    assert.ok(engine.alternatives.has('segment'));
    assert.equal(same(engine), undefined);
    hls.loadLevel = 1;
    await event(Hls.Events.LEVEL_LOADED, (data) => data.level === 1);
    assert.equal(same(engine), 0);
    hls.loadLevel = -1;
    hls.trigger(Hls.Events.LEVELS_UPDATED, { levels: hls.levels });
    assert.equal(same(engine), undefined);
  });

  test('redundant streams on other hosts are counted', async () => {
    const other = await serve({ '/a.m3u8': body(one), '*': body(SEGMENT) });
    cleanups.push(other.close);
    const redundant =
      multivariant('a.m3u8') + multivariant(`${other.base}/a.m3u8`).replace('#EXTM3U\n', '');
    const { engine, event, hls } = await real({ '/m.m3u8': redundant, '/a.m3u8': one });
    await event(Hls.Events.FRAG_LOADED);
    assert.equal(hls.levels.length, 1);
    assert.equal(same(engine), 1);
  });
});

describe('the way out', () => {
  /** @param {any} config */
  const settings = (config) =>
    Object.fromEntries(
      Object.entries(config).filter(
        // Some were not there before 1.6.
        ([name, value]) => value !== undefined && /Policy$|oader$|^error|XhrSetup$/.test(name),
      ),
    );
  const overrides = {
    maxBufferLength: 7,
    errorPenaltyExpireMs: 9,
    licenseXhrSetup() {},
    fragLoadPolicy: { default: { ...Hls.DefaultConfig.fragLoadPolicy.default, maxLoadTimeMs: 5 } },
  };

  test('leaves the player with what it would have had', () => {
    for (const own of [{}, overrides]) {
      const engine = idle();
      const hls = new Hls(hlsConfig(engine, /** @type {any} */ (own)));
      const alone = new Hls(own);
      cleanups.push(
        () => hls.destroy(),
        () => alone.destroy(),
      );
      attachHls(engine, hls)();
      assert.deepEqual(settings(hls.config), settings(alone.config));
      assert.equal(hls.config.loader, Hls.DefaultConfig.loader);
      assert.equal(hls.config.errorController, Hls.DefaultConfig.errorController);
    }
  });

  test('completes a policy that was given in part, and keeps what was changed meanwhile', () => {
    const engine = idle();
    const hls = new Hls(hlsConfig(engine, { keyLoadPolicy: { default: { maxLoadTimeMs: 5 } } }));
    cleanups.push(() => hls.destroy());
    hls.config.errorPenaltyExpireMs = 3;
    attachHls(engine, hls)();
    const { keyLoadPolicy } = Hls.DefaultConfig;
    assert.deepEqual(hls.config.keyLoadPolicy, {
      default: { ...keyLoadPolicy.default, maxLoadTimeMs: 5 },
    });
    assert.equal(hls.config.errorPenaltyExpireMs, 3);
  });

  test('concerns one player of a configuration, and not the next', () => {
    const engine = idle();
    const config = hlsConfig(engine);
    const [one, other] = [new Hls(config), new Hls(config)];
    cleanups.push(
      () => one.destroy(),
      () => other.destroy(),
    );
    attachHls(engine, one)();
    assert.equal(one.config.loader, Hls.DefaultConfig.loader);
    assert.equal(other.config.loader, config.loader);
    assert.ok(new config.loader(other.config) instanceof config.loader);
  });

  test('is taken by itself where the engine fails open, before or after the player is made', () => {
    /** @type {(state: any) => void} */
    let fail = () => {};
    const engine = {
      ...idle(),
      state: /** @type {any} */ ({ mode: 'starting' }),
      subscribe(/** @type {any} */ listener) {
        fail = listener;
        return () => {};
      },
    };
    const hls = new Hls(hlsConfig(engine, { cmcd: {} }));
    fail({ mode: 'plain' });
    engine.state = { mode: 'plain' };
    const later = new Hls(hlsConfig(engine, { cmcd: {} }));
    cleanups.push(
      () => hls.destroy(),
      () => later.destroy(),
    );
    for (const { config } of [hls, later]) {
      assert.equal(config.loader, Hls.DefaultConfig.loader);
      assert.deepEqual(config.fragLoadPolicy, Hls.DefaultConfig.fragLoadPolicy);
      const outer = /** @type {any} */ (new /** @type {any} */ (config.fLoader)(config));
      assert.ok(outer.loader instanceof Hls.DefaultConfig.loader, 'below that of CMCD');
    }
  });
});

describe('CMCD', () => {
  const SIGNED = 'hdnts=st=1~exp=2~acl=/*~hmac=x&b=%7e+%20';

  test('leaves the rest of a signed URL as the playlist has it, at each attempt', async () => {
    const http = await serve({
      '/m.m3u8': body(multivariant(`/v.m3u8?${SIGNED}`)),
      '/v.m3u8': inTurn(status(503), body(media({ segments: [`/s.ts?${SIGNED}`] }))),
      '/s.ts': body(segment()),
    });
    const engine = await engineFor();
    const { hls, event } = play(hlsConfig(engine, { cmcd: { sessionId: 's' } }));
    cleanups.push(http.close, engine.destroy, () => hls.destroy());
    hls.loadSource(`${http.base}/m.m3u8?${SIGNED}`);
    await event(Hls.Events.FRAG_LOADED);
    assert.equal(http.log.length, 4);
    for (const { url, path } of http.log) {
      const [before, after] = url.split('&CMCD=');
      assert.equal(before, `${path}?${SIGNED}`);
      assert.match(after, /sid%3D%22s%22/);
      assert.doesNotMatch(after, /&/);
    }
  });

  test('does not keep the age of a playlist from hls.js', async () => {
    const live = media({ segments: ['/s.ts'], live: true });
    const http = await serve({ '/v.m3u8': body(live, { age: '7' }), '*': body(segment()) });
    const engine = await engineFor();
    const { hls, event } = play(hlsConfig(engine, { cmcd: {} }), `${http.base}/v.m3u8`);
    cleanups.push(http.close, engine.destroy, () => hls.destroy());
    assert.equal((await event(Hls.Events.LEVEL_LOADED)).details.ageHeader, 7);
  });
});

const types = 'types: `new Hls(hlsConfig(engine))` and the rest of the surface fit those of hls.js';
test(types, { skip: IS_OLD && 'those of the current version' }, async () => {
  const root = new URL('../../', import.meta.url);
  const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root));
  const project = fileURLToPath(new URL('tests/node/hls/tsconfig.json', root));
  const output = await new Promise((resolve) =>
    execFile(process.execPath, [tsc, '-p', project], (error, stdout) =>
      resolve(error ? stdout || String(error) : ''),
    ),
  );
  assert.equal(output, '');
});
