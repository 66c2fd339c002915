// @ts-check
// What stands between here and the server answers in its place: none of it is delivered.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { engineFor, eventually, failureOf } from './fixture.mjs';
import { answer, content, ok, page, redirect, serve } from './server.mjs';
import { WAYS } from './ways.mjs';

/** @typedef {import('holdfast').Engine} Engine */

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {Awaited<ReturnType<typeof serve>>} */
let portal;
before(async () => {
  [server, portal] = await Promise.all([serve(), serve()]);
  portal.on('/login', page());
});
after(() => Promise.all([server.close(), portal.close()]));

const PLAYLIST = `#EXTM3U\n${'#EXTINF:4,\na.mp4\n'.repeat(100)}`;

/** @param {string} type @param {Uint8Array} [body] */
function box(type, body = new Uint8Array()) {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.byteLength);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}
/** A fragment: what it is, where its samples are, and these. */
const MEDIA = Buffer.concat([
  box('styp', Buffer.from('msdh\0\0\0\0msdh')),
  box('moof', content(500)),
  box('mdat', content(100_000)),
]);

let paths = 0;
/** @param {string} ending @param {...import('./server.mjs').Answer} answers */
function put(ending, ...answers) {
  const path = `/${(paths += 1)}.${ending}`;
  return { url: server.on(path, ...answers), seen: () => server.seen(path) };
}

/** @type {Record<string, () => import('./server.mjs').Answer>} */
const PORTALS = {
  'a redirect to the page of another origin': () => redirect(`${portal.origin}/login`),
  '511 Network Authentication Required': () =>
    answer(511, '<html><body>Log in</body></html>', { 'content-type': 'text/html' }),
  'a document in JSON': () =>
    ok('{"status":"login required"}', { 'content-type': 'application/json' }),
};

describe('R28: a portal', () => {
  for (const [name, make] of Object.entries(PORTALS)) {
    for (const [way, read] of Object.entries(WAYS)) {
      test(`R28: ${name} is not delivered, and the media is when it is gone: ${way}`, async (t) => {
        const engine = await engineFor(t);
        const { url, seen } = put('mp4', make(), make(), ok(MEDIA));
        assert.ok(MEDIA.equals(await read(engine, url)));
        assert.equal(seen().length, 3);
        assert.equal(engine.state.retryExhausted.length, 0);
      });
    }

    test(`R28: ${name} is not delivered in place of a playlist`, async (t) => {
      const engine = await engineFor(t);
      const { url } = put('m3u8', make(), ok(PLAYLIST));
      assert.equal(await engine.fetchText({ url }), PLAYLIST);
    });

    test(`R28: ${name} that stays is INTERCEPTED, and speaks against no host`, async (t) => {
      const engine = await engineFor(t, { attempts: 2 });
      for (const [way, read] of Object.entries(WAYS)) {
        // Whoever sees the status is shown that of a refusal.
        if (way === 'fetch' && name.startsWith('511')) continue;
        const error = await failureOf(read(engine, put('mp4', make()).url));
        assert.deepEqual([error.name, error.code], ['RequestError', 'INTERCEPTED'], way);
      }
      const health = Object.values(engine.state.hostHealth);
      assert.ok(health.every(({ state, failures }) => state === 'closed' && failures === 0));
    });
  }

  test('R28: what a page was taken for is asked for past the cache', async (t) => {
    /** @type {Array<RequestInit['cache']>} */
    const caches = [];
    /** @type {typeof fetch} */
    const spy = (input, init) => {
      caches.push(init?.cache);
      return fetch(input, init);
    };
    const engine = await engineFor(t, {}, { fetch: spy });
    await engine.load({ url: put('mp4', page(), ok(MEDIA)).url });
    assert.deepEqual(caches, [undefined, 'reload']);
  });
});

/** Sends this much, and closes the connection: no length is told. @param {number} size */
const unbounded = (size) =>
  /** @type {import('./server.mjs').Answer} */ (
    (_, response) => {
      response.removeHeader('transfer-encoding');
      response.shouldKeepAlive = false;
      response.writeHead(200, { 'content-type': 'video/mp4' });
      response.end(MEDIA.subarray(0, size));
    }
  );

describe('R28: a body that ends where its connection does', () => {
  test('R28: is fetched again past the cache where its last box is cut', async (t) => {
    for (const size of [MEDIA.byteLength - 1, 30_000, 520, 5]) {
      /** @type {Array<RequestInit['cache']>} */
      const caches = [];
      /** @type {typeof fetch} */
      const spy = (input, init) => {
        caches.push(init?.cache);
        return fetch(input, init);
      };
      const engine = await engineFor(t, {}, { fetch: spy });
      const { url } = put('mp4', unbounded(size), unbounded(Infinity));
      const { data, attempts } = await engine.load({ url });
      assert.ok(MEDIA.equals(Buffer.from(data)), `${size} bytes`);
      assert.equal(attempts, 2);
      assert.deepEqual(caches, [undefined, 'reload']);
    }
  });

  test('R28: is an error at its tail where bytes are with the reader', async (t) => {
    const engine = await engineFor(t);
    const chunks = put('mp4', unbounded(30_000), unbounded(Infinity));
    const again = await WAYS['load in chunks'](engine, chunks.url);
    assert.ok(MEDIA.equals(again), 'what was passed on comes again');
    for (const way of ['fetch', 'fetchBytes']) {
      const { url, seen } = put('mp4', unbounded(30_000), unbounded(Infinity));
      const error = await failureOf(WAYS[way](engine, url));
      assert.deepEqual(
        [error.name, error.code, error.reason],
        ['RequestError', 'TRUNCATED', 'released'],
        way,
      );
      assert.equal(seen().length, 1);
    }
  });

  test('R28: is delivered where it is whole', async (t) => {
    const engine = await engineFor(t);
    for (const read of Object.values(WAYS)) {
      const { url, seen } = put('mp4', unbounded(Infinity));
      assert.ok(MEDIA.equals(await read(engine, url)));
      assert.equal(seen().length, 1);
    }
  });
});

describe('R28: what a site says of its bodies', () => {
  test('R28: another container is not delivered', async (t) => {
    const strict = await engineFor(
      t,
      {},
      {
        sites: {
          segment: { container: 'mp4', backoff: { base: 50, cap: 50 } },
          playlist: { container: 'hls', backoff: { base: 50, cap: 50 } },
          'text-segment': { container: 'webvtt', backoff: { base: 50, cap: 50 } },
        },
      },
    );
    const wrong = ok(content(5000));
    for (const read of Object.values(WAYS)) {
      const { url, seen } = put('mp4', wrong, ok(MEDIA));
      assert.ok(MEDIA.equals(await read(strict, url)));
      assert.equal(seen().length, 2);
    }
    const playlist = put('m3u8', ok('Please log in, and be patient'), ok(PLAYLIST));
    assert.equal(await strict.fetchText({ url: playlist.url }), PLAYLIST);
    const text = put('vtt', ok('Please log in, and be patient'), ok('WEBVTT\n\nand so on and on'));
    const { data } = await strict.load({ url: text.url, responseType: 'text' });
    assert.equal(data, 'WEBVTT\n\nand so on and on');
  });

  test("R28: what the site's own check refuses is not delivered", async (t) => {
    /** @type {any[]} */
    const asked = [];
    /** @type {any[]} */
    const told = [];
    const engine = await engineFor(t, {
      validate: (facts) => {
        asked.push(facts);
        const nth = asked.length;
        return (chunk) => {
          told.push(chunk);
          return nth > 1;
        };
      },
    });
    const { url, seen } = put('mp4', ok(MEDIA, { 'x-own': 'yes' }));
    const { data } = await engine.load({ url });
    assert.ok(MEDIA.equals(Buffer.from(data)));
    assert.equal(seen().length, 2);
    assert.equal(asked.length, 2);
    const { site, status, headers } = asked[0];
    assert.deepEqual(
      [site, asked[0].url, status, headers.get('x-own')],
      ['segment', url, 200, 'yes'],
    );
    assert.equal(told.at(-1), null);
    assert.ok(MEDIA.equals(Buffer.concat(told.slice(1, -1))));
  });

  test('R28: refused at its end, it is fetched again, or is an error at the tail', async (t) => {
    let bodies = 0;
    const engine = await engineFor(t, {
      validate: () => {
        bodies += 1;
        const isGood = bodies === 2;
        return (chunk) => chunk !== null || isGood;
      },
    });
    const loaded = put('mp4', ok(MEDIA));
    await engine.load({ url: loaded.url });
    assert.equal(loaded.seen().length, 2);
    for (const way of ['fetch', 'fetchBytes']) {
      const { url, seen } = put('mp4', ok(MEDIA));
      const error = await failureOf(WAYS[way](engine, url));
      assert.deepEqual([error.code, error.reason], ['INTERCEPTED', 'released'], way);
      assert.equal(seen().length, 1);
    }
  });

  test('R28: a body that was fetched on is judged as one', async (t) => {
    /** @type {Array<Uint8Array | null>} */
    const told = [];
    let bodies = 0;
    const engine = await engineFor(t, {
      validate: () => {
        bodies += 1;
        return (chunk) => void told.push(chunk);
      },
    });
    const cut = 90_000;
    /** @type {() => void} */
    let breakNow = () => {};
    const { url } = put(
      'mp4',
      (request, response) => {
        response.writeHead(200, { etag: '"one"', 'content-length': MEDIA.byteLength });
        response.write(MEDIA.subarray(0, cut));
        breakNow = () => request.socket.destroy();
      },
      answer(206, MEDIA.subarray(cut), {
        etag: '"one"',
        'content-range': `bytes ${cut}-${MEDIA.byteLength - 1}/${MEDIA.byteLength}`,
      }),
    );
    await engine.load({ url, onProgress: ({ loaded }) => loaded === cut && breakNow() });
    assert.equal(bodies, 1);
    assert.equal(told.pop(), null);
    assert.ok(MEDIA.equals(Buffer.concat(/** @type {Uint8Array[]} */ (told))));
  });
});

test('R29: after 425 the very same request is sent again at once, and never as early data', async (t) => {
  const engine = await engineFor(t, { backoff: { base: 3000, factor: 1, cap: 3000 } });
  for (const [i, ask] of [
    (/** @type {string} */ url) => engine.load({ url, init: { headers: { 'x-own': 'yes' } } }),
    (/** @type {string} */ url) => engine.fetch(url, { headers: { range: 'bytes=0-9' } }),
    (/** @type {string} */ url) =>
      engine.fetch(url, { method: 'POST', body: 'challenge', site: 'license' }),
  ].entries()) {
    const { url, seen } = put(`mp4`, answer(425, ''), ok(MEDIA));
    await ask(url);
    await eventually(() => seen().length === 2);
    const [first, second] = seen();
    assert.deepEqual(
      [second.method, second.url, second.rawHeaders, String(await second.body)],
      [first.method, first.url, first.rawHeaders, String(await first.body)],
      String(i),
    );
    for (const { headers } of [first, second]) assert.equal(headers['early-data'], undefined);
    const waits = engine.log().filter(({ event }) => event === 'waiting');
    assert.deepEqual(
      [waits.length, waits.at(-1)?.value],
      [i + 1, 50],
      'not the wait of the ladder',
    );
  }
});

describe('R78: the protocol', () => {
  /** A load that fails once, by what was decided. @param {import('node:test').TestContext} t @param {string} name */
  async function story(t, name) {
    const engine = await engineFor(t);
    const url = server.on(`/${name}.mp4`, answer(503), page(), ok(MEDIA));
    const { protocol } = await engine.load({ url });
    const log = engine.log().map(({ event, detail, attempt }) => [event, detail, attempt]);
    return { protocol, log };
  }

  test('R78: is unknown in Node, is told where it is known, and decides nothing', async (t) => {
    const usual = await story(t, 'usual');
    assert.equal(usual.protocol, 'unknown');
    assert.ok(usual.log.length > 5);
    const real = performance.getEntriesByName;
    t.after(() => void (performance.getEntriesByName = real));
    for (const [i, [entries, protocol]] of /** @type {Array<[any[], string]>} */ ([
      [[{ nextHopProtocol: 'h3' }], 'h3'],
      [[{ nextHopProtocol: 'h3' }, { nextHopProtocol: 'h2' }], 'h2'],
      [[{ nextHopProtocol: '' }], 'unknown'],
      [[{}], 'unknown'],
      [[], 'unknown'],
    ]).entries()) {
      performance.getEntriesByName = () => entries;
      assert.deepEqual(await story(t, `permuted-${i}`), { ...usual, protocol });
    }
    performance.getEntriesByName = /** @type {any} */ (undefined);
    assert.deepEqual(await story(t, 'without'), usual);
  });
});
