// @ts-check
// On an adverse connection media is asked for in windows, one after the other.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTrackedFetch } from 'holdfast';
import { FACT } from '../../js/names.js';
import { Driver } from '../../js/pkg/core.js';
import { bytesOf, engineFor, eventually, hush } from './fixture.mjs';
import { answer, breakAt, content, file, ok, serve } from './server.mjs';
import { WAYS } from './ways.mjs';

/** @typedef {import('holdfast').Engine} Engine */

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const SIZE = 300_000;
const MEDIA = content(SIZE);
const TAG = { etag: '"one"' };
const WINDOW = 65_536;

let paths = 0;
/** @param {...import('./server.mjs').Answer} answers */
function put(...answers) {
  const path = `/${(paths += 1)}.mp4`;
  const url = server.on(path, ...answers);
  const seen = () => server.seen(path);
  return { url, seen, ranges: () => seen().map(({ headers }) => headers.range) };
}

/** The windows from one byte to another. @param {number} first @param {number} last */
function windows(first, last) {
  const all = [];
  for (let at = first; at <= last; at += WINDOW) {
    all.push(`bytes=${at}-${Math.min(at + WINDOW - 1, last)}`);
  }
  return all;
}

/** No request came before the one before it was answered in full. @param {import('./server.mjs').Seen[]} seen */
function isOneByOne(seen) {
  for (const [i, { at }] of seen.entries()) {
    if (i > 0) assert.ok(/** @type {number} */ (seen[i - 1].endedAt) <= at, `the request ${i}`);
  }
}

/**
 * An engine on an adverse connection: three bodies broke, and went on by a range each.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} [advice]
 */
async function adverse(t, advice = `chunk=${WINDOW}`) {
  const engine = await engineFor(t);
  for (let i = 0; i < 3; i += 1) {
    const fault = breakAt(150_000);
    const { url } = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
    await engine.load({ url, onProgress: ({ loaded }) => fault.has(loaded) });
  }
  const playlist = ok('#EXTM3U\n', advice ? { 'x-capsule-advice': advice } : {});
  await engine.fetchText({ url: server.on(`/${(paths += 1)}.m3u8`, playlist) });
  if (advice) await eventually(() => engine.log().some(({ event }) => event === 'advised'));
  assert.equal(engine.state.path?.class, 'adverse');
  return engine;
}

/**
 * Lets the next call of a method trap, or the next one that tells a fact.
 *
 * @param {{ after(fn: () => void): void }} t
 * @param {'chunk' | 'bodyEnd' | 'view' | 'settled'} what
 * @param {number} nth
 * @returns {() => boolean} whether it has
 */
function trapIn(t, what, nth) {
  const method = what in FACT ? 'tell' : /** @type {'view'} */ (what);
  const fact = FACT[/** @type {keyof typeof FACT} */ (what)];
  const usual = Driver.prototype[method];
  let calls = 0;
  /** @this {Driver} */
  function trapping(/** @type {any[]} */ ...args) {
    if (method !== 'tell' || args[0] === fact) calls += 1;
    if (calls === nth) {
      calls += 1;
      throw new WebAssembly.RuntimeError('unreachable');
    }
    return /** @type {any} */ (usual).apply(this, args);
  }
  Driver.prototype[method] = /** @type {any} */ (trapping);
  t.after(() => void (Driver.prototype[method] = /** @type {any} */ (usual)));
  return () => calls > nth;
}

describe('R91: on an adverse connection', () => {
  for (const [way, read] of Object.entries(WAYS)) {
    test(`R91: a segment comes in windows, one after the other: ${way}`, async (t) => {
      const engine = await adverse(t);
      assert.equal(engine.state.path?.rangeWindow, WINDOW);
      const { url, seen, ranges } = put(file(MEDIA, TAG));
      assert.ok(MEDIA.equals(await read(engine, url)));
      assert.deepEqual(ranges(), windows(0, SIZE - 1));
      isOneByOne(seen());
    });
  }

  test('R91: fetch presents the whole that was asked for', async (t) => {
    const engine = await adverse(t);
    const { url } = put(file(MEDIA, { ...TAG, 'x-own': 'yes' }));
    const response = await engine.fetch(url);
    const { status, statusText, ok: isOk, headers } = response;
    assert.deepEqual([status, statusText, isOk, response.url], [200, 'OK', true, url]);
    assert.equal(headers.get('content-length'), String(SIZE));
    assert.equal(headers.get('content-range'), null);
    assert.equal(headers.get('x-own'), 'yes');
    assert.ok(MEDIA.equals(Buffer.from(await response.arrayBuffer())));
  });

  test("R91: a caller's own range comes in windows, and is presented as one", async (t) => {
    const engine = await adverse(t);
    const { url, seen, ranges } = put(file(MEDIA, TAG));
    const response = await engine.fetch(url, { headers: { range: 'bytes=1000-249999' } });
    const { status, headers } = response;
    assert.equal(status, 206);
    assert.equal(headers.get('content-length'), '249000');
    assert.equal(headers.get('content-range'), `bytes 1000-249999/${SIZE}`);
    const data = Buffer.from(await response.arrayBuffer());
    assert.ok(MEDIA.subarray(1000, 250_000).equals(data));
    assert.deepEqual(ranges(), windows(1000, 249_999));
    isOneByOne(seen());
  });

  test('R91: a range that ends behind the end of all is presented as far as there is something', async (t) => {
    const engine = await adverse(t);
    const { url } = put(file(MEDIA, TAG));
    const response = await engine.fetch(url, { headers: { range: 'bytes=1000-999999' } });
    assert.equal(response.headers.get('content-range'), `bytes 1000-${SIZE - 1}/${SIZE}`);
    const data = Buffer.from(await response.arrayBuffer());
    assert.ok(MEDIA.subarray(1000).equals(data));
  });

  test('R91: a range that fits into a window is asked for as it is', async (t) => {
    const engine = await adverse(t);
    const { url, ranges } = put(file(MEDIA, TAG));
    const response = await engine.fetch(url, { headers: { range: 'bytes=1000-1999' } });
    assert.equal(response.headers.get('content-range'), `bytes 1000-1999/${SIZE}`);
    assert.equal((await response.arrayBuffer()).byteLength, 1000);
    assert.deepEqual(ranges(), ['bytes=1000-1999']);
  });

  test('R91: what is smaller than a window comes at once, and a load tells of one response', async (t) => {
    const engine = await adverse(t);
    const small = content(5000);
    const { url, ranges } = put(file(small, TAG));
    let responses = 0;
    const { data, status } = await engine.load({ url, onResponse: () => (responses += 1) });
    assert.ok(small.equals(Buffer.from(data)));
    assert.deepEqual([status, responses], [200, 1]);
    assert.deepEqual(ranges(), [`bytes=0-${WINDOW - 1}`]);
    const large = put(file(MEDIA, TAG));
    responses = 0;
    /** @type {number[]} */
    const loadeds = [];
    await engine.load({
      url: large.url,
      onResponse: () => (responses += 1),
      onProgress: ({ loaded, total }) => {
        loadeds.push(loaded);
        assert.equal(total, SIZE);
      },
    });
    assert.equal(responses, 1);
    assert.deepEqual(
      loadeds,
      [...new Set(loadeds)].sort((a, b) => a - b),
    );
  });

  for (const nth of [0, 2, 4]) {
    test(`R91: a break costs a window at most: in the window ${nth + 1}`, async (t) => {
      const engine = await adverse(t);
      const fault = breakAt(30_000);
      const whole = file(MEDIA, TAG);
      const before = Array.from({ length: nth }, () => whole);
      const { url, seen } = put(...before, file(MEDIA, TAG, fault), whole);
      const { data } = await engine.load({
        url,
        onProgress: ({ loaded }) => fault.has(loaded - nth * WINDOW),
      });
      assert.ok(MEDIA.equals(Buffer.from(data)));
      const asked = seen().map(({ headers }) => /(\d+)-(\d+)/.exec(headers.range ?? '') ?? []);
      const spans = asked.map(([, first, last]) => [
        Number(first),
        Math.min(Number(last), SIZE - 1),
      ]);
      const sent = spans.reduce(
        (sum, [first, last], i) => sum + (i === nth ? 30_000 : last - first + 1),
        0,
      );
      assert.ok(sent - SIZE <= WINDOW, `${sent - SIZE} bytes more`);
      assert.ok(spans.every(([first, last]) => last - first < WINDOW));
    });
  }

  test('R91: without advice a window is a mebibyte', async (t) => {
    const engine = await adverse(t, '');
    const large = content(1_500_000);
    const { url, ranges } = put(file(large, TAG));
    const { data } = await engine.load({ url });
    assert.ok(large.equals(Buffer.from(data)));
    assert.deepEqual(ranges(), ['bytes=0-1048575', 'bytes=1048576-1499999']);
  });

  test('R91: the whole in place of a window is taken, and the host is not asked for one again', async (t) => {
    const engine = await adverse(t);
    for (const asked of [`bytes=0-${WINDOW - 1}`, undefined]) {
      const { url, ranges } = put(ok(MEDIA, TAG));
      const response = await engine.fetch(url);
      assert.equal(response.status, 200);
      assert.ok(MEDIA.equals(Buffer.from(await response.arrayBuffer())));
      assert.deepEqual(ranges(), [asked]);
    }
  });

  test('R91, R21: what changes between two windows is fetched anew, and not spliced', async (t) => {
    const engine = await adverse(t);
    const other = Buffer.from(MEDIA.map((byte) => byte ^ 0xff));
    const { url } = put(file(MEDIA, TAG), file(MEDIA, TAG), file(other, { etag: '"two"' }));
    const { data } = await engine.load({ url });
    assert.ok(other.equals(Buffer.from(data)));
  });

  test('R64, R91: windows without a failure are samples, also of a tracked fetch', async (t) => {
    const engine = await adverse(t);
    const { excludedBytes } = engine.state;
    /** @type {number[]} */
    const sampled = [];
    const zero = { fastEstimate: 0, fastTotalWeight: 0, slowEstimate: 0, slowTotalWeight: 0 };
    const fetchBytes = createTrackedFetch(
      { ...zero, bytesSampled: 0 },
      ({ bytesSampled }) => void sampled.push(bytesSampled),
      { engine },
    );
    const data = await bytesOf(await fetchBytes({ url: put(file(MEDIA, TAG)).url }));
    assert.ok(MEDIA.equals(data));
    assert.equal(sampled.at(-1), SIZE);
    assert.equal(engine.state.excludedBytes, excludedBytes);
  });

  for (const [way, read] of Object.entries(WAYS)) {
    for (const what of /** @type {const} */ (['chunk', 'bodyEnd', 'view', 'settled'])) {
      for (const nth of [1, 2]) {
        const name = `a trap in ${what} ${nth}`;
        test(`R91: the end of a window never passes for that of all: ${name}: ${way}`, async (t) => {
          hush(t, 'error');
          const engine = await adverse(t);
          // What is to be seen is read only where somebody looks.
          engine.subscribe(() => {});
          const { url } = put(file(MEDIA, TAG));
          const trapped = trapIn(t, what, nth);
          const fate = await read(engine, url).catch((/** @type {any} */ error) => error);
          assert.ok(trapped(), 'it trapped');
          if (fate instanceof Uint8Array) assert.ok(MEDIA.equals(fate), `${fate.byteLength} bytes`);
          else assert.equal(fate.code, 'TRAPPED');
        });
      }
    }
  }

  test('R91: a refusal of a window is one of the request', async (t) => {
    const engine = await adverse(t);
    const { url } = put(answer(403, 'no'));
    const response = await engine.fetch(url);
    assert.deepEqual([response.status, await response.text()], [403, 'no']);
  });

  test('R91: playlists and keys come whole', async (t) => {
    const engine = await adverse(t);
    const playlist = `#EXTM3U\n${'#EXTINF:4,\na.mp4\n'.repeat(8000)}`;
    const text = server.on('/long.m3u8', file(Buffer.from(playlist), TAG));
    assert.equal(await engine.fetchText({ url: text }), playlist);
    const key = server.on('/a.key', file(MEDIA.subarray(0, 16), TAG));
    await engine.load({ url: key, site: 'key' });
    for (const path of ['/long.m3u8', '/a.key']) {
      assert.deepEqual(
        server.seen(path).map(({ headers }) => headers.range),
        [undefined],
      );
    }
  });

  test('R91: where it is not adverse, or ranges are not proved, all is asked for', async (t) => {
    const engine = await engineFor(t);
    assert.equal(engine.state.path?.rangeWindow, undefined);
    const { url, ranges } = put(file(MEDIA, TAG));
    await engine.load({ url });
    assert.deepEqual(ranges(), [undefined]);
    // Three bodies broke, but none could be fetched on.
    const bad = await engineFor(t);
    for (let i = 0; i < 3; i += 1) {
      const fault = breakAt(150_000);
      const broken = put(file(MEDIA, {}, fault), file(MEDIA));
      await bad.load({ url: broken.url, onProgress: ({ loaded }) => fault.has(loaded) });
    }
    assert.equal(bad.state.path?.class, 'adverse');
    const unproved = put(file(MEDIA, TAG));
    await bad.load({ url: unproved.url });
    assert.deepEqual(unproved.ranges(), [undefined]);
  });
});

describe('R91: with rangeFirst', () => {
  test('R91: the first request asks for a range, and the whole is presented', async (t) => {
    const engine = await engineFor(t, { rangeFirst: true });
    const { url, ranges } = put(file(MEDIA, TAG));
    const response = await engine.fetch(url);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-length'), String(SIZE));
    assert.equal(response.headers.get('content-range'), null);
    assert.ok(MEDIA.equals(Buffer.from(await response.arrayBuffer())));
    assert.deepEqual(ranges(), ['bytes=0-']);
  });

  test('R91: a server without ranges answers as ever, and a range of the caller stays', async (t) => {
    const engine = await engineFor(t, { rangeFirst: true });
    const own = put(file(MEDIA, TAG));
    const part = await engine.fetch(own.url, { headers: { range: 'bytes=5-9' } });
    assert.equal(part.headers.get('content-range'), `bytes 5-9/${SIZE}`);
    assert.deepEqual(own.ranges(), ['bytes=5-9']);
    const { url, ranges } = put(ok(MEDIA));
    const { status, data } = await engine.load({ url });
    assert.equal(status, 200);
    assert.ok(MEDIA.equals(Buffer.from(data)));
    assert.deepEqual(ranges(), ['bytes=0-']);
  });

  test('R91: of playlists no range is asked for', async (t) => {
    const engine = await engineFor(t, { rangeFirst: true });
    const url = server.on('/short.m3u8', ok('#EXTM3U\n'));
    await engine.fetchText({ url });
    assert.equal(server.seen('/short.m3u8')[0].headers.range, undefined);
  });

  test('R91: the whole is presented also where its length is not told', async (t) => {
    const engine = await engineFor(t, { rangeFirst: true });
    const { url, ranges } = put(
      answer(206, MEDIA, { ...TAG, 'content-range': `bytes 0-${SIZE - 1}/*` }),
      file(MEDIA, TAG),
    );
    const response = await engine.fetch(url);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-range'), null);
    // It is the length of a part, as far as anybody knows.
    assert.equal(response.headers.get('content-length'), null);
    assert.ok(MEDIA.equals(Buffer.from(await response.arrayBuffer())));
    assert.deepEqual(ranges(), ['bytes=0-', `bytes=${SIZE}-`]);
  });
});
