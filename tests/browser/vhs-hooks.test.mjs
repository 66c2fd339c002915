// @ts-check
/** What users of video.js have on VHS goes on working, and VHS is as it was once nothing is installed. */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { answer, ok } from '../node/server.mjs';
import { eventually, shared } from './fixture.mjs';
import { SHORT, startVhs } from './vhs-fixture.mjs';

/** @typedef {import('../node/server.mjs').Answer} Answer */
/** @typedef {import('holdfast').EngineOptions} EngineOptions */
/** @typedef {{ url: string, headers: import('node:http').IncomingHttpHeaders }} Seen */

/** @type {import('./vhs-fixture.mjs').Vhs} */
let vhs;
before(async () => {
  vhs = await startVhs();
});
after(() => vhs?.close());

/**
 * A page whose own origin has the stream, at `/media/`, and writes down what it is asked for.
 *
 * @param {Record<string, Answer[]>} [faults] by file: what it answers first
 */
async function open(faults = {}) {
  /** @type {Seen[]} */
  const seen = [];
  /** @type {Record<string, Answer>} */
  const answers = {};
  for (const name of await readdir(vhs.dir)) {
    const body = await readFile(path.join(vhs.dir, name));
    const first = [...(faults[name] ?? [])];
    answers[`/media/${name}`] = (request, response) => {
      seen.push({ url: request.url ?? '', headers: request.headers });
      (first.shift() ?? ok(body, { 'cache-control': 'no-store' }))(request, response);
    };
  }
  const opened = await vhs.open({ answers });
  return {
    ...opened,
    src: `${opened.origin}/media/pinned.m3u8`,
    of: (/** @type {string} */ name) => seen.filter(({ url }) => url.startsWith(`/media/${name}`)),
  };
}

/** @typedef {Awaited<ReturnType<typeof open>>} Opened */

/** An engine and a player with its adapter. @param {Opened} opened */
const install = ({ kit }) =>
  kit.evaluateHandle(async (kit, options) => {
    const engine = await kit.engineOf(/** @type {EngineOptions} */ (options));
    const player = kit.createPlayer();
    const uninstall = kit.installVhs(engine, kit.library(), player);
    return { engine, player, uninstall, Vhs: /** @type {any} */ (kit.library()).Vhs };
  }, SHORT);

/**
 * @param {Opened} opened
 * @param {Awaited<ReturnType<typeof install>>} made
 * @param {number} [position] that it gets to, in seconds
 */
async function plays({ kit, src }, made, position = 0.5) {
  await made.evaluate(({ player }, { kit, src }) => kit.play(player, src), { kit, src });
  await eventually(
    () =>
      made.evaluate(({ player }, position) => Number(player.currentTime()) > position, position),
    'it plays',
  );
}

test('onRequest sets each attempt up anew, and beforeSend its headers', async () => {
  const opened = await open({ 'mid-02.m4s': [answer(503), answer(503)] });
  const made = await install(opened);
  await made.evaluate(({ Vhs }) => {
    let count = 0;
    Vhs.xhr.onRequest((/** @type {any} */ options) => {
      const number = ++count;
      options.uri += `?n=${number}`;
      options.headers = { ...options.headers, 'x-number': String(number) };
      options.beforeSend = (/** @type {XMLHttpRequest} */ xhr) =>
        xhr.setRequestHeader('x-sent', String(number));
      return options;
    });
  });
  await plays(opened, made);
  const tries = await eventually(() => {
    const tries = opened.of('mid-02.m4s');
    return tries.length === 3 ? tries : null;
  }, 'three attempts');
  const numbers = tries.map(({ url, headers }) => {
    const number = new URL(url, opened.origin).searchParams.get('n');
    assert.deepEqual([headers['x-number'], headers['x-sent']], [number, number]);
    return number;
  });
  assert.equal(new Set(numbers).size, 3, `each its own: ${numbers}`);
  await opened.close();
});

test('onResponse hears of each request once, with what came of it', async () => {
  const opened = await open({ 'mid-02.m4s': [answer(503)], 'mid-03.m4s': [answer(410)] });
  const made = await install(opened);
  const heard = await made.evaluateHandle(({ Vhs }) => {
    /** @type {{ uri: string, status: number, statusCode: number }[]} */
    const heard = [];
    Vhs.xhr.onResponse(
      (/** @type {any} */ request, /** @type {any} */ _, /** @type {any} */ response) =>
        heard.push({ uri: request.uri, status: request.status, statusCode: response.statusCode }),
    );
    return heard;
  });
  await plays(opened, made);
  const of = (/** @type {string} */ name) =>
    heard.evaluate((heard, name) => heard.filter(({ uri }) => uri.includes(name)), name);
  const [gone] = await eventually(async () => {
    const all = await of('mid-03');
    return all.length ? all : null;
  }, 'the verdict');
  assert.deepEqual([gone.status, gone.statusCode], [410, 410]);
  assert.deepEqual(
    (await of('mid-02')).map(({ status, statusCode }) => [status, statusCode]),
    [[200, 200]],
  );
  await opened.close();
});

test('hooks of a player replace those of the page, and stay when the adapter goes', async () => {
  const opened = await open();
  const made = await install(opened);
  const heard = await made.evaluateHandle(({ player, Vhs }) => {
    /** @type {string[]} */
    const heard = [];
    const hook = (/** @type {string} */ name) => (/** @type {any} */ options) => {
      heard.push(name);
      return options;
    };
    Vhs.xhr.onRequest(hook('page'));
    player.on('xhr-hooks-ready', () => {
      /** @type {any} */ (player.tech(true)).vhs.xhr.onRequest(hook('player'));
    });
    return heard;
  });
  await plays(opened, made);
  assert.deepEqual(await heard.evaluate((heard) => [...new Set(heard)]), ['player']);
  const left = await made.evaluate(({ player, uninstall, Vhs }) => {
    uninstall();
    const { xhr } = /** @type {any} */ (player.tech(true)).vhs;
    return [xhr._requestCallbackSet.size, Vhs.xhr._requestCallbackSet.size];
  });
  assert.deepEqual(left, [1, 1]);
  await opened.close();
});

test('beforeRequest, withCredentials and interceptors are respected', async () => {
  const opened = await open();
  const { media } = vhs.browser;
  /** @type {Answer} */
  const withCredentials = (request, response) => {
    response.setHeader('access-control-allow-origin', String(request.headers.origin));
    response.setHeader('access-control-allow-credentials', 'true');
    answer(404)(request, response);
  };
  const src = media.on('/credentials/main.m3u8', withCredentials);
  await opened.context.addCookies([{ name: 'who', value: 'me', url: media.origin }]);
  const made = await install(opened);
  await made.evaluate(
    ({ player, Vhs }, { kit, src }) => {
      Vhs.xhr.beforeRequest = (/** @type {any} */ options) => {
        options.uri += '?before';
        return options;
      };
      const { requestInterceptorsStorage } = /** @type {any} */ (kit.library()).xhr;
      requestInterceptorsStorage.enable();
      requestInterceptorsStorage.addInterceptor('hls-playlist', (/** @type {any} */ options) => {
        options.uri += '&intercepted';
        return options;
      });
      kit.play(player, src, { withCredentials: true });
    },
    { kit: opened.kit, src },
  );
  const [{ url, headers }] = await eventually(() => {
    const seen = media.seen('/credentials/main.m3u8');
    return seen.length ? seen : null;
  }, 'the request');
  assert.equal(url, '/credentials/main.m3u8?before&intercepted');
  assert.equal(headers.cookie, 'who=me');
  await opened.close();
});

test('a hook that throws at a later attempt leaves that attempt as the first was', async () => {
  const opened = await open({ 'mid-02.m4s': [answer(503)] });
  const made = await install(opened);
  await made.evaluate(({ Vhs }) => {
    const seen = new Set();
    Vhs.xhr.onRequest((/** @type {any} */ options) => {
      if (seen.has(options.uri)) throw new Error('not twice');
      seen.add(options.uri);
      options.headers = { ...options.headers, 'x-first': 'yes' };
      return options;
    });
  });
  await plays(opened, made);
  await eventually(() => opened.of('mid-03.m4s').length, 'the next segment');
  assert.deepEqual(
    opened.of('mid-02.m4s').map(({ headers }) => headers['x-first']),
    ['yes', 'yes'],
  );
  await opened.close();
});

test('a signed URL arrives as it is', async () => {
  const opened = await open();
  const made = await install(opened);
  const query = '?sig=a%2Fb+c==&x&Expires=1%7E2';
  await plays({ ...opened, src: `${opened.src}${query}` }, made);
  assert.equal(opened.of('pinned.m3u8')[0].url, `/media/pinned.m3u8${query}`);
  await opened.close();
});

/**
 * Two players with an engine each, and perhaps a third engine for all; then all of it goes again.
 *
 * @param {Opened} opened
 * @param {number[]} order of the engines, as they go
 */
const comeAndGo = ({ kit, src }, order) =>
  kit.evaluate(
    async (kit, { options, src, order }) => {
      const videojs = kit.library();
      const { Vhs } = /** @type {any} */ (videojs);
      const own = Vhs.xhr;
      const xhrOf = (/** @type {any} */ player) => player.tech(true).vhs.xhr;
      const engines = await Promise.all(
        order.map(() => kit.engineOf(/** @type {EngineOptions} */ (options))),
      );
      const players = [kit.createPlayer(), kit.createPlayer()];
      /** @type {any[]} */
      const found = [];
      players.forEach((player, i) =>
        player.on('xhr-hooks-ready', () => (found[i] = xhrOf(player))),
      );
      const ends = engines.map((engine, i) => kit.installVhs(engine, videojs, players[i]));
      for (const player of players) kit.play(player, src);
      while (players.some((player) => !(Number(player.currentTime()) > 0.3))) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const used = engines.map((engine) => engine.log().length > 0);
      for (const i of order) ends[i]();
      const isAsBefore =
        Vhs.xhr === own && players.every((player, i) => xhrOf(player) === found[i]);
      for (const player of players) player.dispose();
      return { used, isAsBefore };
    },
    { options: SHORT, src, order },
  );

test('two players have an engine each, and in either order are left as they were', async () => {
  const opened = await open();
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    assert.deepEqual(await comeAndGo(opened, order), { used: [true, true], isAsBefore: true });
  }
  await opened.close();
});

test('so they are where a third engine came over both, and it alone was asked', async () => {
  const opened = await open();
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ]) {
    const used = [false, false, true];
    assert.deepEqual(await comeAndGo(opened, order), { used, isAsBefore: true }, `${order}`);
  }
  assert.deepEqual(
    opened.warnings.filter((text) => text.startsWith('[holdfast]')),
    [],
  );
  await opened.close();
});

test('for all players: also for the manifest of one that is made with a source', async () => {
  const opened = await open({ 'pinned.m3u8': [answer(503), answer(503)] });
  const made = await opened.kit.evaluateHandle(
    async (kit, { options, src }) => {
      const engine = await kit.engineOf(/** @type {EngineOptions} */ (options));
      const uninstall = kit.installVhs(engine, kit.library());
      const player = kit.createPlayer({ sources: [kit.sourceOf(src)], autoplay: true });
      return { engine, player, uninstall };
    },
    { options: SHORT, src: opened.src },
  );
  await eventually(
    () => made.evaluate(({ player }) => Number(player.currentTime()) > 0.3),
    'it plays',
  );
  assert.equal(opened.of('pinned.m3u8').length, 3);
  const sites = await made.evaluate(({ engine }) =>
    engine.log().flatMap(({ event, detail }) => (event === 'started' ? [detail] : [])),
  );
  for (const site of ['manifest', 'playlist', 'init', 'segment'])
    assert.ok(sites.includes(site), site);
  await opened.close();
});

test('where the engine fails open, VHS gets its own transport back', async () => {
  const opened = await open();
  /** @type {Set<string>} */
  const kinds = new Set();
  opened.page.on('request', (request) => {
    if (request.url().includes('/media/')) kinds.add(request.resourceType());
  });
  const made = await opened.kit.evaluateHandle(async (kit) => {
    const videojs = kit.library();
    const { Vhs } = /** @type {any} */ (videojs);
    const own = Vhs.xhr;
    const engine = await kit.engineOf({ wasm: '/nowhere.wasm' });
    const player = kit.createPlayer();
    const uninstall = kit.installVhs(engine, videojs);
    return { engine, player, uninstall, Vhs, same: Vhs.xhr === own };
  });
  await plays(opened, made);
  assert.equal(await made.evaluate(({ engine }) => engine.state.mode), 'plain');
  assert.equal(await made.evaluate(({ same }) => same), true);
  assert.deepEqual([...kinds], ['xhr']);
  await opened.close();
});

test('after uninstall, requests are those of VHS again', async () => {
  const opened = await open();
  const made = await install(opened);
  await plays(opened, made);
  const before = await made.evaluate(({ engine, uninstall }) => {
    uninstall();
    return engine.log().length;
  });
  await made.evaluate(({ player }) => player.pause());
  await plays({ ...opened, src: opened.src.replace('pinned', 'main') }, made);
  const started = await made.evaluate(
    ({ engine }, before) =>
      engine
        .log()
        .slice(before)
        .filter(({ event }) => event === 'started'),
    before,
  );
  assert.ok(before > 0);
  assert.deepEqual(started, []);
  await opened.close();
});

test('the console names a transport of its own, and other layers that retry', async () => {
  const opened = await open();
  const made = await opened.kit.evaluateHandle(async (kit) => {
    const videojs = /** @type {any} */ (kit.library());
    videojs.xhr.retryManager.enable();
    const engine = await kit.engineOf();
    const player = kit.createPlayer();
    /** @type {any} */ (player).reloadSourceOnError();
    const uninstall = kit.installVhs(engine, videojs, player);
    const { Vhs } = videojs;
    Vhs.xhr = (/** @type {any} */ options, /** @type {any} */ callback) =>
      videojs.xhr({ ...options, xhr: undefined }, callback);
    return { engine, player, uninstall, Vhs };
  });
  await plays(opened, made);
  const ours = opened.warnings.filter((text) => text.startsWith('[holdfast]'));
  assert.equal(ours.length, 3, ours.join('\n'));
  assert.match(ours[0], /two retry layers.*: videojs\.xhr\.retryManager$/);
  assert.match(ours[1], /two retry layers.*: reloadSourceOnError$/);
  assert.match(ours[2], /transport of its own.*: videojs\.Vhs\.xhr$/);
  await opened.close();
});

test('a transport that passes on to videojs.xhr stays in its place', async () => {
  const opened = await open({ 'pinned.m3u8': [answer(503)] });
  const made = await install(opened);
  await made.evaluate(({ Vhs }, kit) => {
    Vhs.xhr = (/** @type {any} */ options, /** @type {any} */ callback) =>
      /** @type {any} */ (kit.library()).xhr({ ...options, uri: `${options.uri}?mine` }, callback);
  }, opened.kit);
  await plays(opened, made);
  assert.deepEqual(
    opened.of('pinned.m3u8').map(({ url }) => url),
    ['/media/pinned.m3u8?mine', '/media/pinned.m3u8?mine'],
  );
  assert.deepEqual(
    opened.warnings.filter((text) => text.startsWith('[holdfast]')),
    [],
  );
  await opened.close();
});

test('a player that is disposed of leaves nothing under way', async () => {
  const opened = await open({ 'pinned.m3u8': [() => {}] });
  const made = await install(opened);
  await made.evaluate(({ player }, { kit, src }) => kit.play(player, src), {
    kit: opened.kit,
    src: opened.src,
  });
  await eventually(() => opened.of('pinned.m3u8').length, 'the request');
  await made.evaluate(({ player }) => player.dispose());
  const events = await made.evaluate(({ engine }) => engine.log().map(({ event }) => event));
  assert.ok(events.includes('aborted'));
  await opened.close();
});

test('a steering server without a word is not asked in a loop', async () => {
  const { media } = vhs.browser;
  const opened = await open();
  const made = await install(opened);
  media.on('/steering.json', shared(answer(503)));
  const main = String(await readFile(path.join(vhs.dir, 'pinned.m3u8')))
    .replace(
      '#EXTM3U',
      `#EXTM3U\n#EXT-X-CONTENT-STEERING:SERVER-URI="${media.origin}/steering.json",PATHWAY-ID="a"`,
    )
    .replace(/#EXT-X-STREAM-INF:/, '#EXT-X-STREAM-INF:PATHWAY-ID="a",')
    .replace(/^([\w-]+\.m3u8)$/m, (name) => `${opened.origin}/media/${name}`)
    .replace(/URI="(\w+\.m3u8)"/, (_, name) => `URI="${opened.origin}/media/${name}"`);
  const src = media.on('/steered.m3u8', shared(ok(main)));
  await plays({ ...opened, src }, made, 2);
  const asked = media.seen('/steering.json').length;
  assert.ok(asked > 0 && asked < 10, `asked ${asked} times`);
  await opened.close();
});
