// The nineteen things about hls.js's loader contract that custom loaders trip over, one test each, and what
// follows for retries. Most drive the real hls.js against a local server.
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, mock, test } from 'node:test';
import { attachHls, hlsConfig } from '../../js/adapters/hls.js';
import { engineFor, loaded, scripted } from './hls/engine.mjs';
import { fragment, playlist, start, until, wait } from './hls/loader.mjs';
import { Hls, IS_OLD, play } from './hls/player.mjs';
import {
  body,
  cut,
  drip,
  hang,
  inTurn,
  live,
  media,
  multivariant,
  reset,
  segment,
  serve,
  status,
} from './hls/server.mjs';

/** @type {(() => void)[]} */
const cleanups = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** @param {Parameters<typeof serve>[0]} routes */
async function server(routes) {
  const started = await serve(routes);
  cleanups.push(started.close);
  return started;
}
/** @param {Parameters<typeof engineFor>[0]} [options] */
async function engineUnderTest(options) {
  const engine = await engineFor(options);
  cleanups.push(engine.destroy);
  return engine;
}
/** @param {any} engine @param {string} url @param {object} [config] */
function player(engine, url, config) {
  const started = play(hlsConfig(engine, config), url);
  const stop = attachHls(engine, started.hls);
  cleanups.push(() => started.hls.destroy(), stop);
  return started;
}

const SEGMENT = segment();
const vod = (count = 2, options = {}) =>
  media({ segments: Array.from({ length: count }, (_, i) => `/seg${i}.ts`), ...options });

describe('hls.js loader quirks', () => {
  test('quirk 1: one instance per request; a second load() throws, as with those of hls.js', async () => {
    const http = await server({
      '/m.m3u8': body(multivariant('v.m3u8')),
      '/v.m3u8': body(vod()),
      '/seg0.ts': body(SEGMENT),
    });
    const engine = await engineUnderTest();
    const config = hlsConfig(engine);
    let instances = 0;
    class Counted extends config.loader {
      constructor(/** @type {any} */ hlsjs) {
        super(hlsjs);
        instances++;
      }
    }
    const { hls, event } = play({ ...config, loader: Counted }, `${http.base}/m.m3u8`);
    cleanups.push(() => hls.destroy());
    await event(Hls.Events.FRAG_LOADED);
    assert.equal(instances, engine.requests.length);
    assert.equal(http.log.length, 3);

    const first = start(config, fragment({ url: `${http.base}/seg0.ts` }));
    await first.settled();
    const again = fragment({ url: `${http.base}/seg0.ts` });
    assert.throws(() => first.loader.load(again, first.loaderConfig, first.callbacks), /once/);
    await wait(20);
    await wait(20);
    assert.equal(http.count('/seg0.ts'), 2, 'no request for the second load()');
  });

  test('quirk 2: stats exist before load(), stay one object, and stats.retry is left to hls.js', async () => {
    const http = await server({ '/seg0.ts': inTurn(status(503), body(SEGMENT)) });
    const config = hlsConfig(await engineUnderTest());
    const loader = /** @type {any} */ (new config.loader(/** @type {any} */ (config)));
    const { stats } = loader;
    assert.deepEqual(
      Object.keys(stats).sort(),
      Object.keys(new (await import('hls.js')).LoadStats()).sort(),
    );
    assert.equal(stats.loading.start, 0);
    stats.retry = 3;
    const answer = await new Promise((resolve, reject) =>
      loader.load(
        fragment({ url: `${http.base}/seg0.ts` }),
        { loadPolicy: {} },
        {
          onSuccess: (/** @type {any} */ _, /** @type {any} */ given) => resolve(given),
          onError: reject,
          onTimeout: reject,
        },
      ),
    );
    assert.equal(answer, stats);
    assert.equal(loader.stats, stats);
    assert.equal(stats.retry, 3, 'written by hls.js before load()');
    assert.equal(loader.attempts, 2, 'the attempts are counted elsewhere');
  });

  test('quirk 3: all times come from performance.now(), so live playlists go on reloading', async () => {
    const text = live({ target: 1 });
    const http = await server({
      '/v.m3u8': (_, response) => response.end(text()),
      '*': body(SEGMENT),
    });
    const { event, all } = player(await engineUnderTest(), `${http.base}/v.m3u8`);
    const before = performance.now();
    await event(Hls.Events.LEVEL_UPDATED, () => http.count('/v.m3u8') >= 3, 6000);
    for (const { stats } of all(Hls.Events.LEVEL_LOADED)) {
      const { start, first, end } = stats.loading;
      assert.ok(
        start > 0 &&
          before - 1000 < start &&
          start <= first &&
          first <= end &&
          end <= performance.now(),
      );
    }
    const [, second, third] = http.log.filter((seen) => seen.path === '/v.m3u8');
    // Before 1.6 a playlist that has not changed is asked for again after half the time.
    assert.ok(third.at - second.at > (IS_OLD ? 250 : 500), 'reloads keep their pace');
  });

  test('quirk 4: an answer that is there already is still given after load() returned', async () => {
    /** @type {Record<string, string>} */
    const texts = { '/m.m3u8': multivariant('v.m3u8'), '/v.m3u8': vod() };
    const engine = scripted((request) => {
      const { pathname } = new URL(request.url);
      return Promise.resolve(
        loaded(texts[pathname] ?? SEGMENT.buffer.slice(0), { url: request.url }),
      );
    });
    const config = hlsConfig(engine);
    const run = start(config, playlist({ url: 'http://127.0.0.1/v.m3u8' }));
    assert.deepEqual(run.names(), []);
    assert.equal((await run.settled()).name, 'onSuccess');

    const { event } = player(engine, 'http://127.0.0.1/m.m3u8');
    await event(Hls.Events.FRAG_LOADED);
  });

  test('quirk 5: an empty response URL falls back to the requested one, a redirected one is passed on', async () => {
    const engine = scripted((request) =>
      Promise.resolve(
        loaded(request.url.endsWith('ts') ? SEGMENT.buffer.slice(0) : vod(), { url: '' }),
      ),
    );
    const empty = player(engine, 'http://127.0.0.1/a/v.m3u8');
    assert.equal(
      (await empty.event(Hls.Events.FRAG_LOADED)).frag.url ?? engine.requests.at(-1).url,
      'http://127.0.0.1/seg0.ts',
    );
    assert.deepEqual(empty.fatal(), []);

    const http = await server({
      '/v.m3u8': (_, response) => response.writeHead(302, { location: '/moved/v.m3u8' }).end(),
      '/moved/v.m3u8': body(media({ segments: ['s.ts'] })),
      '/moved/s.ts': body(SEGMENT),
    });
    await player(await engineUnderTest(), `${http.base}/v.m3u8`).event(Hls.Events.FRAG_LOADED);
    assert.equal(http.count('/moved/s.ts'), 1, 'relative to where the playlist came from');
  });

  test('quirk 6: onError gets ({ code, text }, context, details, stats); code is the status, 0 without one', async () => {
    for (const [route, code] of /** @type {const} */ ([
      [status(404), 404],
      // More than the engine waits for; a shorter one is waited out, and no error at all.
      [status(429, { 'retry-after': '600' }), 429],
      [status(500), 500],
      [reset(), 0],
    ])) {
      const http = await server({ '/s': route });
      const context = fragment({ url: `${http.base}/s` });
      const run = start(hlsConfig(await engineUnderTest({ attempts: 2 })), context);
      const { name, args } = await run.settled();
      assert.equal(name, 'onError', String(code));
      assert.equal(args[0].code, code);
      assert.equal(typeof args[0].text, 'string');
      assert.equal(args[1], context);
      assert.ok(args[2] === null || (args[2] instanceof Response && args[2].status === code));
      assert.equal(args[3], run.stats);
      assert.equal(run.loader.getResponseHeader('retry-after'), code === 429 ? '600' : null);
      if (code !== 429) continue;
      const type = { type: 'steering-manifest', responseType: 'json', url: `${http.base}/s` };
      const steering = start(hlsConfig(await engineUnderTest()), type);
      assert.equal((await steering.settled()).args[0].code, 503, '429 would end steering for ever');
    }
  });

  test('quirk 7: a timeout or stall calls onTimeout, and config.timeout names the limit that fired', async () => {
    const http = await server({
      '/v.m3u8': body(vod()),
      '/seg0.ts': hang(),
      '/stalled.ts': cut(SEGMENT, 5000),
    });
    const engine = await engineUnderTest({ attempts: 1, headersTimeout: 150, stallTimeout: 170 });
    const stalled = start(hlsConfig(engine), fragment({ url: `${http.base}/stalled.ts` }));
    assert.equal((await stalled.settled()).name, 'onTimeout');
    assert.deepEqual((await stalled.settled()).args.slice(0, 1), [stalled.stats]);
    assert.equal(stalled.loaderConfig.timeout, 170);

    const backstop = start(
      hlsConfig(await engineUnderTest()),
      fragment({ url: `${http.base}/seg0.ts` }),
      { policy: { maxLoadTimeMs: 120 } },
    );
    assert.equal((await backstop.settled()).name, 'onTimeout');
    assert.equal(backstop.loaderConfig.timeout, 120);
    assert.deepEqual(backstop.names(), ['onTimeout']);

    const { event } = player(engine, `${http.base}/v.m3u8`);
    const error = await event(Hls.Events.ERROR);
    assert.equal(error.details, Hls.ErrorDetails.FRAG_LOAD_TIMEOUT);
    assert.equal(error.error.message, 'Timeout after 150ms');
  });

  test('quirk 8: abort() marks an unfinished load, is re-entrant, and ends the network request', async () => {
    const http = await server({ '/hang': hang(), '/seg0.ts': body(SEGMENT) });
    const config = hlsConfig(await engineUnderTest());
    const run = start(config, fragment({ url: `${http.base}/hang` }), {
      on: { onAbort: (loader) => loader.destroy() },
    });
    await until(() => http.count('/hang') === 1);
    run.loader.abort();
    run.loader.abort();
    assert.deepEqual(run.names(), ['onAbort']);
    assert.equal(run.calls[0].args[0], run.stats);
    assert.equal(run.calls[0].args[1].url, `${http.base}/hang`);
    assert.equal(run.stats.aborted, true);
    await until(() => http.log[0].closed);

    const whole = start(config, fragment({ url: `${http.base}/seg0.ts` }));
    await whole.settled();
    whole.loader.abort();
    whole.loader.destroy();
    assert.equal(whole.stats.aborted, false, 'bandwidth sampling skips aborted loads');
    assert.deepEqual(whole.names(), ['onSuccess']);
  });

  test('quirk 9: destroy() right after success leaves stats alone; headers last until then', async () => {
    const http = await server({
      '/v.m3u8': body(vod(2, { live: true }), { age: '7' }),
      '/seg0.ts': body(SEGMENT, { age: '3', 'x-a': 'b' }),
    });
    const config = hlsConfig(await engineUnderTest());
    /** @type {any[]} */
    const seen = [];
    const run = start(config, fragment({ url: `${http.base}/seg0.ts` }), {
      on: {
        onSuccess(loader) {
          seen.push(
            loader.getCacheAge(),
            loader.getResponseHeader('X-A'),
            loader.getResponseHeader('none'),
          );
          loader.destroy();
        },
      },
    });
    await run.settled();
    assert.deepEqual(seen, [3, 'b', null]);
    assert.equal(run.stats.loaded, SEGMENT.length);
    assert.ok(run.stats.loading.end > 0);
    assert.equal(run.loader.getCacheAge(), null);

    const { event } = player(await engineUnderTest(), `${http.base}/v.m3u8`);
    assert.equal((await event(Hls.Events.LEVEL_LOADED)).details.ageHeader, 7);
  });

  test('quirk 10: exactly one terminal callback, and none after abort or destroy', async () => {
    for (const outcome of ['resolve', 'reject']) {
      for (const end of ['abort', 'destroy']) {
        /** @type {any} */
        let finish;
        const engine = scripted(
          () =>
            new Promise(
              (resolve, reject) =>
                (finish =
                  outcome === 'resolve'
                    ? () => resolve(loaded(new ArrayBuffer(1)))
                    : () => reject(Object.assign(new Error('late'), { class: 'timeout' }))),
            ),
        );
        const run = start(hlsConfig(engine), fragment({ url: 'http://127.0.0.1/s' }));
        await wait(1);
        run.loader[end]();
        finish();
        engine.requests[0].onAttempt({ attempt: 2, at: performance.now() });
        engine.requests[0].onProgress({ loaded: 1, total: 2, at: performance.now() });
        await wait(5);
        assert.deepEqual(
          run.names(),
          end === 'abort' ? ['onAbort'] : [],
          `${outcome} after ${end}`,
        );
        assert.equal(run.stats.loaded, 0);
      }
    }
    const engine = scripted(() => Promise.resolve(loaded(new ArrayBuffer(1))));
    const once = start(hlsConfig(engine), fragment({ url: 'http://127.0.0.1/s' }), {
      policy: { maxLoadTimeMs: 20 },
    });
    await once.settled();
    await wait(40);
    assert.deepEqual(once.names(), ['onSuccess'], 'the backstop timer is gone');

    const broken = scripted(() => {
      throw new Error('thrown, not rejected');
    });
    const failed = start(hlsConfig(broken), fragment({ url: 'http://127.0.0.1/s' }));
    await failed.settled();
    assert.deepEqual(failed.names(), ['onError']);
  });

  test('quirk 11: stats move during the download, and never look complete before the end', async () => {
    const bytes = segment(2000);
    const text = Buffer.from('a'.repeat(300_000));
    const zipped = gzipSync(text);
    const http = await server({
      '/plain': drip(bytes, 8, 25),
      '/zipped': drip(zipped, 4, 25, { 'content-encoding': 'gzip' }),
      '/unknown': (_, response) =>
        void (response.write(bytes.subarray(0, 9999)), setTimeout(() => response.end(), 60)),
    });
    const config = hlsConfig(await engineUnderTest());
    for (const [path, total] of /** @type {const} */ ([
      ['/plain', bytes.length],
      ['/zipped', 0],
      ['/unknown', 0],
    ])) {
      const run = start(config, fragment({ url: http.base + path }));
      /** @type {any[]} */
      const samples = [];
      const timer = setInterval(
        () => samples.push({ ...run.stats, first: run.stats.loading.first }),
        5,
      );
      await run.settled();
      clearInterval(timer);
      const flying = samples.filter(
        (sample) =>
          sample.loaded > 0 && !run.names().length === false && sample.loaded < run.stats.loaded,
      );
      if (path === '/plain')
        assert.ok(new Set(flying.map((sample) => sample.loaded)).size >= 4, 'grows');
      for (const sample of samples.slice(0, -1)) {
        assert.ok(!(sample.loaded && sample.loaded === sample.total), `${path} complete early`);
        assert.ok(
          sample.total === 0 || sample.total > sample.loaded,
          `${path} loaded beyond total`,
        );
        if (sample.loaded) assert.ok(sample.first > 0);
        if (sample.loaded) assert.equal(sample.total, total, path);
      }
      assert.equal(run.stats.chunkCount, 0, 'counted by hls.js');
    }
    // A total that is really an encoded length.
    /** @type {any} */
    let request;
    const run = start(
      hlsConfig(scripted((given) => ((request = given), new Promise(() => {})))),
      fragment({ url: 'http://127.0.0.1/s' }),
    );
    await until(() => request);
    const totals = [400, 1000, 1600].map(
      (loaded) => (
        request.onProgress({ loaded, total: 1000, at: performance.now() }),
        run.stats.total
      ),
    );
    assert.deepEqual(totals, [1000, 0, 0]);
    run.loader.destroy();
  });

  test('quirk 12: at success the stats are complete and bwEstimate is finite', async () => {
    const http = await server({ '/seg0.ts': drip(SEGMENT, 4, 20), '/v.m3u8': body(vod()) });
    const config = hlsConfig(await engineUnderTest());
    const run = start(config, fragment({ url: `${http.base}/seg0.ts` }));
    const { args } = await run.settled();
    const { stats } = run;
    assert.equal(args[0].data.byteLength, SEGMENT.length);
    assert.equal(args[0].code, 200);
    assert.equal(stats.loaded, SEGMENT.length);
    assert.equal(stats.total, SEGMENT.length);
    const { first, end } = stats.loading;
    assert.ok(end - first > 30, 'four pieces, 20 ms apart');
    assert.ok(Math.abs(stats.bwEstimate - (SEGMENT.length * 8000) / (end - first)) < 1);

    const text = start(config, playlist({ url: `${http.base}/v.m3u8` }));
    await text.settled();
    assert.equal(text.stats.loaded, vod().length);

    const now = performance.now();
    const instant = scripted(() =>
      Promise.resolve(
        loaded(new ArrayBuffer(1000), { timing: { start: now, first: now, end: now } }),
      ),
    );
    const quick = start(hlsConfig(instant), fragment({ url: 'http://127.0.0.1/s' }));
    await quick.settled();
    assert.ok(Number.isFinite(quick.stats.bwEstimate) && quick.stats.bwEstimate > 0);
    assert.equal(quick.stats.loaded, 1000);
    assert.equal(quick.stats.total, 1000);
  });

  test('quirk 13: after retries the stats are those of the attempt that won; in flight, start is the first', async () => {
    const bytes = segment(3000);
    const http = await server({ '/seg0.ts': inTurn(status(503), status(503), drip(bytes, 6, 20)) });
    const config = hlsConfig(await engineUnderTest({ attempts: 4, delay: 300 }));
    const run = start(config, fragment({ url: `${http.base}/seg0.ts` }));
    const began = run.stats.loading.start;
    await until(() => run.stats.loaded > 0);
    assert.equal(run.stats.loading.start, began, 'the abandon rule sees the real time elapsed');
    assert.ok(run.stats.loading.first > http.log[2].at - 1);
    await run.settled();
    const { start: from, first, end } = run.stats.loading;
    assert.ok(Math.abs(from - http.log[2].at) < 60, 'starts with the third request');
    assert.ok(first >= from && end - first < 400);
    assert.equal(run.loader.attempts, 3);

    // One that resumes keeps the time of the bytes that it keeps, without the wait.
    const etag = { etag: '"a"' };
    /** @type {import('./hls/server.mjs').Route} */
    const half = (request, response) => {
      drip(bytes, 12, 25, etag)(request, response, 1);
      setTimeout(() => response.destroy(), 160);
    };
    /** @type {import('./hls/server.mjs').Route} */
    const rest = ({ headers }, response) => {
      const from = Number(/bytes=(\d+)-/.exec(headers.range ?? '')?.[1]);
      const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
      response.writeHead(206, { ...etag, 'content-range': range });
      response.write(bytes.subarray(from, from + 1));
      setTimeout(() => response.end(bytes.subarray(from + 1)), 150);
    };
    http.routes['/half.ts'] = inTurn(half, status(503, { 'retry-after': '2' }), rest);
    const resumed = start(config, fragment({ url: `${http.base}/half.ts` }));
    const { args } = await resumed.settled();
    assert.ok(Buffer.from(args[0].data).equals(bytes));
    assert.equal(resumed.loader.attempts, 3);
    const { loading } = resumed.stats;
    const took = loading.end - loading.first;
    assert.ok(took > 250, `the time of both parts, not ${took} ms`);
    assert.ok(took < 1500 && loading.end - loading.start < 1500, `without the waits: ${took} ms`);
  });

  test('quirk 14: rangeEnd is exclusive, and 0 means no range', async () => {
    const http = await server({
      '/seg0.ts'(request, response) {
        const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
        if (from === undefined) return response.end(SEGMENT);
        const part = SEGMENT.subarray(+from, +to + 1);
        response
          .writeHead(206, {
            'content-range': `bytes ${from}-${to}/${SEGMENT.length}`,
            'content-length': part.length,
          })
          .end(part);
      },
    });
    const config = hlsConfig(await engineUnderTest());
    /** @type {number[]} */
    const sizes = [];
    for (const [rangeStart, rangeEnd] of [
      [0, 0],
      [0, 100],
      [16, 48],
    ]) {
      const run = start(config, fragment({ url: `${http.base}/seg0.ts`, rangeStart, rangeEnd }));
      sizes.push((await run.settled()).args[0].data.byteLength);
    }
    assert.deepEqual(
      http.log.map((seen) => seen.headers.range),
      [undefined, 'bytes=0-99', 'bytes=16-47'],
    );
    assert.deepEqual(sizes, [SEGMENT.length, 100, 32]);
  });

  test('quirk 15: progressive mode gets whole chunks and an empty end, other modes the data once', async () => {
    const bytes = segment(4000);
    const http = await server({ '/seg0.ts': drip(bytes, 40, 5), '/v.m3u8': body(vod()) });
    const engine = await engineUnderTest();
    const config = hlsConfig(engine);
    assert.equal(
      play({ ...config, progressive: true }).hls.config.progressive,
      false,
      'a custom loader turns it off',
    );
    const { loader, ...policies } = config;
    const partial = play(
      { ...policies, fLoader: loader, pLoader: loader, progressive: true },
      `${http.base}/v.m3u8`,
    );
    cleanups.push(() => partial.hls.destroy());
    assert.equal(partial.hls.config.progressive, true, 'a custom fLoader alone does not');
    const { frag } = await partial.event(Hls.Events.FRAG_LOADED);
    assert.ok(frag.stats.chunkCount >= 4, 'hls.js got it in pieces');

    /** @type {number[]} */
    const sizes = [];
    const progressive = { ...config, progressive: true };
    const streamed = start(progressive, fragment({ url: `${http.base}/seg0.ts` }), {
      progress: true,
      highWaterMark: 2 ** 17,
      on: {
        onProgress: (_, __, ___, data) =>
          sizes.push(data.byteLength) && assert.ok(data instanceof ArrayBuffer),
      },
    });
    const { name, args } = await streamed.settled();
    assert.equal(name, 'onSuccess');
    assert.equal(args[0].data.byteLength, 0);
    assert.equal(
      sizes.reduce((sum, size) => sum + size),
      bytes.length,
    );
    assert.ok(sizes.slice(0, -1).every((size) => size >= 2 ** 17));
    const joined = Buffer.concat(
      streamed.calls
        .filter((call) => call.name === 'onProgress')
        .map((call) => Buffer.from(call.args[2])),
    );
    assert.ok(joined.equals(bytes), 'every byte once, in order');
    assert.equal(streamed.stats.loaded, bytes.length);

    // Initialisation segments; and before 1.6 all, as their loader always takes progress.
    for (const [its, highWaterMark] of /** @type {const} */ ([
      [progressive, Infinity],
      [config, 2 ** 17],
    ])) {
      const url = `${http.base}/seg0.ts`;
      const whole = start(its, fragment({ url }), { progress: true, highWaterMark });
      await whole.settled();
      assert.deepEqual(whole.names(), ['onProgress', 'onSuccess']);
      assert.equal(whole.calls[0].args[2].byteLength, bytes.length);
      assert.equal(whole.calls[1].args[0].data.byteLength, bytes.length);
    }
  });

  test('quirk 15b: bytes given to hls.js are never given again', async () => {
    const bytes = segment(4000);
    const http = await server({
      '/seg0.ts': inTurn(cut(bytes, 400_000, { reset: true }), drip(bytes, 4, 5)),
    });
    const config = { ...hlsConfig(await engineUnderTest()), progressive: true };
    const run = start(config, fragment({ url: `${http.base}/seg0.ts` }), {
      progress: true,
      highWaterMark: 2 ** 17,
    });
    const { name } = await run.settled();
    const given = Buffer.concat(
      run.calls
        .filter((call) => call.name === 'onProgress')
        .map((call) => Buffer.from(call.args[2])),
    );
    assert.ok(given.length > 0);
    assert.ok(
      given.equals(bytes.subarray(0, given.length)),
      'resumed at the exact offset, or failed',
    );
    if (name === 'onSuccess') assert.equal(given.length, bytes.length);
    else assert.equal(name, 'onError');
  });

  test('quirk 16: CMCD wraps the loader: context and stats are plain properties, late headers are sent', async () => {
    const http = await server({
      '/m.m3u8': body(multivariant('v.m3u8')),
      '/v.m3u8': body(vod()),
      '/seg0.ts': body(SEGMENT),
    });
    const engine = await engineUnderTest();
    for (const useHeaders of [false, true]) {
      http.log.length = 0;
      const { hls, event } = player(engine, `${http.base}/m.m3u8`, {
        cmcd: { sessionId: 'session', contentId: 'content', useHeaders },
      });
      let loaded = 0;
      hls.on(Hls.Events.FRAG_LOADED, (_, { frag }) => (loaded = frag.stats.loaded));
      await event(Hls.Events.FRAG_LOADED);
      assert.equal(loaded, SEGMENT.length);
      assert.equal(http.log.length, 3);
      for (const seen of http.log) {
        const carried = useHeaders ? seen.headers['cmcd-session'] : seen.url.split('?')[1];
        assert.match(decodeURIComponent(String(carried)), /sid="session"/, seen.path);
      }
    }
    const context = fragment({ url: `${http.base}/seg0.ts` });
    const run = start(hlsConfig(engine), context);
    assert.ok(Object.hasOwn(run.loader, 'stats') && Object.hasOwn(run.loader, 'context'));
    assert.equal(run.loader.context, context);
    await run.settled();
  });

  test('quirk 17: abort() during a wait of the engine ends the wait', async () => {
    const http = await server({
      '/seg0.ts': status(503),
      '/m.m3u8': body(multivariant('a.m3u8', 'b.m3u8')),
      '/a.m3u8': status(503),
      '/b.m3u8': status(503),
    });
    const engine = await engineUnderTest({ attempts: 10, delay: 300 });
    const config = hlsConfig(engine);
    const run = start(config, fragment({ url: `${http.base}/seg0.ts` }));
    await until(() => http.count('/seg0.ts') === 1);
    await wait(20);
    run.loader.abort();
    assert.deepEqual(run.names(), ['onAbort']);
    const asked = http.count('/seg0.ts');
    await wait(700);
    assert.equal(http.count('/seg0.ts'), asked);

    /** @type {any} */
    let setup;
    const waiting = hlsConfig(engine, {
      fetchSetup: (context, init) =>
        new Promise((resolve) => (setup = () => resolve(new Request(context.url, init)))),
    });
    const early = start(waiting, fragment({ url: `${http.base}/seg0.ts` }));
    await until(() => setup);
    early.loader.abort();
    setup();
    await wait(50);
    assert.equal(http.count('/seg0.ts'), asked, 'nothing is sent once fetchSetup is done');

    const { hls, event } = player(engine, `${http.base}/m.m3u8`);
    await event(Hls.Events.LEVEL_LOADING);
    await until(() => http.count('/a.m3u8') + http.count('/b.m3u8') === 1);
    hls.destroy();
    await wait(700);
    assert.equal(http.count('/a.m3u8') + http.count('/b.m3u8'), 1);
  });

  test('quirk 18: a playlist that waits holds up nothing: others load, and reloads go on after an outage', async () => {
    let down = false;
    const text = live({ target: 1 });
    /** @type {import('./hls/server.mjs').Route} */
    const fragile = (_, response) => (down ? response.writeHead(503).end() : response.end(text()));
    const http = await server({
      '/v.m3u8': fragile,
      '/m.m3u8': body(multivariant('a.m3u8', 'b.m3u8')),
      '/a.m3u8': fragile,
      '/b.m3u8': (_, response) => response.end(text()),
      '*': body(SEGMENT),
    });
    const engine = await engineUnderTest({ attempts: 2, delay: 100, hold: true });
    const { event, events, fatal, hls } = player(engine, `${http.base}/v.m3u8`);
    await event(Hls.Events.LEVEL_LOADED);
    down = true;
    await wait(3500);
    down = false;
    const back = performance.now();
    await until(
      () =>
        events.filter((each) => each.name === Hls.Events.LEVEL_LOADED && each.at > back).length >=
        2,
      5000,
    );
    assert.deepEqual(fatal(), [], 'an outage of three target durations is not the end');
    const flights = engine.requests.filter((request) => request.site === 'playlist-reload');
    assert.ok(flights.length > 0);
    hls.destroy();

    const two = player(engine, `${http.base}/m.m3u8`, { startLevel: 0 });
    await two.event(Hls.Events.LEVEL_LOADED);
    down = true;
    const before = http.count('/a.m3u8');
    await until(() => http.count('/a.m3u8') > before, 5000);
    two.hls.nextLoadLevel = 1;
    await until(() => http.count('/b.m3u8') > 0, 1000);
    assert.deepEqual(two.fatal(), []);
  });

  test('quirk 19: credentials are same-origin, as in FetchLoader', async () => {
    const engine = scripted(() => Promise.resolve(loaded(new ArrayBuffer(1))));
    await start(hlsConfig(engine), fragment({ url: 'http://127.0.0.1/s' })).settled();
    const { init } = engine.requests[0];
    assert.equal(init.credentials, 'same-origin');
    assert.equal(init.mode, 'cors');
    assert.equal(init.method, 'GET');

    const http = await server({ '/seg0.ts': inTurn(status(503), body(SEGMENT)) });
    /** @type {any[]} */
    const given = [];
    const config = hlsConfig(await engineUnderTest(), {
      async fetchSetup(/** @type {any} */ context, init) {
        given.push({ url: context.url, frag: context.frag, credentials: init.credentials });
        assert.ok(init.signal instanceof AbortSignal);
        init.headers.set('x-token', `t${given.length}`);
        return new Request(context.url, { ...init, credentials: 'include' });
      },
    });
    const context = fragment({
      url: `${http.base}/seg0.ts`,
      headers: { 'x-own': '1' },
      rangeStart: 0,
      rangeEnd: 10,
    });
    await start(config, context).settled();
    const { url, frag } = /** @type {any} */ (context);
    const call = { url, frag, credentials: 'same-origin' };
    assert.deepEqual(given, [call, call], 'once an attempt');
    assert.deepEqual(
      http.log.map(({ headers }) => [headers['x-token'], headers['x-own'], headers.range]),
      [
        ['t1', '1', 'bytes=0-9'],
        ['t2', '1', 'bytes=0-9'],
      ],
    );
  });
});

describe('one owner of retries', () => {
  test('a key server that answers 503 is asked as often as the engine says, not 81 times', async () => {
    const http = await server({
      '/v.m3u8': body(
        vod(2, {
          tags: '#EXT-X-KEY:METHOD=AES-128,URI="/key",IV=0x00000000000000000000000000000001\n',
        }),
      ),
      '/key': status(503),
      '/seg0.ts': body(SEGMENT),
    });
    const { event } = player(await engineUnderTest({ attempts: 3 }), `${http.base}/v.m3u8`);
    const error = await event(
      Hls.Events.ERROR,
      (data) => data.details === Hls.ErrorDetails.KEY_LOAD_ERROR,
    );
    await wait(1500);
    assert.equal(error.response.code, 503);
    assert.equal(http.count('/key'), 3);
    assert.equal(http.count('/seg0.ts'), 1);
  });

  test('a segment is asked for as often as the engine says, and then the next level is tried', async () => {
    const http = await server({
      '/m.m3u8': body(multivariant('a.m3u8', 'b.m3u8')),
      '/a.m3u8': body(media({ segments: ['/a0.ts'] })),
      '/b.m3u8': body(media({ segments: ['/b0.ts'] })),
      '/a0.ts': body(SEGMENT),
      '/b0.ts': status(503),
    });
    const { event, fatal } = player(await engineUnderTest({ attempts: 3 }), `${http.base}/m.m3u8`, {
      startLevel: 1,
    });
    await event(Hls.Events.FRAG_LOADED);
    assert.equal(http.count('/b0.ts'), 3);
    assert.equal(http.count('/a0.ts'), 1);
    assert.deepEqual(fatal(), []);
  });

  test('a redundant stream on another host takes over, where a lone host is waited for', async () => {
    const routes = { '/a.m3u8': body(media({ segments: ['s.ts'] })), '/s.ts': status(503) };
    const other = await server({ ...routes, '/s.ts': body(SEGMENT) });
    const redundant =
      multivariant('a.m3u8') + multivariant(`${other.base}/a.m3u8`).replace('#EXTM3U\n', '');
    const http = await server({
      ...routes,
      '/m.m3u8': body(redundant),
      '/alone.m3u8': body(multivariant('a.m3u8')),
    });
    const options = { attempts: 2, delay: 50, hold: true };
    const { event, fatal } = player(await engineUnderTest(options), `${http.base}/m.m3u8`);
    await event(Hls.Events.FRAG_LOADED);
    assert.equal(other.count('/s.ts'), 1);
    assert.deepEqual(fatal(), []);

    const asked = http.count('/s.ts');
    const alone = player(await engineUnderTest(options), `${http.base}/alone.m3u8`);
    await until(() => http.count('/s.ts') > asked + 2);
    assert.deepEqual(alone.all(Hls.Events.ERROR), []);
    http.routes['/s.ts'] = body(SEGMENT);
    await alone.event(Hls.Events.FRAG_LOADED);
  });

  const levels = (/** @type {number} */ target) => ({
    '/m.m3u8': body(multivariant('a.m3u8', 'b.m3u8')),
    '/a.m3u8': body(media({ segments: ['/a0.ts'], target })),
    '/b.m3u8': body(media({ segments: ['/b0.ts'], target })),
    '*': body(SEGMENT),
  });

  test('a broken level is left after three target durations', async () => {
    const http = await server({ ...levels(1), '/b0.ts': status(503) });
    const engine = await engineUnderTest({ attempts: 2, hold: true });
    const { event, fatal } = player(engine, `${http.base}/m.m3u8`, { startLevel: 1 });
    const began = performance.now();
    await event(Hls.Events.FRAG_LOADED, undefined, 8000);
    const waited = performance.now() - began;
    assert.ok(waited > 3000 && waited < 5500, `${waited} ms`);
    assert.equal(http.count('/a0.ts'), 1);
    assert.deepEqual(fatal(), []);
  });

  test('a broken level is left sooner where less is buffered', async () => {
    const http = await server({ ...levels(5), '/b0.ts': status(503) });
    const engine = await engineUnderTest({ attempts: 2, hold: true });
    const { hls, event } = play(hlsConfig(engine, { startLevel: 1 }), `${http.base}/m.m3u8`);
    const began = performance.now();
    const element = Object.assign(new EventTarget(), {
      buffered: { length: 1, start: () => 0, end: () => 4.5 },
    });
    Object.defineProperty(element, 'currentTime', {
      get: () => (performance.now() - began) / 1000,
    });
    Object.defineProperty(hls, 'media', { value: element });
    const stop = attachHls(engine, hls);
    cleanups.push(() => hls.destroy(), stop);
    await event(Hls.Events.FRAG_LOADED, undefined, 8000);
    const waited = performance.now() - began;
    assert.ok(waited > 3000 && waited < 6000, `not after 15 s, but ${waited} ms`);
    assert.equal(http.count('/a0.ts'), 1);
  });

  test('when all levels fail at once, the second one is held on to until the host is back', async () => {
    const http = await server({
      ...levels(1),
      '/m.m3u8': body(multivariant('a.m3u8', 'b.m3u8', 'c.m3u8')),
      '/c.m3u8': body(media({ segments: ['/c0.ts'], target: 1 })),
      '*': status(503),
    });
    const engine = await engineUnderTest({ attempts: 2, hold: true });
    const { event, all, fatal } = player(engine, `${http.base}/m.m3u8`, { startLevel: 2 });
    await wait(8500);
    assert.equal(all(Hls.Events.ERROR).length, 1, 'left once');
    assert.ok(http.count('/c0.ts') > 1 && http.count('/b0.ts') > 1 && !http.count('/a0.ts'));
    http.routes['*'] = body(SEGMENT);
    await event(Hls.Events.FRAG_LOADED, undefined, 4000);
    assert.deepEqual(fatal(), []);
  });

  test('a level is not left while its bytes arrive, nor while it is pinned', async () => {
    const slow = drip(segment(400), 5, 1300);
    const http = await server({ ...levels(1), '/b0.ts': inTurn(status(503), slow) });
    const moving = player(await engineUnderTest({ hold: true }), `${http.base}/m.m3u8`, {
      startLevel: 1,
    });
    await moving.event(Hls.Events.FRAG_LOADED, undefined, 9000);
    assert.equal(http.count('/b0.ts'), 2);
    assert.equal(http.count('/a0.ts'), 0);

    http.routes['/b0.ts'] = status(503);
    const pinned = player(await engineUnderTest({ hold: true }), `${http.base}/m.m3u8`, {
      startLevel: 1,
    });
    await pinned.event(Hls.Events.LEVEL_LOADED);
    pinned.hls.loadLevel = 1;
    await wait(4500);
    assert.deepEqual(pinned.all(Hls.Events.ERROR), []);
  });

  test('the lowest level is not left for the highest because nothing comes', async () => {
    const http = await server({ ...levels(1), '/a0.ts': hang() });
    const engine = await engineUnderTest({ headersTimeout: 400, attempts: 2, hold: true });
    const { event, all } = player(engine, `${http.base}/m.m3u8`, { startLevel: 0 });
    await wait(6000);
    assert.ok(http.count('/a0.ts') > 2, 'it is tried');
    assert.deepEqual(all(Hls.Events.ERROR), []);
    http.routes['/a0.ts'] = body(SEGMENT);
    await event(Hls.Events.FRAG_LOADED, undefined, 8000);
    assert.equal(http.count('/b.m3u8'), 0);
  });

  test('the lowest level is left where the server refuses it', async () => {
    const http = await server({ ...levels(1), '/a0.ts': status(503) });
    const engine = await engineUnderTest({ attempts: 2, hold: true });
    const { event, fatal } = player(engine, `${http.base}/m.m3u8`, { startLevel: 0 });
    await event(Hls.Events.FRAG_LOADED, undefined, 8000);
    assert.equal(http.count('/b0.ts'), 1);
    assert.deepEqual(fatal(), []);
  });

  test('a live segment that is gone is skipped, not fatal', async () => {
    const text = media({
      segments: ['/gone.ts', '/gone.ts?2', '/seg0.ts', '/seg0.ts?2', '/seg0.ts?3'],
      live: true,
      target: 1,
    });
    const http = await server({
      '/v.m3u8': body(text),
      '/gone.ts': status(404),
      '/seg0.ts': body(SEGMENT),
    });
    const { event, fatal } = player(await engineUnderTest(), `${http.base}/v.m3u8`, {
      startPosition: 0,
    });
    const began = performance.now();
    await event(Hls.Events.FRAG_LOADED);
    const waited = performance.now() - began;
    assert.equal(http.count('/gone.ts'), 6, 'it may be late: each is asked for twice more');
    assert.ok(waited < 3500, `within a target duration each, not ${waited} ms`);
    assert.deepEqual(fatal(), []);
  });

  test('nor is the last segment of a live stream fatal', async () => {
    const segments = ['/seg0.ts', '/seg0.ts?2', '/seg0.ts?3', '/gone.ts'];
    const text = media({ segments, live: true, target: 1 });
    const http = await server({ '/v.m3u8': body(text), '/gone.ts': status(404) });
    const config = { startPosition: 3.5 };
    const { event, fatal } = player(await engineUnderTest(), `${http.base}/v.m3u8`, config);
    const error = await event(Hls.Events.ERROR, ({ frag }) => frag?.sn === 3);
    assert.equal(error.response.code, 404);
    const before = http.count('/v.m3u8');
    await until(() => http.count('/v.m3u8') > before);
    assert.deepEqual(fatal(), []);
  });

  test('an error reaches hls.js with its status, and VOD ends', async () => {
    const http = await server({ '/v.m3u8': body(vod()), '*': status(403) });
    const { event } = player(await engineUnderTest(), `${http.base}/v.m3u8`);
    const error = await event(Hls.Events.ERROR);
    assert.equal(error.details, Hls.ErrorDetails.FRAG_LOAD_ERROR);
    assert.equal(error.response.code, 403);
    assert.equal(error.fatal, true);
  });

  test('VOD ends, too, where all of its segments are missing', async () => {
    const http = await server({ '/v.m3u8': body(vod(3)) });
    const { event, all } = player(await engineUnderTest(), `${http.base}/v.m3u8`);
    const error = await event(Hls.Events.ERROR, ({ fatal }) => fatal);
    assert.equal(error.details, Hls.ErrorDetails.FRAG_LOAD_ERROR);
    assert.equal(error.response.code, 404);
    assert.equal(all(Hls.Events.ERROR).length, 3, 'the first two were skipped');
    assert.equal(http.count('/seg0.ts'), 2, 'once more, to be sure');
  });

  test('a lost subtitle segment costs its cues, nothing else', async () => {
    const track =
      '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="en",DEFAULT=YES,AUTOSELECT=YES,LANGUAGE="en",URI="/s.m3u8"\n';
    const http = await server({
      '/m.m3u8': body(
        multivariant('v.m3u8')
          .replace('#EXTM3U\n', `#EXTM3U\n${track}`)
          .replace('BANDWIDTH', 'SUBTITLES="s",BANDWIDTH'),
      ),
      '/v.m3u8': body(vod()),
      '/s.m3u8': body(media({ segments: ['/0.vtt', '/1.vtt', '/2.vtt'] })),
      '/0.vtt': status(404),
      '/1.vtt': status(503),
      '/2.vtt': body('WEBVTT\n\n'),
      '*': body(SEGMENT),
    });
    const { hls, event, all, fatal } = player(
      await engineUnderTest({ attempts: 2 }),
      `${http.base}/m.m3u8`,
      { renderTextTracksNatively: false },
    );
    await event(Hls.Events.LEVEL_LOADED);
    // Subtitles are loaded for a media element only, and parsed once the video's first timestamp is known.
    const element = Object.assign(new EventTarget(), {
      currentTime: 0,
      textTracks: Object.assign(new EventTarget(), { length: 0 }),
      buffered: { length: 0 },
    });
    for (const controller of /** @type {any} */ (hls).networkControllers) {
      if (!/^Subtitle/.test(controller.constructor.name)) continue;
      controller.onMediaAttached('', { media: element });
    }
    hls.subtitleTrack = 0;
    hls.trigger(
      Hls.Events.INIT_PTS_FOUND,
      /** @type {any} */ ({
        id: 'main',
        frag: { cc: 0 },
        timestampOffsets: [{ baseTime: 0, timescale: 90_000, trackId: 0 }],
      }),
    );
    await event(Hls.Events.SUBTITLE_FRAG_PROCESSED, ({ frag }) => frag.sn === 2);
    assert.deepEqual(
      all(Hls.Events.SUBTITLE_FRAG_PROCESSED).map(({ frag, success }) => [frag.sn, success]),
      [
        [0, true],
        [1, true],
        [2, true],
      ],
    );
    assert.deepEqual(fatal(), []);
    assert.equal(http.count('/1.vtt'), 2, 'after the retries of its own site');
  });
});

describe('R18, R33: blocking playlist reloads', () => {
  const directives = '_HLS_msn=7&_HLS_part=1';
  const offers =
    '#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.0,CAN-SKIP-UNTIL=6.0\n';
  /** @param {(query: string, response: any) => void} answer */
  const lowLatency = async (answer, targetDuration = 0.3) => {
    const http = await server({
      '/v.m3u8': ({ url = '' }, response) => answer(url.split('?')[1] ?? '', response),
    });
    const engine = await engineUnderTest({ headersTimeout: 500, hold: true });
    engine.reportPlayback({ targetDuration, live: true });
    const config = hlsConfig(engine);
    const reload = (query = `token=a~b%2Bc&${directives}`) =>
      start(
        config,
        playlist({ url: `${http.base}/v.m3u8?${query}`, levelOrTrack: { details: {} } }),
        // What hls.js allows such a reload: less than a server may take.
        { policy: { maxLoadTimeMs: 200 } },
      );
    return { http, reload };
  };
  const text = media({ segments: ['/seg0.ts'], live: true, tags: offers });

  test('may take the time that servers may take, whatever hls.js allows', async () => {
    const { http, reload } = await lowLatency((_, response) =>
      setTimeout(() => response.end(text), 900),
    );
    const { name, args } = await reload().settled();
    assert.equal(name, 'onSuccess');
    assert.equal(args[0].data, text);
    assert.equal(http.log.length, 1);
  });

  for (const refusal of /** @type {const} */ (['silence', 400, 503])) {
    test(`that meet ${refusal} are repeated plainly, and hls.js is led to plain ones for a while`, async () => {
      const { http, reload } = await lowLatency((query, response) => {
        if (!query.includes('_HLS_')) response.end(text);
        else if (refusal !== 'silence') response.writeHead(refusal).end();
      });
      const { name, args } = await reload().settled();
      assert.equal(name, 'onSuccess');
      assert.deepEqual(
        http.log.map((seen) => seen.url),
        [`/v.m3u8?token=a~b%2Bc&${directives}`, '/v.m3u8?token=a~b%2Bc'],
        'other bytes untouched',
      );
      const quiet = text.replace(/CAN-BLOCK-RELOAD=YES,|CAN-SKIP-UNTIL=6.0/g, '');
      assert.equal(args[0].data, quiet);
      assert.equal((await reload('token=a~b%2Bc').settled()).args[0].data, quiet);
      assert.equal((await reload('other').settled()).args[0].data, text);
      const now = performance.now();
      mock.method(performance, 'now', () => now + 61_000);
      cleanups.push(() => mock.restoreAll());
      assert.equal((await reload('token=a~b%2Bc').settled()).args[0].data, text);
    });
  }

  test('that are not found stay as they are', async () => {
    const gone = (/** @type {string} */ _, /** @type {any} */ response) =>
      response.writeHead(404).end();
    const { http, reload } = await lowLatency(gone, 1);
    assert.equal((await reload().settled()).args[0].code, 404);
    assert.ok(http.log.every((seen) => seen.url.endsWith(directives)));
  });

  test('hls.js itself reloads plainly once they were refused', async () => {
    let sequence = 0;
    const http = await server({
      '/v.m3u8': ({ url = '' }, response) => {
        if (url.includes('_HLS_')) return void response.writeHead(400).end();
        const segments = Array.from({ length: 5 }, (_, i) => `/live${sequence + i}.ts`);
        response.end(media({ segments, sequence, live: true, target: 1, tags: offers }));
        sequence += 1;
      },
      '*': body(SEGMENT),
    });
    const engine = await engineUnderTest({ hold: true });
    const { fatal } = player(engine, `${http.base}/v.m3u8`);
    await until(() => http.count('/v.m3u8') >= 6, 9000);
    const asked = http.log.filter(({ path }) => path === '/v.m3u8').map(({ url }) => url);
    assert.equal(asked.filter((url) => url.includes('_HLS_')).length, 1, asked.join(' '));
    assert.deepEqual(fatal(), []);
  });
});
