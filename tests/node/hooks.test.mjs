// @ts-check
// The embedder's hooks: when they are asked, what their answers do, and that none can do harm.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Driver } from '../../js/pkg/core.js';
import {
  catchUncaught,
  engineFor,
  eventually,
  failureOf,
  freshPackage,
  hush,
  quick,
  sleep,
  spyTimers,
  within,
} from './fixture.mjs';
import { answer, breakOff, content, ok, reset, serve } from './server.mjs';

/** @typedef {import('holdfast').FailedAttempt} FailedAttempt */

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());
// What hooks throw is reported as what nobody caught.
const uncaught = catchUncaught({ after });
after(() => assert.ok(uncaught.every((error) => String(error) === 'Error: boom')));

const MEDIA = content(20_000);
const busy = answer(503, 'busy');
const boom = () => {
  throw new Error('boom');
};

describe('shouldRetry', { concurrency: true }, () => {
  /** @type {[what: string, hook: () => any, attempts: number][]} */
  const verdicts = [
    ['false', () => false, 1],
    ['true', () => true, 3],
    ['undefined', () => undefined, 3],
    ['a promise of false', async () => false, 1],
    ['a thrown error', boom, 3],
    ['a rejection', async () => boom(), 3],
    ['nonsense', () => 'no', 3],
    ['null', () => null, 3],
    ['an empty object', () => ({}), 3],
    ['{ retryAfter: NaN }', () => ({ retryAfter: NaN }), 3],
    ['{ retryAfter: -1 }', () => ({ retryAfter: -1 }), 3],
    ['{ retryAfter: Infinity }', () => ({ retryAfter: Infinity }), 3],
    ['{ retryAfter: "1" }', () => ({ retryAfter: '1' }), 3],
    ['{ retryAfter: 0 }', () => ({ retryAfter: 0 }), 3],
    ['false, too late', async () => (await sleep(600), false), 3],
  ];
  for (const [i, [what, shouldRetry, attempts]] of verdicts.entries()) {
    test(`R58, R59: of ${what} comes the verdict after attempt ${attempts}`, async (t) => {
      const engine = await engineFor(t, { attempts: 3 }, { shouldRetry });
      const url = server.on(`/verdict-${i}.mp4`, busy);
      const error = await failureOf(engine.load({ url }));
      assert.equal(error.attempts, attempts);
      assert.equal(error.status, 503);
      assert.equal(error.reason, attempts === 1 ? 'vetoed' : 'attempts');
      assert.equal(server.seen(`/verdict-${i}.mp4`).length, attempts);
    });
  }

  test('R58: true repeats what is final, but never 451, and not beyond the ladder', async (t) => {
    const engine = await engineFor(t, { attempts: 3 }, { shouldRetry: () => true });
    for (const [status, attempts] of [
      [400, 3],
      [410, 3],
      [451, 1],
    ]) {
      const url = server.on(`/final-${status}.mp4`, answer(status, ''));
      assert.equal((await failureOf(engine.load({ url }))).attempts, attempts, String(status));
    }
    const url = server.on('/final-once.mp4', answer(410, ''), ok(MEDIA));
    assert.equal((await engine.load({ url })).attempts, 2);
  });

  test('R58: true does not send twice what is not safe to', async (t) => {
    const engine = await engineFor(t, {}, { shouldRetry: () => true });
    const url = server.on('/post', busy);
    const response = await engine.fetch(url, { method: 'POST', body: 'x', site: 'segment' });
    assert.equal(response.status, 503);
    assert.equal(await response.text(), 'busy');
    assert.equal(server.seen('/post').length, 1);
  });

  test('R59: retryAfter is in milliseconds and replaces the delay', async (t) => {
    const engine = await engineFor(
      t,
      { backoff: { base: 3000, factor: 1, cap: 3000 } },
      { shouldRetry: () => ({ retryAfter: 300 }) },
    );
    const url = server.on('/after.mp4', busy, ok(MEDIA));
    await within(engine.load({ url }), 2000, 'the load');
    const [first, second] = server.seen('/after.mp4');
    assert.ok(second.at - first.at >= 299, String(second.at - first.at));
  });

  test('R59: retryAfter is no longer than the longest wait, and never undercuts the server', async (t) => {
    const long = await engineFor(
      t,
      { maxWait: 300 },
      { shouldRetry: () => ({ retryAfter: 1e12 }) },
    );
    const url = server.on('/clamped.mp4', busy, ok(MEDIA));
    await within(long.load({ url }), 3000, 'the load');
    const short = await engineFor(t, {}, { shouldRetry: () => ({ retryAfter: 0 }) });
    const asked = server.on('/floor.mp4', answer(503, '', { 'retry-after': '1' }), ok(MEDIA));
    await short.load({ url: asked });
    const [first, second] = server.seen('/floor.mp4');
    assert.ok(second.at - first.at >= 1000);
  });

  test('R60: the history is frozen, and tells of each attempt', async (t) => {
    /** @type {[any, number, readonly FailedAttempt[]][]} */
    const calls = [];
    const engine = await engineFor(
      t,
      { attempts: 3 },
      { shouldRetry: (...args) => void calls.push(args) },
    );
    const url = server.on('/history.mp4', busy, breakOff(MEDIA, 5000), answer(500, 'x'));
    await failureOf(engine.load({ url }));
    assert.deepEqual(
      calls.map(([error, attempt, history]) => [error.status, attempt, history.length]),
      [
        [503, 1, 1],
        [0, 2, 2],
        [500, 3, 3],
      ],
    );
    const [error, , history] = calls[2];
    assert.equal(error.name, 'RequestError');
    assert.equal(error.body, 'x');
    assert.equal(error.headers.get('content-length'), '1');
    assert.ok(Object.isFrozen(history) && history.every((each) => Object.isFrozen(each)));
    assert.deepEqual(
      history.map(({ attempt, status, bytes, svta }) => ({ attempt, status, bytes, svta })),
      [
        { attempt: 1, status: 503, bytes: 0, svta: 3503 },
        { attempt: 2, status: 0, bytes: 5000, svta: history[1].svta },
        { attempt: 3, status: 500, bytes: 0, svta: 3500 },
      ],
    );
    assert.match(history[1].class, /transport|truncated/);
    assert.equal(history[0].delay, 0);
    for (const [i, { delay, duration }] of history.entries()) {
      assert.ok(duration >= 0);
      if (i > 0) assert.ok(delay >= 49, String(delay));
    }
    assert.ok(history[1].duration >= 39, 'from when it was sent to when it broke');
  });

  test('R60: the history keeps the last 32', async (t) => {
    /** @type {readonly FailedAttempt[]} */
    let last = [];
    const engine = await engineFor(
      t,
      { attempts: 40, deadline: 60_000 },
      {
        shouldRetry: (_, __, history) => void (last = history),
        budget: { host: 1000, source: 1000, session: 1000 },
        breaker: { consecutive: 1000, ratio: 1, minRequests: 1000 },
      },
    );
    const load = failureOf(engine.load({ url: server.on('/many.mp4', busy) }));
    const hurry = setInterval(() => engine.retryNow(), 5);
    t.after(() => clearInterval(hurry));
    assert.equal((await load).attempts, 40);
    assert.equal(last.length, 32);
    assert.equal(last[0].attempt, 9);
    assert.equal(last[31].attempt, 40);
  });

  test('R10: an abort while shouldRetry is asked rejects at once', async (t) => {
    let asked = false;
    const engine = await engineFor(
      t,
      {},
      { shouldRetry: () => ((asked = true), sleep(200).then(() => true)) },
    );
    const controller = new AbortController();
    const url = server.on('/asked-abort.mp4', busy);
    const load = failureOf(engine.load({ url, signal: controller.signal }));
    await eventually(() => asked);
    controller.abort(new Error('enough'));
    assert.equal((await within(load, 100, 'the abort')).message, 'enough');
    await sleep(300);
    assert.equal(server.seen('/asked-abort.mp4').length, 1);
  });

  test('R62: the most specific hook counts, alone', async (t) => {
    /** @type {string[]} */
    const asked = [];
    const hook = (/** @type {string} */ name) => ({
      shouldRetry: () => (asked.push(name), false),
    });
    const engine = await engineFor(t, {}, { ...hook('engine') });
    const load = async (/** @type {import('holdfast').Site} */ site) =>
      failureOf(engine.load({ url: server.on('/level.mp4', busy), site }));
    await load('init');
    await engine.startSource({ hooks: hook('source'), sites: { key: hook('source site') } });
    await load('init');
    await load('key');
    await engine.startSource();
    await load('key');
    assert.deepEqual(asked, ['engine', 'source', 'source site', 'engine']);
    const sites = await engineFor(t, { ...hook('site') }, { ...hook('engine') });
    await failureOf(sites.load({ url: server.on('/level.mp4', busy) }));
    assert.equal(asked.at(-1), 'site');
  });

  test('R62: hooks that come with a source alone are asked', async (t) => {
    const { createEngine } = await (await freshPackage(t)).node();
    const engine = createEngine(quick());
    t.after(() => engine.destroy());
    await engine.ready;
    await engine.startSource({ hooks: { shouldRetry: () => false } });
    const url = server.on('/only-source.mp4', busy);
    assert.equal((await failureOf(engine.load({ url }))).reason, 'vetoed');
  });
});

describe('what is told', { concurrency: true }, () => {
  test('R61: of each failed attempt, the first one too, before anything follows', async (t) => {
    /** @type {string[]} */
    const order = [];
    /** @type {any[]} */
    const events = [];
    const engine = await engineFor(
      t,
      { attempts: 2 },
      {
        onAttemptFailed: (event) => {
          order.push(`failed ${event.attempt} of ${server.seen('/told.mp4').length}`);
          events.push(event);
        },
        shouldRetry: (_, attempt) => void order.push(`asked ${attempt}`),
      },
    );
    const url = server.on('/told.mp4', busy);
    await failureOf(engine.load({ url }));
    assert.deepEqual(order, ['failed 1 of 1', 'asked 1', 'failed 2 of 2', 'asked 2']);
    const [{ at, duration, ...rest }] = events;
    assert.deepEqual(rest, {
      ...{ attempt: 1, class: 'server-busy', status: 503, svta: 3503, bytes: 0 },
      ...{ site: 'segment', url, host: server.origin },
    });
    assert.ok(at > 0 && duration > 0 && Object.isFrozen(events[0]));
  });

  test('R61: also where the credential is exchanged at once', async (t) => {
    /** @type {number[]} */
    const told = [];
    const engine = await engineFor(
      t,
      {},
      {
        onAttemptFailed: () => void told.push(server.seen('/exchanged.mp4').length),
        refreshPlaybackToken: (url) => `${url}new`,
      },
    );
    const url = `${server.on('/exchanged.mp4', answer(403, ''), ok(MEDIA))}?token=0123456789`;
    await engine.load({ url });
    assert.deepEqual(told, [1]);
  });

  test('R63: the slot is written, then the callback is called, then the promise rejects', async (t) => {
    /** @type {any[]} */
    const order = [];
    /** @type {any} */
    const engine = await engineFor(
      t,
      { attempts: 2 },
      {
        onAttemptFailed: ({ attempt }) => void order.push(`attempt ${attempt}`),
        onExhausted: (event) => {
          assert.equal(engine.state.retryExhausted.at(-1), event);
          order.push('exhausted');
        },
      },
    );
    engine.subscribe((/** @type {any} */ state) => {
      if (state.retryExhausted.length > 0 && !order.includes('slot')) order.push('slot');
    });
    const url = server.on('/order.mp4', busy);
    await failureOf(engine.load({ url }));
    order.push('rejected');
    await sleep(20);
    assert.deepEqual(order, ['attempt 1', 'attempt 2', 'slot', 'exhausted', 'rejected']);
  });

  test('a listener that throws is reported, and nothing else changes', async (t) => {
    const before = uncaught.length;
    const engine = await engineFor(
      t,
      { attempts: 2 },
      {
        onAttemptFailed: boom,
        onExhausted: boom,
        onHostHealth: boom,
        getSite: boom,
        getCdnId: boom,
      },
    );
    const url = server.on('/listeners.mp4', busy, ok(MEDIA));
    assert.equal((await engine.load({ url })).attempts, 2);
    const down = server.on('/listeners-down.mp4', busy);
    assert.equal((await failureOf(engine.load({ url: down }))).reason, 'attempts');
    await sleep(0);
    assert.ok(uncaught.length >= before + 3);
  });
});

describe('hooks that call back', { concurrency: true }, () => {
  /** @type {Record<string, (engine: any) => unknown>} */
  const calls = {
    'fetches through the engine': (engine) =>
      void engine.fetch(server.on('/inner.mp4', ok('x'))).catch(() => {}),
    'loads and waits': (engine) => engine.load({ url: server.on('/inner.mp4', ok('x')) }),
    'hurries, reports and reads': (engine) => {
      engine.retryNow();
      engine.reportPlayback({ bufferAhead: 1, targetDuration: 2 });
      engine.declareAlternatives('segment', 0);
      engine.resetHealth();
      engine.log();
    },
    'starts another source': (engine) => engine.startSource(),
    'destroys the engine': (engine) => void engine.destroy(),
  };
  const hooks = [
    'shouldRetry',
    'onAttemptFailed',
    'detectRateLimit',
    'onExhausted',
    'onHostHealth',
  ];
  for (const [what, call] of Object.entries(calls)) {
    for (const hook of hooks) {
      test(`R58: ${hook} ${what}`, async (t) => {
        let called = 0;
        /** @type {any} */
        const engine = await engineFor(
          t,
          { attempts: 2 },
          {
            [hook]: async () => {
              called += 1;
              await Promise.resolve(call(engine)).catch(() => {});
            },
            breaker: { consecutive: 2, base: 100, cap: 100 },
          },
        );
        const name = `${hook}-${Object.keys(calls).indexOf(what)}`;
        const urls = [0, 1].map((i) => server.on(`/${name}-${i}.mp4`, busy));
        const errors = await Promise.all(
          urls.map((url) => within(failureOf(engine.load({ url })), 5000, what)),
        );
        await eventually(() => called > 0);
        for (const { code } of errors) assert.match(code, /SERVER_BUSY|DESTROYED/);
        if (what === 'destroys the engine') return;
        const url = server.on(`/${name}-after.mp4`, ok(MEDIA));
        assert.equal((await engine.load({ url })).bytes, MEDIA.byteLength);
      });
    }
  }
});

test('R10: destroy while shouldRetry is asked leaves no timer', async (t) => {
  const armed = spyTimers(t);
  let asked = false;
  const engine = await engineFor(
    t,
    {},
    { shouldRetry: () => ((asked = true), new Promise(() => {})) },
  );
  const load = failureOf(engine.load({ url: server.on('/pending.mp4', busy) }));
  await eventually(() => asked);
  engine.destroy();
  assert.equal((await load).code, 'DESTROYED');
  assert.equal(armed.size, 0);
});

test('R10: destroy while hooks are asked lets the process end', async () => {
  const script = `
    import { createEngine } from ${JSON.stringify(new URL('../../js/node.js', import.meta.url))};
    import { answer, serve } from ${JSON.stringify(new URL('server.mjs', import.meta.url))};
    const server = await serve();
    const never = () => new Promise(() => {});
    const engines = [
      { shouldRetry: never },
      { refreshPlaybackToken: never },
      { refreshLicenseRequest: never },
      { detectRateLimit: () => ({ scope: 'host', waitMs: 9000 }) },
    ].map((hooks) => createEngine(hooks));
    const open = server.on('/open', (_, response) => void response.writeHead(403).write('x'));
    const whole = server.on('/whole', answer(403, ''));
    const failures = [];
    for (const engine of engines) {
      await engine.ready;
      for (const site of ['segment', 'license'])
        for (const url of [open, whole])
          failures.push(engine.load({ url: url + '?token=0123456789', site }).catch((error) => error.code));
    }
    while (server.all.length < failures.length) await new Promise((next) => setTimeout(next, 10));
    await new Promise((next) => setTimeout(next, 100));
    for (const engine of engines) engine.destroy();
    console.log((await Promise.all(failures)).join(' '));
    await server.close();
  `;
  const run = promisify(execFile);
  const args = ['--input-type=module', '-e', script];
  const { stdout, stderr } = await run(process.execPath, args, { timeout: 4000 });
  assert.match(stdout, /DESTROYED/);
  assert.equal(stderr, '');
});

test('R51: a fresh credential outlives a module that has traps', async (t) => {
  hush(t, 'error');
  /** @type {string[]} */
  const asked = [];
  const engine = await engineFor(
    t,
    {},
    { refreshPlaybackToken: (url) => (asked.push(url), url.replace('old', 'new')) },
  );
  const query = '?token=old-0123456789';
  const first = server.on('/trap-1.mp4', answer(403, ''), ok(MEDIA)) + query;
  await engine.load({ url: first });
  const { start } = Driver.prototype;
  Driver.prototype.start = () => {
    Driver.prototype.start = start;
    throw new WebAssembly.RuntimeError('unreachable');
  };
  for (const name of ['trap-2', 'trap-3']) {
    await engine.load({ url: server.on(`/${name}.mp4`, ok(MEDIA)) + query });
    assert.match(server.seen(`/${name}.mp4`)[0].url, /new-0123456789$/);
    await eventually(() => engine.state.mode === 'engine');
    await sleep(50);
  }
  assert.equal(asked.length, 1);
});

test('R58: the preset "naive" asks no hook', async (t) => {
  const engine = await engineFor(t, {}, { preset: 'naive', shouldRetry: boom, detectExpiry: boom });
  const url = server.on('/naive.mp4', answer(403, ''));
  assert.equal((await failureOf(engine.load({ url }))).attempts, 1);
});

describe('before the module is there', () => {
  /** @param {import('node:test').TestContext} t @param {import('holdfast').EngineOptions} hooks */
  async function coldEngine(t, hooks) {
    const cold = await (await freshPackage(t)).node();
    /** @type {(bytes: unknown) => void} */
    let resolve = () => {};
    const source = /** @type {any} */ (new Promise((settle) => (resolve = settle)));
    const engine = cold.createEngine(quick({}, { wasm: source, ...hooks }));
    t.after(() => engine.destroy());
    return {
      engine,
      arrive: async () =>
        resolve(await readFile(new URL('../../js/pkg/core_bg.wasm', import.meta.url))),
    };
  }

  test('R58: a request that failed by then has its hooks asked', async (t) => {
    /** @type {number[]} */
    const asked = [];
    const { engine, arrive } = await coldEngine(t, {
      shouldRetry: ({ status }) => void asked.push(status),
    });
    const url = server.on('/cold.mp4', busy, ok(MEDIA));
    const load = engine.load({ url });
    await eventually(() => server.seen('/cold.mp4').length === 1);
    await sleep(50);
    await arrive();
    assert.equal((await load).attempts, 2);
    assert.deepEqual(asked, [503]);
  });

  test('R51: one whose credential was refused waits for the module, and is refreshed', async (t) => {
    const { engine, arrive } = await coldEngine(t, {
      refreshPlaybackToken: (url) => url.replace('old', 'new'),
    });
    const url = `${server.on('/late-token.mp4', answer(403, ''), ok(MEDIA))}?token=old-0123456789`;
    const load = engine.load({ url });
    await eventually(() => server.seen('/late-token.mp4').length === 1);
    await sleep(50);
    await arrive();
    assert.equal((await load).attempts, 2);
    assert.match(server.seen('/late-token.mp4')[1].url, /new-0123456789$/);
  });

  test('R4: where the module never comes, the refusal is passed on', async (t) => {
    hush(t, 'warn');
    const cold = await (await freshPackage(t)).node();
    const engine = cold.createEngine(
      quick(
        {},
        {
          wasm: /** @type {any} */ (sleep(200).then(() => new Uint8Array(4))),
          refreshPlaybackToken: (url) => url,
        },
      ),
    );
    t.after(() => engine.destroy());
    const url = `${server.on('/never-comes.mp4', answer(403, 'no'))}?token=old-0123456789`;
    const response = await within(engine.fetch(url), 3000, 'the fetch');
    assert.equal(response.status, 403);
    assert.equal(await response.text(), 'no');
    assert.equal(server.seen('/never-comes.mp4').length, 1);
  });

  test('hooks that cannot be loaded: one warning, and an engine without them', async (t) => {
    const warnings = hush(t, 'warn');
    const fresh = await freshPackage(t);
    const { createEngine } = await fresh.node();
    await rm(fileURLToPath(new URL('counsel.js', fresh.url)));
    const options = quick({ attempts: 2 }, { shouldRetry: () => false, onAttemptFailed: boom });
    for (const round of [0, 1]) {
      const engine = createEngine(options);
      t.after(() => engine.destroy());
      assert.equal(await engine.ready, true);
      assert.equal(engine.state.mode, 'engine');
      await engine.startSource({ hooks: { refreshPlaybackToken: (url) => `${url}x` } });
      const url = server.on(`/no-counsel-${round}.mp4`, busy, ok(MEDIA));
      assert.equal((await engine.load({ url })).attempts, 2);
      assert.ok(
        engine.log().every(({ event }) => event !== 'asked'),
        'nobody waits for one',
      );
      const refused = `${server.on(`/no-counsel-${round}-403.mp4`, answer(403, ''))}?token=0123456789`;
      assert.equal((await failureOf(engine.load({ url: refused }))).reason, 'terminal');
    }
    assert.equal(warnings.length, 1);
    assert.match(String(warnings[0][0]), /counsel\.js/);
  });
});

test('R58: after a reset of the network the error says so', async (t) => {
  /** @type {any} */
  let error;
  const engine = await engineFor(t, {}, { shouldRetry: (given) => ((error = given), false) });
  await failureOf(engine.load({ url: server.on('/reset.mp4', reset()) }));
  assert.equal(error.code, 'TRANSPORT');
  assert.equal(error.status, 0);
  assert.equal(error.body, '');
});
