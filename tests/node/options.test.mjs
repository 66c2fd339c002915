// @ts-check
// Options are checked at construction: a wrong one is refused by name.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createEngine, DEFAULT_SITES, isHoldfastError, OptionsError } from 'holdfast';
import { flatten, parseOptions } from '../../js/options.js';
import { engineFor, failureOf, quick } from './fixture.mjs';
import { answer, content, hang, ok, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const segment = (/** @type {unknown} */ policy) => ({ sites: { segment: policy } });

/** What is refused, and the field that the message begins with. @type {Array<[string, unknown]>} */
const BAD = [
  ['options', null],
  ['options', 5],
  ['options', 'hold'],
  ['options', []],
  ['site', { site: {} }],
  ['sites', { sites: [] }],
  ['sites', { sites: null }],
  ['sites', { sites: 'segment' }],
  ['sites.segments', { sites: { segments: {} } }],
  ['sites.toString', { sites: { toString: {} } }],
  ['sites.licence', { sites: { licence: {} } }],
  ['sites.segment', segment(null)],
  ['sites.segment', segment(4)],
  ['sites.segment.retries', segment({ retries: 4 })],
  ['sites.segment.attempts', segment({ attempts: 0 })],
  ['sites.segment.attempts', segment({ attempts: -1 })],
  ['sites.segment.attempts', segment({ attempts: 1.5 })],
  ['sites.segment.attempts', segment({ attempts: '4' })],
  ['sites.segment.attempts', segment({ attempts: 101 })],
  ['sites.segment.attempts', segment({ attempts: NaN })],
  ['sites.segment.attempts', segment({ attempts: null })],
  ['sites.segment.attempts', segment({ attempts: Infinity })],
  ['sites.segment.headersTimeout', segment({ headersTimeout: 0 })],
  ['sites.segment.headersTimeout', segment({ headersTimeout: '8s' })],
  ['sites.segment.headersTimeout', segment({ headersTimeout: Infinity })],
  ['sites.segment.firstHeadersTimeout', segment({ firstHeadersTimeout: -5 })],
  ['sites.segment.stallTimeout', segment({ stallTimeout: 86_400_001 })],
  ['sites.segment.deadline', segment({ deadline: 0 })],
  ['sites.segment.maxWait', segment({ maxWait: -1 })],
  ['sites.segment.onExhausted', segment({ onExhausted: 'wait' })],
  ['sites.segment.onExhausted', segment({ onExhausted: () => {} })],
  ['sites.segment.allowOverride', segment({ allowOverride: 1 })],
  ['sites.segment.backoff', segment({ backoff: 1000 })],
  ['sites.segment.backoff', segment({ backoff: null })],
  ['sites.segment.backoff.max', segment({ backoff: { max: 5 } })],
  ['sites.segment.backoff.base', segment({ backoff: { base: 0 } })],
  ['sites.segment.backoff.base', segment({ backoff: { base: 5000, cap: 4000 } })],
  ['sites.segment.backoff.base', segment({ backoff: { base: 5000 } })],
  ['sites.segment.backoff.factor', segment({ backoff: { factor: 0.5 } })],
  ['sites.segment.backoff.cap', segment({ backoff: { cap: -1 } })],
  ['sites.key.attempts', { sites: { key: { attempts: 4 } } }],
  ['sites.license.attempts', { sites: { license: { attempts: 4 } } }],
  ['sites.certificate.attempts', { sites: { certificate: { attempts: 4 } } }],
  ['sites.playlist.attempts', { sites: { playlist: { attempts: 10 } } }],
  ['sites.other.attempts', { sites: { other: { attempts: 4 } } }],
  ['onExhausted', { onExhausted: 'never' }],
  ['onExhausted', { onExhausted: {} }],
  ['onExhausted', { onExhausted: true }],
  ['fetch', { fetch: 'fetch' }],
  ['getCdnId', { getCdnId: {} }],
  ['bandwidth', { bandwidth: 5_000_000 }],
  ['bandwidth.halfLife', { bandwidth: { halfLife: 2 } }],
  ['bandwidth.fastHalfLife', { bandwidth: { fastHalfLife: 0 } }],
  ['bandwidth.slowHalfLife', { bandwidth: { slowHalfLife: 4000 } }],
  ['holdLimit', { holdLimit: -1 }],
  ['holdLimit', { holdLimit: '5 min' }],
  ['holdLimit', { holdLimit: Infinity }],
  ['logCapacity', { logCapacity: 0.5 }],
  ['logCapacity', { logCapacity: 100_001 }],
  ['wasm', { wasm: '' }],
  ['wasm', { wasm: null }],
];

for (const [field, options] of BAD) {
  const shown = typeof options === 'object' ? JSON.stringify(options) : String(options);
  test(`R5: ${shown} is refused, naming ${field}`, () => {
    assert.throws(
      () => createEngine(/** @type {any} */ (options)),
      (error) => {
        assert.ok(error instanceof OptionsError, String(error));
        assert.ok(isHoldfastError(error));
        assert.equal(error.name, 'OptionsError');
        assert.equal(error.code, 'INVALID_OPTION');
        assert.equal(error.field, field);
        assert.ok(error.message.startsWith(`${field} must be `), error.message);
        return true;
      },
    );
  });
}

/** @type {Record<string, import('holdfast').EngineOptions>} */
const GOOD = {
  nothing: {},
  'no sites': { sites: {} },
  'empty sites': { sites: { segment: {}, key: { backoff: {} } } },
  'the least': {
    sites: {
      segment: {
        ...{ attempts: 1, headersTimeout: 1, firstHeadersTimeout: 1, stallTimeout: 1, deadline: 1 },
        ...{ maxWait: 0, backoff: { base: 1, factor: 1, cap: 1 } },
      },
    },
    holdLimit: 0,
    logCapacity: 0,
    bandwidth: { fastHalfLife: 0.01 },
  },
  'fractions of milliseconds': { sites: { init: { headersTimeout: 1.5, backoff: { base: 2.5 } } } },
  'the three modes': {
    onExhausted: 'hold',
    sites: { manifest: { onExhausted: 'auto' }, steering: { onExhausted: 'reject' } },
  },
  hooks: { onExhausted() {}, getCdnId: () => undefined, fetch: globalThis.fetch },
  'two retries of a license': { sites: { license: { attempts: 3 } } },
  'more, where the bound is lifted': { sites: { license: { attempts: 9, allowOverride: true } } },
  'the defaults themselves': { sites: DEFAULT_SITES },
};

for (const [name, options] of Object.entries(GOOD)) {
  test(`R5: ${name}: accepted`, () => createEngine(options).destroy());
}

test('R5: what is undefined keeps its default, at every depth', () => {
  const none = undefined;
  const nothing = {
    ...{ headersTimeout: none, firstHeadersTimeout: none, stallTimeout: none, attempts: none },
    ...{ deadline: none, maxWait: none, onExhausted: none, allowOverride: none },
  };
  const given = /** @type {any} */ ({
    sites: {
      manifest: { ...nothing, backoff: { base: none, factor: none, cap: none } },
      segment: { ...nothing, backoff: none },
      'text-segment': nothing,
      init: none,
    },
    ...{ onExhausted: none, bandwidth: { fastHalfLife: none }, holdLimit: none },
    ...{ logCapacity: none, fetch: none, getCdnId: none, wasm: none },
  });
  createEngine(given).destroy();
  assert.deepEqual(flatten(given, parseOptions(given)), flatten({}, parseOptions({})));
});

test('R5: a partial override changes its field of its site, and nothing else', () => {
  const usual = flatten({}, parseOptions({}));
  const options = { sites: { segment: { backoff: { cap: 2000 } } } };
  const changed = flatten(options, parseOptions(options));
  const differing = [...changed.keys()].filter((i) => changed[i] !== usual[i]);
  assert.equal(differing.length, 1);
  assert.equal(usual[differing[0]], 3000);
  assert.equal(changed[differing[0]], 2000);
});

test('the mode of all sites is that of each site that sets none', () => {
  const parsed = parseOptions({ onExhausted: 'hold', sites: { key: { onExhausted: 'auto' } } });
  for (const [site, { onExhausted }] of Object.entries(parsed)) {
    assert.equal(onExhausted, site === 'key' ? 'auto' : 'hold');
  }
});

test('R15: the ladder of the manifest is longer than that of segments', () => {
  const { manifest, segment } = DEFAULT_SITES;
  assert.ok(manifest.attempts > segment.attempts);
  assert.ok(manifest.deadline > segment.deadline);
});

test('R5: the defaults cannot be changed', () => {
  assert.ok(Object.isFrozen(DEFAULT_SITES));
  for (const policy of Object.values(DEFAULT_SITES)) {
    assert.ok(Object.isFrozen(policy), 'a policy');
    assert.ok(Object.isFrozen(policy.backoff));
  }
});

test('R6: an options object may be used again and is never changed', async (t) => {
  const options = quick({ attempts: 2 });
  const before = JSON.stringify(options);
  const engines = [createEngine(options), createEngine(options)];
  t.after(() => engines.forEach((engine) => engine.destroy()));
  await Promise.all(engines.map(({ ready }) => ready));
  assert.equal(JSON.stringify(options), before);
});

test('R6: two engines with different options do not interact', async (t) => {
  const one = await engineFor(t, { attempts: 1 });
  const many = await engineFor(t, { attempts: 4 });
  one.declareAlternatives('segment', 1);
  const url = server.on('/two.mp4', answer(503, ''));
  const [short, long] = await Promise.all([
    failureOf(one.load({ url })),
    failureOf(many.load({ url })),
  ]);
  assert.equal(short.attempts, 1);
  assert.equal(long.attempts, 4);
  assert.equal(server.seen('/two.mp4').length, 5);
  assert.equal(one.state.retryExhausted.length, 1);
  assert.equal(many.state.retryExhausted.length, 1);
  assert.equal(one.log().filter(({ event }) => event === 'sent').length, 1);
});

test('R5: a site that is overridden behaves so, and its neighbour as before', async (t) => {
  const engine = await engineFor(t);
  const own = createEngine({ sites: { segment: { headersTimeout: 80, attempts: 1 } } });
  t.after(() => own.destroy());
  await own.ready;
  own.declareAlternatives('segment', 1);
  const url = server.on('/override.mp4', hang());
  const error = await failureOf(own.load({ url }));
  assert.equal(error.code, 'TIMEOUT');
  assert.equal(Math.round(error.limit), 80);
  const init = own.load({ url, site: 'init', signal: AbortSignal.timeout(300) });
  assert.equal((await failureOf(init)).name, 'TimeoutError', 'init still waits');
  engine.destroy();
});

test('the fetch option is used instead of the global one, with the URL and init', async (t) => {
  /** @type {any[]} */
  const calls = [];
  const body = content(1000);
  const engine = await engineFor(
    t,
    {},
    {
      async fetch(...args) {
        calls.push(args);
        if (calls.length === 1) throw new TypeError('no network');
        return new Response(body);
      },
    },
  );
  const url = server.on('/never-asked.mp4', ok('wrong'));
  const { data } = await engine.load({ url, init: { headers: { a: 'b' }, cache: 'no-store' } });
  assert.deepEqual(Buffer.from(/** @type {ArrayBuffer} */ (data)), body);
  assert.equal(calls.length, 2);
  for (const [input, init] of calls) {
    assert.equal(input, url);
    assert.deepEqual(init.headers, { a: 'b' });
    assert.equal(init.cache, 'no-store');
    assert.ok(init.signal instanceof AbortSignal);
  }
  assert.notEqual(calls[0][1].signal, calls[1][1].signal, 'each attempt has its own');
  assert.equal(server.seen('/never-asked.mp4').length, 0);
});

test('a fetch option that throws or resolves with nonsense is a failure of the network', async (t) => {
  for (const fetch of [
    () => {
      throw new Error('synchronous');
    },
    async () => 'no response',
    async () => undefined,
    () => null,
  ]) {
    const engine = await engineFor(t, { attempts: 2 }, { fetch: /** @type {any} */ (fetch) });
    const error = await failureOf(engine.load({ url: `${server.origin}/nonsense.mp4` }));
    assert.equal(error.code, 'TRANSPORT', String(fetch));
    assert.equal(error.attempts, 2);
  }
});
