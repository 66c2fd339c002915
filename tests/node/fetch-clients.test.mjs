// @ts-check
/** `engine.fetch` given to libraries and to plain code, which know nothing of it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import axios from 'axios';
import ky, { HTTPError, TimeoutError } from 'ky';
import { engineFor, eventually, failureOf } from './fixture.mjs';
import { answer, content, hang, ok, redirect, reset, serve } from './server.mjs';

/** @typedef {{ after(fn: () => void): void }} Test */

const json = ok('{"a":1}', { 'content-type': 'application/json' });

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

/** How the requests for a path were answered, by count. @param {string} path */
const countOf = (path) => server.seen(path).length;

/** Whether the client has let go of the last request for a path. @param {string} path */
const wasClosed = (path) =>
  eventually(() => server.seen(path).at(-1)?.closedAt, `the request for ${path} is closed`);

describe('plain code', () => {
  /** @param {Test} t */
  const detached = async (t) => {
    const { fetch } = await engineFor(t);
    return fetch;
  };

  test('may take fetch off the engine', async (t) => {
    const fetch = await detached(t);
    const response = await fetch(server.on('/plain/detached.ts', answer(503), ok('media')));
    assert.equal(await response.text(), 'media');
    assert.equal(countOf('/plain/detached.ts'), 2);
  });

  test('has a Request with its headers sent again at each attempt', async (t) => {
    const fetch = await detached(t);
    const url = server.on('/plain/request.ts', reset(), answer(503), ok('media'));
    const request = new Request(url, { headers: { 'x-own': 'yes', range: 'bytes=0-4' } });
    assert.equal(await (await fetch(request)).text(), 'media');
    const seen = server.seen('/plain/request.ts');
    assert.deepEqual(
      seen.map(({ headers }) => [headers['x-own'], headers.range]),
      [1, 2, 3].map(() => ['yes', 'bytes=0-4']),
    );
  });

  test('has an init that counts before its Request', async (t) => {
    const fetch = await detached(t);
    const url = server.on('/plain/both', ok('made'));
    const request = new Request(url, { method: 'POST', body: 'a', headers: { 'x-own': 'a' } });
    await fetch(request, { method: 'PUT', body: 'b', headers: { 'x-own': 'b' } });
    const [{ method, headers, body }] = server.seen('/plain/both');
    assert.deepEqual([method, headers['x-own'], String(await body)], ['PUT', 'b', 'b']);
  });

  test('sends a form, once', async (t) => {
    const fetch = await detached(t);
    const form = new FormData();
    form.set('name', 'value');
    form.set('file', new Blob(['bytes']), 'a.bin');
    const response = await fetch(server.on('/plain/form', answer(503, 'busy')), {
      method: 'POST',
      body: form,
    });
    assert.deepEqual([response.status, await response.text()], [503, 'busy']);
    assert.equal(countOf('/plain/form'), 1);
    const [{ headers, body }] = server.seen('/plain/form');
    assert.match(headers['content-type'] ?? '', /^multipart\/form-data; boundary=/);
    assert.match(String(await body), /name="file"; filename="a\.bin"[^]*bytes/);
  });

  test('sends a stream, once', async (t) => {
    const fetch = await detached(t);
    const parts = ['one', 'two'].map((text) => new TextEncoder().encode(text));
    const body = new ReadableStream({
      pull(controller) {
        const part = parts.shift();
        if (part) controller.enqueue(part);
        else controller.close();
      },
    });
    const url = server.on('/plain/stream', answer(503), ok('made'));
    /** @type {RequestInit & { duplex: 'half' }} */
    const init = { method: 'POST', body, duplex: 'half' };
    const response = await fetch(url, init);
    assert.equal(response.status, 503);
    assert.equal(countOf('/plain/stream'), 1);
    assert.equal(String(await server.seen('/plain/stream')[0].body), 'onetwo');
  });

  test('has AbortSignal.timeout end a request, with its own reason', async (t) => {
    const fetch = await detached(t);
    const url = server.on('/plain/timeout.ts', hang());
    const error = await failureOf(fetch(url, { signal: AbortSignal.timeout(100) }));
    assert.equal(error.name, 'TimeoutError');
    await wasClosed('/plain/timeout.ts');
    assert.equal(countOf('/plain/timeout.ts'), 1);
  });

  test('has keepalive and HEAD', async (t) => {
    const fetch = await detached(t);
    const url = server.on('/plain/keep', answer(200, undefined, { 'content-length': 5 }));
    const response = await fetch(url, { method: 'HEAD', keepalive: true });
    assert.equal(response.headers.get('content-length'), '5');
    assert.equal(await response.text(), '');
    assert.equal(server.seen('/plain/keep')[0].method, 'HEAD');
  });

  test('sees where a redirection led, also in a clone', async (t) => {
    const fetch = await detached(t);
    server.on('/plain/there', json);
    const response = await fetch(server.on('/plain/here', redirect('/plain/there')));
    const clone = response.clone();
    for (const one of [response, clone]) {
      assert.deepEqual([one.redirected, one.url], [true, `${server.origin}/plain/there`]);
      assert.deepEqual(await one.json(), { a: 1 });
    }
  });

  test('reads data: and blob: URLs', async (t) => {
    const fetch = await detached(t);
    const data = await fetch('data:text/plain;charset=utf-8,over%20here');
    assert.equal(data.headers.get('content-type'), 'text/plain;charset=utf-8');
    assert.equal(await data.text(), 'over here');
    const url = URL.createObjectURL(new Blob(['in here'], { type: 'video/mp4' }));
    t.after(() => URL.revokeObjectURL(url));
    const blob = await fetch(url);
    assert.deepEqual([blob.status, await blob.text()], [200, 'in here']);
  });

  test('is refused what fetch refuses: a TypeError, and nothing is sent', async (t) => {
    const fetch = await detached(t);
    const url = server.on('/plain/refused', ok(''));
    const error = await failureOf(fetch(url, { method: 'GET', body: 'a' }));
    assert.ok(error instanceof TypeError);
    assert.equal(countOf('/plain/refused'), 0);
  });

  test('has a request without a known ending sent once', async (t) => {
    const fetch = await detached(t);
    const response = await fetch(server.on('/plain/api', answer(503), json));
    assert.equal(response.status, 503);
    assert.equal(countOf('/plain/api'), 1);
  });
});

describe('ky', () => {
  /** @param {Test} t @param {import('ky').Options} [options] */
  const clientOf = async (t, options) => {
    const { fetch } = await engineFor(t);
    return ky.create({ prefixUrl: server.origin, fetch, retry: 0, ...options });
  };

  test('gets JSON', async (t) => {
    server.on('/ky/json', json);
    const api = await clientOf(t);
    assert.deepEqual(await api('ky/json', { searchParams: { q: 'a b' } }).json(), { a: 1 });
    assert.equal(server.seen('/ky/json')[0].url, '/ky/json?q=a+b');
  });

  test('leaves the retries of media to the engine, and runs its hooks once', async (t) => {
    server.on('/ky/media.m4s', answer(503), reset(), ok(content(70_000)));
    /** @type {string[]} */
    const ran = [];
    const api = await clientOf(t, {
      hooks: {
        beforeRequest: [(request) => void request.headers.set('x-own', ran.push('before') + '')],
        beforeRetry: [() => void ran.push('retry')],
        afterResponse: [(_request, _options, response) => void ran.push(`${response.status}`)],
      },
    });
    const bytes = await api('ky/media.m4s').arrayBuffer();
    assert.deepEqual(Buffer.from(bytes), content(70_000));
    assert.deepEqual(ran, ['before', '200']);
    const sent = server.seen('/ky/media.m4s').map(({ headers }) => headers['x-own']);
    assert.deepEqual(sent, ['1', '1', '1']);
  });

  test('passes the site of a request on', async (t) => {
    server.on('/ky/unknown', answer(503), ok('media'));
    const api = await clientOf(t);
    const options = /** @type {import('ky').Options} */ ({ site: 'segment' });
    assert.equal(await api('ky/unknown', options).text(), 'media');
  });

  for (const path of ['ky/refused', 'ky/refused.m4s']) {
    test(`has an HTTPError of the last answer for ${path}`, async (t) => {
      server.on(`/${path}`, answer(403, '{"why":"geo"}', { 'content-type': 'application/json' }));
      const api = await clientOf(t);
      const error = await failureOf(api(path).json());
      assert.ok(error instanceof HTTPError);
      assert.equal(error.response.status, 403);
      assert.deepEqual(await error.response.json(), { why: 'geo' });
      assert.equal(countOf(`/${path}`), 1);
    });
  }

  test('has its time-out end the request', async (t) => {
    server.on('/ky/slow.m4s', hang());
    const api = await clientOf(t, { timeout: 150 });
    const error = await failureOf(api('ky/slow.m4s').text());
    assert.ok(error instanceof TimeoutError);
    await wasClosed('/ky/slow.m4s');
  });

  test('has its own signal end the request', async (t) => {
    server.on('/ky/aborted.m4s', hang());
    const api = await clientOf(t);
    const controller = new AbortController();
    const failure = failureOf(api('ky/aborted.m4s', { signal: controller.signal }).text());
    await eventually(() => countOf('/ky/aborted.m4s'));
    controller.abort();
    assert.equal((await failure).name, 'AbortError');
    await wasClosed('/ky/aborted.m4s');
  });

  test('posts JSON once, whatever comes back', async (t) => {
    server.on('/ky/post', answer(503));
    const api = await clientOf(t);
    const error = await failureOf(api.post('ky/post', { json: { a: 1 } }).json());
    assert.equal(error.response.status, 503);
    assert.equal(countOf('/ky/post'), 1);
    assert.equal(String(await server.seen('/ky/post')[0].body), '{"a":1}');
  });

  test('follows the progress of a download', async (t) => {
    server.on('/ky/progress.m4s', ok(content(300_000)));
    const api = await clientOf(t);
    /** @type {number[]} */
    const loaded = [];
    const onDownloadProgress = (/** @type {{ transferredBytes: number }} */ progress) =>
      void loaded.push(progress.transferredBytes);
    await api('ky/progress.m4s', { onDownloadProgress }).arrayBuffer();
    assert.equal(loaded.at(-1), 300_000);
  });
});

describe('axios', () => {
  /** @param {Test} t */
  const clientOf = async (t) => {
    const { fetch } = await engineFor(t);
    // Its type of `Response` is not quite that of TypeScript's own library.
    const env = /** @type {any} */ ({ fetch, Request, Response });
    return axios.create({ baseURL: server.origin, adapter: 'fetch', env });
  };

  test('gets JSON', async (t) => {
    server.on('/axios/json', json);
    const api = await clientOf(t);
    const { data, status, headers } = await api.get('/axios/json', { params: { q: 'a b' } });
    assert.deepEqual([data, status], [{ a: 1 }, 200]);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(server.seen('/axios/json')[0].url, '/axios/json?q=a+b');
  });

  test('leaves the retries of media to the engine, and runs its interceptors once', async (t) => {
    server.on('/axios/media.m4s', answer(503), reset(), ok(content(70_000)));
    const api = await clientOf(t);
    let ran = 0;
    api.interceptors.request.use((config) => {
      config.headers.set('x-own', String((ran += 1)));
      return config;
    });
    /** @type {number[]} */
    const loaded = [];
    const { data } = await api.get('/axios/media.m4s', {
      responseType: 'arraybuffer',
      onDownloadProgress: (progress) => void loaded.push(progress.loaded),
    });
    assert.deepEqual(Buffer.from(data), content(70_000));
    assert.equal(loaded.at(-1), 70_000);
    const sent = server.seen('/axios/media.m4s').map(({ headers }) => headers['x-own']);
    assert.deepEqual(sent, ['1', '1', '1']);
  });

  test('has an error of the last answer', async (t) => {
    server.on('/axios/refused.m4s', answer(410, '{"why":"gone"}'));
    const api = await clientOf(t);
    const error = await failureOf(api.get('/axios/refused.m4s'));
    assert.ok(axios.isAxiosError(error));
    assert.equal(error.code, 'ERR_BAD_REQUEST');
    assert.deepEqual([error.response?.status, error.response?.data], [410, { why: 'gone' }]);
    assert.equal(countOf('/axios/refused.m4s'), 1);
  });

  test('has a network error where nothing answers', async (t) => {
    server.on('/axios/reset', reset());
    const api = await clientOf(t);
    const error = await failureOf(api.get('/axios/reset'));
    assert.ok(axios.isAxiosError(error));
    assert.equal(error.response, undefined);
    assert.equal(countOf('/axios/reset'), 1);
  });

  test('has its time-out end the request', async (t) => {
    server.on('/axios/slow.m4s', hang());
    const api = await clientOf(t);
    const error = await failureOf(api.get('/axios/slow.m4s', { timeout: 150 }));
    assert.equal(error.code, 'ETIMEDOUT');
    await wasClosed('/axios/slow.m4s');
  });

  test('has its own signal end the request', async (t) => {
    server.on('/axios/aborted.m4s', hang());
    const api = await clientOf(t);
    const controller = new AbortController();
    const failure = failureOf(api.get('/axios/aborted.m4s', { signal: controller.signal }));
    await eventually(() => countOf('/axios/aborted.m4s'));
    controller.abort();
    assert.equal((await failure).code, 'ERR_CANCELED');
    await wasClosed('/axios/aborted.m4s');
  });

  test('posts a form once, whatever comes back', async (t) => {
    server.on('/axios/form', answer(503));
    const api = await clientOf(t);
    // `postForm` would send a form of Node's package of that name, which its own fetch cannot read.
    const form = new FormData();
    form.set('name', 'value');
    const error = await failureOf(api.post('/axios/form', form));
    assert.equal(error.response.status, 503);
    assert.equal(countOf('/axios/form'), 1);
    assert.match(String(await server.seen('/axios/form')[0].body), /name="name"\r\n\r\nvalue/);
  });
});
