// @ts-check
// Which failures are tried again, how often, and when.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bytesOf, engineFor, failureOf } from './fixture.mjs';
import { after as later, answer, content, hang, ok, reset, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(30_000);

/** @param {any} data */
const bytes = (data) => Buffer.from(data);

describe('retries', { concurrency: true }, () => {
  test('R8: 503, 503, 200 resolves with the third, in every shape', async (t) => {
    const engine = await engineFor(t);
    const twice = [answer(503, 'busy'), answer(503, 'busy'), ok(MEDIA)];
    const url = (/** @type {string} */ way) => server.on(`/three-${way}.mp4`, ...twice);
    assert.deepEqual(bytes((await engine.load({ url: url('load') })).data), MEDIA);
    assert.deepEqual(await bytesOf(await engine.fetchBytes({ url: url('bytes') })), MEDIA);
    const response = await engine.fetch(url('fetch'));
    assert.deepEqual(bytes(await response.arrayBuffer()), MEDIA);
    assert.equal((await engine.fetchText({ url: url('text') })).length > 0, true);
    for (const way of ['load', 'bytes', 'fetch', 'text']) {
      assert.equal(server.seen(`/three-${way}.mp4`).length, 3, way);
    }
  });

  test('R24: a reset before headers is tried again', async (t) => {
    const url = server.on('/reset.mp4', reset(), reset(), ok(MEDIA));
    const engine = await engineFor(t);
    const { data, attempts } = await engine.load({ url });
    assert.deepEqual(bytes(data), MEDIA);
    assert.equal(attempts, 3);
  });

  test('R17: headers that do not come in time are given up, and the next attempt counts', async (t) => {
    const url = server.on('/late.mp4', hang(), ok(MEDIA));
    const engine = await engineFor(t, { headersTimeout: 600 });
    const before = performance.now();
    const { data, attempts } = await engine.load({ url });
    assert.ok(performance.now() - before >= 600);
    assert.deepEqual(bytes(data), MEDIA);
    assert.equal(attempts, 2);
    const [first] = server.seen('/late.mp4');
    assert.ok(first.closedAt, 'the first request was let go');
  });

  test('R11: a time-out of all attempts is TIMEOUT, never an AbortError', async (t) => {
    const url = server.on('/never.mp4', hang());
    const engine = await engineFor(t, { headersTimeout: 600, attempts: 2 });
    const error = await failureOf(engine.fetch(url));
    assert.equal(error.name, 'RequestError');
    assert.equal(error.code, 'TIMEOUT');
    assert.equal(error.svta, 3002);
    assert.equal(error.status, 0);
    assert.equal(Math.round(error.limit), 900, 'half as long again as the first');
    assert.equal(server.seen('/never.mp4').length, 2);
  });

  test('R11: a network that stays away is TRANSPORT with its cause, never an AbortError', async (t) => {
    const url = server.on('/gone.mp4', reset());
    const engine = await engineFor(t);
    const error = await failureOf(engine.fetch(url));
    assert.equal(error.code, 'TRANSPORT');
    assert.equal(error.svta, 3007);
    assert.equal(error.reason, 'attempts');
    assert.ok(error.cause instanceof TypeError);
    assert.equal(error.attempts, 3);
  });

  test('R26: Retry-After is a floor that is never undercut', async (t) => {
    const engine = await engineFor(t);
    for (const status of [429, 503]) {
      const path = `/after-${status}.mp4`;
      const url = server.on(path, answer(status, '', { 'retry-after': '1' }), ok(MEDIA));
      await engine.load({ url });
      const [first, second] = server.seen(path);
      assert.ok(second.at - first.at >= 1000, `${status}: after ${second.at - first.at} ms`);
      assert.ok(second.at - first.at < 1500, `${status}: after ${second.at - first.at} ms`);
    }
  });

  test('R25: Retry-After as a date counts from the Date of the response', async (t) => {
    const date = new Date('2001-02-03T04:05:06Z');
    const headers = {
      date: date.toUTCString(),
      'retry-after': new Date(date.getTime() + 1000).toUTCString(),
    };
    const url = server.on('/dated.mp4', answer(503, '', headers), ok(MEDIA));
    const engine = await engineFor(t);
    await engine.load({ url });
    const [first, second] = server.seen('/dated.mp4');
    assert.ok(second.at - first.at >= 1000);
    assert.ok(second.at - first.at < 1600);
  });

  test('R26: a Retry-After beyond what the site may wait ends the request, with retryAt', async (t) => {
    const url = server.on('/long.mp4', answer(503, '', { 'retry-after': '3' }));
    const engine = await engineFor(t, { maxWait: 2000 });
    const before = performance.now();
    const error = await failureOf(engine.load({ url }));
    const elapsed = performance.now() - before;
    assert.ok(elapsed < 1000);
    assert.equal(error.reason, 'retry-after');
    assert.equal(error.code, 'SERVER_BUSY');
    assert.ok(error.retryAt >= before + 3000 && error.retryAt <= before + elapsed + 3000);
    assert.equal(server.seen('/long.mp4').length, 1);
  });

  for (const status of [400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 412, 414, 451]) {
    test(`R24: ${status} is final at the first request`, async (t) => {
      const path = `/final-${status}.mp4`;
      const url = server.on(path, answer(status, 'no'));
      const engine = await engineFor(t);
      // What is perhaps not there yet is another matter: a segment's 404.
      const error = await failureOf(engine.load({ url, site: 'key' }));
      assert.equal(error.status, status);
      assert.equal(error.svta, 3000 + status);
      assert.equal(error.reason, 'terminal');
      assert.equal(server.seen(path).length, 1);
    });
  }

  for (const site of /** @type {const} */ (['segment', 'init', 'playlist-reload'])) {
    test(`R24: a 404 of the site "${site}" is confirmed once before it is final`, async (t) => {
      const path = `/confirmed-${site}`;
      const engine = await engineFor(t);
      const url = server.on(path, answer(404, ''), answer(404, ''), ok(MEDIA));
      const error = await failureOf(engine.load({ url, site }));
      assert.equal(error.status, 404);
      assert.equal(error.reason, 'terminal');
      const [first, second, third] = server.seen(path);
      assert.ok(second.at - first.at >= 700, 'in case it was asked for too early');
      assert.equal(third, undefined);
      const late = server.on(`${path}-late`, answer(404, ''), ok(MEDIA));
      assert.equal((await engine.load({ url: late, site })).attempts, 2);
    });
  }

  for (const status of [408, 425, 429, 500, 502, 503, 504, 520, 599]) {
    test(`R24: ${status} is tried again`, async (t) => {
      const path = `/again-${status}.mp4`;
      const url = server.on(path, answer(status, 'no'), ok(MEDIA));
      const engine = await engineFor(t);
      assert.deepEqual(bytes((await engine.load({ url })).data), MEDIA);
      assert.equal(server.seen(path).length, 2);
    });
  }

  test('an empty body of a segment is tried again, unseen', async (t) => {
    const url = server.on('/empty.mp4', ok(''), ok(MEDIA));
    const engine = await engineFor(t);
    assert.deepEqual(bytes((await engine.load({ url })).data), MEDIA);
    const other = server.on('/empty-bytes.mp4', ok(''), ok(MEDIA));
    assert.deepEqual(await bytesOf(await engine.fetchBytes({ url: other })), MEDIA);
  });

  test('R5, R12: a request of the site "other" is sent once, whatever comes', async (t) => {
    const engine = await engineFor(t);
    for (const one of [answer(503, ''), reset()]) {
      const url = server.on('/beacon', one);
      const count = server.seen('/beacon').length;
      await engine.fetch(url).catch(() => {});
      assert.equal(server.seen('/beacon').length, count + 1);
    }
  });
});

describe('requests that change something', { concurrency: true }, () => {
  test('R77: a POST is sent once', async (t) => {
    const engine = await engineFor(t, { attempts: 3 });
    const url = server.on('/post', answer(503, 'busy'));
    const response = await engine.fetch(url, { method: 'POST', body: 'a', site: 'segment' });
    assert.equal(response.status, 503);
    assert.equal(server.seen('/post').length, 1);
    const torn = server.on('/post-reset', reset());
    const error = await failureOf(engine.fetch(torn, { method: 'PUT', body: 'a', site: 'key' }));
    assert.equal(error.reason, 'not-idempotent');
    assert.equal(error.code, 'TRANSPORT');
    assert.equal(server.seen('/post-reset').length, 1);
  });

  test('R77: a POST that is declared idempotent is sent again, byte for byte', async (t) => {
    const engine = await engineFor(t, { attempts: 3 });
    const url = server.on('/idempotent', reset(), answer(503, ''), ok('done'));
    const init = { method: 'POST', body: MEDIA, idempotent: true };
    assert.equal(await (await engine.fetch(url, { ...init, site: 'segment' })).text(), 'done');
    const bodies = server.seen('/idempotent').map(({ body }) => body);
    assert.equal(bodies.length, 3);
    assert.deepEqual(await bodies[2], MEDIA);
  });

  test('R77: a license request is sent again, unless it is declared otherwise', async (t) => {
    const engine = await engineFor(t, { attempts: 3 });
    const url = server.on('/license', answer(503, ''), ok('license'));
    const init = /** @type {const} */ ({ method: 'POST', body: MEDIA, site: 'license' });
    assert.equal(await (await engine.fetch(url, init)).text(), 'license');
    const [first, second] = server.seen('/license');
    assert.deepEqual(await first.body, MEDIA);
    assert.deepEqual(await second.body, MEDIA);
    const once = server.on('/license-once', answer(503, ''), ok('license'));
    assert.equal((await engine.fetch(once, { ...init, idempotent: false })).status, 503);
    assert.equal(server.seen('/license-once').length, 1);
  });

  test('the body of a Request is sent again byte for byte, with its headers', async (t) => {
    const engine = await engineFor(t, { attempts: 3 });
    const make = (/** @type {string} */ url) =>
      new Request(url, { method: 'POST', body: MEDIA, headers: { 'x-own': 'kept' } });
    const url = server.on('/request', answer(503, ''), answer(503, ''), ok('license'));
    assert.equal(await (await engine.fetch(make(url), { site: 'license' })).text(), 'license');
    const loaded = server.on('/request-load', answer(503, ''), ok('license'));
    const request = make(loaded);
    const { data } = await engine.load({ url: loaded, request, site: 'license' });
    assert.equal(String(bytes(data)), 'license');
    for (const { body, headers, method } of [
      ...server.seen('/request'),
      ...server.seen('/request-load'),
    ]) {
      assert.equal(method, 'POST');
      assert.equal(headers['x-own'], 'kept');
      assert.deepEqual(await body, MEDIA);
    }
    assert.equal(server.all.filter((seen) => seen.url.startsWith('/request')).length, 5);
  });

  test('R77: a streamed body is sent once, whatever is declared', async (t) => {
    const engine = await engineFor(t, { attempts: 3 });
    const url = server.on('/streamed', answer(503, ''));
    const body = new Blob(['streamed']).stream();
    const init = { method: 'POST', body, duplex: 'half', idempotent: true };
    const response = await engine.fetch(url, { ...init, site: 'license' });
    assert.equal(response.status, 503);
    assert.equal(server.seen('/streamed').length, 1);
  });
});

test('R17: slow headers within their bound are waited for', async (t) => {
  const url = server.on('/slow.mp4', later(400, ok(MEDIA)));
  const engine = await engineFor(t, { headersTimeout: 1500 });
  await engine.load({ url });
  assert.equal(server.seen('/slow.mp4').length, 1);
});
