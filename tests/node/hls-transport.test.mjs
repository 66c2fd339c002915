// @ts-check
// Loader classes put underneath the adapter: they transport, the engine decides. Most of it with hls.js's
// own FetchLoader.
import assert from 'node:assert/strict';
import { FetchLoader } from 'hls.js';
import { afterEach, describe, test } from 'node:test';
import { attachHls, hlsConfig } from '../../js/adapters/hls.js';
import { engineFor } from './hls/engine.mjs';
import { fragment, playlist, start, until } from './hls/loader.mjs';
import { Hls } from './hls/player.mjs';
import { body, cut, drip, hang, inTurn, reset, segment, serve, status } from './hls/server.mjs';

/** @type {(() => void)[]} */
const cleanups = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

const BYTES = segment(500);
/** @type {any} */
const Fetch = FetchLoader;

/**
 * @param {Parameters<typeof serve>[0]} routes
 * @param {Parameters<typeof engineFor>[0]} [options]
 * @param {any} [loader]
 */
async function setUp(routes, options, loader = Fetch) {
  const http = await serve(routes);
  const engine = await engineFor(options);
  cleanups.push(http.close, engine.destroy);
  return { http, engine, config: hlsConfig(engine, { loader }) };
}

describe('a loader underneath', () => {
  test('has its answer passed on: bytes, status, headers, the URL after redirects', async () => {
    const { http, config } = await setUp({
      '/s': (_, response) => response.writeHead(302, { location: '/moved' }).end(),
      '/moved': body(BYTES, { age: '7' }),
    });
    const run = start(config, fragment({ url: `${http.base}/s` }));
    const { name, args } = await run.settled();
    assert.equal(name, 'onSuccess');
    assert.ok(Buffer.from(args[0].data).equals(BYTES));
    assert.deepEqual([args[0].code, args[0].url], [200, `${http.base}/moved`]);
    assert.equal(args[3].url, `${http.base}/moved`);
    assert.equal(run.loader.getCacheAge(), 7);
    assert.equal(run.stats.loaded, BYTES.length);
  });

  test('is made anew for each attempt, and retries nothing itself', async () => {
    let made = 0;
    class Counted extends Fetch {
      /** @param {any} config */
      constructor(config) {
        super(config);
        made += 1;
      }
    }
    const routes = {
      '/s': inTurn(status(503), reset(), cut(BYTES, 9000, { reset: true }), body(BYTES)),
    };
    const { http, config } = await setUp(routes, { attempts: 4 }, Counted);
    const { name, args } = await start(config, fragment({ url: `${http.base}/s` })).settled();
    assert.equal(name, 'onSuccess');
    assert.ok(Buffer.from(args[0].data).equals(BYTES));
    assert.equal(made, 4);
    assert.equal(http.count('/s'), 4);
  });

  test('has its errors judged by the engine', async () => {
    for (const [route, code] of /** @type {const} */ ([
      [status(404), 404],
      [status(500), 500],
      [reset(), 0],
    ])) {
      const { http, config } = await setUp({ '/s': route }, { attempts: 2 });
      const { name, args } = await start(config, fragment({ url: `${http.base}/s` })).settled();
      assert.deepEqual([name, args[0].code], ['onError', code]);
      assert.equal(http.count('/s'), 2);
    }
  });

  test('is aborted where the engine cuts an attempt, or hls.js the load', async () => {
    const routes = { '/s': inTurn(hang(), cut(BYTES, 9000), body(BYTES)), '/t': hang() };
    const { http, config } = await setUp(routes, { headersTimeout: 200, stallTimeout: 300 });
    const { name } = await start(config, fragment({ url: `${http.base}/s` })).settled();
    assert.equal(name, 'onSuccess');
    await until(() => http.log[0].closed && http.log[1].closed);

    const run = start(config, fragment({ url: `${http.base}/t` }));
    await until(() => http.count('/t') === 1);
    run.loader.abort();
    assert.deepEqual(run.names(), ['onAbort']);
    await until(() => http.log.at(-1)?.closed);
  });

  test('is asked for the range, and for the whole of a body that was lost', async () => {
    const etag = { etag: '"a"' };
    /** @param {number} [stop] @returns {import('./hls/server.mjs').Route} */
    const file = (stop) => (request, response) => {
      const [, from = '0', to] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? [];
      const last = to ? Number(to) : BYTES.length - 1;
      const part = BYTES.subarray(Number(from), last + 1);
      const range = { 'content-range': `bytes ${from}-${last}/${BYTES.length}` };
      const code = request.headers.range ? 206 : 200;
      response.writeHead(code, { ...etag, 'content-length': part.length, ...range });
      if (!stop) return void response.end(part);
      response.write(part.subarray(0, stop));
      setTimeout(() => response.destroy(), 50);
    };
    const { http, config } = await setUp({ '/r': file(), '/s': inTurn(file(40_000), file()) });
    const range = { rangeStart: 16, rangeEnd: 48 };
    const ranged = start(config, fragment({ url: `${http.base}/r`, ...range }));
    const part = (await ranged.settled()).args[0];
    assert.ok(Buffer.from(part.data).equals(BYTES.subarray(16, 48)));
    assert.equal(part.code, 206);
    assert.equal(http.log[0].headers.range, 'bytes=16-47');

    const whole = start(config, fragment({ url: `${http.base}/s` }));
    assert.ok(Buffer.from((await whole.settled()).args[0].data).equals(BYTES));
    assert.deepEqual(
      http.log.slice(1).map(({ headers }) => headers.range),
      [undefined, undefined],
    );
  });

  test('loads text, and JSON as an object', async () => {
    const { http, config } = await setUp({ '/v': body('#EXTM3U'), '/j': body('{"TTL":1}') });
    const text = start(config, playlist({ url: `${http.base}/v` }));
    assert.equal((await text.settled()).args[0].data, '#EXTM3U');
    const type = { type: 'steering-manifest', responseType: 'json', url: `${http.base}/j` };
    assert.deepEqual((await start(config, type).settled()).args[0].data, { TTL: 1 });
  });

  test('that streams is not taken for silent, however slow it is', async () => {
    const routes = { '/s': drip(BYTES, 16, 80) };
    const { http, config } = await setUp(routes, { headersTimeout: 400, stallTimeout: 400 });
    const run = start(config, fragment({ url: `${http.base}/s` }));
    await until(() => run.stats.loaded > 30_000);
    assert.equal((await run.settled()).name, 'onSuccess');
    assert.equal(run.loader.attempts, 1);
    const { first, end } = run.stats.loading;
    assert.ok(end - first > 800, 'its own times count');
  });
});

/** As a peer-to-peer network's: it shows nothing until it is done, and knows how long it took. */
class Peers {
  stats = {
    ...{ aborted: false, loaded: 1, total: 1, retry: 0, chunkCount: 0, bwEstimate: 0 },
    loading: { start: 0, first: 0, end: 0 },
    parsing: { start: 0, end: 0 },
    buffering: { start: 0, first: 0, end: 0 },
  };
  context = null;
  static answers = 0;
  /** @type {any} */
  static config;
  /** @param {any} config */
  constructor(config) {
    Peers.config = config;
  }
  /** @param {any} context @param {any} _config @param {any} callbacks */
  load(context, _config, callbacks) {
    Peers.answers += 1;
    if (Peers.answers === 1) return; // never answers
    const now = performance.now();
    setTimeout(() => {
      this.stats.loading = { start: now - 1000, first: now - 900, end: now };
      const data = BYTES.buffer.slice(BYTES.byteOffset, BYTES.byteOffset + BYTES.length);
      callbacks.onProgress?.(this.stats, context, data, undefined);
      callbacks.onSuccess({ data, url: context.url }, this.stats, context, undefined);
    }, 5);
  }
  abort() {}
  destroy() {}
}

test('a loader that has the bytes already has its own times believed, and its silence cut', async () => {
  const options = { headersTimeout: 200, attempts: 2 };
  const { config } = await setUp({}, options, Peers);
  const run = start(config, fragment({ url: 'http://127.0.0.1/s' }));
  const { name, args } = await run.settled();
  assert.equal(name, 'onSuccess');
  assert.equal(Peers.answers, 2);
  assert.equal(args[0].data.byteLength, BYTES.length);
  const { start: from, first, end } = run.stats.loading;
  assert.deepEqual([Math.round(first - from), Math.round(end - first)], [100, 900]);
});

test("what it leaves to the player's loader is for hls.js's own; and it is given back", async () => {
  const { engine } = await setUp({});
  const hls = new Hls(hlsConfig(engine, { fLoader: /** @type {any} */ (Peers) }));
  cleanups.push(() => hls.destroy());
  const { fLoader } = hls.config;
  assert.notEqual(fLoader, Peers);
  Peers.answers = 1;
  await start(
    { ...hls.config, loader: fLoader },
    fragment({ url: 'http://127.0.0.1/s' }),
  ).settled();
  assert.notEqual(Peers.config.loader, hls.config.loader);

  const run = new /** @type {any} */ (fLoader)(hls.config);
  Peers.answers = 1;
  const context = fragment({ url: 'http://127.0.0.1/s' });
  await new Promise((resolve) => run.load(context, { loadPolicy: {} }, { onSuccess: resolve }));
  assert.equal(Peers.config.loader, Hls.DefaultConfig.loader);

  attachHls(engine, hls)();
  assert.equal(hls.config.fLoader, Peers);
  assert.equal(hls.config.loader, Hls.DefaultConfig.loader);
  assert.ok(
    new /** @type {any} */ (fLoader)(hls.config) instanceof Peers,
    'who still has our class',
  );
});
