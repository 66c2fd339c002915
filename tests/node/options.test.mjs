// @ts-check
// Options are checked at construction: a wrong one is refused by name.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  createEngine,
  DEFAULT_BREAKER,
  DEFAULT_BUDGET,
  DEFAULT_SITES,
  isHoldfastError,
  OptionsError,
} from 'holdfast';
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
  ['preset', { preset: 'none' }],
  ['preset', { preset: true }],
  ['refreshScope', { refreshScope: 'host' }],
  ['refreshScope', { refreshScope: null }],
  ['budget', { budget: 10 }],
  ['budget', { budget: null }],
  ['budget.size', { budget: { size: 10 } }],
  ['budget.host', { budget: { host: -1 } }],
  ['budget.host', { budget: { host: NaN } }],
  ['budget.source', { budget: { source: '20' } }],
  ['budget.session', { budget: { session: 1_000_001 } }],
  ['budget.earn', { budget: { earn: -0.1 } }],
  ['budget.episode', { budget: { episode: 1.5 } }],
  ['budget.episode', { budget: { episode: -1 } }],
  ['breaker', { breaker: false }],
  ['breaker.threshold', { breaker: { threshold: 5 } }],
  ['breaker.consecutive', { breaker: { consecutive: 0 } }],
  ['breaker.consecutive', { breaker: { consecutive: 2.5 } }],
  ['breaker.window', { breaker: { window: 0 } }],
  ['breaker.minRequests', { breaker: { minRequests: 0 } }],
  ['breaker.minRequests', { breaker: { minRequests: 1.5 } }],
  ['breaker.ratio', { breaker: { ratio: 0 } }],
  ['breaker.ratio', { breaker: { ratio: 1.1 } }],
  ['breaker.base', { breaker: { base: 0 } }],
  ['breaker.factor', { breaker: { factor: 0.9 } }],
  ['breaker.factor', { breaker: { factor: 101 } }],
  ['breaker.cap', { breaker: { cap: 86_400_001 } }],
  ['breaker.decay', { breaker: { decay: Infinity } }],
  ['breaker.exhausted', { breaker: { exhausted: 1 } }],
  ['sites.segment.rotateAfter', segment({ rotateAfter: -1 })],
  ['sites.segment.rotateAfter', segment({ rotateAfter: 1.5 })],
  ['sites.segment.rotateAfter', segment({ rotateAfter: 101 })],
  ['sites.license.singleUse', { sites: { license: { singleUse: 1 } } }],
  ['sites.license.refreshBeforeRetry', { sites: { license: { refreshBeforeRetry: 'yes' } } }],
  ['sites.segment.singleUse', segment({ singleUse: true })],
  ['sites.key.singleUse', { sites: { key: { singleUse: false } } }],
  ['sites.manifest.refreshBeforeRetry', { sites: { manifest: { refreshBeforeRetry: true } } }],
  ['breaker.base', { breaker: { base: 5000, cap: 4000 } }],
  ['breaker.base', { breaker: { base: 30_001 } }],
  ['breaker.base', { breaker: { cap: 3999 } }],
  ['sites.segment.container', segment({ container: 'webm' })],
  ['sites.segment.container', segment({ container: true })],
  ['sites.segment.resume', segment({ resume: 0 })],
  ['sites.segment.assumeIdentity', segment({ assumeIdentity: 'yes' })],
  ['sites.segment.trustUnexposedRange', segment({ trustUnexposedRange: null })],
  ['sites.segment.rangeFirst', segment({ rangeFirst: 'bytes=0-' })],
  // What is for one site alone is not for all.
  ...['container', 'validate', 'resume', 'rangeFirst'].map(
    (name) => /** @type {[string, unknown]} */ ([name, { [name]: true }]),
  ),
];
// A body of these sites has no container.
for (const site of ['key', 'license', 'certificate', 'steering', 'other']) {
  for (const container of ['hls', 'webvtt', 'mpeg-ts', 'mp4', 'webm']) {
    BAD.push([`sites.${site}.container`, { sites: { [site]: { container } } }]);
  }
}
// Media is fetched on where it stopped.
for (const site of ['init', 'segment', 'text-segment']) {
  BAD.push([`sites.${site}.resume`, { sites: { [site]: { resume: false } } }]);
}

/** A recovery matrix that is refused, and the key in it that is named. @type {Array<[string, unknown]>} */
const BAD_MATRICES = [
  ['', 'retry'],
  ['', null],
  ['', [404]],
  ['.451', { 451: 'retry' }],
  ['.legal', { legal: 'fail' }],
  ['.aborted', { aborted: 'retry' }],
  ['.success', { success: 'fail' }],
  ['.99', { 99: 'retry' }],
  ['.600', { 600: 'retry' }],
  ['.4xx', { '4xx': 'fail' }],
  ['.notFound', { notFound: 'retry' }],
  ['.404', { 404: 'again' }],
  ['.404', { 404: true }],
  ['.not-found', { 'not-found': null }],
  ['.server', { 503: 'retry', server: 3 }],
];
for (const [key, recovery] of BAD_MATRICES) {
  BAD.push([`recovery${key}`, { recovery }]);
  BAD.push([`sites.segment.recovery${key}`, segment({ recovery })]);
}

/** Those that may be set for the engine, for a site and for a source. */
const HOOKS = /** @type {const} */ ([
  ...['shouldRetry', 'refreshPlaybackToken', 'refreshLicenseRequest', 'detectRateLimit'],
  'detectExpiry',
]);
const NO_FUNCTIONS = [true, null, 'retry', {}, 0];
for (const value of NO_FUNCTIONS) {
  for (const name of [...HOOKS, 'onAttemptFailed', 'onHostHealth', 'getSite']) {
    BAD.push([name, { [name]: value }]);
  }
  for (const name of [...HOOKS, 'validate'])
    BAD.push([`sites.license.${name}`, { sites: { license: { [name]: value } } }]);
}
// What the engine is told is the engine's alone.
BAD.push(['sites.segment.onAttemptFailed', segment({ onAttemptFailed() {} })]);
BAD.push(['hooks', { hooks: {} }]);

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

/** Hooks that leave everything as it is. @type {import('holdfast').HookSet} */
const EVERY_HOOK = {
  shouldRetry: () => undefined,
  refreshPlaybackToken: (url) => url,
  refreshLicenseRequest: (request) => request,
  detectRateLimit: () => null,
  detectExpiry: () => undefined,
};

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
  'the defaults themselves': {
    ...{ sites: DEFAULT_SITES, budget: DEFAULT_BUDGET, breaker: DEFAULT_BREAKER },
  },
  'both presets': { preset: 'full' },
  'a container wherever there is one': {
    sites: {
      ...{ manifest: { container: 'hls' }, playlist: { container: 'hls' } },
      ...{ 'playlist-reload': { container: 'hls' }, 'text-segment': { container: 'webvtt' } },
      ...{ init: { container: 'mp4' }, segment: { container: 'mpeg-ts' } },
    },
  },
  'a check of the caller at any site': {
    sites: Object.fromEntries(
      Object.keys(DEFAULT_SITES).map((site) => [site, { validate: () => () => true }]),
    ),
  },
  'ranges as they are, where it is said': {
    sites: {
      manifest: { resume: false },
      key: { resume: false },
      init: { resume: true, assumeIdentity: true, trustUnexposedRange: true, rangeFirst: true },
      segment: { resume: false, allowOverride: true },
    },
  },
  'the naive preset, which never fetches on': {
    preset: 'naive',
    sites: { segment: { resume: false } },
  },
  'a breaker whose cool-down does not grow': { breaker: { base: 5000, cap: 5000 } },
  'the naive preset, with sites of its own': {
    preset: 'naive',
    sites: { license: { attempts: 2 }, other: { attempts: 1 } },
  },
  'a recovery matrix of statuses and classes': {
    recovery: { 404: 'grace', 599: 'fail', 'not-found': 'once', intercepted: 'retry' },
    sites: { segment: { recovery: { 100: 'not-ready', denied: 'refresh', 412: undefined } } },
  },
  'no budget, and a breaker that never opens': {
    budget: { host: 0, source: 0, session: 0, earn: 0, episode: 0 },
    breaker: { consecutive: 1_000_000, minRequests: 1_000_000, ratio: 1, exhausted: true },
  },
  'hooks everywhere': {
    ...{ ...EVERY_HOOK, onAttemptFailed() {}, onHostHealth() {}, getSite: () => undefined },
    refreshScope: 'url',
    sites: {
      segment: { ...EVERY_HOOK, rotateAfter: 2 },
      license: { ...EVERY_HOOK, singleUse: true, refreshBeforeRetry: false },
    },
  },
};

for (const [name, options] of Object.entries(GOOD)) {
  test(`R5: ${name}: accepted`, () => createEngine(options).destroy());
}

test('R5: what is undefined keeps its default, at every depth', () => {
  const none = undefined;
  const nothing = {
    ...{ headersTimeout: none, firstHeadersTimeout: none, stallTimeout: none, attempts: none },
    ...{ deadline: none, maxWait: none, onExhausted: none, allowOverride: none },
    ...{ rotateAfter: none, recovery: none, singleUse: none, refreshBeforeRetry: none },
    ...{ container: none, validate: none, resume: none, assumeIdentity: none },
    ...{ trustUnexposedRange: none, rangeFirst: none },
    ...Object.fromEntries(HOOKS.map((name) => [name, none])),
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
    ...{ preset: none, refreshScope: none, recovery: { 404: none, server: none } },
    ...{ onAttemptFailed: none, onHostHealth: none, getSite: none },
    budget: Object.fromEntries(Object.keys(DEFAULT_BUDGET).map((name) => [name, none])),
    breaker: Object.fromEntries(Object.keys(DEFAULT_BREAKER).map((name) => [name, none])),
    ...Object.fromEntries(HOOKS.map((name) => [name, none])),
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

test('R5: each number of the budget and of the breaker is taken by itself', () => {
  const usual = [...flatten({}, parseOptions({}))];
  for (const [group, defaults] of Object.entries({
    budget: DEFAULT_BUDGET,
    breaker: DEFAULT_BREAKER,
  })) {
    for (const [name, value] of Object.entries(defaults)) {
      const own = typeof value === 'boolean' ? !value : name === 'ratio' ? 0.75 : value + 1;
      const options = { [group]: { [name]: own } };
      const changed = [...flatten(options, parseOptions(options))].filter((n, i) => n !== usual[i]);
      assert.deepEqual(changed, [Number(own)], `${group}.${name}`);
    }
  }
});

test('R5: what a site does with ranges crosses as the last number of its row', () => {
  const bits = { assumeIdentity: 2, trustUnexposedRange: 4, rangeFirst: 8 };
  const usual = [...flatten({}, parseOptions({}))];
  /** What differs from the usual. @param {import('holdfast').SiteOptions} policy */
  const changes = (policy) => {
    const options = { sites: { init: policy } };
    const changed = [...flatten(options, parseOptions(options))];
    return changed.flatMap((number, i) => (number === usual[i] ? [] : [[i, number]]));
  };
  const [[place, off]] = changes({ resume: false, allowOverride: true });
  assert.equal(off, 1);
  for (const [name, bit] of Object.entries(bits)) {
    assert.deepEqual(changes({ [name]: true }), [[place, bit]], name);
    assert.deepEqual(changes({ [name]: false }), [], name);
  }
  assert.deepEqual(changes({ resume: true }), []);
  const all = { assumeIdentity: true, trustUnexposedRange: true, rangeFirst: true };
  assert.deepEqual(changes({ ...all, resume: false, allowOverride: true }), [[place, 15]]);
  const next = { sites: { segment: { rangeFirst: true, rotateAfter: 7 } } };
  const row = [...flatten(next, parseOptions(next))].slice(place + 1, place + 13);
  assert.equal(row[0], DEFAULT_SITES.segment.headersTimeout, 'rows have twelve numbers');
  assert.deepEqual(row.slice(-2), [7, 8]);
});

test('R28: the checks of a site stay on this side, and cross as nothing', () => {
  const validate = () => () => true;
  const options = /** @type {import('holdfast').EngineOptions} */ ({
    sites: { segment: { container: 'mp4', validate } },
  });
  const parsed = parseOptions(options, { sites: { init: { container: 'mp4' } } });
  assert.equal(parsed.segment.container, 'mp4');
  assert.equal(parsed.segment.validate, validate);
  assert.equal(parsed.init.container, 'mp4');
  assert.equal(parsed.key.container, undefined);
  assert.deepEqual(flatten(options, parsed), flatten({}, parseOptions({})));
});

test('R5: a field at a site that has no use for it is refused with where it belongs', () => {
  for (const [site, policy, message] of /** @type {const} */ ([
    ['segment', { singleUse: true }, /singleUse must be left out: it is for license, certificate/],
    ['key', { container: 'mp4' }, /container must be left out: it is for manifest, playlist,/],
    ['segment', { resume: false }, /resume must be true at this site \(allowOverride: true/],
  ])) {
    assert.throws(() => parseOptions({ sites: { [site]: policy } }), { message });
  }
});

test("R5: a recovery matrix crosses as rules: the engine's for all sites, a site's for its own", () => {
  const options = /** @type {import('holdfast').EngineOptions} */ ({
    recovery: { 404: 'retry', denied: 'fail' },
    sites: { key: { recovery: { 503: 'once' } } },
  });
  const { length } = flatten({}, parseOptions({}));
  assert.deepEqual(
    [...flatten(options, parseOptions(options)).slice(length)],
    [...[-1, 404, 0], ...[-1, 1004, 1], ...[5, 503, 2]],
  );
});

test('R7: the naive preset is hls.js as it is: three retries of every site but "other"', () => {
  const parsed = parseOptions({ preset: 'naive', sites: { key: { attempts: 2 } } });
  for (const [site, { attempts, onExhausted, resume }] of Object.entries(parsed)) {
    assert.equal(attempts, { key: 2, other: 1 }[site] ?? 4, site);
    assert.equal(onExhausted, 'reject');
    assert.equal(resume, site === 'other' ? undefined : false);
  }
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
  for (const all of [DEFAULT_SITES, DEFAULT_BUDGET, DEFAULT_BREAKER]) {
    assert.ok(Object.isFrozen(all));
  }
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
    async () => ({ status: 200 }),
    async () => undefined,
    () => null,
  ]) {
    const engine = await engineFor(t, { attempts: 2 }, { fetch: /** @type {any} */ (fetch) });
    const error = await failureOf(engine.load({ url: `${server.origin}/nonsense.mp4` }));
    assert.equal(error.code, 'TRANSPORT', String(fetch));
    assert.equal(error.attempts, 2);
  }
});

/** What `startSource` refuses, and the field that is named. @type {Array<[string, unknown]>} */
const BAD_SOURCES = [
  ['source', null],
  ['source', 'next'],
  ['source.budget', { budget: {} }],
  ['source.shouldRetry', { shouldRetry() {} }],
  ['source.hooks', { hooks: [] }],
  ['source.hooks.onAttemptFailed', { hooks: { onAttemptFailed() {} } }],
  ['source.sites.segments', { sites: { segments: {} } }],
  ['source.sites.segment.attempts', segment({ attempts: 0 })],
  ['source.sites.segment.rotateAfter', segment({ rotateAfter: 'never' })],
  ['source.sites.license.shouldRetry', { sites: { license: { shouldRetry: true } } }],
  ['source.sites.key.container', { sites: { key: { container: 'mp4' } } }],
  ['source.sites.segment.singleUse', segment({ singleUse: true })],
  ['source.sites.segment.validate', segment({ validate: 'mp4' })],
  ['sites.key.attempts', { sites: { key: { attempts: 9 } } }],
  ['sites.segment.resume', segment({ resume: false })],
  ...HOOKS.flatMap((name) =>
    NO_FUNCTIONS.map(
      (value) =>
        /** @type {[string, unknown]} */ ([`source.hooks.${name}`, { hooks: { [name]: value } }]),
    ),
  ),
  ...BAD_MATRICES.map(
    ([key, recovery]) => /** @type {[string, unknown]} */ ([`source.recovery${key}`, { recovery }]),
  ),
];

test('R5: startSource refuses what it cannot take, by name, and then changes nothing', async (t) => {
  const engine = createEngine({ sites: { segment: { attempts: 3 } } });
  t.after(() => engine.destroy());
  await engine.ready;
  let asked = 0;
  const shouldRetry = () => (asked += 1) < 0;
  await engine.startSource({ hooks: { shouldRetry }, sites: { key: { attempts: 1 } } });
  engine.declareAlternatives('key', 1);
  const url = (/** @type {number} */ i) => server.on(`/source-${i}`, answer(503, ''));
  const key = (/** @type {number} */ i) => failureOf(engine.load({ url: url(i), site: 'key' }));
  assert.equal((await key(0)).attempts, 1);
  assert.equal(asked, 1);
  const { retryExhausted } = engine.state;
  assert.equal(retryExhausted.length, 1);

  for (const [field, source] of BAD_SOURCES) {
    const error = await failureOf(engine.startSource(/** @type {any} */ (source)));
    assert.ok(error instanceof OptionsError, field);
    assert.equal(error.field, field);
    assert.ok(error.message.startsWith(`${field} must be `), error.message);
  }
  assert.equal(engine.state.retryExhausted, retryExhausted);
  assert.equal((await key(1)).attempts, 1, 'the policy of the source before');
  assert.equal(asked, 2, 'its hooks, and what was declared');
  await engine.startSource();
  assert.deepEqual(engine.state.retryExhausted, []);
});
