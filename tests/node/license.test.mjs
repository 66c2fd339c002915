// @ts-check
// Licenses and certificates: a hook of their own, and what is good for one use only.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { catchUncaught, engineFor, eventually, failureOf, sleep, within } from './fixture.mjs';
import { answer, ok, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());
const uncaught = catchUncaught({ after });
after(() => assert.ok(uncaught.every((error) => String(error) === 'Error: boom')));

const denied = answer(403, 'denied');
const busy = answer(503, '');

/** @param {any} engine @param {string} url @param {object} [more] */
const license = (engine, url, more) =>
  engine.load({
    ...{ url, site: 'license', responseType: 'text' },
    init: { method: 'POST', body: 'challenge', headers: { 'x-auth': 'old' } },
    ...more,
  });

describe('the hook of licenses', { concurrency: true }, () => {
  test('R56: gives another URL, other headers and another body', async (t) => {
    /** @type {any[]} */
    const told = [];
    const engine = await engineFor(
      t,
      {},
      {
        refreshPlaybackToken: () => assert.fail('not this one'),
        refreshLicenseRequest: async (request, context) => {
          told.push(request, context);
          await sleep(10);
          return { url: `${request.url}?fresh=1`, headers: { 'x-auth': 'new' }, body: 'again' };
        },
      },
    );
    const url = server.on('/license', denied, ok('keys'));
    const { data, attempts } = await license(engine, url);
    assert.equal(data, 'keys');
    assert.equal(attempts, 2);
    const [first, second] = server.seen('/license');
    assert.deepEqual([first.url, second.url], ['/license', '/license?fresh=1']);
    assert.deepEqual(
      [first, second].map(({ headers }) => headers['x-auth']),
      ['old', 'new'],
    );
    assert.equal(second.method, 'POST');
    assert.deepEqual((await Promise.all([first.body, second.body])).map(String), [
      'challenge',
      'again',
    ]);
    const [request, context] = told;
    assert.equal(request.url, url);
    assert.equal(request.headers.get('x-auth'), 'old');
    assert.equal(request.body, 'challenge');
    assert.equal(context.site, 'license');
    assert.equal(context.status, 403);
    assert.equal(context.body, 'denied');
    assert.equal(context.evidence, 'refused');
  });

  test('R56: what it leaves out stays', async (t) => {
    const engine = await engineFor(
      t,
      {},
      { refreshLicenseRequest: () => ({ headers: { 'x-auth': 'new' } }) },
    );
    await license(engine, server.on('/parts', denied, ok('keys')));
    const [, second] = server.seen('/parts');
    assert.equal(second.url, '/parts');
    assert.equal(String(await second.body), 'challenge');
    assert.equal(second.headers['x-auth'], 'new');
  });

  test('R56: a certificate too, and a Request with its headers', async (t) => {
    /** @type {any} */
    let given;
    const engine = await engineFor(
      t,
      {},
      { refreshLicenseRequest: (request) => ((given = request), { url: `${request.url}?2` }) },
    );
    const url = server.on('/certificate', denied, ok('cert'));
    await engine.load({
      url,
      request: new Request(url, { headers: { 'x-auth': 'mine' } }),
      site: 'certificate',
    });
    assert.equal(given.headers.get('x-auth'), 'mine');
    assert.equal(server.seen('/certificate')[1].headers['x-auth'], 'mine');
    assert.equal(server.seen('/certificate')[1].url, '/certificate?2');
  });

  /** @type {[string, () => any, RegExp][]} */
  const failures = [
    [
      'throws',
      () => {
        throw new Error('boom');
      },
      /^boom$/,
    ],
    [
      'rejects',
      async () => {
        throw new Error('boom');
      },
      /^boom$/,
    ],
    ['gives nothing', () => undefined, /no request/],
    ['gives a path', () => ({ url: '/license' }), /absolute/],
  ];
  for (const [i, [what, refreshLicenseRequest, message]] of failures.entries()) {
    test(`R56: one that ${what} makes the refusal final`, async (t) => {
      const engine = await engineFor(t, {}, { refreshLicenseRequest });
      const error = await failureOf(license(engine, server.on(`/failing-${i}`, denied)));
      assert.equal(error.reason, 'refresh');
      assert.equal(error.status, 403);
      assert.match(error.refreshError.message, message);
      assert.equal(server.seen(`/failing-${i}`).length, 1);
    });
  }

  test('R56: it is asked once a request', async (t) => {
    let calls = 0;
    const engine = await engineFor(
      t,
      {},
      { refreshLicenseRequest: () => ((calls += 1), { headers: {} }) },
    );
    const error = await failureOf(license(engine, server.on('/always', denied)));
    assert.equal(error.reason, 'terminal');
    assert.equal(error.refreshError, undefined);
    assert.equal(calls, 1);
    assert.equal(server.seen('/always').length, 2);
  });

  test('R56: before each repetition, where the server wants a new nonce', async (t) => {
    let nonce = 0;
    const engine = await engineFor(
      t,
      { refreshBeforeRetry: true, attempts: 3 },
      {
        refreshLicenseRequest: ({ url }) => {
          nonce += 1;
          return { url: url.replace(/\?.*|$/, `?nonce=${nonce}`) };
        },
      },
    );
    await license(engine, server.on('/nonce', busy, busy, ok('keys')));
    assert.deepEqual(
      server.seen('/nonce').map(({ url }) => url),
      ['/nonce', '/nonce?nonce=1', '/nonce?nonce=2'],
    );
  });

  test('R56, R77: good for one use means sent once', async (t) => {
    const engine = await engineFor(t, { singleUse: true });
    const error = await failureOf(license(engine, server.on('/single', busy)));
    assert.equal(error.reason, 'not-idempotent');
    assert.equal(server.seen('/single').length, 1);
    const usual = await engineFor(t, { attempts: 3 });
    await license(usual, server.on('/usual', busy, ok('keys')));
    assert.equal(server.seen('/usual').length, 2, 'otherwise it is repeated');
  });

  test('R56: a refusal that is one of entitlement is final', async (t) => {
    const engine = await engineFor(
      t,
      { attempts: 3 },
      {
        detectExpiry: ({ site, body }) =>
          site === 'license' && body.includes('0x8004c600') ? 'denied' : undefined,
      },
    );
    const url = server.on('/playready', answer(500, '<soap><Code>0x8004c600</Code></soap>'));
    const error = await failureOf(license(engine, url));
    assert.equal(error.status, 500);
    assert.equal(error.attempts, 1);
    const other = server.on('/playready-other', answer(500, '<soap/>'), ok('keys'));
    assert.equal((await license(engine, other)).attempts, 2);
  });

  test('R10: an abort while it is asked rejects at once', async (t) => {
    let asked = false;
    const engine = await engineFor(
      t,
      {},
      { refreshLicenseRequest: () => ((asked = true), sleep(300).then(() => ({}))) },
    );
    const controller = new AbortController();
    const url = server.on('/aborted', denied);
    const load = failureOf(license(engine, url, { signal: controller.signal }));
    await eventually(() => asked);
    controller.abort(new Error('enough'));
    assert.equal((await within(load, 100, 'the abort')).message, 'enough');
    await sleep(350);
    assert.equal(server.seen('/aborted').length, 1);
  });
});
