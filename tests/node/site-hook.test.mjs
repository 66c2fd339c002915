// @ts-check
// Sites that the embedder names, requests that may fail, steering, and reloads asked for plainly.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { catchUncaught, engineFor, eventually, failureOf } from './fixture.mjs';
import { answer, content, ok, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());
const uncaught = catchUncaught({ after });
after(() => assert.ok(uncaught.every((error) => String(error) === 'Error: boom')));

const MEDIA = content(20_000);
const busy = answer(503, '');

describe('getSite', { concurrency: true }, () => {
  test('R12: names the site of what comes without one', async (t) => {
    /** @type {any[]} */
    const asked = [];
    const engine = await engineFor(
      t,
      {},
      {
        getSite: (url, init) => {
          asked.push([url, init.method]);
          return url.includes('/media/') ? 'segment' : undefined;
        },
      },
    );
    const media = server.on('/media/1', busy, ok(MEDIA));
    assert.equal((await engine.fetch(media)).status, 200);
    assert.equal((await engine.fetch(new Request(`${media}?2`))).status, 200);
    const beacon = server.on('/beacon', busy, ok(''));
    assert.equal((await engine.fetch(beacon, { method: 'GET' })).status, 503, 'left to the URL');
    assert.deepEqual(asked, [
      [media, undefined],
      [`${media}?2`, undefined],
      [beacon, 'GET'],
    ]);
    const request = new Request(server.on('/media/2', busy, ok(MEDIA)));
    assert.equal((await engine.load({ url: '', request })).attempts, 2);
    assert.equal(asked.at(-1)?.[0], request.url);
    await engine.fetch(media, { site: 'key' });
    assert.equal(asked.length, 4, 'not asked about what has one');
  });

  test('R12: one that throws or answers nonsense leaves it to the URL', async (t) => {
    /** @type {any[]} */
    const said = [
      () => {
        throw new Error('boom');
      },
      () => 'media',
      () => 7,
      async () => 'segment',
      () => null,
    ];
    const engine = await engineFor(t, {}, { getSite: () => said.shift()?.() });
    for (let i = 0; said.length > 0; i += 1) {
      const url = server.on(`/left-${i}.mp4`, busy, ok(MEDIA));
      assert.equal((await engine.fetch(url)).status, 200);
    }
  });
});

describe('what may fail', { concurrency: true }, () => {
  test('R30: an optional request that fails is a warning, and says nothing against its host', async (t) => {
    /** @type {any[]} */
    const events = [];
    const engine = await engineFor(
      t,
      { attempts: 2 },
      { breaker: { consecutive: 2 }, onExhausted: (event) => events.push(event) },
    );
    const urls = [0, 1, 2].map((i) => server.on(`/hint-${i}.mp4`, busy));
    for (const url of urls) {
      const error = await failureOf(engine.load({ url, optional: true }));
      assert.equal(error.severity, 'warning');
    }
    const response = await engine.fetch(server.on('/hint-fetch.mp4', busy), { optional: true });
    assert.equal(response.status, 503);
    assert.deepEqual([...new Set(events.map(({ severity }) => severity))], ['warning']);
    assert.equal(engine.state.hostHealth[server.origin]?.state ?? 'closed', 'closed');
    const error = await failureOf(engine.load({ url: server.on('/needed.mp4', busy) }));
    assert.equal(error.severity, 'error');
  });

  test('R30, R71: steering is always optional', async (t) => {
    const engine = await engineFor(t, { attempts: 2 }, { breaker: { consecutive: 2 } });
    const url = server.on('/steering.json', busy);
    const error = await failureOf(engine.load({ url, site: 'steering' }));
    assert.equal(error.severity, 'warning');
    assert.equal(engine.state.hostHealth[server.origin]?.state ?? 'closed', 'closed');
  });

  test('R71: a steering URL that is gone is never asked for again in this session', async (t) => {
    const engine = await engineFor(t);
    const url = server.on('/gone.json', answer(410, ''));
    assert.equal((await failureOf(engine.load({ url, site: 'steering' }))).reason, 'terminal');
    const again = await failureOf(engine.load({ url, site: 'steering' }));
    assert.equal(again.reason, 'retired');
    assert.equal(again.attempts, 0);
    assert.equal(again.status, 410);
    assert.equal(server.seen('/gone.json').length, 1);
    const other = server.on('/other.json', ok('{}'));
    assert.equal((await engine.load({ url: other, site: 'steering' })).attempts, 1);
  });

  test('R71: a steering server that says when is asked then', async (t) => {
    const engine = await engineFor(t);
    const url = server.on('/when.json', answer(429, '', { 'retry-after': '1' }), ok('{}'));
    await engine.load({ url, site: 'steering' });
    const [first, second] = server.seen('/when.json');
    assert.ok(second.at - first.at >= 1000);
  });
});

describe('a reload with directives', { concurrency: true }, () => {
  const QUERY = 'a=~%2F+b&_HLS_msn=12&_HLS_part=3&z=%7e&_HLS_skip=YES';
  for (const status of [400, 503]) {
    test(`R33: is asked for plainly after ${status}, byte for byte otherwise, and says so`, async (t) => {
      const engine = await engineFor(t, { attempts: 3 });
      const path = `/live-${status}.m3u8`;
      const url = `${server.on(path, answer(status, ''), ok('#EXTM3U'))}?${QUERY}`;
      const loaded = await engine.load({ url, site: 'playlist-reload', responseType: 'text' });
      assert.equal(loaded.degraded, true);
      assert.equal(loaded.data, '#EXTM3U');
      assert.deepEqual(
        server.seen(path).map((seen) => seen.url),
        [`${path}?${QUERY}`, `${path}?a=~%2F+b&z=%7e`],
      );
    });
  }

  test('R33: one that works keeps them', async (t) => {
    const engine = await engineFor(t);
    const url = `${server.on('/works.m3u8', ok('#EXTM3U'))}?${QUERY}`;
    const loaded = await engine.load({ url, site: 'playlist-reload' });
    assert.equal(loaded.degraded, false);
    assert.equal(server.seen('/works.m3u8')[0].url, `/works.m3u8?${QUERY}`);
  });

  test('R33: nothing but directives leaves no question mark', async (t) => {
    const engine = await engineFor(t, { attempts: 3 });
    const url = `${server.on('/bare.m3u8', busy, ok('#EXTM3U'))}?_HLS_msn=1&_HLS_skip=v2`;
    assert.equal((await engine.load({ url, site: 'playlist-reload' })).degraded, true);
    assert.equal(server.seen('/bare.m3u8')[1].url, '/bare.m3u8');
  });

  test('R33: other sites, and 400 without directives, are left alone', async (t) => {
    const engine = await engineFor(t, { attempts: 3 });
    const url = `${server.on('/first.m3u8', busy, ok('#EXTM3U'))}?${QUERY}`;
    assert.equal((await engine.load({ url, site: 'playlist' })).degraded, false);
    assert.equal(server.seen('/first.m3u8')[1].url, `/first.m3u8?${QUERY}`);
    const plain = server.on('/plain.m3u8', answer(400, ''));
    assert.equal(
      (await failureOf(engine.load({ url: plain, site: 'playlist-reload' }))).attempts,
      1,
    );
  });

  test('R33, R51: the fresh credential goes with the plain URL', async (t) => {
    const engine = await engineFor(
      t,
      { attempts: 3 },
      { refreshPlaybackToken: (url) => url.replace('old', 'new') },
    );
    const url = `${server.on('/both.m3u8', answer(400, ''), answer(403, ''), ok('#EXTM3U'))}?_HLS_msn=4&token=old-0123456789`;
    const { degraded } = await engine.load({ url, site: 'playlist-reload' });
    assert.equal(degraded, true);
    await eventually(() => server.seen('/both.m3u8').length === 3);
    assert.deepEqual(
      server.seen('/both.m3u8').map((seen) => seen.url.split('?')[1]),
      ['_HLS_msn=4&token=old-0123456789', 'token=old-0123456789', 'token=new-0123456789'],
    );
  });
});
