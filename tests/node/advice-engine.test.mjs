// @ts-check
// What a server advises in its responses, end to end: only lower, only for a while.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { engineFor, eventually, sleep, within } from './fixture.mjs';
import { content, ok, redirect, serve } from './server.mjs';

/** @typedef {import('holdfast').Engine} Engine */

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {Awaited<ReturnType<typeof serve>>} */
let elsewhere;
before(async () => ([server, elsewhere] = await Promise.all([serve(), serve()])));
after(() => Promise.all([server.close(), elsewhere.close()]));

const MEDIA = content(30_000);
const FIELD = 'x-capsule-advice';

let paths = 0;
/** @param {Record<string, string>} headers */
const playlist = (headers) => server.on(`/${(paths += 1)}.m3u8`, ok('#EXTM3U\n', headers));

/** @param {Engine} engine */
const advised = (engine) => engine.log().filter(({ event }) => event === 'advised');

/**
 * Fetches a playlist with these fields, and waits until what they say has been heard.
 *
 * @param {Engine} engine
 * @param {Record<string, string>} headers
 */
async function hear(engine, headers) {
  const { length } = advised(engine);
  await engine.fetchText({ url: playlist(headers) });
  await eventually(() => advised(engine).length > length, 'the advice is heard');
}

/** The same where nothing is to be heard. @param {Engine} engine @param {Record<string, string>} headers */
async function ignore(engine, headers) {
  await engine.fetchText({ url: playlist(headers) });
  // What is heard of it is heard before what comes later is.
  await hear(engine, { [FIELD]: 'ranges=6;ttl=1', 'x-other-advice': 'ranges=6' });
}

/**
 * Loads segments at once, which the server answers when so many are there, and says how many there
 * were at once.
 *
 * @param {Engine} engine
 * @param {number} count a multiple of that
 * @param {{ together?: number }} [how]
 */
async function segments(engine, count, { together = 1 } = {}) {
  const path = `/${(paths += 1)}.mp4`;
  let open = 0;
  let most = 0;
  /** @type {Array<() => void>} */
  const waiting = [];
  const url = server.on(path, (_, response) => {
    open += 1;
    most = Math.max(most, open);
    waiting.push(() => {
      open -= 1;
      response.writeHead(200, { 'content-length': MEDIA.byteLength }).end(MEDIA);
    });
    if (open < together) return;
    // Whoever else is on the way gets a chance to come.
    setTimeout(() => waiting.splice(0).forEach((answer) => answer()), 60);
  });
  const loads = Array.from({ length: count }, (_, i) => engine.load({ url: `${url}?${i}` }));
  const all = await within(Promise.all(loads), 20_000, `${together} at once`);
  for (const { data } of all) assert.ok(MEDIA.equals(Buffer.from(data)));
  assert.equal(server.seen(path).length, count);
  return most;
}

test('R89: without advice, all go at once', async (t) => {
  const engine = await engineFor(t);
  assert.equal(await segments(engine, 5, { together: 5 }), 5);
  assert.equal(advised(engine).length, 0);
});

for (const [advice, most] of /** @type {const} */ ([
  ['sessions=1', 1],
  ['sessions=2', 2],
  ['sessions=0', 1],
  ['chunk=65536, sessions=1, ttl=60, whatever="x"', 1],
])) {
  test(`R81, R89: after ${advice}, segments go ${most} at a time`, async (t) => {
    const engine = await engineFor(t);
    await hear(engine, { [FIELD]: advice });
    assert.equal(engine.state.path?.maxInFlight, most);
    assert.equal(await segments(engine, 6, { together: most }), most);
    // It stands, and once more.
    assert.equal(await segments(engine, 6, { together: most }), most);
  });
}

test('R81, R89: what waits for its turn is shown, and playlists and keys do not wait', async (t) => {
  const engine = await engineFor(t);
  await hear(engine, { [FIELD]: 'sessions=1' });
  /** @type {() => void} */
  let answer = () => {};
  const slow = server.on('/slow.mp4', (_, response) => {
    answer = () => response.writeHead(200).end(MEDIA);
  });
  const next = server.on('/next.mp4', ok(MEDIA));
  const first = engine.load({ url: slow });
  await eventually(() => server.seen('/slow.mp4').length === 1);
  const second = engine.load({ url: next });
  await eventually(() =>
    Object.values(engine.state.retryState).some(({ waitReason }) => waitReason === 'window'),
  );
  await engine.fetchText({ url: playlist({}) });
  await engine.load({ url: server.on('/beside.key', ok('0123456789abcdef')), site: 'key' });
  assert.equal(server.seen('/next.mp4').length, 0);
  answer();
  await Promise.all([first, second]);
  assert.equal(server.seen('/next.mp4').length, 1);
  assert.deepEqual(engine.state.retryState, {});
});

test('R89: it is over after its time, and what waits goes', async (t) => {
  const engine = await engineFor(t);
  const from = performance.now();
  await hear(engine, { [FIELD]: 'sessions=1, ttl=1' });
  assert.equal(engine.state.path?.maxInFlight, 1);
  // The first one is answered when the second is there.
  assert.equal(await segments(engine, 2, { together: 2 }), 2);
  const [first, second] = server.all.slice(-2);
  assert.ok(second.at - from >= 1000, `after ${second.at - from} ms`);
  assert.ok(second.at - first.at > 500);
  assert.equal(await segments(engine, 4, { together: 4 }), 4);
});

test('R89: advice that is newer replaces what stands, and none changes nothing', async (t) => {
  const engine = await engineFor(t);
  await hear(engine, { [FIELD]: 'sessions=1' });
  await engine.fetchText({ url: playlist({}) });
  assert.equal(engine.state.path?.maxInFlight, 1);
  await hear(engine, { [FIELD]: 'sessions=3' });
  assert.equal(engine.state.path?.maxInFlight, 3);
  await hear(engine, { [FIELD]: 'ttl=0' });
  assert.equal(await segments(engine, 4, { together: 4 }), 4);
});

test('R89: it is for its host alone', async (t) => {
  const engine = await engineFor(t);
  await engine.load({ url: elsewhere.on('/first.mp4', ok(MEDIA)) });
  await hear(engine, { [FIELD]: 'sessions=1' });
  let open = 0;
  /** @type {Array<() => void>} */
  const waiting = [];
  const url = elsewhere.on('/a.mp4', (_, response) => {
    open += 1;
    waiting.push(() => response.end(MEDIA));
    if (open === 3) waiting.forEach((answer) => answer());
  });
  const loads = [1, 2, 3].map((i) => engine.load({ url: `${url}?${i}` }));
  await within(Promise.all(loads), 20_000, 'another host');
  assert.equal(elsewhere.seen('/a.mp4').length, 3, 'none was given up before the third one came');
  assert.equal(await segments(engine, 3), 1);
});

for (const [name, headers, options] of /** @type {Array<[string, any, any?]>} */ ([
  ['a field that breaks the grammar', { [FIELD]: 'sessions=1,,' }],
  ['a field that is too long', { [FIELD]: `sessions=1, x="${'a'.repeat(2100)}"` }],
  ['what a cache kept', { [FIELD]: 'sessions=1', age: '10' }],
  ['a field of another name', { 'x-advice': 'sessions=1' }],
  [
    'the usual name where there is another',
    { [FIELD]: 'sessions=1' },
    { adviceHeader: 'x-other-advice' },
  ],
  ['CMSD unless it is wanted', { 'cmsd-dynamic': '"edge";du;mb=800' }],
])) {
  test(`R89: ${name} is ignored`, async (t) => {
    const engine = await engineFor(t, {}, options);
    await ignore(engine, headers);
    assert.equal(advised(engine).length, 1);
    assert.equal(await segments(engine, 4, { together: 4 }), 4);
  });
}

test('R89: no advice is heard where none is wanted', async (t) => {
  const engine = await engineFor(t, {}, { adviceHeader: false });
  const url = playlist({ [FIELD]: 'sessions=1' });
  for (let i = 0; i < 3; i += 1) await engine.fetchText({ url });
  assert.equal(await segments(engine, 4, { together: 4 }), 4);
  assert.equal(advised(engine).length, 0);
});

test('R89: a wrong type is ignored, and the rest counts', async (t) => {
  const engine = await engineFor(t);
  await hear(engine, { [FIELD]: 'chunk="a", sessions=2, ttl=?1' });
  assert.equal(engine.state.path?.maxInFlight, 2);
});

test('R89: Age: 0 comes from the server itself', async (t) => {
  const engine = await engineFor(t);
  await hear(engine, { [FIELD]: 'sessions=1', age: '0' });
  assert.equal(engine.state.path?.maxInFlight, 1);
});

test('R89: where a redirect leads speaks for itself alone', async (t) => {
  const engine = await engineFor(t);
  const there = elsewhere.on('/a.m3u8', ok('#EXTM3U\n', { [FIELD]: 'sessions=1' }));
  await engine.fetchText({ url: server.on('/redirected.m3u8', redirect(there)) });
  await hear(engine, { [FIELD]: 'sessions=7' });
  assert.equal(engine.state.path?.maxInFlight, 7);
  assert.equal(advised(engine).length, 1);
});

test('R89: the field may have another name', async (t) => {
  const engine = await engineFor(t, {}, { adviceHeader: 'x-other-advice' });
  await hear(engine, { 'x-other-advice': 'sessions=1' });
  assert.equal(await segments(engine, 3), 1);
});

test('R89: refusals carry advice as well', async (t) => {
  const engine = await engineFor(t);
  const url = server.on('/busy.m3u8', (_, response) => {
    response.writeHead(404, { [FIELD]: 'sessions=1' }).end();
  });
  await engine.fetch(url);
  await eventually(() => advised(engine).length === 1);
  assert.equal(engine.state.path?.maxInFlight, 1);
});

test('R89, R90: CMSD caps the bitrate as a hint, and duress holds what is fetched ahead', async (t) => {
  const engine = await engineFor(t, {}, { cmsd: true });
  await hear(engine, { 'cmsd-dynamic': '"edge";du;mb=800' });
  const { abrCapHint, maxInFlight, allowed, class: kind } = engine.state.path ?? {};
  assert.deepEqual([abrCapHint, maxInFlight, allowed, kind], [800_000, 1, 'needed', 'unmetered']);
  const url = server.on('/ahead.mp4', ok(MEDIA));
  const ahead = engine.load({ url, purpose: 'ahead' });
  await eventually(() => Object.values(engine.state.retryState)[0]?.waitReason === 'held');
  await engine.load({ url: server.on('/needed.mp4', ok(MEDIA)) });
  await sleep(50);
  assert.equal(server.seen('/ahead.mp4').length, 0);
  await hear(engine, { 'cmsd-dynamic': '"edge";com.example-ttl=0' });
  await ahead;
  assert.equal(server.seen('/ahead.mp4').length, 1);
});

test('R89: CMSD carries the rest under a prefix, and the lower of both fields counts', async (t) => {
  const engine = await engineFor(t, {}, { cmsd: true });
  await hear(engine, { 'cmsd-dynamic': '"edge";com.example-sessions=2', [FIELD]: 'sessions=3' });
  assert.equal(engine.state.path?.maxInFlight, 2);
});

test('R89: no advice cuts what is under way, nor raises a window', async (t) => {
  const engine = await engineFor(t);
  const usual = engine.state.path?.maxInFlight ?? 0;
  /** @type {Array<() => void>} */
  const waiting = [];
  const url = server.on('/many.mp4', (_, response) => {
    response.writeHead(200, { 'content-length': MEDIA.byteLength }).write(MEDIA.subarray(0, 100));
    waiting.push(() => response.end(MEDIA.subarray(100)));
  });
  const loads = [1, 2, 3].map((i) => engine.load({ url: `${url}?${i}` }));
  await eventually(() => waiting.length === 3);
  await hear(engine, { [FIELD]: 'sessions=1' });
  waiting.forEach((answer) => answer());
  await Promise.all(loads);
  assert.ok(server.seen('/many.mp4').every(({ closedAt }) => closedAt === undefined));
  await hear(engine, { [FIELD]: 'sessions=100000' });
  assert.equal(engine.state.path?.maxInFlight, usual);
});
