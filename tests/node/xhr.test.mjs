// @ts-check
// The face that adapters put on a player's own XMLHttpRequest: what goes in, what comes out, and
// when the real one is used. Node has none, so here it is one that only writes down; the real one is
// tested in a browser (tests/browser/license.test.mjs).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { faceLicense, faceXhr, fetchSetUp } from '../../js/adapters/xhr.js';
import { engineFor, eventually, failureOf } from './fixture.mjs';
import { answer, hang, ok, redirect, reset, serve, stall, truncate } from './server.mjs';

/** @typedef {import('holdfast').Engine} Engine */

class FakeXhr extends EventTarget {
  responseType = '';
  withCredentials = false;
  timeout = 0;
  readyState = 0;
  /** @type {any[][]} what was done to it */
  done = [];
  /** @param {...any} args */
  open(...args) {
    this.readyState = 1;
    this.done.push(['open', ...args]);
  }
  /** @param {...any} args */
  setRequestHeader(...args) {
    this.done.push(['setRequestHeader', ...args]);
  }
  /** @param {...any} args */
  send(...args) {
    this.done.push(['send', ...args]);
  }
}

class FakeProgressEvent extends Event {
  /** @param {string} type @param {{ loaded: number }} init */
  constructor(type, { loaded }) {
    super(type);
    this.loaded = loaded;
  }
}

const scope = /** @type {any} */ (globalThis);
const usual = { XMLHttpRequest: scope.XMLHttpRequest, ProgressEvent: scope.ProgressEvent };
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => {
  server = await serve();
  Object.assign(scope, { XMLHttpRequest: FakeXhr, ProgressEvent: FakeProgressEvent });
});
after(() => {
  Object.assign(scope, usual);
  return server.close();
});

const EVENTS = ['readystatechange', 'load', 'error', 'timeout', 'abort', 'loadend'];
const busy = answer(503, 'busy');

/** @returns {XMLHttpRequest & { done: any[][] }} */
const make = () => /** @type {any} */ (new FakeXhr());

/**
 * An XMLHttpRequest with its face, and what it fires.
 *
 * @param {Pick<Engine, 'load'>} engine
 * @param {Partial<XMLHttpRequest>} [fields]
 */
function faced(engine, fields) {
  const xhr = Object.assign(make(), fields);
  const face = faceXhr(xhr, (request) => engine.load({ ...request, site: 'license' }));
  /** @type {string[]} */
  const fired = [];
  for (const name of EVENTS) xhr.addEventListener(name, () => fired.push(name));
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => xhr.addEventListener('loadend', () => resolve()));
  return { xhr, face, fired, ended };
}

/** @param {string} path */
const bodiesOf = (path) => Promise.all(server.seen(path).map(({ body }) => body));

describe('an XMLHttpRequest with a face', { concurrency: true }, () => {
  test('sends what was said, and tells of the answer as the real one does', async (t) => {
    const engine = await engineFor(t);
    const { xhr, fired, ended } = faced(engine, { responseType: 'arraybuffer' });
    assert.throws(() => xhr.setRequestHeader('x-auth', 'early'), { name: 'InvalidStateError' });
    assert.throws(() => xhr.send('early'), { name: 'InvalidStateError' });
    assert.equal(xhr.readyState, 0);
    server.on('/moved', ok('keys', { 'x-one': '1' }));
    xhr.open('POST', server.on('/license', redirect('/moved')));
    xhr.setRequestHeader('x-auth', 'dropped');
    xhr.open('POST', server.on('/license', answer(307, '', { location: '/moved' })));
    xhr.setRequestHeader('x-auth', 'a');
    xhr.setRequestHeader('x-auth', 'b');
    assert.deepEqual([xhr.readyState, xhr.status, xhr.response], [1, 0, null]);
    xhr.send('challenge');
    assert.throws(() => xhr.send('twice'), { name: 'InvalidStateError' });
    assert.throws(() => xhr.setRequestHeader('x', 'late'), { name: 'InvalidStateError' });
    await ended;
    assert.deepEqual(fired, ['readystatechange', 'load', 'loadend']);
    assert.deepEqual([xhr.readyState, xhr.status, xhr.statusText], [4, 200, 'OK']);
    assert.equal(xhr.responseURL, `${server.origin}/moved`);
    assert.equal(Buffer.from(xhr.response).toString(), 'keys');
    assert.equal(xhr.getResponseHeader('X-One'), '1');
    assert.equal(xhr.getResponseHeader('x-none'), null);
    assert.match(xhr.getAllResponseHeaders(), /^x-one: 1\r$/m);
    const [{ method, headers }] = server.seen('/license');
    assert.deepEqual([method, headers['x-auth']], ['POST', 'a, b']);
    assert.deepEqual((await bodiesOf('/license')).map(String), ['challenge']);
    assert.deepEqual(xhr.done, [], 'the real one was not touched');
  });

  test('sends the same bytes at each attempt, though they are written over', async (t) => {
    const engine = await engineFor(t);
    const { xhr, ended } = faced(engine);
    xhr.open('POST', server.on('/bytes', busy, reset(), ok('keys')));
    const bytes = Uint8Array.of(0, 1, 2, 250, 251, 252);
    xhr.send(bytes.subarray(1, 5));
    bytes.fill(9);
    await ended;
    assert.equal(xhr.status, 200);
    const same = Buffer.from([1, 2, 250, 251]);
    assert.deepEqual(await bodiesOf('/bytes'), [same, same, same]);
  });

  /** @type {Array<[XMLHttpRequestResponseType, string, unknown]>} */
  const types = [
    ['', 'käys', 'käys'],
    ['text', 'käys', 'käys'],
    ['json', '{"keys":[]}', { keys: [] }],
    ['json', 'no json', null],
  ];
  for (const [i, [responseType, body, expected]] of types.entries()) {
    test(`gives '${responseType}' as ${JSON.stringify(expected)}`, async (t) => {
      const { xhr, ended } = faced(await engineFor(t), { responseType });
      xhr.open('POST', server.on(`/type-${i}`, ok(body)));
      xhr.send();
      await ended;
      assert.deepEqual(xhr.response, expected);
      if (responseType === 'json') assert.throws(() => xhr.responseText);
      else assert.equal(xhr.responseText, expected);
    });
  }

  test('gives a blob', async (t) => {
    const { xhr, ended } = faced(await engineFor(t), { responseType: 'blob' });
    xhr.open('POST', server.on('/blob', ok('keys')));
    xhr.send();
    await ended;
    assert.equal(await xhr.response.text(), 'keys');
  });

  test('sends no body with GET', async (t) => {
    const { xhr, ended } = faced(await engineFor(t));
    xhr.open('get', server.on('/get', ok('keys')));
    xhr.send('ignored');
    await ended;
    assert.equal(xhr.status, 200);
    assert.equal(server.seen('/get')[0].method, 'GET');
  });

  test('knows credentials by withCredentials', async (t) => {
    const engine = await engineFor(t);
    for (const [withCredentials, credentials] of /** @type {const} */ ([
      [true, 'include'],
      [false, 'same-origin'],
    ])) {
      const { xhr, face } = faced(engine, { withCredentials });
      assert.throws(() => face.toFetch(), { name: 'InvalidStateError' });
      xhr.open('POST', 'https://license.example/');
      const [url, init] = face.toFetch('body');
      assert.equal(url, 'https://license.example/');
      assert.deepEqual([init.method, init.credentials, init.body], ['POST', credentials, 'body']);
    }
  });

  test('tells a verdict with a status as an answer, with the body of the refusal', async (t) => {
    const { xhr, fired, ended } = faced(await engineFor(t));
    xhr.open('POST', server.on('/refused', answer(503, 'sold out', { 'x-why': 'quota' })));
    xhr.send('challenge');
    await ended;
    assert.deepEqual(fired, ['readystatechange', 'load', 'loadend']);
    assert.deepEqual([xhr.status, xhr.responseText], [503, 'sold out']);
    assert.equal(xhr.getResponseHeader('x-why'), 'quota');
    assert.match(xhr.statusText, /the server answered 503 \(attempts: 3\)/);
    assert.equal(server.seen('/refused').length, 3);
  });

  test('waits half a second at most for the body of a refusal', async (t) => {
    const { xhr, ended } = faced(await engineFor(t));
    const [first, length] = [Buffer.from('sold'), { 'content-length': 8 }];
    xhr.open(
      'POST',
      server.on('/half', (_, response) => {
        response.writeHead(404, length);
        response.write(first);
      }),
    );
    xhr.send('challenge');
    await ended;
    assert.deepEqual([xhr.status, xhr.responseText], [404, 'sold']);
  });

  test('tells a dead network as an error', async (t) => {
    const { xhr, fired, ended } = faced(await engineFor(t));
    xhr.open('POST', server.on('/dead', busy, reset()));
    xhr.send('challenge');
    await ended;
    assert.deepEqual(fired, ['readystatechange', 'error', 'loadend']);
    assert.deepEqual([xhr.readyState, xhr.status, xhr.response], [4, 0, '']);
    assert.equal(server.seen('/dead').length, 3);
  });

  test('tells a body that was lost each time as an error, and not as a success', async (t) => {
    const { xhr, fired, ended } = faced(await engineFor(t));
    xhr.open('POST', server.on('/lost', truncate(Buffer.from('keys keys'), 4)));
    xhr.send('challenge');
    await ended;
    assert.deepEqual(fired, ['readystatechange', 'error', 'loadend']);
    assert.equal(xhr.status, 0);
  });

  test('bounds each attempt by its timeout', async (t) => {
    const { xhr, fired, ended } = faced(await engineFor(t), { timeout: 1000 });
    xhr.open('POST', server.on('/slow', hang(), stall(Buffer.from('keys keys'), 4), ok('keys')));
    xhr.send('challenge');
    await ended;
    assert.deepEqual([xhr.status, xhr.response], [200, 'keys']);
    assert.deepEqual(fired, ['readystatechange', 'load', 'loadend']);
  });

  test('tells silence as a timeout', async (t) => {
    const engine = await engineFor(t, {
      attempts: 2,
      headersTimeout: 300,
      firstHeadersTimeout: 300,
    });
    const own = await engineFor(t, { attempts: 2 });
    for (const [i, { xhr, fired, ended }] of [
      faced(engine),
      faced(own, { timeout: 300 }),
    ].entries()) {
      xhr.open('POST', server.on(`/silent-${i}`, hang()));
      xhr.send('challenge');
      await ended;
      assert.deepEqual(fired, ['readystatechange', 'timeout', 'loadend']);
      assert.equal(xhr.status, 0);
      assert.match(xhr.statusText, /attempts: 2/);
    }
  });

  test('aborts the load, and is not taken for one that has an answer', async (t) => {
    const { xhr, fired } = faced(await engineFor(t));
    xhr.abort();
    xhr.open('POST', server.on('/aborted', hang()));
    xhr.send('challenge');
    await eventually(() => server.seen('/aborted').length);
    xhr.abort();
    assert.deepEqual(fired, ['abort', 'loadend']);
    assert.equal(xhr.readyState, 0);
    await eventually(() => server.seen('/aborted')[0].closedAt);
    xhr.abort();
    assert.deepEqual(fired, ['abort', 'loadend']);
  });

  test('forgets its answer where it is aborted afterwards, and fires nothing', async (t) => {
    const { xhr, fired, ended } = faced(await engineFor(t));
    xhr.open('POST', server.on('/forgotten', ok('keys')));
    xhr.send('challenge');
    await ended;
    xhr.abort();
    assert.deepEqual([xhr.readyState, xhr.status, xhr.response], [0, 0, '']);
    assert.deepEqual(fired, ['readystatechange', 'load', 'loadend']);
  });

  test('can be used again', async (t) => {
    const { xhr, fired } = faced(await engineFor(t));
    for (const body of ['first', 'second']) {
      xhr.open('POST', server.on(`/${body}`, ok(body)));
      assert.deepEqual([xhr.status, xhr.response], [0, '']);
      xhr.send('challenge');
      await eventually(() => xhr.response === body);
    }
    assert.equal(fired.filter((name) => name === 'load').length, 2);
  });

  test('that has its face keeps it', async (t) => {
    const { xhr, face } = faced(await engineFor(t));
    xhr.open('POST', 'https://license.example/');
    assert.equal(
      faceXhr(xhr, () => assert.fail('not this one')),
      face,
    );
    assert.equal(xhr.readyState, 1);
  });
});

describe('the real XMLHttpRequest is used', () => {
  const url = 'https://license.example/';
  /** @type {Array<[string, any[]]>} */
  const refused = [
    ['for a synchronous request', ['POST', url, false, undefined, undefined]],
    ['for a user', ['POST', url, true, 'me', 'secret']],
    ['for a method that only it may refuse', ['CONNECT', url, true, undefined, undefined]],
    ['for a user in the URL', ['POST', 'https://me@license.example/', true, undefined, undefined]],
  ];
  for (const [what, args] of refused) {
    test(what, () => {
      const { xhr } = faced({ load: () => assert.fail('not through the engine') });
      xhr.open(.../** @type {[string, string, boolean]} */ (args));
      xhr.setRequestHeader('x-auth', 'a');
      xhr.send('challenge');
      assert.deepEqual(xhr.done, [
        ['open', ...args],
        ['setRequestHeader', 'x-auth', 'a'],
        ['send', 'challenge'],
      ]);
    });
  }

  test('where the engine is gone', async (t) => {
    const engine = await engineFor(t);
    engine.destroy();
    const { xhr, fired } = faced(engine);
    xhr.open('POST', url);
    xhr.setRequestHeader('x-auth', 'a');
    xhr.send('challenge');
    await eventually(() => xhr.done.length === 3);
    assert.deepEqual(xhr.done, [
      ['open', 'POST', url],
      ['setRequestHeader', 'x-auth', 'a'],
      ['send', 'challenge'],
    ]);
    assert.deepEqual(fired, []);
  });

  test('but never after an attempt was sent', async (t) => {
    const engine = await engineFor(t);
    const { xhr, fired, ended } = faced(engine);
    xhr.open('POST', server.on('/destroyed', hang()));
    xhr.send('challenge');
    await eventually(() => server.seen('/destroyed').length);
    engine.destroy();
    await ended;
    assert.deepEqual(fired, ['readystatechange', 'error', 'loadend']);
    assert.deepEqual(xhr.done, []);
  });

  test('for licenses, where the engine has failed open', () => {
    const engine = { load: () => assert.fail('not through the engine') };
    const xhr = make();
    faceLicense({ ...engine, state: /** @type {any} */ ({ mode: 'plain' }) }, xhr);
    xhr.open('POST', url);
    assert.deepEqual(xhr.done, [['open', 'POST', url]]);
  });
});

describe('a request that is set up on an XMLHttpRequest', { concurrency: true }, () => {
  /**
   * @param {Engine} engine
   * @param {string} url
   * @param {Parameters<typeof fetchSetUp>[1]} setUp
   * @param {RequestInit} [init]
   */
  const load = (engine, url, setUp, init = {}) => {
    const controller = new AbortController();
    const { signal } = controller;
    const fetch = fetchSetUp(controller, setUp);
    return engine.load({ url, site: 'segment', responseType: 'text', signal, fetch, init });
  };

  test('is set up anew at each attempt, and may go elsewhere', async (t) => {
    let count = 0;
    server.on('/elsewhere', busy, ok('media'));
    const loaded = await load(
      await engineFor(t),
      server.on('/here', ok('no')),
      async (xhr, url) => {
        assert.equal(url, `${server.origin}/here`);
        await null;
        xhr.open('GET', `${server.origin}/elsewhere?n=${(count += 1)}`);
        xhr.setRequestHeader('x-auth', `token-${count}`);
      },
    );
    assert.equal(loaded.data, 'media');
    assert.equal(server.seen('/here').length, 0);
    assert.deepEqual(
      server.seen('/elsewhere').map(({ url, headers }) => [url, headers['x-auth']]),
      [
        ['/elsewhere?n=1', 'token-1'],
        ['/elsewhere?n=2', 'token-2'],
      ],
    );
  });

  test('is opened, and set up again, where the set-up needs it', async (t) => {
    /** @type {number[]} */
    const states = [];
    await load(await engineFor(t), server.on('/opened', ok('media')), (xhr) => {
      states.push(xhr.readyState);
      xhr.setRequestHeader('x-auth', 'a');
    });
    assert.deepEqual(states, [0, 1]);
    assert.equal(server.seen('/opened')[0].headers['x-auth'], 'a');
  });

  test('keeps the headers of the player and of the engine', async (t) => {
    await load(
      await engineFor(t),
      server.on('/ranged', answer(206, 'media', { 'content-range': 'bytes 2-6/9' })),
      (xhr, url) => {
        xhr.open('GET', url);
        xhr.setRequestHeader('range', 'bytes=0-');
        xhr.setRequestHeader('x-auth', 'a');
      },
      { headers: { range: 'bytes=2-6', 'x-own': 'b' } },
    );
    const [{ headers }] = server.seen('/ranged');
    assert.deepEqual([headers.range, headers['x-auth'], headers['x-own']], ['bytes=2-6', 'a', 'b']);
  });

  test('ends the load with what the set-up throws twice', async (t) => {
    let count = 0;
    const url = server.on('/thrown', ok('media'));
    const error = await failureOf(
      load(await engineFor(t), url, () => {
        count += 1;
        throw new Error('broken');
      }),
    );
    assert.equal(error.message, 'broken');
    assert.equal(count, 2);
    assert.equal(server.seen('/thrown').length, 0);
  });

  test('ends the load where only the real one could send it', async (t) => {
    const url = server.on('/user', ok('media'));
    const setUp = (/** @type {XMLHttpRequest} */ xhr) => xhr.open('GET', url, true, 'me', 'secret');
    const error = await failureOf(load(await engineFor(t), url, setUp));
    assert.match(error.message, /none that fetch can send/);
    assert.equal(server.seen('/user').length, 0);
  });

  test('is not sent once the attempt is cut', async (t) => {
    const engine = await engineFor(t, { headersTimeout: 500, firstHeadersTimeout: 500 });
    let count = 0;
    const url = server.on('/late', ok('media'));
    const loaded = await load(engine, url, () => {
      count += 1;
      return count === 1 ? new Promise((resolve) => setTimeout(resolve, 800)) : undefined;
    });
    assert.equal(loaded.data, 'media');
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(server.seen('/late').length, 1);
  });
});
