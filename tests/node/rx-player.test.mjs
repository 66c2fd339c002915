// @ts-check
// The rx-player adapter without a player: what its options say, and what its loaders answer. The
// server is a real one.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { createEngine } from 'holdfast';
import { rxLicense, rxOptions } from 'holdfast/rx-player';
import {
  answer,
  breakOff,
  content,
  drip,
  file,
  hang,
  ok,
  page,
  redirect,
  reset,
  serve,
} from './server.mjs';

/** @typedef {import('rx-player/types').ILoadVideoOptions} Options */
/** @typedef {(info: object, callbacks: object) => (() => void) | void} Loader */

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => {
  server = await serve();
});
after(() => server.close());

/** @type {import('holdfast').Engine[]} */
const engines = [];
const segment = { attempts: 3, backoff: { base: 50, factor: 1, cap: 50 } };
/** @param {import('holdfast').EngineOptions} [options] */
async function start(options) {
  const engine = createEngine({
    sites: { segment, init: segment, manifest: segment },
    onExhausted: 'reject',
    ...options,
  });
  engines.push(engine);
  await engine.ready;
  return engine;
}
/** @type {string[]} */
let warnings = [];
const { warn } = console;
before(() => {
  console.warn = (text) => void warnings.push(text);
});
after(() => {
  console.warn = warn;
});
afterEach(() => {
  for (const engine of engines.splice(0)) engine.destroy();
  warnings = [];
});

/**
 * Calls a loader as rx-player does, and gives what it answers with.
 *
 * @param {any} loader
 * @param {object} info
 */
function call(loader, info) {
  /** @type {number[]} */
  const sizes = [];
  /** @type {(() => void) | void} */
  let abort;
  const settled = new Promise((resolve) => {
    abort = /** @type {Loader} */ (loader.fn ?? loader)(
      { timeout: 30_000, isInit: false, trackType: 'video', ...info },
      {
        resolve: (/** @type {any} */ given) => resolve({ how: 'resolved', ...given }),
        reject: (/** @type {any} */ error) => resolve({ how: 'rejected', error }),
        fallback: () => resolve({ how: 'fallback' }),
        progress: (/** @type {{ size: number }} */ { size }) => sizes.push(size),
      },
    );
  });
  return { settled: /** @type {Promise<any>} */ (settled), sizes, abort: () => abort?.() };
}

const bytes = content(30_000);
/** @param {any} data */
const sizeOf = (data) => data.byteLength;

describe('rxOptions', () => {
  test('keeps all other options, and the shape of loaders', async () => {
    const engine = await start();
    const own = () => {};
    /** @type {Options} */
    const options = {
      ...{ transport: 'dash', url: 'a.mpd', autoPlay: true },
      ...{ requestConfig: { segment: { maxRetry: 2 } } },
      segmentLoader: { fn: own, workerId: 'w' },
    };
    const { segmentLoader, manifestLoader, ...rest } = rxOptions(engine, options);
    const { segmentLoader: _, ...before } = options;
    assert.deepEqual(rest, before);
    assert.ok(segmentLoader && typeof segmentLoader === 'object');
    assert.equal(segmentLoader.workerId, 'w');
    assert.notEqual(segmentLoader.fn, own);
    assert.equal(typeof manifestLoader, 'function');
    assert.deepEqual(warnings, []);
  });

  test('leaves transports alone that make no requests through loaders', async () => {
    const engine = await start();
    for (const transport of ['directfile', 'local']) {
      const options = { transport, url: 'a' };
      assert.equal(rxOptions(engine, options), options);
    }
    // Its manifest is JSON, which elsewhere is a page in place of a manifest.
    const { manifestLoader, segmentLoader } = rxOptions(engine, { transport: 'metaplaylist' });
    assert.deepEqual([typeof manifestLoader, typeof segmentLoader], ['undefined', 'function']);
  });

  test('warns of a second retry layer, and of what goes past the engine', async () => {
    const engine = await start();
    const { getLicense } = rxLicense(engine, 'https://license.test');
    rxOptions(engine, {
      ...{ transport: 'dash', lowLatencyMode: true, mode: 'multithread' },
      ...{ checkMediaSegmentIntegrity: true, checkManifestIntegrity: true },
      requestConfig: { manifest: { maxRetry: 0 } },
      keySystems: [{ type: 'widevine', getLicense }],
    });
    assert.equal(warnings.length, 2);
    assert.match(
      warnings[0],
      /^\[holdfast\] two retry layers .*: checkMediaSegmentIntegrity, getLicenseConfig.retry of widevine$/,
    );
    assert.match(warnings[1], /past the engine .*: lowLatencyMode, mode: multithread$/);
  });

  test('does not warn of the ready license', async () => {
    const engine = await start();
    const keySystem = { type: 'widevine', ...rxLicense(engine, 'https://license.test') };
    rxOptions(engine, { transport: 'dash', keySystems: [keySystem] });
    assert.deepEqual(warnings, []);
    const { retry, timeout } = keySystem.getLicenseConfig;
    assert.deepEqual([retry, timeout], [0, -1]);
  });
});

describe('a segment loader', () => {
  test('answers with the bytes, their size and their time', async () => {
    const { segmentLoader } = rxOptions(await start(), { transport: 'dash' });
    const url = server.on('/whole', answer(503), file(bytes));
    const { settled, sizes } = call(segmentLoader, { url });
    const { how, data, size, duration } = await settled;
    assert.deepEqual([how, sizeOf(data), size], ['resolved', 30_000, 30_000]);
    assert.ok(duration > 0 && duration < 5000);
    assert.equal(sizes.at(-1), 30_000);
  });

  test('reports no progress twice where a body starts over', async () => {
    const { segmentLoader } = rxOptions(await start(), { transport: 'dash' });
    const url = server.on('/over', breakOff(bytes, 20_000), drip(bytes, 5, 20));
    const { settled, sizes } = call(segmentLoader, { url });
    assert.equal((await settled).how, 'resolved');
    assert.equal(server.seen('/over').length, 2);
    assert.ok(sizes[0] <= 20_000 && sizes.at(-1) === 30_000, sizes.join());
    assert.deepEqual(
      sizes,
      [...new Set(sizes)].sort((a, b) => a - b),
    );
  });

  test('rejects once, and tells rx-player not to retry', async () => {
    const { segmentLoader } = rxOptions(await start(), { transport: 'dash' });
    const url = server.on('/gone', answer(410));
    const { how, error } = await call(segmentLoader, { url }).settled;
    assert.deepEqual([how, error.canRetry], ['rejected', false]);
    assert.match(error.message, /answered 410/);
    assert.equal(server.seen('/gone').length, 1);
  });

  test('asks once for ranges that follow each other, and joins others', async () => {
    const { segmentLoader } = rxOptions(await start(), { transport: 'dash' });
    const rangesOf = (/** @type {string} */ path) =>
      server.seen(path).map(({ headers }) => headers.range);
    const near = server.on('/near', file(bytes, { etag: '"a"' }));
    const one = await call(segmentLoader, {
      url: near,
      isInit: true,
      byteRanges: [
        [0, 99],
        [100, 149],
      ],
    }).settled;
    assert.deepEqual([sizeOf(one.data), rangesOf('/near')], [150, ['bytes=0-149']]);
    const apart = server.on('/apart', file(bytes, { etag: '"a"' }));
    const two = await call(segmentLoader, {
      url: apart,
      isInit: true,
      byteRanges: [
        [0, 99],
        [200, 249],
      ],
    }).settled;
    assert.deepEqual(rangesOf('/apart').sort(), ['bytes=0-99', 'bytes=200-249']);
    const expected = Buffer.concat([bytes.subarray(0, 100), bytes.subarray(200, 250)]);
    assert.deepEqual([Buffer.from(two.data).equals(expected), two.size], [true, 150]);
    const open = server.on('/open', file(bytes, { etag: '"a"' }));
    const rest = await call(segmentLoader, { url: open, byteRanges: [[29_000, Infinity]] }).settled;
    assert.deepEqual([sizeOf(rest.data), rangesOf('/open')], [1000, ['bytes=29000-']]);
  });

  test('adds CMCD as rx-player does, and no byte elsewhere', async () => {
    const { segmentLoader } = rxOptions(await start(), { transport: 'dash' });
    const value = [
      ['CMCD', 'bl%3D1'],
      ['flag', null],
    ];
    const cmcdPayload = { type: 'query', value };
    for (const [path, expected] of [
      ['/c1', '/c1?CMCD=bl%3D1&flag'],
      ['/c2?', '/c2?CMCD=bl%3D1&flag'],
      ['/c3?sig=a%2Fb+c~#t', '/c3?sig=a%2Fb+c~&CMCD=bl%3D1&flag'],
    ]) {
      server.on(path.split('?')[0], file(bytes));
      await call(segmentLoader, { url: server.origin + path, cmcdPayload }).settled;
      assert.equal(server.all.at(-1)?.url, expected);
    }
  });

  test('aborts the request', async () => {
    const { segmentLoader } = rxOptions(await start(), { transport: 'dash' });
    const url = server.on('/hang', hang());
    const { abort, settled } = call(segmentLoader, { url });
    while (!server.seen('/hang').length) await new Promise((resolve) => setTimeout(resolve, 10));
    abort();
    const still = new Promise((resolve) => setTimeout(resolve, 200, 'unanswered'));
    assert.equal(await Promise.race([settled, still]), 'unanswered');
    assert.ok(server.seen('/hang')[0].closedAt);
  });

  test('gives a request back when the engine is destroyed', async () => {
    const engine = await start();
    const { segmentLoader } = rxOptions(engine, { transport: 'dash' });
    const url = server.on('/orphan', hang());
    const { settled } = call(segmentLoader, { url });
    engine.destroy();
    assert.equal((await settled).how, 'fallback');
    assert.equal((await call(segmentLoader, { url }).settled).how, 'fallback');
  });

  test('passes one missing segment over where that is asked for, and not two', async () => {
    const { segmentLoader } = rxOptions(
      await start(),
      { transport: 'dash' },
      { skipMissing: true },
    );
    const [first, second] = ['/m1', '/m2'].map((path) => server.on(path, answer(410)));
    const there = server.on('/m3', file(bytes));
    const answered = async (/** @type {string} */ url, more = {}) =>
      (await call(segmentLoader, { url, ...more }).settled).how;
    const empty = await call(segmentLoader, { url: first }).settled;
    assert.deepEqual([empty.how, sizeOf(empty.data)], ['resolved', 0]);
    assert.equal(await answered(second), 'rejected');
    assert.equal(await answered(there), 'resolved');
    assert.equal(await answered(second), 'resolved');
    assert.equal(await answered(first, { isInit: true }), 'rejected');
  });
});

describe('a segment loader of the user', () => {
  /** @param {Loader} own @param {import('holdfast').EngineOptions} [options] */
  const over = async (own, options) => {
    const engine = await start(options);
    return rxOptions(engine, { transport: 'dash', segmentLoader: own }).segmentLoader;
  };

  test('sends each attempt, and its answer is passed on as it is', async () => {
    /** @type {any[]} */
    const infos = [];
    const given = { data: new Uint8Array(bytes), size: 7, duration: 5 };
    const loader = await over((info, /** @type {any} */ { resolve, reject }) => {
      if (infos.push(info) === 1) reject({ message: 'busy', xhr: { status: 503 } });
      else resolve(given);
    });
    const info = { url: 'https://tenant.test/a', byteRanges: [[0, 9]], cmcdPayload: undefined };
    const { how, ...answered } = await call(loader, info).settled;
    assert.deepEqual([how, answered], ['resolved', given]);
    assert.equal(infos.length, 2);
    assert.deepEqual(infos.map(({ url, byteRanges }) => [url, byteRanges])[1], [
      info.url,
      [[0, 9]],
    ]);
  });

  test('that says nothing is no end of every sentence', async () => {
    const engine = await start();
    /** @type {Loader} */
    const segmentLoader = (_, /** @type {any} */ { reject }) =>
      reject({ message: '', canRetry: false });
    const { segmentLoader: loader } = rxOptions(engine, { transport: 'dash', segmentLoader });
    const { error } = await call(loader, { url: 'https://mute.test/' }).settled;
    assert.equal(error.message, 'The loader failed');
  });

  test('has the last word with canRetry: false', async () => {
    let calls = 0;
    const loader = await over((_, /** @type {any} */ { reject }) => {
      calls += 1;
      reject(Object.assign(new Error('not here'), { canRetry: false, xhr: { status: 503 } }));
    });
    const { how, error } = await call(loader, { url: 'https://tenant.test/b' }).settled;
    // Longer than the engine would wait before it asks again.
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.deepEqual(
      [how, error.message, error.canRetry, calls],
      ['rejected', 'not here', false, 1],
    );
  });

  test('that throws is an attempt that failed', async () => {
    let calls = 0;
    const loader = await over((_, /** @type {any} */ { resolve }) => {
      if ((calls += 1) === 1) throw new Error('a bug');
      resolve({ data: new Uint8Array(bytes) });
    });
    const { how } = await call(loader, { url: 'https://tenant.test/c' }).settled;
    assert.deepEqual([how, calls], ['resolved', 2]);
  });

  test('that answers with a page is asked again', async () => {
    let calls = 0;
    const html = new TextEncoder().encode('<!DOCTYPE html><title>Log in</title>');
    const loader = await over((_, /** @type {any} */ { resolve }) =>
      resolve({ data: (calls += 1) === 1 ? html : new Uint8Array(bytes) }),
    );
    const { data } = await call(loader, { url: 'https://tenant.test/d' }).settled;
    assert.deepEqual([sizeOf(data), calls], [30_000, 2]);
  });

  test('is aborted with its request, and when it falls silent', async () => {
    let aborted = 0;
    // Longer than the adapter waits for a loader's first progress.
    const policy = { ...segment, stallTimeout: 1500 };
    const loader = await over(
      (_, /** @type {any} */ { progress, resolve }) => {
        if (aborted === 1) return void resolve({ data: new Uint8Array(bytes) });
        progress({ duration: 1, size: 10, totalSize: 100 });
        return () => void (aborted += 1);
      },
      { sites: { segment: policy } },
    );
    const { how } = await call(loader, { url: 'https://tenant.test/e' }).settled;
    assert.deepEqual([how, aborted], ['resolved', 1]);
  });

  test('that reports progress, however slowly, is not cut', async () => {
    let aborted = false;
    const policy = { ...segment, stallTimeout: 600, headersTimeout: 600, firstHeadersTimeout: 600 };
    const loader = await over(
      (_, /** @type {any} */ { progress, resolve }) => {
        let size = 0;
        const timer = setInterval(() => {
          progress({ duration: 1, size: (size += 1), totalSize: 10 });
          if (size < 8) return;
          clearInterval(timer);
          resolve({ data: new Uint8Array(bytes) });
        }, 200);
        return () => void (aborted = true);
      },
      { sites: { segment: policy } },
    );
    const { settled, sizes } = call(loader, { url: 'https://tenant.test/f' });
    assert.equal((await settled).how, 'resolved');
    assert.deepEqual([aborted, sizes], [false, [1, 2, 3, 4, 5, 6, 7, 8]]);
  });

  test('is called as rx-player would call it once the engine has failed open', async () => {
    const engine = await start();
    const { load, reportPlayback, declareAlternatives } = engine;
    const state = { ...engine.state, mode: /** @type {const} */ ('plain') };
    /** @type {any[]} */
    const given = [];
    const { segmentLoader } = rxOptions(
      { load, reportPlayback, declareAlternatives, state },
      { transport: 'dash', segmentLoader: (...all) => void given.push(...all) },
    );
    const info = { url: 'https://tenant.test/g' };
    const callbacks = {};
    /** @type {any} */ (segmentLoader)(info, callbacks);
    assert.deepEqual([given[0] === info, given[1] === callbacks], [true, true]);
  });

  test('that falls back leaves the request to the engine', async () => {
    const url = server.on('/fallback', answer(503), file(bytes));
    const loader = await over((_, /** @type {any} */ { fallback }) => fallback());
    const { how, data } = await call(loader, { url }).settled;
    assert.deepEqual([how, sizeOf(data)], ['resolved', 30_000]);
    assert.equal(server.seen('/fallback').length, 2);
  });
});

describe('a manifest loader', () => {
  const mpd = (/** @type {string} */ more = '') =>
    `<?xml version="1.0"?><MPD maxSegmentDuration="PT4S">${more}</MPD>`;

  test('answers with the bytes, the URL behind redirects, and times from 1970', async () => {
    const { manifestLoader } = rxOptions(await start(), { transport: 'dash' });
    const real = server.on('/real.mpd', ok(mpd()));
    const url = server.on('/a.mpd', reset(), page(), redirect('/real.mpd'));
    const began = Date.now();
    const given = await call(manifestLoader, { url }).settled;
    assert.deepEqual([given.how, sizeOf(given.data), given.url], ['resolved', mpd().length, real]);
    assert.ok(given.sendingTime >= began - 5 && given.receivingTime <= Date.now() + 5);
    assert.ok(Math.abs(given.receivingTime - given.sendingTime - given.duration) < 0.01);
  });

  test('does not let CMCD into the URL of the next reload', async () => {
    const { manifestLoader } = rxOptions(await start(), { transport: 'dash' });
    const url = `${server.on('/b.mpd', ok(mpd()))}?sig=a%2Fb`;
    const cmcdPayload = { type: 'query', value: [['CMCD', 'x']] };
    const given = await call(manifestLoader, { url, cmcdPayload }).settled;
    assert.equal(server.all.at(-1)?.url, '/b.mpd?sig=a%2Fb&CMCD=x');
    assert.equal(given.url, url);
  });

  test('passes on what the user’s own one gives, of whatever type', async () => {
    const given = { data: { pseudoType: 'document' }, url: 'https://other.test/' };
    const { manifestLoader } = rxOptions(await start(), {
      transport: 'dash',
      manifestLoader: (_, { resolve }) => resolve(/** @type {any} */ (given)),
    });
    const { how, ...answered } = await call(manifestLoader, { url: server.origin }).settled;
    assert.deepEqual([how, answered], ['resolved', given]);
  });

  test('tells the engine of other CDNs: a verdict where there is one, a hold on the last', async (t) => {
    const engine = await start({ onExhausted: 'auto' });
    const { manifestLoader, segmentLoader } = rxOptions(engine, { transport: 'dash' });
    const other = await serve();
    t.after(other.close);
    const bases = [`${other.origin}/`, `${server.origin}/`]
      .map((base) => `<BaseURL>${base}</BaseURL>`)
      .join('\n');
    const url = server.on('/cdns.mpd', ok(mpd(bases)));
    await call(manifestLoader, { url }).settled;
    const { how } = await call(segmentLoader, { url: other.on('/s', answer(503)) }).settled;
    assert.equal(how, 'rejected');
    // The other one failed just now.
    const last = call(segmentLoader, { url: server.on('/s', answer(503)) });
    const holds = async () => {
      while (!Object.values(engine.state.retryState).some(({ exhausted }) => exhausted))
        await new Promise((resolve) => setTimeout(resolve, 20));
      return { how: 'holds' };
    };
    assert.equal((await Promise.race([last.settled, holds()])).how, 'holds');
    last.abort();
  });
});

describe('rxLicense', () => {
  test('posts the message with what its set-up says, and gives the license', async () => {
    const engine = await start({ sites: { license: segment } });
    const url = server.on('/license', answer(503), ok('license'));
    const { getLicense } = rxLicense(engine, url, async (_, type) => ({
      headers: { 'x-type': type },
    }));
    const data = await getLicense(new Uint8Array([1, 2, 3]), 'license-renewal');
    assert.equal(new TextDecoder().decode(/** @type {ArrayBuffer} */ (data)), 'license');
    for (const { method, headers, body } of server.seen('/license')) {
      assert.deepEqual([method, headers['x-type']], ['POST', 'license-renewal']);
      assert.deepEqual([...(await body)], [1, 2, 3]);
    }
    assert.equal(server.seen('/license').length, 2);
  });

  test('asks without the engine once that is destroyed, but nothing that was sent', async () => {
    const engine = await start({ sites: { license: segment } });
    const sent = rxLicense(engine, server.on('/hung', hang())).getLicense(bytes, 'license-request');
    while (!server.seen('/hung').length) await new Promise((resolve) => setTimeout(resolve, 10));
    engine.destroy();
    await assert.rejects(Promise.resolve(sent), { code: 'DESTROYED' });
    assert.equal(server.seen('/hung').length, 1);
    const { getLicense } = rxLicense(engine, server.on('/after', ok('license')));
    const data = await getLicense(bytes, 'license-request');
    assert.equal(new TextDecoder().decode(/** @type {ArrayBuffer} */ (data)), 'license');
  });
});
