// @ts-check
/**
 * The dash.js adapter's loaders against the contract of dash.js's own: `load(request, response)`
 * fills the response and calls `onprogress`, and then one of `onloadend` and `onabort`, once. The
 * engine and the server are real; of the player there is what the adapter touches.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { attachDash } from 'holdfast/dash';
import { engineFor, sleep } from './fixture.mjs';
import {
  answer,
  breakAt,
  breakOff,
  content,
  drip,
  file,
  hang,
  ok,
  page,
  reset,
  serve,
  stall,
} from './server.mjs';

const BODY = content(40_000);

/** A box of media. @param {string} type @param {number} size in bytes */
function box(type, size) {
  const bytes = content(size);
  bytes.writeUInt32BE(size, 0);
  bytes.write(type, 4, 'latin1');
  return bytes;
}

/** Four pieces, as a segment has them that is sent while it is made. */
const BOXES = Buffer.concat(
  [1, 2, 3, 4].flatMap((i) => [box('moof', 100 + i), box('mdat', 4000 + i)]),
);

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => {
  server = await serve();
});
after(() => server.close());

/** What `console.warn` was told. @type {string[]} */
let warnings = [];
const { warn } = console;
beforeEach(() => {
  warnings = [];
  console.warn = (...words) => void warnings.push(words.join(' '));
});
after(() => {
  console.warn = warn;
});

/** dash.js's own settings, as far as the adapter looks. */
const defaults = () => ({
  streaming: {
    fragmentRequestTimeout: 20_000,
    manifestRequestTimeout: 10_000,
    fragmentRequestProgressTimeout: -1,
    retryAttempts: {
      MPD: 3,
      XLinkExpansion: 1,
      InitializationSegment: 3,
      IndexSegment: 3,
      MediaSegment: 3,
      BitstreamSwitchingSegment: 3,
      FragmentInfoSegment: 3,
      license: 3,
      other: 3,
      lowLatencyMultiplyFactor: 5,
    },
    gaps: { smallGapLimit: 1.5 },
  },
});

/** @param {any} source @param {any} target */
function mix(source, target) {
  for (const [name, value] of Object.entries(source)) {
    if (value && typeof value === 'object') mix(value, target[name]);
    else target[name] = value;
  }
}

/** A player of dash.js, as far as the adapter looks. */
function fakePlayer() {
  /** @type {Map<string, Set<(event: any) => void>>} */
  const listeners = new Map();
  /** @type {Record<string, Function>} */
  const extensions = {};
  /** @type {((value: any) => any)[]} */
  const requestInterceptors = [];
  /** @type {((value: any) => any)[]} */
  const responseInterceptors = [];
  let settings = defaults();
  /** @type {string[]} */
  const own = [];
  const state = { ready: false, manifest: /** @type {object | null} */ (null) };
  const model = {
    getRequestInterceptors: () => requestInterceptors,
    getResponseInterceptors: () => responseInterceptors,
  };
  return {
    own,
    state,
    requestInterceptors,
    responseInterceptors,
    isReady: () => state.ready,
    getManifest: () => state.manifest,
    getVideoElement: () => null,
    getSettings: () => settings,
    updateSettings: (/** @type {object} */ change) => mix(change, settings),
    resetSettings: () => (settings = defaults()),
    extend(/** @type {string} */ name, /** @type {Function} */ factory) {
      extensions[name] ??= factory;
    },
    on(/** @type {string} */ name, /** @type {(event: any) => void} */ listener) {
      listeners.set(name, (listeners.get(name) ?? new Set()).add(listener));
    },
    off(/** @type {string} */ name, /** @type {(event: any) => void} */ listener) {
      listeners.get(name)?.delete(listener);
    },
    listening: () => [...listeners.values()].reduce((sum, { size }) => sum + size, 0),
    emit(/** @type {string} */ name, event = {}) {
      for (const listener of listeners.get(name) ?? []) listener(event);
    },
    removeRequestInterceptor(/** @type {(value: any) => any} */ interceptor) {
      const at = requestInterceptors.indexOf(interceptor);
      if (at >= 0) requestInterceptors.splice(at, 1);
    },
    /** The loader as dash.js makes it. */
    loader(name = 'XHRLoader') {
      const parent = {
        load: () => own.push(name),
        abort() {},
        reset() {},
        resetInitialSettings() {},
      };
      const factory = { getSingletonInstance: () => model };
      return { ...parent, ...extensions[name].call({ context: {}, factory, parent }) };
    },
  };
}

/** @typedef {ReturnType<typeof fakePlayer>} Player */

/** @param {any} engine @param {Player} player @param {object} [options] */
const attach = (engine, player, options) =>
  attachDash(engine, /** @type {any} */ (player), /** @type {any} */ (options));

/**
 * What dash.js's HTTPLoader hands to a loader, and what came of it.
 *
 * @param {string} url
 * @param {{ type?: string, mediaType?: string, timeout?: number, responseType?: string,
 *   headers?: Record<string, string>, on?: Record<string, (load: any) => void>, asked?: object }} [options]
 */
function exchange(url, options = {}) {
  const {
    type = 'MediaSegment',
    mediaType = 'video',
    timeout = 0,
    headers = {},
    on = {},
  } = options;
  /** @type {string[]} */
  const calls = [];
  /** @type {any[]} */
  const progress = [];
  const asked = { url, type, mediaType, headers, traces: [], serviceLocation: 'a', duration: 2 };
  /** @type {(value?: unknown) => void} */
  let settle = () => {};
  const settled = new Promise((resolve) => (settle = resolve));
  const load = {
    calls,
    progress,
    settled,
    asked: /** @type {any} */ (Object.assign(asked, options.asked)),
    request: {
      url,
      method: 'GET',
      responseType: options.responseType ?? 'arraybuffer',
      headers,
      credentials: 'omit',
      timeout,
      customData: /** @type {Record<string, any>} */ ({
        request: asked,
        onprogress: (/** @type {any} */ event) => {
          progress.push(event);
          on.progress?.(load);
        },
        ontimeout: () => calls.push('timeout'),
        onloadend: () => {
          calls.push('loadend');
          settle();
          on.loadend?.(load);
        },
        onabort: () => {
          calls.push('abort');
          settle();
          on.abort?.(load);
        },
      }),
    },
    response: /** @type {any} */ ({ status: 0, data: null, resourceTiming: { startTime: 0 } }),
  };
  return load;
}

/** Until a load waits between its attempts. @param {import('holdfast').Engine} engine */
async function waiting(engine) {
  while (Object.keys(engine.state.retryState).length === 0) await sleep(5);
}

/** Long enough for a second settlement to show. */
const AFTERMATH_MS = 120;

describe('a load settles once', () => {
  /** @typedef {ReturnType<typeof exchange>} Exchange */
  /**
   * @type {{ name: string, answers: import('./server.mjs').Answer[], calls: string[], status?: number,
   *   timeout?: number, on?: Record<string, (load: any) => void>, then?: (load: Exchange,
   *   parts: { engine: import('holdfast').Engine, loader: any }) => void | Promise<void> }[]}
   */
  const table = [
    { name: 'an answer', answers: [ok(BODY)], calls: ['loadend'], status: 200 },
    {
      name: 'an answer after a refusal with a body',
      answers: [answer(503, 'try later'), ok(BODY)],
      calls: ['loadend'],
      status: 200,
    },
    {
      name: 'an answer after a lost body',
      answers: [breakOff(BODY, 20_000), ok(BODY)],
      calls: ['loadend'],
      status: 200,
    },
    { name: 'a refusal', answers: [answer(403)], calls: ['loadend'], status: 403 },
    {
      name: 'a refusal with a body',
      answers: [answer(403, BODY)],
      calls: ['loadend'],
      status: 403,
    },
    { name: 'refusals to the last', answers: [answer(503)], calls: ['loadend'], status: 503 },
    { name: 'no connection', answers: [reset()], calls: ['loadend'], status: 0 },
    { name: 'a page in place of media', answers: [page()], calls: ['loadend'], status: 0 },
    { name: 'no headers in time', answers: [hang()], calls: ['timeout', 'loadend'], status: 0 },
    {
      name: 'a body that falls silent',
      answers: [stall(BODY, 9_000)],
      calls: ['timeout', 'loadend'],
      status: 0,
    },
    {
      name: "the app's own limit",
      answers: [stall(BODY, 9_000)],
      timeout: 60,
      calls: ['timeout', 'loadend'],
      status: 0,
    },
    {
      name: 'abort at once',
      answers: [ok(BODY)],
      calls: ['abort'],
      then: ({ request }) => request.customData.abort(),
    },
    {
      name: 'abort between attempts',
      answers: [answer(503, '', { 'retry-after': '5' })],
      calls: ['abort'],
      then: async ({ request }, { engine }) => {
        await waiting(engine);
        request.customData.abort();
      },
    },
    {
      name: 'abort within the body',
      answers: [stall(BOXES, 9_000)],
      calls: ['abort'],
      on: { progress: ({ request }) => request.customData.abort() },
    },
    {
      name: 'abort twice',
      answers: [hang()],
      calls: ['abort'],
      then: ({ request }) => (request.customData.abort(), request.customData.abort()),
    },
    {
      name: 'abort from within the abort',
      answers: [hang()],
      calls: ['abort'],
      on: { abort: ({ request }) => request.customData.abort() },
      then: ({ request }) => request.customData.abort(),
    },
    {
      name: 'abort at the last progress',
      answers: [ok(BOXES)],
      calls: ['abort'],
      on: { progress: ({ request }) => request.customData.abort() },
    },
    {
      name: 'abort after the end',
      answers: [ok(BODY)],
      calls: ['loadend'],
      status: 200,
      on: { loadend: ({ request }) => request.customData.abort() },
    },
    {
      name: 'abort after a refusal',
      answers: [answer(403)],
      calls: ['loadend'],
      status: 403,
      on: { loadend: ({ request }) => request.customData.abort() },
    },
    {
      name: 'abort of the loader',
      answers: [hang()],
      calls: ['abort'],
      then: (_, { loader }) => loader.abort(),
    },
    {
      name: 'reset of the loader',
      answers: [hang()],
      calls: ['abort'],
      then: (_, { loader }) => loader.reset(),
    },
    {
      // As HTTPLoader.abort() has it.
      name: 'abort with the callbacks taken away',
      answers: [hang()],
      calls: ['abort'],
      then: ({ request: { customData } }) => {
        customData.onloadend = customData.onprogress = undefined;
        customData.abort();
      },
    },
  ];

  for (const { name, answers, calls, status, timeout, on, then } of table) {
    for (const kind of ['XHRLoader', 'FetchLoader']) {
      test(`${name}, in ${kind}`, async (t) => {
        const ms = calls[0] === 'timeout' ? 250 : 5000;
        const limits = { headersTimeout: ms, firstHeadersTimeout: ms, stallTimeout: ms };
        const engine = await engineFor(t, { ...limits, attempts: 2, resume: false });
        const player = fakePlayer();
        t.after(attach(engine, player));
        const path = `/once/${encodeURIComponent(name)}/${kind}`;
        const load = exchange(server.on(path, ...answers), { timeout, on });
        const loader = player.loader(kind);
        loader.load(load.request, load.response);
        await then?.(load, { engine, loader });
        await load.settled;
        await sleep(AFTERMATH_MS);
        assert.deepEqual(load.calls, calls);
        if (status !== undefined) assert.equal(load.response.status, status);
      });
    }
  }
});

describe('an answer', () => {
  test('has the status, the headers, the URL and the data', async (t) => {
    const player = fakePlayer();
    t.after(attach(await engineFor(t), player));
    const load = exchange(server.on('/whole', ok(BODY, { 'x-served-by': 'edge' })));
    player.loader().load(load.request, load.response);
    await load.settled;
    const { status, headers, url, data } = load.response;
    assert.equal(status, 200);
    assert.equal(headers['x-served-by'], 'edge');
    assert.equal(url, load.request.url);
    assert.deepEqual(Buffer.from(data), BODY);
  });

  test('of another type is text or JSON', async (t) => {
    const player = fakePlayer();
    t.after(attach(await engineFor(t), player));
    const text = exchange(server.on('/text', ok('<MPD/>')), { type: 'MPD', responseType: '' });
    player.loader().load(text.request, text.response);
    await text.settled;
    assert.equal(text.response.data, '<MPD/>');
    const options = { type: 'ContentSteering', responseType: 'json' };
    const json = exchange(server.on('/json', ok('{"TTL":30}')), options);
    player.loader().load(json.request, json.response);
    await json.settled;
    assert.deepEqual(json.response.data, { TTL: 30 });
  });

  test('reaches those who look at the event, and who have no callbacks', async (t) => {
    const player = fakePlayer();
    t.after(attach(await engineFor(t), player));
    const url = server.on('/thumbnail', ok(BODY));
    const data = await new Promise((resolve) => {
      const customData = {
        onloadend: (/** @type {any} */ event) => resolve(event.target.response),
      };
      player.loader().load({ url, method: 'get', responseType: 'arraybuffer', customData }, {});
    });
    assert.deepEqual(Buffer.from(data), BODY);
    player.loader().load({ url, method: 'get', customData: {} }, {});
    await sleep(AFTERMATH_MS);
  });

  test('is measured from the attempt that won', async (t) => {
    const player = fakePlayer();
    const engine = await engineFor(t, { backoff: { base: 300, factor: 1, cap: 300 } });
    t.after(attach(engine, player));
    const load = exchange(server.on('/won', answer(503), answer(503), ok(BODY)), {
      // What dash.js has found of the first attempt.
      asked: { resourceTimingValues: { startTime: 0, transferSize: 300 } },
    });
    load.asked.traces = [{ b: [9] }];
    const before = Date.now();
    player.loader().load(load.request, load.response);
    await load.settled;
    await undefined;
    assert.equal(server.seen('/won').length, 3);
    const lost = server.seen('/won')[2].at - server.seen('/won')[0].at;
    assert.ok(load.asked.startDate - before >= lost - 50, 'it began with the first attempt');
    assert.ok(load.asked.firstByteDate >= load.asked.startDate);
    assert.equal(load.asked.resourceTimingValues, undefined);
    assert.deepEqual(load.asked.traces, []);
    assert.equal(load.progress.at(-1).loaded, BODY.byteLength);
  });
});

describe('the site of a request', () => {
  const table = /** @type {const} */ ([
    ['MPD', undefined, 'manifest'],
    ['XLinkExpansion', undefined, 'playlist'],
    ['InitializationSegment', 'video', 'init'],
    ['IndexSegment', 'video', 'init'],
    ['BitstreamSwitchingSegment', 'video', 'init'],
    ['MediaSegment', 'audio', 'segment'],
    ['FragmentInfoSegment', 'video', 'segment'],
    ['InitializationSegment', 'text', 'text-segment'],
    ['MediaSegment', 'text', 'text-segment'],
    ['ContentSteering', undefined, 'steering'],
    ['CmcdEvent', undefined, 'other'],
    ['other', undefined, 'other'],
  ]);
  for (const [type, mediaType, site] of table) {
    test(`${type}${mediaType ? ` of ${mediaType}` : ''} is ${site}`, async () => {
      assert.equal(await siteFor(fakePlayer(), { type, mediaType }), site);
    });
  }

  test('of a manifest that is there already is a reload', async () => {
    const player = fakePlayer();
    player.state.manifest = {};
    assert.equal(await siteFor(player, { type: 'MPD' }), 'playlist-reload');
  });

  /** @param {Player} player @param {{ type: string, mediaType?: string }} asked */
  async function siteFor(player, asked) {
    /** @type {any} */
    let request;
    const engine = stubEngine((given) => {
      request = given;
      return new Promise(() => {});
    });
    attach(engine, player);
    const load = exchange('http://media.test/file', asked);
    player.loader().load(load.request, load.response);
    return request.site;
  }
});

/** @param {(request: any) => Promise<any>} load */
function stubEngine(load) {
  const noop = () => {};
  return {
    load,
    state: { mode: 'engine' },
    subscribe: () => noop,
    reportPlayback: noop,
    declareAlternatives: noop,
  };
}

describe('a request is sent', () => {
  /** @param {string} kind @param {object} changes */
  function sent(kind, changes) {
    /** @type {any} */
    let request;
    const player = fakePlayer();
    const engine = stubEngine((given) => ((request = given), new Promise(() => {})));
    attach(engine, player);
    const load = exchange('http://media.test/file?sig=a%2Fb~c', { headers: { 'x-own': '1' } });
    player.loader(kind).load(Object.assign(load.request, changes), load.response);
    return request;
  }
  const credentials = /** @type {const} */ ([
    ['XHRLoader', 'include', 'include'],
    ['XHRLoader', 'omit', 'same-origin'],
    ['FetchLoader', 'include', 'include'],
    ['FetchLoader', 'omit', 'omit'],
  ]);
  for (const [kind, given, expected] of credentials) {
    test(`by ${kind} with the credentials it had: ${given} is ${expected}`, () => {
      assert.equal(sent(kind, { credentials: given }).init.credentials, expected);
    });
  }

  test('with its method, its body and its headers, to its URL byte by byte', () => {
    const { url, init } = sent('XHRLoader', {
      method: 'POST',
      body: 'beacon',
      headers: { 'x-own': '1', 'x-empty': '' },
    });
    assert.equal(url, 'http://media.test/file?sig=a%2Fb~c');
    assert.deepEqual([init.method, init.body], ['POST', 'beacon']);
    assert.deepEqual([...init.headers], [['x-own', '1']]);
  });
});

describe("dash.js's own retries", () => {
  const idle = () => stubEngine(() => new Promise(() => {}));

  test('are switched off, those of licenses apart, and come back', () => {
    const player = fakePlayer();
    const detach = attach(idle(), player);
    const { retryAttempts, ...streaming } = player.getSettings().streaming;
    const { license, lowLatencyMultiplyFactor, ...ours } = retryAttempts;
    assert.deepEqual([license, lowLatencyMultiplyFactor], [3, 5]);
    assert.deepEqual(new Set(Object.values(ours)), new Set([0]));
    assert.deepEqual([streaming.fragmentRequestTimeout, streaming.manifestRequestTimeout], [0, 0]);
    detach();
    assert.deepEqual(player.getSettings(), defaults());
    assert.equal(player.listening(), 0);
  });

  test('are switched off again after a reset', () => {
    const player = fakePlayer();
    const detach = attach(idle(), player);
    player.resetSettings();
    player.emit('manifestLoadingStarted');
    assert.equal(player.getSettings().streaming.retryAttempts.MPD, 0);
    detach();
    assert.deepEqual(player.getSettings(), defaults());
  });

  test("leave the app's own limits alone", () => {
    const player = fakePlayer();
    player.updateSettings({ streaming: { fragmentRequestTimeout: 7000 } });
    const detach = attach(idle(), player);
    assert.equal(player.getSettings().streaming.fragmentRequestTimeout, 7000);
    detach();
    assert.equal(player.getSettings().streaming.fragmentRequestTimeout, 7000);
  });

  test('warn once where they are switched on beside the engine', () => {
    const player = fakePlayer();
    attach(idle(), player);
    player.updateSettings({ streaming: { retryAttempts: { MediaSegment: 4 } } });
    for (let i = 0; i < 2; i++) {
      const load = exchange('http://media.test/file');
      player.loader().load(load.request, load.response);
    }
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /two retry layers .*streaming\.retryAttempts\.MediaSegment/);
  });

  test('stay where another extension came first', () => {
    const player = fakePlayer();
    player.extend('XHRLoader', () => ({}));
    attach(idle(), player);
    player.emit('manifestLoadingStarted');
    player.emit('manifestLoadingFinished');
    assert.match(warnings[0], /without Holdfast.*XHRLoader/);
    assert.deepEqual(player.getSettings(), defaults());
  });

  test('stay where the player loads already', () => {
    const player = fakePlayer();
    player.state.ready = true;
    attach(idle(), player);
    assert.match(warnings[0], /without Holdfast.*attachDash/);
    assert.deepEqual(player.getSettings(), defaults());
  });
});

describe('a player gets its own loader back', () => {
  test('when the adapter is taken off, and ours when it is put on again', async (t) => {
    const player = fakePlayer();
    const engine = await engineFor(t);
    const detach = attach(engine, player);
    const loader = player.loader();
    detach();
    const load = exchange(server.on('/off', ok(BODY)));
    loader.load(load.request, load.response);
    assert.deepEqual(player.own, ['XHRLoader']);
    assert.deepEqual(player.requestInterceptors, []);
    player.state.ready = true;
    t.after(attach(engine, player));
    loader.load(load.request, load.response);
    await load.settled;
    assert.deepEqual(player.own, ['XHRLoader']);
    assert.equal(load.response.status, 200);
  });

  test('when the engine has failed open', () => {
    const player = fakePlayer();
    /** @type {(state: { mode: string }) => void} */
    let tell = () => {};
    const engine = {
      ...stubEngine(() => new Promise(() => {})),
      subscribe: (/** @type {typeof tell} */ listener) => ((tell = listener), () => {}),
    };
    attach(engine, player);
    assert.equal(player.getSettings().streaming.retryAttempts.MPD, 0);
    tell({ mode: 'plain' });
    assert.deepEqual(player.getSettings(), defaults());
    const load = exchange('http://media.test/file');
    player.loader().load(load.request, load.response);
    assert.deepEqual(player.own, ['XHRLoader']);
    player.resetSettings();
    player.emit('manifestLoadingStarted');
    assert.deepEqual(player.getSettings(), defaults());
  });

  test('when the engine is destroyed under a load that has nothing yet', async (t) => {
    const player = fakePlayer();
    const engine = await engineFor(t);
    t.after(attach(engine, player));
    const load = exchange(server.on('/destroyed', hang()));
    player.loader().load(load.request, load.response);
    await sleep(50);
    engine.destroy();
    await sleep(50);
    assert.deepEqual(player.own, ['XHRLoader']);
    assert.deepEqual(load.calls, []);
  });
});

describe('interceptors', () => {
  test('run anew for each attempt, from what the request was', async (t) => {
    const player = fakePlayer();
    t.after(attach(await engineFor(t), player));
    let token = 0;
    player.requestInterceptors.push(async (request) => {
      request.headers['x-token'] = `t${++token}`;
      request.url += `?token=${token}`;
      return request;
    });
    const load = exchange(server.on('/fresh', answer(503), answer(503), ok(BODY)));
    await run(player, load);
    const seen = server.seen('/fresh');
    assert.deepEqual(
      seen.map(({ url, headers }) => `${url} ${headers['x-token']}`),
      ['/fresh?token=1 t1', '/fresh?token=2 t2', '/fresh?token=3 t3'],
    );
  });

  test('see the answers of lost attempts', async (t) => {
    const player = fakePlayer();
    t.after(attach(await engineFor(t), player));
    /** @type {number[]} */
    const statuses = [];
    player.responseInterceptors.push(async (response) => {
      statuses.push(response.status);
      return response;
    });
    const load = exchange(server.on('/seen', answer(500), answer(503), ok(BODY)));
    await run(player, load);
    assert.deepEqual(statuses, [500, 503]);
  });

  test('that throw do not end the load', async (t) => {
    const player = fakePlayer();
    t.after(attach(await engineFor(t), player));
    let calls = 0;
    player.requestInterceptors.push((request) => {
      if (calls++ > 0) throw new Error('broken');
      return request;
    });
    player.responseInterceptors.push(() => {
      throw new Error('broken');
    });
    const load = exchange(server.on('/broken-hook', answer(503), ok(BODY)));
    await run(player, load);
    assert.equal(load.response.status, 200);
    assert.equal(calls, 2);
  });

  test('keep the range of what is missing', async (t) => {
    const player = fakePlayer();
    t.after(attach(await engineFor(t, { headersTimeout: 2000 }), player));
    player.requestInterceptors.push(async (request) => ({ ...request, headers: { 'x-own': '1' } }));
    const etag = { etag: '"one"', 'accept-ranges': 'bytes' };
    const part = answer(206, BODY.subarray(20_000), {
      ...etag,
      'content-range': `bytes 20000-39999/40000`,
    });
    /** @type {import('./server.mjs').Answer} */
    const broken = (request, response) => {
      stall(BODY, 20_000, etag)(request, response);
      setTimeout(() => request.socket.destroy(), 60);
    };
    const load = exchange(server.on('/resumed', broken, part));
    await run(player, load);
    const [, second] = server.seen('/resumed');
    assert.equal(second.headers.range, 'bytes=20000-39999');
    assert.equal(second.headers['x-own'], '1');
    assert.deepEqual(Buffer.from(load.response.data), BODY);
  });

  /** As dash.js's HTTPLoader does. @param {Player} player @param {ReturnType<typeof exchange>} load */
  async function run(player, load) {
    const loader = player.loader();
    let request = load.request;
    for (const interceptor of player.requestInterceptors) request = await interceptor(request);
    loader.load(request, load.response);
    await load.settled;
  }
});

describe('a loader underneath', () => {
  test('carries each attempt', async (t) => {
    const player = fakePlayer();
    let calls = 0;
    /** @this {any} */
    function Underneath() {
      assert.equal(typeof this.parent.load, 'function');
      return {
        load(/** @type {any} */ request, /** @type {any} */ response) {
          const isLast = ++calls === 3;
          Object.assign(response, {
            status: isLast ? 200 : calls === 2 ? 0 : 503,
            headers: { 'x-peer': 'yes' },
            data: isLast ? new Uint8Array(BODY).buffer : null,
          });
          request.customData.onloadend();
        },
      };
    }
    t.after(attach(await engineFor(t), player, { loader: Underneath }));
    const load = exchange('http://nowhere.test/file');
    player.loader().load(load.request, load.response);
    await load.settled;
    assert.equal(calls, 3);
    assert.equal(load.response.url, 'http://nowhere.test/file');
    assert.equal(load.response.headers['x-peer'], 'yes');
    assert.deepEqual(Buffer.from(load.response.data), BODY);
  });

  test('is aborted with the load', async (t) => {
    const player = fakePlayer();
    let aborted = 0;
    const Underneath = () => ({
      load(/** @type {any} */ request) {
        request.customData.abort = () => aborted++;
      },
    });
    t.after(attach(await engineFor(t), player, { loader: Underneath }));
    const load = exchange('http://nowhere.test/file');
    player.loader().load(load.request, load.response);
    await sleep(20);
    load.request.customData.abort();
    assert.deepEqual([load.calls, aborted], [['abort'], 1]);
  });
});

describe('a segment that is sent while it is made', () => {
  /** @param {Player} player @param {ReturnType<typeof exchange>} load */
  async function passed(player, load) {
    player.loader('FetchLoader').load(load.request, load.response);
    await load.settled;
    return load.progress.filter(({ data }) => data).map(({ data }) => Buffer.from(data));
  }

  test('is passed on box by box, each byte once', async (t) => {
    const player = fakePlayer();
    t.after(attach(await engineFor(t), player));
    const rest = box('emsg', 60);
    const body = Buffer.concat([BOXES, rest]);
    const load = exchange(server.on('/boxes', drip(body, 23, 5)));
    const pieces = await passed(player, load);
    assert.deepEqual(pieces.map(({ byteLength }) => byteLength).slice(0, 1), [4102]);
    assert.ok(pieces.length > 1);
    assert.deepEqual(Buffer.concat([...pieces, Buffer.from(load.response.data)]), body);
    const last = load.progress.at(-1);
    assert.deepEqual([last.loaded, last.noTrace], [body.byteLength, undefined]);
  });

  test('never from the body of an error', async (t) => {
    const player = fakePlayer();
    t.after(attach(await engineFor(t), player));
    const load = exchange(server.on('/boxes-503', answer(503, BOXES), ok(BOXES)));
    const pieces = await passed(player, load);
    assert.deepEqual(Buffer.concat([...pieces, Buffer.from(load.response.data)]), BOXES);
  });

  test('goes on where it broke off', async (t) => {
    const player = fakePlayer();
    t.after(attach(await engineFor(t), player));
    const fault = breakAt(9_000);
    const headers = { etag: '"one"', 'access-control-expose-headers': '*' };
    const url = server.on('/boxes-cut', file(BOXES, headers, fault), file(BOXES, headers));
    const load = exchange(url, { on: { progress: () => fault.has(9_000) } });
    const pieces = await passed(player, load);
    assert.deepEqual(Buffer.concat([...pieces, Buffer.from(load.response.data)]), BOXES);
    assert.equal(server.seen('/boxes-cut').length, 2);
  });
});

describe('instead of a verdict that would end playback', () => {
  /** @param {any} error @param {object} asked @param {(player: Player) => void} [prepare] */
  async function answerTo(error, asked, prepare) {
    const player = fakePlayer();
    /** @type {Record<string, (number | undefined)[]>} */
    const declared = {};
    const engine = {
      ...stubEngine(() => Promise.reject(Object.assign(new Error('refused'), error))),
      declareAlternatives: (/** @type {string} */ site, /** @type {number} */ count) =>
        void (declared[site] ??= []).push(count),
    };
    attach(engine, player);
    prepare?.(player);
    const loader = player.loader();
    const next = async (more = {}) => {
      const load = exchange('http://media.test/file', { asked: { ...asked, ...more } });
      loader.load(load.request, load.response);
      await load.settled;
      return load;
    };
    return { player, declared, next, load: await next() };
  }
  const gone = { status: 404, class: 'not-found', reason: 'terminal' };
  const two = (/** @type {Player} */ player) =>
    player.emit('baseUrlsUpdated', {
      baseUrls: [
        { url: 'https://a.test/', serviceLocation: 'a' },
        { url: 'https://b.test/', serviceLocation: 'b' },
        { url: 'video/', serviceLocation: 'video/' },
      ],
    });

  test('a missing segment is empty, and the gap counts as one to cross', async () => {
    const { load, player } = await answerTo(gone, {});
    assert.equal(load.response.status, 200);
    assert.equal(load.response.data.byteLength, 0);
    assert.equal(player.getSettings().streaming.gaps.smallGapLimit, 2.5);
    player.emit('streamTeardownComplete');
    assert.equal(player.getSettings().streaming.gaps.smallGapLimit, 1.5);
  });

  test('not where more than three in a row are missing from a recording', async () => {
    const { next } = await answerTo(gone, {});
    const loads = [await next(), await next(), await next()];
    assert.deepEqual(
      loads.map(({ response }) => response.status),
      [200, 200, 404],
    );
  });

  test('without a limit in a live stream', async () => {
    const { next } = await answerTo(gone, {}, (player) =>
      player.emit('manifestLoaded', { data: { type: 'dynamic' } }),
    );
    for (let i = 0; i < 5; i++) assert.equal((await next()).response.status, 200);
  });

  test('not while there is another place, which is declared', async () => {
    const { load, declared, next } = await answerTo(gone, {}, two);
    assert.equal(load.response.status, 404);
    // Both of one URL: while it was under way, and after.
    assert.deepEqual(declared['http://media.test/file'], [1, undefined]);
    assert.deepEqual(declared['playlist-reload'], [0]);
    const other = await next({ serviceLocation: 'b' });
    assert.equal(other.response.status, 200);
    assert.deepEqual(declared['http://media.test/file']?.slice(2), [0, undefined]);
  });

  test('not for other failures, nor for what begins a stream', async () => {
    const busy = { status: 503, class: 'server-busy', reason: 'attempts' };
    assert.equal((await answerTo(busy, {})).load.response.status, 503);
    const init = { type: 'InitializationSegment' };
    assert.equal((await answerTo(gone, init)).load.response.status, 404);
  });

  test('a lost subtitle is an empty one', async () => {
    const asked = { mediaType: 'text', representation: { mediaInfo: { mimeType: 'text/vtt' } } };
    const { load } = await answerTo(gone, asked);
    assert.equal(new TextDecoder().decode(load.response.data), 'WEBVTT\n\n');
    const mp4 = await answerTo(gone, { mediaType: 'text' });
    assert.deepEqual([mp4.load.response.status, mp4.load.response.data.byteLength], [200, 0]);
  });

  test('a reload that the host cannot serve leaves the manifest as it is', async () => {
    const busy = { status: 503, class: 'server-busy', reason: 'hold-limit' };
    const reload = (/** @type {Player} */ player) => (player.state.manifest = {});
    const { load } = await answerTo(busy, { type: 'MPD' }, reload);
    assert.deepEqual([load.response.status, load.response.statusText], [204, 'No Content']);
    const over = await answerTo({ status: 410, reason: 'terminal' }, { type: 'MPD' }, reload);
    assert.equal(over.load.response.status, 410);
  });
});
