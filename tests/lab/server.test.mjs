// @ts-check
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { account } from './accounting.mjs';
import { FILE, SIZE, content, request, startTestLab } from './lab-fixture.mjs';

/** @type {Awaited<ReturnType<typeof startTestLab>>} */
let lab;
before(async () => {
  lab = await startTestLab();
});
after(() => lab.close());

/** @param {import('./rules.mjs').Rule} rule */
function sessionWith(rule) {
  return lab.createSession({ rules: [rule] });
}

describe('a healthy session', () => {
  test('serves a file whole, with validators, to any origin', async () => {
    const session = lab.createSession();
    const answer = await request(session.url(FILE));
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, content);
    assert.equal(answer.headers['content-length'], String(SIZE));
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    assert.equal(answer.headers['access-control-expose-headers'], undefined);
    assert.match(String(answer.headers.etag), /^"[0-9a-f]+"$/);
    assert.ok(answer.headers['last-modified']);
    assert.match(String(answer.headers['cache-control']), /max-age/);
  });

  test('exposes headers and forbids storing when asked to', async () => {
    const session = lab.createSession({ cache: 'no-store', expose: ['Retry-After', 'ETag'] });
    const { headers } = await request(session.url(FILE));
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['access-control-expose-headers'], 'Retry-After, ETag');
  });

  const ranges = /** @type {const} */ ([
    ['bytes=0-99', 0, 100],
    ['bytes=100-', 100, SIZE],
    ['bytes=-50', SIZE - 50, SIZE],
    [`bytes=10-${SIZE + 1000}`, 10, SIZE],
    ['bytes=7-7', 7, 8],
  ]);
  for (const [range, from, to] of ranges) {
    test(`answers ${range} with 206`, async () => {
      const answer = await request(lab.createSession().url(FILE), { headers: { Range: range } });
      assert.equal(answer.status, 206);
      assert.equal(answer.headers['content-range'], `bytes ${from}-${to - 1}/${SIZE}`);
      assert.deepEqual(answer.body, content.subarray(from, to));
    });
  }

  test('answers a range beyond the end with 416 and the size', async () => {
    const answer = await request(lab.createSession().url(FILE), {
      headers: { Range: `bytes=${SIZE}-` },
    });
    assert.equal(answer.status, 416);
    assert.equal(answer.headers['content-range'], `bytes */${SIZE}`);
  });

  test('ignores a range it cannot read and one whose If-Range is stale', async () => {
    const url = lab.createSession().url(FILE);
    const several = await request(url, { headers: { Range: 'bytes=0-1,5-6' } });
    const stale = await request(url, { headers: { Range: 'bytes=5-', 'If-Range': '"other"' } });
    assert.deepEqual([several.status, stale.status], [200, 200]);
  });

  test('answers 304 to its own ETag', async () => {
    const url = lab.createSession().url(FILE);
    const { headers } = await request(url);
    const second = await request(url, { headers: { 'If-None-Match': String(headers.etag) } });
    assert.equal(second.status, 304);
    assert.equal(second.body.length, 0);
  });

  test('answers and counts preflights, which are no attempts', async () => {
    const session = lab.createSession();
    const preflight = await request(session.url(FILE), {
      method: 'OPTIONS',
      headers: { Origin: 'http://page.test', 'Access-Control-Request-Headers': 'if-range' },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers['access-control-allow-headers'], 'if-range');
    await request(session.url(FILE));
    const { requests, preflights } = account(session.log);
    assert.deepEqual({ requests, preflights }, { requests: 2, preflights: 1 });
    assert.equal(session.log[1].attempt, 1);
  });

  test('answers 404 for an unknown file and an unknown session', async () => {
    assert.equal((await request(lab.createSession().url('none.m4s'))).status, 404);
    assert.equal((await request(`${lab.mediaOrigin}/s/none/${FILE}`)).status, 404);
  });

  test('logs each request with what was sent', async () => {
    const session = lab.createSession();
    await request(session.url(FILE), { headers: { Range: 'bytes=100-299' } });
    const { t, end, ...rest } = session.log[0];
    assert.equal(t, 0);
    assert.ok(end !== null && end >= 0);
    assert.deepEqual(rest, {
      file: FILE,
      attempt: 1,
      range: 'bytes=100-299',
      act: 'normal',
      status: 206,
      from: 100,
      bytes: 200,
      how: 'sent',
    });
  });
});

describe('faults', () => {
  test('status: with headers and body, on the chosen attempt only', async () => {
    const session = sessionWith({
      match: FILE,
      nth: 1,
      act: 'status',
      status: 503,
      headers: { 'Retry-After': '5' },
      body: 'busy',
    });
    const first = await request(session.url(FILE));
    const second = await request(session.url(FILE));
    assert.equal(first.status, 503);
    assert.equal(first.headers['retry-after'], '5');
    assert.equal(first.body.toString(), 'busy');
    assert.equal(second.status, 200);
    assert.equal(account(session.log).wastedBytes, 4);
  });

  test('window: by the session clock', async () => {
    const session = sessionWith({ match: FILE, window: [0, 200], act: 'status', status: 503 });
    assert.equal((await request(session.url(FILE))).status, 503);
    await new Promise((resolve) => setTimeout(resolve, 250));
    assert.equal((await request(session.url(FILE))).status, 200);
  });

  test('resetHeaders: a reset and no answer', async () => {
    const session = sessionWith({ match: FILE, act: 'resetHeaders' });
    const answer = await request(session.url(FILE));
    assert.equal(answer.status, 0);
    assert.equal(answer.error, 'ECONNRESET');
    assert.equal(session.log[0].how, 'reset');
  });

  test('resetBody: a reset after exactly the given part', async () => {
    const session = sessionWith({ match: FILE, act: 'resetBody', at: 0.25 });
    const answer = await request(session.url(FILE));
    assert.equal(answer.status, 200);
    assert.equal(answer.error, 'ECONNRESET');
    assert.deepEqual(answer.body, content.subarray(0, SIZE / 4));
    assert.equal(session.log[0].how, 'reset');
  });

  test('truncate: the length is promised and not kept', async () => {
    const session = sessionWith({ match: FILE, act: 'truncate', at: 1000 });
    const answer = await request(session.url(FILE));
    assert.equal(answer.headers['content-length'], String(SIZE));
    assert.equal(answer.complete, false);
    assert.deepEqual(answer.body, content.subarray(0, 1000));
    assert.equal(session.log[0].how, 'cut');
  });

  test('truncateSilent: a clean end before the end', async () => {
    const session = sessionWith({ match: FILE, act: 'truncateSilent', at: 1000 });
    const answer = await request(session.url(FILE));
    assert.equal(answer.headers['content-length'], undefined);
    assert.equal(answer.complete, true);
    assert.deepEqual(answer.body, content.subarray(0, 1000));
  });

  test('stallHeaders: for ever, until the client goes away', async () => {
    const session = sessionWith({ match: FILE, act: 'stallHeaders', ms: 'inf' });
    const answer = await request(session.url(FILE), { patienceMs: 300 });
    assert.deepEqual([answer.status, answer.error], [0, 'GAVE_UP']);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(session.log[0].how, 'client-closed');
  });

  test('stallHeaders: for a while, then the file', async () => {
    const session = sessionWith({ match: FILE, act: 'stallHeaders', ms: 300 });
    const answer = await request(session.url(FILE));
    assert.equal(answer.status, 200);
    assert.ok(answer.ms >= 295, `${answer.ms} ms`);
  });

  test('stallBody: part of the body, then silence', async () => {
    const session = sessionWith({ match: FILE, act: 'stallBody', at: 0.5, ms: 'inf' });
    const answer = await request(session.url(FILE), { patienceMs: 400 });
    assert.equal(answer.error, 'GAVE_UP');
    assert.deepEqual(answer.body, content.subarray(0, SIZE / 2));
    assert.equal(session.log[0].bytes, SIZE / 2);
  });

  test('stallBody: goes on after a finite silence', async () => {
    const session = sessionWith({ match: FILE, act: 'stallBody', at: 10, ms: 200 });
    const answer = await request(session.url(FILE));
    assert.ok(answer.ms >= 195, `${answer.ms} ms`);
    assert.deepEqual(answer.body, content);
  });

  test('drip: at its own rate', async () => {
    const session = sessionWith({ match: FILE, act: 'drip', rate: 20_000 });
    const answer = await request(session.url(FILE), { patienceMs: 1000 });
    assert.ok(
      Math.abs(answer.body.length - 20_000) < 4000,
      `${answer.body.length} bytes in a second`,
    );
  });

  test('html200: a page where media should be', async () => {
    const session = sessionWith({ match: FILE, act: 'html200' });
    const answer = await request(session.url(FILE));
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-type'], 'text/html');
    assert.match(answer.body.toString(), /^<!doctype html>/);
    assert.equal(account(session.log).wastedBytes, answer.body.length);
  });

  test('redirect: to another file of the session', async () => {
    const session = sessionWith({ match: 'old', act: 'redirect', to: FILE, status: 307 });
    const answer = await request(session.url('old.m4s'));
    assert.equal(answer.status, 307);
    assert.equal(answer.headers.location, session.url(FILE));
  });

  test('a rule that says nothing is refused', () => {
    const wrong = /** @type {any} */ ({ match: FILE, act: 'explode' });
    assert.throws(() => sessionWith(wrong), /unknown act/);
  });
});
