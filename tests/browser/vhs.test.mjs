// @ts-check
/** video.js with VHS on an engine, in a real browser, plays real media through real faults. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from './fixture.mjs';
import { RESUMABLE, requested, startVhs } from './vhs-fixture.mjs';

/** Of the test stream, in milliseconds: VHS gives a segment one and a half of it. */
const TARGET_MS = 2000;
const BOTH = /** @type {const} */ (['none', 'player']);

/** @type {import('./vhs-fixture.mjs').Vhs} */
let vhs;
before(async () => {
  vhs = await startVhs();
});
after(() => vhs?.close());

// They wait for the most part.
describe('VHS on an engine', { concurrency: 2 }, () => {
  test('a healthy stream costs the very requests that it costs without the adapter', async () => {
    const played = BOTH.map(async (install) => {
      const session = vhs.createSession();
      const run = await vhs.play({ src: session.url('pinned.m3u8'), install });
      const isThere = (/** @type {string} */ name) => requested(session, RegExp(name)).length > 0;
      await eventually(() => isThere('mid-20') && isThere('audio-20'), 'it is loaded', 30_000);
      await run.close();
      return session.log.map(({ file, range }) => `${file} ${range ?? ''}`).sort();
    });
    const [without, having] = await Promise.all(played);
    assert.equal(without.length, 45); // 3 playlists, 2 init segments, 20 segments each
    assert.deepEqual(having, without);
  });

  test('a body that stops is fetched on, and VHS hears nothing of it', async () => {
    const rules = [
      { match: '^mid-03\\.m4s$', nth: 1, act: /** @type {const} */ ('stallBody'), at: 0.5 },
    ];
    const session = vhs.createSession({ ...RESUMABLE, rules, link: { kbps: 8000 } });
    const run = await vhs.play({ src: session.url('pinned.m3u8'), rate: 2 });
    await run.reaches(6.5);
    const [first, second, ...more] = requested(session, /^mid-03/);
    assert.equal(first.act, 'stallBody');
    assert.match(String(second.range), /^bytes=\d+-/);
    assert.ok(Number(second.from) > 0, 'what was there is not fetched again');
    assert.equal(more.length, 0);
    const { errored, timedOut, error } = await run.look();
    assert.deepEqual({ errored, timedOut, error }, { errored: 0, timedOut: 0, error: null });
    await run.close();
  });

  test('the only rendition is held on to through seconds of 503', async () => {
    const outage = /** @type {[number, number]} */ ([1000, 4500]); // longer than VHS gives elsewhere
    const rules = [
      { match: '\\.m4s$', window: outage, act: /** @type {const} */ ('status'), status: 503 },
    ];
    const session = vhs.createSession({ rules, link: { kbps: 3000 } });
    const run = await vhs.play({ src: session.url('pinned.m3u8'), rate: 2 });
    await run.reaches(9);
    assert.ok(
      session.log.some(({ status }) => status === 503),
      'there was an outage',
    );
    assert.equal((await run.look()).errored, 0);
    assert.deepEqual(await run.told('retryplaylist'), []);
    await run.close();
  });

  test('so is the lowest of several, where VHS sets no time', async () => {
    const outage = /** @type {[number, number]} */ ([600, 4600]);
    const rules = [
      { match: '\\.m4s$', window: outage, act: /** @type {const} */ ('status'), status: 503 },
    ];
    const session = vhs.createSession({ rules, link: { kbps: 1500 } });
    const low = { overrideNative: true, enableLowInitialPlaylist: true, bandwidth: 1 };
    const run = await vhs.play({
      src: session.url('main.m3u8'),
      player: { html5: { vhs: { ...low, useNetworkInformationApi: false } } },
    });
    await run.reaches(3);
    assert.ok(session.log.some(({ file, status }) => /^low/.test(file) && status === 503));
    assert.deepEqual(await run.told('excludeplaylist'), []);
    await run.close();
  });

  test('a rendition that is broken is left in the time that VHS gives, after more than one try', async () => {
    const rules = [
      { match: '^mid-(0[3-9]|1.|20)\\.m4s$', act: /** @type {const} */ ('status'), status: 503 },
    ];
    const session = vhs.createSession({ rules, link: { kbps: 8000 } });
    const run = await vhs.play({ src: session.url('main.m3u8') });
    await run.reaches(5);
    const tries = session.log.filter((entry) => entry.file === 'mid-03.m4s');
    assert.ok(tries.length > 1, 'it is tried again');
    const left = session.log.find(({ file }) => /^(low|high)\.m3u8$/.test(file));
    const spent = Number(left?.t) - tries[0].t;
    // A busy machine is late, but not by a whole target duration.
    assert.ok(spent < 2.5 * TARGET_MS, `left after ${spent} ms`);
    assert.equal((await run.told('excludeplaylist')).length, 1);
    assert.notEqual((await run.look()).playlist, 'mid.m3u8');
    await run.close();
  });

  test('a rendition that falls silent is left, where VHS alone would ask for nothing more', async () => {
    const rules = [{ match: '^mid-03\\.m4s$', act: /** @type {const} */ ('stallBody'), at: 0.5 }];
    const session = vhs.createSession({ rules, link: { kbps: 8000 } });
    // The engine would wait for longer than VHS does.
    const run = await vhs.play({ src: session.url('main.m3u8'), engine: {} });
    await run.reaches(6.5);
    assert.ok(session.log.some(({ file }) => /^(low|high)-03\.m4s$/.test(file)));
    const { errored, timedOut } = await run.look();
    assert.deepEqual({ errored, timedOut }, { errored: 1, timedOut: 0 });
    await run.close();
  });

  test('a manifest that does not answer is asked for again', async () => {
    const rules = [
      { match: '^pinned\\.m3u8$', nth: 1, act: /** @type {const} */ ('stallHeaders') },
    ];
    const session = vhs.createSession({ rules });
    const run = await vhs.play({ src: session.url('pinned.m3u8') });
    await run.reaches(1);
    assert.equal(requested(session, /^pinned/).length, 2);
    await run.close();
  });

  test('a hole in one rendition is filled from another', async () => {
    const rules = [{ match: '^mid-03\\.m4s$', act: /** @type {const} */ ('status'), status: 404 }];
    const session = vhs.createSession({ rules, link: { kbps: 8000 } });
    const run = await vhs.play({ src: session.url('main.m3u8'), rate: 2 });
    await run.reaches(6.5);
    assert.ok(session.log.some(({ file }) => /^(low|high)-03\.m4s$/.test(file)));
    await run.close();
  });

  test('of a hole in the only rendition VHS is told, and a seek gets over it', async () => {
    const rules = [{ match: '^mid-03\\.m4s$', act: /** @type {const} */ ('status'), status: 404 }];
    const session = vhs.createSession({ rules });
    const run = await vhs.play({ src: session.url('pinned.m3u8') });
    await eventually(async () => (await run.told('retryplaylist')).length > 1, 'VHS asks again');
    const { errored, error } = await run.look();
    assert.ok(errored > 1);
    assert.equal(error, null);
    await run.made.evaluate(({ player }) => player.currentTime(6.5));
    await run.reaches(8);
    await run.close();
  });

  test('a verdict on the manifest is the error that VHS makes of it', async () => {
    const rules = [{ match: '^pinned\\.m3u8$', act: /** @type {const} */ ('status'), status: 410 }];
    const errors = BOTH.map(async (install) => {
      // Not before the element is ready for it: VHS would tell the player, which forgets at `loadstart`.
      const session = vhs.createSession({ rules, link: { delayMs: 1200 } });
      const run = await vhs.play({ src: session.url('pinned.m3u8'), install, engine: {} });
      const error = await eventually(
        () =>
          run.made.evaluate(({ player }) => {
            const error = player.error();
            const { vhs } = /** @type {any} */ (player.tech(true));
            return error && { ...vhs.playlistController_.error, shown: error.code };
          }),
        'an error',
      );
      await run.close();
      const { shown, code, message, status, metadata } = error;
      const text = message.replace(/http\S*/, '');
      const facts = { shown, code, status, text, type: metadata.errorType };
      return { requests: session.log.length, ...facts };
    });
    const [without, having] = await Promise.all(errors);
    assert.deepEqual([without.status, without.requests], [410, 1]);
    assert.deepEqual(having, without);
  });
});
