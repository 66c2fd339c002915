// @ts-check
// The bridge between an engine and the signals of a player, which are SPF's own.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { effect, signal } from '@videojs/spf';
import { createHlsVideoEngine } from '@videojs/spf/hls';
import { createEngine } from 'holdfast';
import { bridgeSpf } from 'holdfast/spf';
import { engineFor, eventually, failureOf, sleep } from './fixture.mjs';
import { answer, serve } from './server.mjs';

/** @typedef {import('@videojs/spf/hls').HlsVideoEngineSignals} Signals */
/** @typedef {Signals['state'] & import('holdfast/spf').SpfSlots} State */

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const A = 'https://a.example';
const B = 'https://b.example';

/**
 * A presentation with these CDNs for video, audio and text.
 *
 * @param {string[]} video @param {string[]} [audio] @param {string[]} [text] @returns {any}
 */
function presentation(video, audio = video, text = []) {
  /** @param {string} type @param {string[]} cdns */
  const set = (type, cdns) => ({
    type,
    id: type,
    switchingSets: [
      {
        tracks: cdns.map((cdn, i) => ({ type, id: `${type}-${i}`, url: cdn && `${cdn}/${type}` })),
      },
    ],
  });
  return {
    id: 'p',
    url: `${A}/main`,
    selectionSets: [set('video', video), set('audio', audio), set('text', text)],
  };
}

/**
 * SPF's own engine, of which only the state is used here.
 *
 * @param {import('node:test').TestContext} t
 * @param {boolean} [isOnline] without, its requests are never answered
 */
function player(t, isOnline = false) {
  if (!isOnline) t.mock.method(globalThis, 'fetch', () => new Promise(() => {}));
  /** @type {Signals | undefined} */
  let signals;
  const composition = createHlsVideoEngine({ onSignalsReady: (own) => (signals = own) });
  t.after(() => composition.destroy());
  return /** @type {{ state: State, context: Signals['context'] }} */ (signals);
}

/** An engine that does no more than to be told. */
function listener() {
  /** @type {Set<(state: any) => void>} */
  const listeners = new Set();
  /** @type {Record<string, number | undefined>} */
  const declared = {};
  /** @type {import('holdfast').PlaybackReport[]} */
  const reports = [];
  const engine = {
    state: {
      mode: 'engine',
      retryState: {},
      retryExhausted: /** @type {any[]} */ ([]),
      hostHealth: {},
    },
    /** @param {(state: any) => void} own */
    subscribe(own) {
      listeners.add(own);
      return () => listeners.delete(own);
    },
    /** @param {string} site @param {number | undefined} count */
    declareAlternatives: (site, count) => void (declared[site] = count),
    /** @param {import('holdfast').PlaybackReport} report */
    reportPlayback: (report) => void reports.push(report),
  };
  return {
    engine: /** @type {any} */ (engine),
    declared,
    reports,
    listeners,
    /** @param {object} slots */
    tell(slots) {
      Object.assign(engine.state, slots);
      for (const own of listeners) own(engine.state);
    },
  };
}

const verdict = (/** @type {object} */ more) => ({
  site: 'segment',
  url: `${A}/1.m4s`,
  holding: false,
  errors: [{ code: 3503 }, { code: 3008 }],
  ...more,
});

test("the engine's slots are signals of the player, and go with the bridge", async (t) => {
  const engine = await engineFor(t);
  const { state, context } = player(t, true);
  const before = Object.keys(state);
  const stop = bridgeSpf(engine, { state, context }, { effect, signal });
  /** @type {number[]} */
  const seen = [];
  t.after(effect(() => void seen.push(state.retryExhausted.get().length)));
  const url = server.on('/slots.mp4', answer(410, ''));
  await failureOf(engine.fetchBytes({ url }));
  await eventually(() => seen.at(-1) === 1);
  assert.equal(state.retryExhausted.get(), engine.state.retryExhausted);
  assert.deepEqual(Object.keys(state.hostHealth.get()), [server.origin]);
  assert.deepEqual(state.retryState.get(), {});
  stop();
  assert.deepEqual(Object.keys(state), before);
});

test('slots that a player has itself are written, and stay', (t) => {
  const { engine, tell } = listener();
  const { state, context } = player(t);
  const own = signal(/** @type {any} */ (undefined));
  state.hostHealth = own;
  const stop = bridgeSpf(engine, { state, context }, { effect, signal });
  const hostHealth = { [A]: { state: 'open' } };
  tell({ hostHealth });
  assert.equal(own.get(), hostHealth);
  stop();
  assert.equal(state.hostHealth, own);
});

test('a verdict is appended to the errors, cause first; a request that is held is none', async (t) => {
  const { engine, tell } = listener();
  const { state, context } = player(t);
  const earlier = verdict({});
  tell({ retryExhausted: [earlier] });
  t.after(bridgeSpf(engine, { state, context }, { effect, signal }));
  state.errors.set([{ code: 1004 }]);
  const held = verdict({ holding: true });
  tell({ retryExhausted: [earlier, held] });
  tell({ retryExhausted: [earlier, held, verdict({})] });
  tell({ retryState: {} });
  assert.deepEqual(
    state.errors.get()?.map(({ code }) => code),
    [1004, 3503, 3008],
  );
});

test('the CDN of a verdict has failed, by the track that was selected then', async (t) => {
  const { engine, tell } = listener();
  const { state, context } = player(t);
  t.after(bridgeSpf(engine, { state, context }, { effect, signal }));
  state.presentation.set(presentation([A, B]));
  await eventually(() => state.selectedVideoTrackId.get() === 'video-0');
  // Segments may be on another host than their playlist.
  tell({ retryExhausted: [verdict({ url: 'https://segments.example/1.m4s' })] });
  assert.equal(state.failedCdns.get(), undefined, 'SPF has its turn first');
  await sleep(20);
  assert.deepEqual(state.failedCdns.get(), [A]);
  assert.equal(state.selectedVideoTrackId.get(), 'video-1');
});

test('a multivariant playlist that cannot be had is held against no CDN', async (t) => {
  const { engine, tell } = listener();
  const { state, context } = player(t);
  t.after(bridgeSpf(engine, { state, context }, { effect, signal }));
  state.presentation.set(presentation([A, B]));
  await eventually(() => state.selectedVideoTrackId.get());
  tell({ retryExhausted: [verdict({ site: 'manifest' })] });
  await sleep(20);
  assert.equal(state.failedCdns.get(), undefined);
});

/** @type {Record<string, { video: string[], audio?: string[], text?: string[], fail: string[][], left: string[] | undefined }>} */
const CASES = {
  'the only CDN never fails': { video: [A], fail: [[A]], left: undefined },
  'one of two fails': { video: [A, B], fail: [[A]], left: [A] },
  'the other one of two does not fail, too': { video: [A, B], fail: [[A], [A, B]], left: [A] },
  'a CDN does not fail that alone has audio': {
    video: [A, B],
    audio: [A],
    fail: [[A]],
    left: undefined,
  },
  'audio that comes with the video needs no CDN': {
    video: [A, B],
    audio: [''],
    fail: [[A]],
    left: [A],
  },
  'nor does it fail without one': { video: [A, B], audio: [''], fail: [['']], left: undefined },
  'a CDN may fail that alone has text': { video: [A, B], text: [A], fail: [[A]], left: [A] },
  'one may come back': { video: [A, B], fail: [[A], []], left: [] },
};
for (const [what, { video, audio, text, fail, left }] of Object.entries(CASES)) {
  test(`of the CDNs, ${what}`, async (t) => {
    const { engine } = listener();
    const { state, context } = player(t);
    const stop = bridgeSpf(engine, { state, context }, { effect, signal });
    state.presentation.set(presentation(video, audio, text));
    await eventually(() => state.selectedVideoTrackId.get());
    for (const cdns of fail) state.failedCdns.set(cdns);
    assert.deepEqual(state.failedCdns.get(), left);
    await sleep(20);
    assert.equal(state.errors.get(), undefined);
    // What it says from here on is expected.
    t.mock.method(console, 'error', () => {});
    stop();
    state.failedCdns.set([A, B]);
    assert.deepEqual(state.failedCdns.get(), [A, B], 'without the bridge it is as SPF has it');
    assert.ok(!Object.hasOwn(state.failedCdns, 'set'));
  });
}

test('CDNs go by the names that the player gives them', async (t) => {
  const { engine, declared } = listener();
  const { state, context } = player(t);
  const getCdnId = () => 'one and the same';
  t.after(bridgeSpf(engine, { state, context }, { effect, signal, getCdnId }));
  state.presentation.set(presentation([A, B]));
  await eventually(() => declared.segment === 0);
  state.failedCdns.set(['one and the same']);
  assert.equal(state.failedCdns.get(), undefined);
});

test('the engine is told where else SPF could go', async (t) => {
  const { engine, declared } = listener();
  const { state, context } = player(t);
  const stop = bridgeSpf(engine, { state, context }, { effect, signal });
  assert.deepEqual([declared.manifest, declared.segment], [0, undefined]);
  state.presentation.set(presentation([A, B]));
  await eventually(() => declared.segment === 1);
  state.failedCdns.set([A]);
  await eventually(() => declared.segment === 0);
  state.presentation.set(presentation([A, B, 'https://c.example'], [''], [A]));
  await eventually(() => declared.segment === 1);
  state.failedCdns.set([A, B]);
  await eventually(() => declared.segment === 0);
  assert.deepEqual(declared, {
    manifest: 0,
    playlist: 0,
    'playlist-reload': 0,
    init: 0,
    segment: 0,
  });
  stop();
  assert.deepEqual(new Set(Object.values(declared)), new Set([undefined]));
});

test('the engine is told of the buffer and the playlist, from the element that plays', async (t) => {
  const { engine, reports, listeners } = listener();
  const { state, context } = player(t);
  const stop = bridgeSpf(engine, { state, context }, { effect, signal });
  const playing = presentation([A]);
  const [track] = playing.selectionSets[0].switchingSets[0].tracks;
  track.metadata = { mediaPlaylist: { targetDuration: 6, endList: false } };
  state.presentation.set(playing);
  await eventually(() => state.selectedVideoTrackId.get());
  const buffered = { length: 1, start: () => 0, end: () => 12 };
  const media = /** @type {any} */ (
    Object.assign(new EventTarget(), { buffered, currentTime: 2, play() {}, load() {} })
  );
  const own = { mediaElement: signal(/** @type {any} */ (undefined)) };
  stop();
  const again = bridgeSpf(engine, { state, context: own }, { effect, signal });
  own.mediaElement.set(media);
  await eventually(() => reports.length);
  assert.deepEqual(reports.at(-1), { bufferAhead: 10, targetDuration: 6, live: true });
  media.currentTime = 5;
  media.dispatchEvent(new Event('timeupdate'));
  assert.equal(reports.at(-1)?.bufferAhead, 7);
  again();
  const { length } = reports;
  media.dispatchEvent(new Event('timeupdate'));
  assert.equal(reports.length, length);
  assert.equal(listeners.size, 0);
});

test('playback that stands still with media ahead is got going by a seek to where it stands', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { engine } = listener();
  const { state } = player(t);
  const buffered = { length: 1, start: () => 0, end: () => 12 };
  /** @type {number[]} */
  const seeks = [];
  let at = 5;
  const media = Object.assign(new EventTarget(), {
    ...{ buffered, readyState: 2, paused: false, seeking: false, play() {}, load() {} },
  });
  Object.defineProperty(media, 'currentTime', {
    get: () => at,
    set(to) {
      seeks.push(to);
    },
  });
  const own = { mediaElement: signal(/** @type {any} */ (media)) };
  const stop = bridgeSpf(engine, { state, context: own }, { effect, signal });
  t.mock.timers.tick(1000);
  assert.deepEqual(seeks, [], 'a moment is no standstill');
  t.mock.timers.tick(1000);
  assert.deepEqual(seeks, [5]);
  at = 6;
  t.mock.timers.tick(1000);
  media.readyState = 4;
  t.mock.timers.tick(2000);
  at = 11.5;
  media.readyState = 2;
  t.mock.timers.tick(3000);
  assert.deepEqual(seeks, [5], 'not where it moves, plays, or has nothing ahead');
  stop();
  at = 5;
  t.mock.timers.tick(3000);
  assert.deepEqual(seeks, [5]);
});

test('once the engine has failed open, SPF fails CDNs as it does alone', async (t) => {
  const { engine, tell } = listener();
  const { state, context } = player(t);
  t.mock.method(console, 'error', () => {});
  t.after(bridgeSpf(engine, { state, context }, { effect, signal }));
  state.presentation.set(presentation([A]));
  tell({ mode: 'plain' });
  state.failedCdns.set([A]);
  assert.deepEqual(state.failedCdns.get(), [A]);
  assert.ok(state.retryState, 'whoever looks on the slots still finds them');
});

test('an engine that is destroyed under the bridge harms nothing', async (t) => {
  const engine = createEngine();
  const { state, context } = player(t);
  const stop = bridgeSpf(engine, { state, context }, { effect, signal });
  engine.destroy();
  state.presentation.set(presentation([A, B]));
  await sleep(20);
  stop();
});
