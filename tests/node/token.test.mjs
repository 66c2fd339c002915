// @ts-check
// Credentials that expire: one question for all who carry one, and nobody else sees it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import {
  catchUncaught,
  engineFor,
  eventually,
  failureOf,
  sleep,
  spyTimers,
  within,
} from './fixture.mjs';
import { after as later, answer, content, ok, reset, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());
// What hooks throw is reported as what nobody caught.
const uncaught = catchUncaught({ after });
after(() => assert.ok(uncaught.every((error) => String(error) === 'Error: boom')));

const MEDIA = content(20_000);
const OLD = 'token=old-0123456789abcdef';
const NEW = 'token=new-fedcba9876543210';
const denied = answer(403, 'denied');
/** @param {string} url */
const renew = (url) => url.replace(OLD, NEW);
const boom = () => {
  throw new Error('boom');
};

/** Lets only the new credential in. @type {import('./server.mjs').Answer} */
const guarded = (request, response) =>
  (request.url?.includes(NEW) ? ok(MEDIA) : denied)(request, response);

/** @param {string} path */
const queries = (path) => server.seen(path).map(({ url }) => url.slice(path.length + 1));

describe('a refused credential', { concurrency: true }, () => {
  test('R51: 20 requests that are refused ask once, and each is sent with its own URL', async (t) => {
    let calls = 0;
    const engine = await engineFor(
      t,
      { attempts: 1 },
      {
        refreshPlaybackToken: async (url) => {
          calls += 1;
          await sleep(50);
          return renew(url);
        },
      },
    );
    const names = Array.from({ length: 20 }, (_, i) => `/many-${i}.mp4`);
    const query = (/** @type {number} */ i) => `a=~%2B+%7e/${i}&${OLD}&b=(x)=*${i}`;
    const loads = names.map((name, i) =>
      engine.load({ url: `${server.on(name, guarded)}?${query(i)}` }),
    );
    for (const { bytes, attempts } of await Promise.all(loads)) {
      assert.equal(bytes, MEDIA.byteLength);
      assert.equal(attempts, 2);
    }
    assert.equal(calls, 1);
    for (const [i, name] of names.entries()) {
      assert.deepEqual(queries(name), [query(i), renew(query(i))], 'byte for byte');
    }
    const url = `${server.on('/many-later.mp4', guarded)}?${OLD}&z=1`;
    assert.equal((await engine.load({ url })).attempts, 1);
    assert.deepEqual(queries('/many-later.mp4'), [`${NEW}&z=1`], 'never refused again');
    assert.equal(calls, 1);
  });

  /** @type {[what: string, hook: (url: string) => string | Promise<string>][]} */
  const answers = [
    ['a whole URL', renew],
    ['a promise of it', async (url) => renew(url)],
    ['a bare token', () => NEW.slice('token='.length)],
    ['a named token', () => NEW],
  ];
  for (const [what, refreshPlaybackToken] of answers) {
    test(`R49: the hook may answer with ${what}`, async (t) => {
      const engine = await engineFor(t, {}, { refreshPlaybackToken });
      const path = `/answer-${what.replaceAll(' ', '-')}.mp4`;
      const url = `${server.on(path, guarded)}?x=1&${OLD}`;
      assert.equal((await engine.load({ url })).bytes, MEDIA.byteLength);
      assert.deepEqual(queries(path), [`x=1&${OLD}`, `x=1&${NEW}`]);
    });
  }

  test('R49: the hook is told of the refusal', async (t) => {
    /** @type {any[]} */
    const told = [];
    const engine = await engineFor(
      t,
      {},
      { refreshPlaybackToken: (url, context) => (told.push([url, context]), renew(url)) },
    );
    const body = `<Code>${OLD} is over</Code>`;
    const first = answer(403, body, { 'x-why': 'expired' });
    const url = `${server.on('/context.mp4', first, guarded)}?${OLD}`;
    const { signal } = new AbortController();
    await engine.load({ url, signal, site: 'init' });
    const [[given, context]] = told;
    assert.equal(given, url);
    const { headers, ...rest } = context;
    assert.equal(headers.get('x-why'), 'expired');
    assert.deepEqual(rest, {
      ...{ url, site: 'init', status: 403, body, attempt: 1, evidence: 'refused', signal },
    });
    assert.ok(Object.isFrozen(context));
  });

  test('R9: a replay has the same headers as what it replays', async (t) => {
    const engine = await engineFor(t, {}, { refreshPlaybackToken: renew });
    const url = `${server.on('/headers.mp4', guarded)}?${OLD}`;
    const response = await engine.fetch(url, { headers: { Range: 'bytes=0-' } });
    await response.arrayBuffer();
    const [first, second] = server.seen('/headers.mp4');
    assert.deepEqual(second.rawHeaders, first.rawHeaders);
    assert.equal(second.method, 'GET');
  });

  test('R52: refused with the fresh one too is final', async (t) => {
    let calls = 0;
    const engine = await engineFor(
      t,
      {},
      { refreshPlaybackToken: (url) => ((calls += 1), renew(url)) },
    );
    const url = `${server.on('/always.mp4', denied)}?${OLD}`;
    const error = await failureOf(engine.load({ url }));
    assert.equal(error.code, 'DENIED');
    assert.equal(error.reason, 'terminal');
    assert.equal(error.refreshError, undefined);
    assert.equal(calls, 1);
    assert.deepEqual(queries('/always.mp4'), [OLD, NEW]);
  });

  test('R54: a replay is neither delayed nor counted', async (t) => {
    const engine = await engineFor(
      t,
      { attempts: 2, backoff: { base: 2000, factor: 1, cap: 2000 } },
      { refreshPlaybackToken: renew },
    );
    const url = `${server.on('/prompt.mp4', denied, answer(503, ''), ok(MEDIA))}?${OLD}`;
    const load = engine.load({ url });
    await eventually(() => server.seen('/prompt.mp4').length === 2);
    const [first, second] = server.seen('/prompt.mp4');
    assert.ok(second.at - first.at < 500, String(second.at - first.at));
    engine.retryNow();
    await eventually(() => (engine.retryNow(), server.seen('/prompt.mp4').length === 3));
    assert.equal((await load).attempts, 3, 'one more than the ladder has');
  });

  /** @type {[what: string, hook: any, message: RegExp][]} */
  const failures = [
    ['throws', boom, /^boom$/],
    ['rejects', async () => boom(), /^boom$/],
    ['gives the same URL', (/** @type {string} */ url) => url, /same URL/],
    ['gives another scheme', () => 'data:text/plain,x', /http/],
    ['gives a path', () => '/new/path.mp4', /http/],
    ['gives nothing', () => '', /nothing/],
    ['gives no string', () => ({ url: 'x' }), /no string/],
    ['gives a promise of undefined', async () => undefined, /no string/],
  ];
  for (const [what, hook, message] of failures) {
    test(`R53: a hook that ${what} makes the refusal final, and is not asked again soon`, async (t) => {
      let calls = 0;
      const refreshPlaybackToken = (/** @type {string} */ url) => ((calls += 1), hook(url));
      const engine = await engineFor(t, {}, { refreshPlaybackToken });
      const path = (/** @type {number} */ i) => `/fails-${what.replaceAll(' ', '-')}-${i}.mp4`;
      const url = (/** @type {number} */ i) => `${server.on(path(i), denied)}?${OLD}`;
      for (const round of [0, 1]) {
        const error = await failureOf(engine.load({ url: url(round) }));
        assert.equal(error.reason, 'refresh');
        assert.equal(error.status, 403);
        assert.match(error.refreshError.message, message);
        if (message.source !== '^boom$') assert.equal(error.refreshError.code, 'REFRESH_FAILED');
      }
      assert.equal(calls, 1);
      assert.deepEqual([0, 1].map(path).flatMap(queries), [OLD, OLD]);
      const response = await engine.fetch(url(2));
      assert.equal(response.status, 403, 'R4: a fetch resolves all the same');
      assert.equal(await response.text(), 'denied');
    });
  }

  test('R53: a bare token for an URL that has no place for one', async (t) => {
    const engine = await engineFor(t, {}, { refreshPlaybackToken: () => 'abc' });
    const error = await failureOf(engine.load({ url: server.on('/no-place.mp4', denied) }));
    assert.match(error.refreshError.message, /no place/);
  });

  test('R53: a hook that takes longer than 10 s has failed', async (t) => {
    const engine = await engineFor(t, {}, { refreshPlaybackToken: () => new Promise(() => {}) });
    const url = `${server.on('/slow.mp4', denied)}?${OLD}`;
    const other = `${server.on('/slow-other.mp4', denied)}?${OLD}`;
    const start = performance.now();
    const [error, joined] = await Promise.all(
      [url, other].map((each) => failureOf(engine.load({ url: each }))),
    );
    const took = performance.now() - start;
    assert.ok(took > 9900 && took < 15_000, String(took));
    for (const { reason, status, refreshError } of [error, joined]) {
      assert.equal(reason, 'refresh');
      assert.equal(status, 403);
      assert.match(refreshError.message, /10 s/);
    }
  });

  test('R4: without a hook a fetch resolves with the refusal, and a load rejects', async (t) => {
    const engine = await engineFor(t);
    const url = `${server.on('/no-hook.mp4', denied)}?${OLD}`;
    const response = await engine.fetch(url);
    assert.equal(response.status, 403);
    assert.equal(await response.text(), 'denied');
    assert.equal((await failureOf(engine.load({ url }))).code, 'DENIED');
  });

  test('R49, R75: of a long refusal 8 KiB are looked at, and the caller reads all of it', async (t) => {
    /** @type {any} */
    let context;
    const engine = await engineFor(
      t,
      {},
      { refreshPlaybackToken: (url, given) => ((context = given), url) },
    );
    const body = 'x'.repeat(1_000_000);
    const url = `${server.on('/long.mp4', answer(403, body))}?${OLD}`;
    const response = await engine.fetch(url);
    assert.equal(context.body, body.slice(0, 8192));
    assert.equal(await response.text(), body);
  });

  test('R75: a refusal that never ends is looked at for half a second', async (t) => {
    const engine = await engineFor(t, {}, { refreshPlaybackToken: renew });
    const url = `${server.on(
      '/endless.mp4',
      (_, response) => void response.writeHead(403).write('still talking'),
      guarded,
    )}?${OLD}`;
    const { attempts } = await within(engine.load({ url }), 2500, 'the load');
    assert.equal(attempts, 2);
    const [first, second] = server.seen('/endless.mp4');
    assert.ok(second.at - first.at >= 450, 'it was given its time');
    await eventually(() => first.closedAt !== undefined, 'the refusal is let go');
  });

  test('R50: what no fresh credential changes is not refreshed', async (t) => {
    let calls = 0;
    const engine = await engineFor(
      t,
      {},
      { refreshPlaybackToken: (url) => ((calls += 1), renew(url)) },
    );
    /** @type {[number, string][]} */
    const refusals = [
      [451, 'token expired'],
      [403, 'concurrent stream limit reached'],
      [403, '{"error":"geo_blocked"}'],
      [400, 'token expired'],
      [410, 'token expired'],
    ];
    for (const [i, [status, body]] of refusals.entries()) {
      const url = `${server.on(`/for-good-${i}.mp4`, answer(status, body))}?${OLD}`;
      assert.equal((await failureOf(engine.load({ url }))).status, status);
      assert.equal(server.seen(`/for-good-${i}.mp4`).length, 1, body);
    }
    assert.equal(calls, 0);
  });

  test('R50: the embedder knows better what a refusal means', async (t) => {
    const engine = await engineFor(
      t,
      {},
      {
        refreshPlaybackToken: renew,
        detectExpiry: ({ status, body }) =>
          body === 'really' ? 'denied' : status === 410 ? 'expired' : undefined,
      },
    );
    const gone = `${server.on('/detected.mp4', answer(410, ''), guarded)}?${OLD}`;
    assert.equal((await engine.load({ url: gone })).attempts, 2);
    const never = `${server.on('/never.mp4', answer(403, 'really'))}?${OLD}2`;
    assert.equal((await failureOf(engine.load({ url: never }))).reason, 'terminal');
    assert.equal(server.seen('/never.mp4').length, 1);
  });

  test('R50: a recovery matrix may make 410 a matter of the credential', async (t) => {
    const engine = await engineFor(
      t,
      {},
      { refreshPlaybackToken: renew, recovery: { 410: 'refresh' } },
    );
    const url = `${server.on('/matrix.mp4', answer(410, ''), guarded)}?${OLD}`;
    assert.equal((await engine.load({ url })).attempts, 2);
  });

  test('R50: a detector that throws or answers nonsense leaves it to what is built in', async (t) => {
    /** @type {any[]} */
    const said = [boom, () => 'maybe', () => 7, async () => 'denied', () => null];
    const engine = await engineFor(
      t,
      {},
      {
        refreshPlaybackToken: (url) => `${url}-${NEW}`,
        detectExpiry: () => said.shift()?.(),
      },
    );
    for (let i = 0; said.length > 0; i += 1) {
      const url = `${server.on(`/nonsense-${i}.mp4`, denied, ok(MEDIA))}?${OLD}${i}`;
      assert.equal((await engine.load({ url })).attempts, 2);
    }
  });

  test('R51: with the scope "url" each URL is asked for', async (t) => {
    /** @type {string[]} */
    const asked = [];
    const engine = await engineFor(
      t,
      {},
      { refreshScope: 'url', refreshPlaybackToken: (url) => (asked.push(url), renew(url)) },
    );
    const urls = [0, 1, 2].map((i) => `${server.on(`/each-${i}.mp4`, guarded)}?${OLD}`);
    await Promise.all(urls.map((url) => engine.load({ url })));
    assert.deepEqual(asked.sort(), urls);
    assert.equal((await engine.load({ url: urls[0] })).attempts, 1, 'and remembered');
    assert.equal(asked.length, 3);
  });

  test('R51: where an URL cannot be derived, the hook is asked for it too, now and later', async (t) => {
    /** @type {string[]} */
    const asked = [];
    // Another path and another credential for each file.
    const elsewhere = (/** @type {string} */ url) =>
      `${server.origin}/moved/${url.match(/alone-\d/)?.[0]}.mp4?${NEW}`;
    const engine = await engineFor(
      t,
      {},
      {
        refreshPlaybackToken: async (url) => {
          asked.push(url);
          await sleep(20);
          return elsewhere(url);
        },
      },
    );
    const urls = [0, 1, 2, 3].map((i) => {
      server.on(`/moved/alone-${i}.mp4`, guarded);
      return `${server.on(`/alone-${i}.mp4`, denied)}?${OLD}`;
    });
    await Promise.all(urls.slice(0, 3).map((url) => engine.load({ url })));
    assert.deepEqual(asked.sort(), urls.slice(0, 3));
    await engine.load({ url: urls[3] });
    assert.equal(asked.length, 4, 'one that starts later');
    assert.equal((await engine.load({ url: urls[3] })).attempts, 1);
    assert.equal(asked.length, 4);
  });

  test('R10: an abort while the hook is asked rejects at once; the answer serves others', async (t) => {
    /** @type {(url: string) => void} */
    let reply = () => {};
    const engine = await engineFor(
      t,
      {},
      { refreshPlaybackToken: () => new Promise((resolve) => (reply = resolve)) },
    );
    const controller = new AbortController();
    const url = `${server.on('/abort.mp4', guarded)}?${OLD}`;
    const load = failureOf(engine.load({ url, signal: controller.signal }));
    await eventually(() =>
      Object.values(engine.state.retryState).some((it) => it.waitReason === 'token-refresh'),
    );
    controller.abort(new Error('enough'));
    assert.equal((await within(load, 100, 'the abort')).message, 'enough');
    reply(renew(url));
    await sleep(0);
    assert.equal((await engine.load({ url })).attempts, 1);
    assert.deepEqual(queries('/abort.mp4'), [OLD, NEW]);
  });

  test('R51: a Request is sent again with its own headers', async (t) => {
    const engine = await engineFor(t, {}, { refreshPlaybackToken: renew });
    const url = `${server.on('/request.mp4', guarded)}?${OLD}`;
    const response = await engine.fetch(new Request(url, { headers: { Range: 'bytes=5-9' } }));
    await response.arrayBuffer();
    assert.equal(response.status, 200);
    assert.deepEqual(queries('/request.mp4'), [OLD, NEW]);
    assert.deepEqual(
      server.seen('/request.mp4').map(({ headers }) => headers.range),
      ['bytes=5-9', 'bytes=5-9'],
    );
  });
});

describe('ahead of time', { concurrency: true }, () => {
  /** @param {number} ms from now */
  const ends = (ms) => `Expires=${Math.round((Date.now() + ms) / 1000)}&Signature=abcdefgh`;
  /** @param {string} url @param {number} ms */
  const extend = (url, ms) => url.replace(/Expires=\d+/, `Expires=${ends(ms).slice(8, 18)}`);

  test('R55: what has expired is not sent before it is refreshed', async (t) => {
    /** @type {any[]} */
    const contexts = [];
    const engine = await engineFor(
      t,
      {},
      {
        refreshPlaybackToken: (url, context) => (contexts.push(context), extend(url, 3_600_000)),
      },
    );
    const query = ends(-60_000);
    const url = `${server.on('/expired.mp4', ok(MEDIA))}?${query}`;
    assert.equal((await engine.load({ url })).attempts, 1);
    assert.equal(contexts.length, 1);
    assert.equal(contexts[0].evidence, 'expiring');
    assert.equal(contexts[0].status, 0);
    assert.equal(server.seen('/expired.mp4').length, 1);
    assert.ok(!server.seen('/expired.mp4')[0].url.includes(query));
  });

  test('R55: the clock is that of the server, where it shows one', async (t) => {
    let calls = 0;
    const engine = await engineFor(
      t,
      {},
      { refreshPlaybackToken: (url) => ((calls += 1), extend(url, 7_200_000)) },
    );
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const missing = server.on('/ahead-missing.mp4', answer(404, '', { date }));
    await failureOf(engine.load({ url: missing }));
    // Half an hour by this clock, over by the server's.
    const url = `${server.on('/ahead.mp4', ok(MEDIA))}?${ends(1_800_000)}`;
    assert.equal((await engine.load({ url })).attempts, 1);
    assert.equal(calls, 1);
  });

  test('R55: a fresh one that ends when the old one did is refreshed ahead of that too', async (t) => {
    /** @type {string[]} */
    const asked = [];
    const engine = await engineFor(
      t,
      {},
      {
        refreshPlaybackToken: (url, { evidence }) => {
          asked.push(evidence);
          return url.replace('abcdefgh', 'hgfedcba');
        },
      },
    );
    const url = `${server.on('/same-end.mp4', denied, ok('x'))}?${ends(7000)}`;
    await engine.load({ url });
    assert.deepEqual(asked, ['refused']);
    await eventually(() => asked.length === 2, 'the second question', 4000);
    assert.equal(asked[1], 'expiring');
  });

  test('R55: it is refreshed a bit before its end, however often it is used', async (t) => {
    /** @type {any[]} */
    const contexts = [];
    const engine = await engineFor(
      t,
      {},
      {
        refreshPlaybackToken: (url, context) => (contexts.push(context), extend(url, 3_600_000)),
      },
    );
    const urls = Array.from(
      { length: 8 },
      (_, i) => `${server.on('/soon.mp4', ok('x'))}?${ends(7000)}${i}`,
    );
    // Its end is 6.5 to 7.5 s away; it is refreshed 4.5 to 5.5 s before that.
    const until = performance.now() + 3200;
    while (performance.now() < until) {
      await Promise.all(urls.map((url) => engine.load({ url })));
      await sleep(10);
    }
    assert.deepEqual(contexts.map(({ url }) => url).sort(), urls, 'each once');
    for (const { evidence, site, attempt } of contexts) {
      assert.deepEqual([evidence, site, attempt], ['expiring', undefined, 0]);
    }
  });
});

describe('hooks that call back', { concurrency: true }, () => {
  test('R51: a hook may fetch through the engine itself', async (t) => {
    /** @type {any} */
    const engine = await engineFor(
      t,
      {},
      {
        refreshPlaybackToken: async (url) => {
          engine.retryNow();
          engine.reportPlayback({ bufferAhead: 3 });
          await engine.startSource();
          const response = await engine.fetch(server.on('/issue', ok(NEW)));
          return url.replace(OLD, await response.text());
        },
      },
    );
    const url = `${server.on('/issued.mp4', guarded)}?${OLD}`;
    assert.equal((await engine.load({ url })).attempts, 2);
  });

  test('R10: a hook may destroy the engine, at once and later', async (t) => {
    for (const pause of [0, 20]) {
      /** @type {any} */
      const engine = await engineFor(
        t,
        {},
        {
          refreshPlaybackToken: (url) => {
            if (pause === 0) engine.destroy();
            else return sleep(pause).then(() => (engine.destroy(), renew(url)));
            return renew(url);
          },
        },
      );
      const url = `${server.on(`/destroys-${pause}.mp4`, denied)}?${OLD}`;
      assert.equal((await failureOf(engine.load({ url }))).code, 'DESTROYED');
      await sleep(20);
      assert.equal(server.seen(`/destroys-${pause}.mp4`).length, 1);
    }
  });
});

test('R10: destroy while the hook is asked, or a refusal is looked at, leaves no timer', async (t) => {
  const armed = spyTimers(t);
  const engine = await engineFor(t, {}, { refreshPlaybackToken: () => new Promise(() => {}) });
  const url = `${server.on('/left.mp4', denied)}?${OLD}`;
  const endless = `${server.on('/left-open.mp4', (_, response) => {
    response.writeHead(403).write('x');
  })}?${OLD}2`;
  const loads = [url, endless].map((each) => failureOf(engine.load({ url: each })));
  await eventually(() =>
    Object.values(engine.state.retryState).some((it) => it.waitReason === 'token-refresh'),
  );
  await eventually(() => server.seen('/left-open.mp4').length === 1);
  await sleep(50);
  engine.destroy();
  for (const load of loads) assert.equal((await load).code, 'DESTROYED');
  assert.equal(armed.size, 0);
  await eventually(() => server.seen('/left-open.mp4')[0].closedAt !== undefined, 'let go', 600);
});

test('R57: nothing that the engine shows has a value of a credential in it', async (t) => {
  /** @type {unknown[]} */
  const shown = [];
  const show = (/** @type {unknown} */ value) => void shown.push(value);
  const secret = 'S3cr3tS3cr3tS3cr3t';
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ2aWV3ZXIifQ.c2lnbmF0dXJlc2ln';
  const engine = await engineFor(
    t,
    { attempts: 2, rotateAfter: 0 },
    {
      shouldRetry: (error, attempt, history) => void show([error, attempt, history]),
      refreshPlaybackToken: () => /** @type {any} */ (undefined),
      onAttemptFailed: show,
      onExhausted: show,
      onHostHealth: show,
      detectRateLimit: ({ status, url }) =>
        status === 420 ? { scope: url, waitMs: 50 } : undefined,
      breaker: { consecutive: 2, base: 100, cap: 100 },
    },
  );
  engine.subscribe((state) => show(JSON.stringify(state)));
  const queries = [`token=${secret}&x=1`, `Expires=1&Signature=${secret}`, `t=${jwt}`];
  for (const [i, query] of queries.entries()) {
    const own = i === 2 ? jwt : secret;
    const refusals = [
      [answer(403, `<a href="/x?${query}">${own}</a>`)],
      [answer(503, '')],
      [answer(420, ''), answer(410, '')],
      [answer(404, `no ${own}`)],
      [reset()],
    ];
    for (const [j, [refusal, then = refusal]] of refusals.entries()) {
      const path = `/${i === 2 ? jwt : 'v'}/shown-${i}-${j}.mp4`;
      const url = `${server.on(path, refusal, then)}?${query}#${secret}`;
      show(await failureOf(engine.load({ url })));
      show(engine.log());
      show(engine.state);
    }
  }
  show(await failureOf(engine.load({ url: `//relative?token=${secret}` })));
  assert.ok(shown.length > 40, String(shown.length));
  for (const value of shown) {
    for (const text of [
      inspect(value, { depth: 9, showHidden: true }),
      JSON.stringify(value),
      value instanceof Error ? `${value.stack}` : '',
    ]) {
      assert.ok(!text.includes(secret) && !text.includes(jwt), text);
    }
  }
});

test('R51: a slow refusal that comes after the exchange is replayed without another question', async (t) => {
  let calls = 0;
  const engine = await engineFor(
    t,
    {},
    { refreshPlaybackToken: (url) => ((calls += 1), renew(url)) },
  );
  const slow = `${server.on('/late.mp4', later(300, denied), guarded)}?${OLD}`;
  const quickly = `${server.on('/early.mp4', guarded)}?${OLD}`;
  const loads = [slow, quickly].map((url) => engine.load({ url }));
  await Promise.all(loads);
  assert.equal(calls, 1);
  assert.deepEqual(queries('/late.mp4'), [OLD, NEW]);
});
