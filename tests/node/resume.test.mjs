// @ts-check
// A body that broke is fetched on from the byte where it stopped, and only where it is the same.
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { after, before, describe, test } from 'node:test';
import { createTrackedFetch } from 'holdfast';
import { engineFor, eventually, failureOf, OWN_HOSTS } from './fixture.mjs';
import {
  after as later,
  answer,
  breakAt,
  content,
  file,
  ok,
  redirect,
  serve,
  stall,
} from './server.mjs';
import { random } from './random.mjs';

/** @typedef {import('holdfast').Engine} Engine */
/** @typedef {ReturnType<typeof breakAt>} Break */

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const SIZE = 400_000;
const MEDIA = content(SIZE);
/** The same length, and every byte another. */
const OTHER = Buffer.from(MEDIA.map((byte) => byte ^ 0xff));
const TAG = { etag: '"one"' };
const DATED = { 'last-modified': 'Wed, 01 Jan 2025 00:00:00 GMT' };
/** So much is worth being kept also where nobody has it yet. */
const CUT = 150_000;

let paths = 0;
/** Puts answers on a path of their own. @param {...import('./server.mjs').Answer} answers */
function put(...answers) {
  const path = `/${(paths += 1)}.mp4`;
  const url = server.on(path, ...answers);
  return { url, seen: () => server.seen(path), ranges: () => rangesAt(path) };
}
/** @param {string} path */
const rangesAt = (path) => server.seen(path).map(({ headers }) => headers.range);

/** @param {AsyncIterable<Uint8Array>} chunks @param {(size: number) => void} told */
async function gather(chunks, told) {
  const all = [];
  let size = 0;
  for await (const chunk of chunks) {
    all.push(chunk);
    told((size += chunk.byteLength));
  }
  return Buffer.concat(all);
}

const NO_STATE = {
  fastEstimate: 0,
  fastTotalWeight: 0,
  slowEstimate: 0,
  slowTotalWeight: 0,
  bytesSampled: 0,
};

/**
 * The ways to a body; each tells how many bytes are there.
 *
 * @type {Record<string, (engine: Engine, url: string, told: (size: number) => void,
 *   range?: { start: number, end: number }) => Promise<Uint8Array>>}
 */
const WAYS = {
  async load(engine, url, told, range) {
    const { data } = await engine.load({
      url,
      init: range && { headers: { range: `bytes=${range.start}-${range.end}` } },
      onProgress: ({ loaded }) => told(loaded),
    });
    return Buffer.from(data);
  },
  async 'load in chunks'(engine, url, told, range) {
    /** @type {Uint8Array[]} */
    const chunks = [];
    const { bytes } = await engine.load({
      url,
      init: range && { headers: { range: `bytes=${range.start}-${range.end}` } },
      onProgress: ({ loaded }) => told(loaded),
      onChunk: (chunk) => void chunks.push(chunk),
    });
    const all = Buffer.concat(chunks);
    assert.equal(bytes, all.byteLength);
    return all;
  },
  async fetch(engine, url, told, range) {
    const init = range && { headers: { range: `bytes=${range.start}-${range.end}` } };
    const { body } = await engine.fetch(url, init);
    return gather(/** @type {any} */ (body), told);
  },
  async fetchBytes(engine, url, told, range) {
    const init = { minChunkSize: 0 };
    return gather(await engine.fetchBytes({ url, byteRange: range }, init), told);
  },
  async createTrackedFetch(engine, url, told, range) {
    const fetchBytes = createTrackedFetch(NO_STATE, () => {}, { engine });
    return gather(await fetchBytes({ url, byteRange: range }, { minChunkSize: 0 }), told);
  },
};
/** Those in which bytes are with the caller before the end. */
const STREAMING = ['load in chunks', 'fetch', 'fetchBytes', 'createTrackedFetch'];
/** Those of them in which others than the same bytes cannot follow. */
const FINAL = STREAMING.slice(1);

/** The headers of a request without those that a part adds. @param {import('./server.mjs').Seen} seen */
function without({ headers }) {
  // Those that `no-store` and a range make `fetch` add (Fetch, 4.6).
  const added = /^(range|if-range|pragma|cache-control|accept-encoding)$/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !added.test(name)));
}

describe('R20: a body that broke', () => {
  for (const [way, read] of Object.entries(WAYS)) {
    test(`R20: goes on from the very byte, wherever it broke: ${way}`, async (t) => {
      const seed = Math.floor(Math.random() * 2 ** 32);
      t.diagnostic(`seed ${seed}`);
      const dice = random(seed);
      // Fewer than 16 bytes do not tell yet what they are, and are with nobody. Who can start over
      // does so for a few.
      const least = FINAL.includes(way) ? 16 : 65_536;
      const cuts = Array.from({ length: 6 }, () => least + Math.floor(dice() * (SIZE - least - 1)));
      for (const at of [least, ...cuts, SIZE - 1]) {
        const fault = breakAt(at);
        const { url, seen, ranges } = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
        const engine = await engineFor(t);
        const data = await read(engine, url, (size) => fault.has(size));
        assert.ok(MEDIA.equals(data), `broken at ${at}`);
        assert.deepEqual(ranges(), [undefined, `bytes=${at}-${SIZE - 1}`]);
        const [first, second] = seen();
        assert.equal(first.headers['if-range'], undefined);
        assert.equal(second.headers['if-range'], TAG.etag);
        assert.equal(second.method, 'GET');
        assert.equal(second.url, first.url);
        assert.deepEqual(without(second), without(first));
      }
    });

    test(`R20: with a range of the caller's own, it goes on within that: ${way}`, async (t) => {
      const range = { start: 50_000, end: 299_999 };
      for (const at of [70_000, 249_999]) {
        const fault = breakAt(at);
        const { url, ranges } = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
        const engine = await engineFor(t);
        const data = await read(engine, url, (size) => fault.has(size), range);
        assert.ok(MEDIA.subarray(50_000, 300_000).equals(data), `broken at ${at}`);
        assert.deepEqual(ranges(), ['bytes=50000-299999', `bytes=${50_000 + at}-299999`]);
      }
    });
  }

  test("R20: a caller's range without an end goes on to the end of the whole", async (t) => {
    const fault = breakAt(CUT);
    const { url, ranges } = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
    const engine = await engineFor(t);
    const init = { headers: { range: 'bytes=1000-' } };
    const { body, status, headers } = await engine.fetch(url, init);
    assert.equal(status, 206);
    assert.equal(headers.get('content-range'), `bytes 1000-${SIZE - 1}/${SIZE}`);
    const data = await gather(/** @type {any} */ (body), (size) => fault.has(size));
    assert.ok(MEDIA.subarray(1000).equals(data));
    assert.deepEqual(ranges(), ['bytes=1000-', `bytes=${1000 + CUT}-${SIZE - 1}`]);
  });

  test('R20: it may break again and again, and no byte is sent twice', async (t) => {
    const cuts = [70_000, 80_000, 66_000, 90_000, 65_536].map(breakAt);
    const { url, ranges } = put(...cuts.map((fault) => file(MEDIA, TAG, fault)), file(MEDIA, TAG));
    // More breaks than the ladder has steps: each has brought playback on.
    const engine = await engineFor(t, { attempts: 3 });
    let begins = 0;
    let nth = 0;
    const { data, attempts } = await engine.load({
      url,
      onProgress: ({ loaded }) => {
        if (nth < cuts.length && loaded >= begins + cuts[nth].at) {
          begins = loaded;
          nth += 1;
          cuts[nth - 1].has(Infinity);
        }
      },
    });
    assert.ok(MEDIA.equals(Buffer.from(data)));
    assert.equal(attempts, 6);
    const firsts = [70_000, 150_000, 216_000, 306_000, 371_536];
    assert.deepEqual(ranges(), [undefined, ...firsts.map((at) => `bytes=${at}-${SIZE - 1}`)]);
  });

  test('R20: one that fell silent is let go, and fetched on', async (t) => {
    const { url, seen, ranges } = put(stall(MEDIA, CUT, TAG), file(MEDIA, TAG));
    const engine = await engineFor(t, { stallTimeout: 800 });
    const { data } = await engine.load({ url });
    assert.ok(MEDIA.equals(Buffer.from(data)));
    assert.deepEqual(ranges(), [undefined, `bytes=${CUT}-${SIZE - 1}`]);
    assert.ok(seen()[0].closedAt);
  });

  test('R20: refusals in between cost nothing of what is there', async (t) => {
    const fault = breakAt(CUT);
    const busy = answer(503, 'busy');
    const { url, ranges } = put(file(MEDIA, TAG, fault), busy, busy, file(MEDIA, TAG));
    const engine = await engineFor(t, { attempts: 4 });
    const data = await WAYS.fetch(engine, url, (size) => fault.has(size));
    assert.ok(MEDIA.equals(data));
    const part = `bytes=${CUT}-${SIZE - 1}`;
    assert.deepEqual(ranges(), [undefined, part, part, part]);
  });

  test('R20: where nothing is worth keeping and nobody has it, it starts over', async (t) => {
    const fault = breakAt(20_000);
    const { url, ranges } = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
    const engine = await engineFor(t);
    const data = await WAYS.load(engine, url, (size) => fault.has(size));
    assert.ok(MEDIA.equals(data));
    assert.deepEqual(ranges(), [undefined, undefined]);
  });

  test('R20: a body without a length goes on to whatever its end is', async (t) => {
    const fault = breakAt(CUT);
    const { url, ranges } = put(
      (request, response) => {
        response.writeHead(200, TAG).write(MEDIA.subarray(0, CUT));
        void fault.when.then(() => request.socket.destroy());
      },
      file(MEDIA, TAG),
    );
    const engine = await engineFor(t);
    const data = await WAYS.load(engine, url, (size) => fault.has(size));
    assert.ok(MEDIA.equals(data));
    assert.deepEqual(ranges(), [undefined, `bytes=${CUT}-`]);
  });

  test('R20: a part is asked for past the cache, and the first request as the caller would', async (t) => {
    const fault = breakAt(CUT);
    const { url } = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
    /** @type {Array<RequestInit | undefined>} */
    const inits = [];
    /** @type {typeof fetch} */
    const spy = (input, init) => {
      inits.push({ ...init });
      return fetch(input, init);
    };
    const engine = await engineFor(t, {}, { fetch: spy });
    const data = await WAYS.load(engine, url, (size) => fault.has(size));
    assert.ok(MEDIA.equals(data));
    assert.deepEqual(
      inits.map((init) => init?.cache),
      [undefined, 'no-store'],
    );
  });

  test("R20: the caller's headers go along, also those of a Request", async (t) => {
    const engine = await engineFor(t);
    for (const make of [
      (/** @type {string} */ url) => engine.fetch(url, { headers: { 'x-own': 'yes' } }),
      (/** @type {string} */ url) =>
        engine.fetch(new Request(url, { headers: { 'x-own': 'yes' } })),
    ]) {
      const fault = breakAt(CUT);
      const { url, seen, ranges } = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
      const { body } = await make(url);
      const data = await gather(/** @type {any} */ (body), (size) => fault.has(size));
      assert.ok(MEDIA.equals(data));
      assert.deepEqual(ranges(), [undefined, `bytes=${CUT}-${SIZE - 1}`]);
      for (const { headers } of seen()) assert.equal(headers['x-own'], 'yes');
    }
  });

  test('R20: the head stays that of the first response', async (t) => {
    const fault = breakAt(CUT);
    const { url: there } = put(
      file(MEDIA, { ...TAG, 'x-nth': '1' }, fault),
      file(MEDIA, { ...TAG, 'x-nth': '2' }),
    );
    const { url } = put(redirect(there));
    const engine = await engineFor(t);
    const response = await engine.fetch(url);
    const facts = () => {
      const { status, redirected, headers } = response;
      return [status, redirected, response.url, headers.get('x-nth'), headers.get('content-range')];
    };
    assert.deepEqual(facts(), [200, true, there, '1', null]);
    assert.equal(response.headers.get('content-length'), String(SIZE));
    const data = await gather(/** @type {any} */ (response.body), (size) => fault.has(size));
    assert.ok(MEDIA.equals(data));
    assert.deepEqual(facts(), [200, true, there, '1', null]);
    assert.deepEqual(rangesAt(new URL(there).pathname), [undefined, `bytes=${CUT}-${SIZE - 1}`]);
  });

  test('R4, R20: a refusal after the head is an error, and no byte of it is delivered', async (t) => {
    for (const status of [403, 404, 503]) {
      const engine = await engineFor(t);
      const fault = breakAt(0);
      const { url } = put(file(MEDIA, TAG, fault), answer(status, 'a refusal'));
      const response = await engine.fetch(url);
      assert.equal(response.status, 200);
      fault.has(0);
      const error = await failureOf(response.text());
      assert.deepEqual([error.name, error.status], ['RequestError', status]);
    }
  });

  test('R4, R20: the same where bytes were there, and with nobody', async (t) => {
    // A label of a page, so that the first bytes are looked at before the head is passed on.
    const head = { ...TAG, 'content-type': 'application/json' };
    const fault = { at: CUT, when: new Promise(() => {}) };
    const { url, seen } = put(file(MEDIA, head, fault), answer(404, 'a refusal'));
    const engine = await engineFor(t);
    const response = await engine.fetch(url);
    engine.reportPath({ reachability: 'none' });
    await eventually(() => seen()[0].closedAt);
    engine.reportPath({ reachability: 'reachable' });
    const error = await failureOf(response.text());
    assert.deepEqual([error.name, error.status], ['RequestError', 404]);
  });

  test('R20: what was looked at and not yet read is kept where the path is lost', async (t) => {
    const head = { ...TAG, 'content-type': 'application/json' };
    const fault = { at: CUT, when: new Promise(() => {}) };
    const { url, seen, ranges } = put(file(MEDIA, head, fault), file(MEDIA, head));
    const engine = await engineFor(t);
    const response = await engine.fetch(url);
    engine.reportPath({ reachability: 'none' });
    await eventually(() => seen()[0].closedAt);
    engine.reportPath({ reachability: 'reachable' });
    assert.ok(MEDIA.equals(Buffer.from(await response.arrayBuffer())));
    assert.equal(ranges().length, 2);
    assert.match(ranges()[1] ?? '', /^bytes=[1-9]\d*-399999$/);
  });

  test('R20: a load learns of one response, and its progress never goes back', async (t) => {
    const fault = breakAt(CUT);
    const { url } = put(
      file(MEDIA, { ...TAG, 'x-nth': '1' }, fault),
      file(MEDIA, { ...TAG, 'x-nth': '2' }),
    );
    const engine = await engineFor(t);
    /** @type {Array<[string, unknown]>} */
    const events = [];
    /** @type {number[]} */
    const loadeds = [];
    const { status, headers, response, bytes, attempts } = await engine.load({
      url,
      onAttempt: ({ attempt }) => void events.push(['attempt', attempt]),
      onResponse: (it) => void events.push(['response', it.response.headers.get('x-nth')]),
      onProgress: ({ loaded, total }) => {
        loadeds.push(loaded);
        assert.equal(total, SIZE);
        fault.has(loaded);
      },
    });
    assert.deepEqual(events, [
      ['attempt', 1],
      ['response', '1'],
      ['attempt', 2],
    ]);
    assert.deepEqual(
      loadeds,
      [...new Set(loadeds)].sort((a, b) => a - b),
    );
    assert.equal(loadeds.at(-1), SIZE);
    assert.deepEqual([status, headers.get('x-nth'), bytes, attempts], [200, '1', SIZE, 2]);
    assert.equal(response.headers.get('x-nth'), '1');
  });

  test('R20: also where chunks are put together for SPF, none is lost or cut short', async (t) => {
    const fault = breakAt(300_000);
    const { url, ranges } = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
    const engine = await engineFor(t);
    const sizes = [];
    const all = [];
    for await (const chunk of await engine.fetchBytes({ url })) {
      sizes.push(chunk.byteLength);
      all.push(chunk);
      // The rest of what comes before the break is in no chunk yet.
      fault.has(Infinity);
    }
    assert.ok(MEDIA.equals(Buffer.concat(all)));
    assert.ok(
      sizes.slice(0, -1).every((size) => size >= 131_072),
      sizes.join(),
    );
    const [, range = ''] = ranges();
    assert.match(range, /^bytes=\d+-399999$/);
    assert.ok(Number(/\d+/.exec(range)) >= 131_072, range);
    assert.equal(ranges().length, 2);
  });

  test('R20: without leave it starts over, or ends', async (t) => {
    const engine = await engineFor(t, { resume: false });
    let fault = breakAt(CUT);
    const loaded = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
    assert.ok(MEDIA.equals(await WAYS.load(engine, loaded.url, (size) => fault.has(size))));
    assert.deepEqual(loaded.ranges(), [undefined, undefined]);
    fault = breakAt(CUT);
    const streamed = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
    const reading = WAYS.fetch(engine, streamed.url, (size) => fault.has(size));
    assert.equal((await failureOf(reading)).reason, 'released');
    assert.deepEqual(streamed.ranges(), [undefined]);
  });

  test('R20: a playlist is never put together from two', async (t) => {
    const playlist = Buffer.from(`#EXTM3U\n${'#EXTINF:4,\na.mp4\n'.repeat(20_000)}`);
    const fault = breakAt(CUT);
    const url = server.on('/a.m3u8', file(playlist, TAG, fault), file(playlist, TAG));
    const engine = await engineFor(t);
    const { data } = await engine.load({
      url,
      responseType: 'text',
      onProgress: ({ loaded }) => fault.has(loaded),
    });
    assert.equal(data, String(playlist));
    assert.deepEqual(rangesAt('/a.m3u8'), [undefined, undefined]);
  });
});

describe('R21: it goes on only as the same', () => {
  /** A part as it was asked for, with what is wrong. @param {any} change @param {Uint8Array} [body] */
  const part =
    ({ by = 0, total = SIZE, headers = TAG, extra = 0 }, body = MEDIA) =>
    (/** @type {any} */ request, /** @type {any} */ response) => {
      const first = Number(/\d+/.exec(request.headers.range)) + by;
      response.writeHead(206, {
        'content-range': `bytes ${first}-${SIZE - 1}/${total}`,
        ...headers,
      });
      response.end(Buffer.concat([body.subarray(first), Buffer.alloc(extra, 1)]));
    };

  /** @typedef {[name: string, first: import('node:http').OutgoingHttpHeaders, second: any]} Case */

  /** What must not be followed by anything. @type {Case[]} */
  const CHANGES = [
    ['its tag is another, and the server says so', TAG, file(OTHER, { etag: '"2"' })],
    ['its tag is another in a part', TAG, part({ headers: { etag: '"2"' } }, OTHER)],
    [
      'it was changed at another time',
      DATED,
      part({ headers: { 'last-modified': 'Thu, 02 Jan 2025 00:00:00 GMT' } }, OTHER),
    ],
    ['its length is another', DATED, part({ total: SIZE + 1, headers: DATED }, OTHER)],
    ['the part has lost its tag', TAG, part({ headers: {} }, OTHER)],
    [
      'the part is of another type',
      TAG,
      part({ headers: { ...TAG, 'content-type': 'a/b' } }, OTHER),
    ],
    [
      'the part is encoded',
      TAG,
      answer(206, gzipSync(MEDIA.subarray(CUT)), {
        ...TAG,
        'content-encoding': 'gzip',
        'content-range': `bytes ${CUT}-${SIZE - 1}/${SIZE}`,
      }),
    ],
  ];
  for (const [name, first, second] of CHANGES) {
    test(`R21: ${name}: what nobody has is fetched anew`, async (t) => {
      const fault = breakAt(CUT);
      const { url, ranges } = put(file(MEDIA, first, fault), second, file(OTHER, { etag: '"2"' }));
      const engine = await engineFor(t);
      const data = await WAYS.load(engine, url, (size) => fault.has(size));
      assert.ok(OTHER.equals(data), 'one representation, from its first byte');
      assert.deepEqual(ranges(), [undefined, `bytes=${CUT}-${SIZE - 1}`, undefined]);
    });
  }
  /**
   * What a reader gets in the end, who must have got what was there before, and no more.
   *
   * @param {Engine} engine @param {Break} fault @param {string} url
   */
  async function tail(engine, fault, url) {
    const { body } = await engine.fetch(url);
    /** @type {Uint8Array[]} */
    const chunks = [];
    let size = 0;
    const reading = async () => {
      for await (const chunk of /** @type {any} */ (body)) {
        chunks.push(chunk);
        fault.has((size += chunk.byteLength));
      }
    };
    const { name, code, reason } = await failureOf(reading());
    assert.ok(MEDIA.subarray(0, CUT).equals(Buffer.concat(chunks)));
    return { name, code, reason };
  }

  for (const [name, first, second] of CHANGES) {
    test(`R21: ${name}: a reader gets CHANGED, and no byte of another`, async (t) => {
      const fault = breakAt(CUT);
      const { url, seen } = put(file(MEDIA, first, fault), second, file(OTHER, { etag: '"2"' }));
      const error = await tail(await engineFor(t), fault, url);
      assert.deepEqual(error, { name: 'RequestError', code: 'CHANGED', reason: 'released' });
      assert.equal(seen().length, 2);
    });
  }

  /** Parts that are of no use, and prove nothing either. @type {Array<[string, any]>} */
  const MISFITS = [
    ['the part begins too late', part({ by: 1 })],
    ['the part has no place', answer(206, MEDIA.subarray(CUT), TAG)],
    ['the end is elsewhere', answer(416, '', { 'content-range': `bytes */${CUT - 1}` })],
    ['there is no such part', answer(416, '')],
  ];
  for (const [name, misfit] of MISFITS) {
    for (const way of ['load', 'fetch']) {
      test(`R21: ${name}: the whole is asked for, and it goes on where it broke: ${way}`, async (t) => {
        const fault = breakAt(CUT);
        const { url, ranges } = put(file(MEDIA, TAG, fault), misfit, file(MEDIA, TAG));
        const engine = await engineFor(t);
        assert.ok(MEDIA.equals(await WAYS[way](engine, url, (size) => fault.has(size))));
        assert.deepEqual(ranges(), [undefined, `bytes=${CUT}-${SIZE - 1}`, undefined]);
      });
    }

    test(`R21: ${name}, and the whole is another: a reader gets CHANGED`, async (t) => {
      const fault = breakAt(CUT);
      const { url, ranges } = put(file(MEDIA, TAG, fault), misfit, file(OTHER, { etag: '"2"' }));
      const error = await tail(await engineFor(t), fault, url);
      assert.deepEqual(error, { name: 'RequestError', code: 'CHANGED', reason: 'released' });
      assert.deepEqual(ranges(), [undefined, `bytes=${CUT}-${SIZE - 1}`, undefined]);
    });
  }

  /** What proves nothing. @type {Array<[string, import('node:http').OutgoingHttpHeaders]>} */
  const UNPROVEN = [
    ['nothing tells it apart', {}],
    ['its tag is weak', { etag: 'W/"one"' }],
  ];
  for (const [name, headers] of UNPROVEN) {
    test(`R21: ${name}: it starts over, a reader gets TRUNCATED, and who takes chunks CHANGED`, async (t) => {
      const engine = await engineFor(t);
      let fault = breakAt(CUT);
      const loaded = put(file(MEDIA, headers, fault), file(OTHER, headers));
      assert.ok(OTHER.equals(await WAYS.load(engine, loaded.url, (size) => fault.has(size))));
      assert.deepEqual(loaded.ranges(), [undefined, undefined]);
      for (const way of STREAMING) {
        fault = breakAt(CUT);
        const { url, ranges } = put(file(MEDIA, headers, fault), file(OTHER, headers));
        const error = await failureOf(WAYS[way](engine, url, (size) => fault.has(size)));
        const isCompared = way === 'load in chunks';
        const code = isCompared ? 'CHANGED' : 'TRUNCATED';
        assert.deepEqual([error.code, error.reason], [code, 'released'], way);
        assert.deepEqual(ranges(), isCompared ? [undefined, undefined] : [undefined], way);
      }
    });
  }

  test('R21: a weak tag does not spoil a date and a length, and is never sent', async (t) => {
    const fault = breakAt(CUT);
    const headers = { ...DATED, etag: 'W/"one"' };
    const { url, seen, ranges } = put(file(MEDIA, headers, fault), file(MEDIA, headers));
    const engine = await engineFor(t);
    assert.ok(MEDIA.equals(await WAYS.fetch(engine, url, (size) => fault.has(size))));
    assert.deepEqual(ranges(), [undefined, `bytes=${CUT}-${SIZE - 1}`]);
    assert.equal(seen()[1].headers['if-range'], undefined);
  });

  test('R21: a date and a length are enough', async (t) => {
    const fault = breakAt(CUT);
    const { url, seen, ranges } = put(file(MEDIA, DATED, fault), file(MEDIA, DATED));
    const engine = await engineFor(t);
    assert.ok(MEDIA.equals(await WAYS.fetch(engine, url, (size) => fault.has(size))));
    assert.deepEqual(ranges(), [undefined, `bytes=${CUT}-${SIZE - 1}`]);
    assert.equal(seen()[1].headers['if-range'], undefined);
  });

  test('R21: an encoded body starts over, and a reader gets TRUNCATED', async (t) => {
    const dice = random(7);
    const noise = Buffer.from(Array.from({ length: SIZE }, () => Math.floor(dice() * 256)));
    const packed = gzipSync(noise);
    const headers = { ...TAG, ...DATED, 'content-encoding': 'gzip' };
    const engine = await engineFor(t);
    const broken = () => {
      const fault = breakAt(200_000);
      return { fault, ...put(file(packed, headers, fault), file(packed, headers)) };
    };
    const loaded = broken();
    // Somewhat less comes out than went in: what is not a whole block yet.
    const half = (/** @type {number} */ size) => size >= 100_000;
    const data = await WAYS.load(
      engine,
      loaded.url,
      (size) => half(size) && loaded.fault.has(Infinity),
    );
    assert.ok(noise.equals(data));
    assert.deepEqual(loaded.ranges(), [undefined, undefined]);
    const streamed = broken();
    const error = await failureOf(
      WAYS.fetch(engine, streamed.url, (size) => half(size) && streamed.fault.has(Infinity)),
    );
    assert.deepEqual([error.code, error.reason], ['TRUNCATED', 'released']);
    assert.deepEqual(streamed.ranges(), [undefined]);
  });

  for (const [way, read] of Object.entries(WAYS)) {
    test(`R21: the whole in place of a part goes on where it broke: ${way}`, async (t) => {
      const fault = breakAt(CUT);
      const { url, ranges } = put(file(MEDIA, TAG, fault), ok(MEDIA, TAG));
      const engine = await engineFor(t);
      let last = 0;
      const data = await read(engine, url, (size) => {
        assert.ok(size > last, 'what is skipped is no progress');
        fault.has((last = size));
      });
      assert.ok(MEDIA.equals(data));
      assert.deepEqual(ranges(), [undefined, `bytes=${CUT}-${SIZE - 1}`]);
    });
  }

  test('R21: a host that has no ranges is not asked for one again, and all goes on', async (t) => {
    const engine = await engineFor(t);
    const broken = () => {
      const fault = breakAt(CUT);
      return { fault, ...put(withoutRanges(fault), ok(MEDIA, TAG)) };
    };
    const first = broken();
    assert.ok(MEDIA.equals(await WAYS.fetch(engine, first.url, (size) => first.fault.has(size))));
    const second = broken();
    assert.ok(MEDIA.equals(await WAYS.fetch(engine, second.url, (size) => second.fault.has(size))));
    assert.deepEqual(first.ranges(), [undefined, `bytes=${CUT}-${SIZE - 1}`]);
    assert.deepEqual(second.ranges(), [undefined, undefined]);
  });

  test('R21: a part that begins earlier is cut to fit', async (t) => {
    const fault = breakAt(CUT);
    const { url } = put(file(MEDIA, TAG, fault), part({ by: -5000 }));
    const engine = await engineFor(t);
    assert.ok(MEDIA.equals(await WAYS.fetch(engine, url, (size) => fault.has(size))));
  });

  test('R21: a part that is longer than it says is cut to fit', async (t) => {
    const fault = breakAt(CUT);
    const { url } = put(file(MEDIA, TAG, fault), part({ extra: 999 }));
    const engine = await engineFor(t);
    assert.ok(MEDIA.equals(await WAYS.fetch(engine, url, (size) => fault.has(size))));
  });

  test('R21: where all was there but its end, that there is no more is its end', async (t) => {
    const fault = breakAt(SIZE);
    const { url, ranges } = put(
      (request, response) => {
        response.writeHead(200, TAG).write(MEDIA);
        void fault.when.then(() => request.socket.destroy());
      },
      file(MEDIA, TAG),
    );
    const engine = await engineFor(t);
    assert.ok(MEDIA.equals(await WAYS.fetch(engine, url, (size) => fault.has(size))));
    assert.deepEqual(ranges(), [undefined, `bytes=${SIZE}-`]);
  });

  test('R21: text goes on where it is not encoded, and starts over where a part is not had', async (t) => {
    const text = Buffer.from(`WEBVTT\n\n${'00:01.000 --> 00:02.000\nyes\n\n'.repeat(8000)}`);
    const last = text.byteLength - 1;
    const engine = await engineFor(t, {}, OWN_HOSTS);
    const load = async (/** @type {string} */ path, /** @type {any[]} */ ...answers) => {
      const fault = breakAt(CUT);
      const url = server.on(path, ...answers.map((make) => make(fault)));
      const { data } = await engine.load({
        url,
        responseType: 'text',
        onProgress: ({ loaded }) => fault.has(loaded),
      });
      assert.equal(data, String(text));
      return rangesAt(path);
    };
    const broken = (/** @type {Break} */ fault) => file(text, TAG, fault);
    assert.deepEqual(await load('/a.vtt', broken, () => file(text, TAG)), [
      undefined,
      `bytes=${CUT}-${last}`,
    ]);
    assert.deepEqual(
      await load(
        '/b.vtt',
        broken,
        () => part({ headers: { etag: '"2"' } }, text),
        () => file(text),
      ),
      [undefined, `bytes=${CUT}-${last}`, undefined],
    );
  });

  /** Breaks, and knows no ranges. @param {Break} fault @returns {import('./server.mjs').Answer} */
  const withoutRanges = (fault) => (request, response) => {
    response.writeHead(200, { 'content-length': SIZE, ...TAG }).write(MEDIA.subarray(0, fault.at));
    void fault.when.then(() => request.socket.destroy());
  };
});

describe('R64: a body that was fetched on', () => {
  test('R64: takes as long as its bodies, without the gap between', async (t) => {
    const fault = breakAt(CUT);
    const gap = 1500;
    const { url, seen } = put(
      (request, response) => {
        response.writeHead(200, { 'content-length': SIZE, ...TAG }).write(MEDIA.subarray(0, 1000));
        setTimeout(() => response.write(MEDIA.subarray(1000, CUT)), 300);
        void fault.when.then(() => request.socket.destroy());
      },
      later(gap, file(MEDIA, TAG)),
    );
    const engine = await engineFor(t);
    /** @type {Map<number, number>} */
    const times = new Map();
    const { timing } = await engine.load({
      url,
      onProgress: ({ loaded, at }) => {
        times.set(loaded, at);
        fault.has(loaded);
      },
    });
    const { start, first, end } = timing;
    const [before, now] = seen();
    const at = (/** @type {number} */ bytes) => /** @type {number} */ (times.get(bytes));
    const wentOn = Math.min(...[...times].filter(([loaded]) => loaded > CUT).map(([, it]) => it));
    assert.ok(wentOn - at(CUT) >= gap, 'there is a gap');
    const took = end - first;
    assert.ok(took <= end - before.at - gap, `${took} ms are without it`);
    const least = at(CUT) - at(1000) + (end - wentOn);
    assert.ok(took >= least, `${took} of ${least} ms: both bodies count`);
    assert.ok(start <= first && first <= wentOn);
    assert.ok(start <= now.at);
  });

  test('R64: is no sample of the bandwidth, and is counted apart', async (t) => {
    const engine = await engineFor(t);
    // Slow enough to say something.
    const slowly =
      (/** @type {Buffer} */ body) => (/** @type {any} */ _, /** @type {any} */ response) => {
        response.writeHead(200, { 'content-length': body.byteLength, ...TAG });
        response.write(body.subarray(0, 100_000));
        setTimeout(() => response.end(body.subarray(100_000)), 60);
      };
    for (let i = 0; i < 3; i += 1) await engine.load({ url: put(slowly(MEDIA)).url });
    const { bandwidth, excludedBytes } = engine.state;
    assert.ok(bandwidth && bandwidth > 0);
    assert.equal(excludedBytes, 0);
    const fault = breakAt(CUT);
    const { url } = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
    await WAYS.load(engine, url, (size) => fault.has(size));
    assert.equal(engine.state.bandwidth, bandwidth);
    assert.equal(engine.state.excludedBytes, SIZE);
    // One that comes at once is a sample again.
    await engine.load({ url: put(slowly(MEDIA)).url });
    assert.notEqual(engine.state.bandwidth, bandwidth);
    assert.equal(engine.state.excludedBytes, SIZE);
  });

  test('R64: is sampled by a tracked fetch up to its break, and not behind it', async (t) => {
    const fault = breakAt(CUT);
    const { url } = put(file(MEDIA, TAG, fault), file(MEDIA, TAG));
    const engine = await engineFor(t);
    let sampled = 0;
    const fetchBytes = createTrackedFetch(NO_STATE, (next) => (sampled = next.bytesSampled), {
      engine,
    });
    const chunks = await fetchBytes({ url }, { minChunkSize: 0 });
    const data = await gather(chunks, (size) => fault.has(size));
    assert.ok(MEDIA.equals(data));
    assert.equal(sampled, CUT);
  });
});
