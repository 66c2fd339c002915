// @ts-check
/**
 * Segments that stop half way, in a real player: hls.js with Holdfast plays to the end, and what it
 * has of a segment is not sent again.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureMedia } from '../lab/media.mjs';
import { startLab } from '../lab/server.mjs';
import { ensureReady } from '../tools/setup.mjs';
import { launchChromium, shared } from './fixture.mjs';

/** @typedef {import('../lab/session.mjs').Session} Session */
/** @typedef {import('../lab/rules.mjs').Rule} Rule */
/** @typedef {Awaited<ReturnType<typeof play>>} Played */

/** By then the player is some seconds ahead. */
const FILE = 'mid-10.m4s';
/** A link on which a segment takes half as long as it plays. */
const LINK = { kbps: 1600, delayMs: 40 };
/** What may be under way when a connection is reset, in bytes. */
const IN_FLIGHT = 65_536;
/** What a player may wait where nothing is wrong, and jump over at the seams, in s. */
const NO_STALL = 0.3;
const NO_SKIP = 0.5;

/** What the segment is. @type {Buffer} */
let segment;
/** So much of it comes before it stops, in bytes. */
let half = 0;
/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof startLab>>} */
let lab;
before(async () => {
  await ensureReady(['npm', 'media', 'browser', 'build']);
  const { dir } = await ensureMedia({ log: console.error });
  segment = await readFile(join(dir, FILE));
  half = Math.floor(segment.length / 2);
  lab = await startLab({ mediaDir: dir });
  browser = await launchChromium();
});
after(async () => {
  await browser?.close();
  await lab?.close();
});

/**
 * Plays all of the lab's stream.
 *
 * @param {Rule[]} rules
 * @returns what was measured, and how much was buffered, in s, when the segment had stopped
 */
async function play(rules) {
  // So that the page may see that nothing is encoded, and where a part belongs.
  const session = lab.createSession({ rules, link: LINK, expose: ['*'] });
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const query = new URLSearchParams({ variant: 'holdfast', scenario: 'clean' });
    query.set('session', session.id);
    query.set('cap', '120');
    await page.goto(`${lab.pageOrigin}/?${query}`);
    /** @type {number | undefined} */
    let ahead;
    for (let i = 0; i < 1400; i += 1) {
      const state = await page.evaluate('globalThis.lab?.snapshot() ?? {}');
      assert.equal(state.error ?? null, null);
      if (entriesOf(session)[0]?.bytes >= half) ahead ??= state.ahead;
      if (state.result) {
        assert.equal((await page.evaluate('lab.engine()')).mode, 'engine');
        return { session, ahead: ahead ?? 0, result: state.result };
      }
      await sleep(100);
    }
    return assert.fail('the page did not finish');
  } finally {
    await context.close();
    session.close();
  }
}

/** The requests for the segment that stops. @param {Session} session */
const entriesOf = ({ log }) => log.filter(({ file }) => file === FILE);

/** @param {Played} played */
function assertPlayed({ result, session }) {
  const told = JSON.stringify([result, entriesOf(session)]);
  assert.equal(result.outcome, 'ended', told);
  assert.deepEqual(result.errors, []);
  assert.ok(result.skippedS <= NO_SKIP, told);
  assert.ok(result.stallS <= NO_STALL, told);
}

describe(
  'R20, R76: a segment that stops half way is fetched on, and plays',
  { concurrency: 2 },
  () => {
    /** @type {Array<[name: string, rule: Omit<Rule, 'match'>]>} */
    const faults = [
      ['its connection is reset', { act: 'resetBody' }],
      ['it falls silent', { act: 'stallBody', ms: 'inf' }],
    ];
    for (const [name, rule] of faults) {
      test(`R20, R76: where ${name}`, async () => {
        const played = await play([{ match: `^${FILE}$`, nth: 1, at: 0.5, ...rule }]);
        assertPlayed(played);
        const { ahead, session } = played;
        assert.ok(ahead >= 4, `${ahead} s ahead, too little to tell`);
        const entries = entriesOf(session);
        const told = JSON.stringify(entries);
        assert.equal(entries.length, 2, told);
        const [first, second] = entries;
        assert.deepEqual([first.range, first.status], [null, 200], told);
        assert.equal(first.bytes, half, told);
        const from = Number(/^bytes=(\d+)-/.exec(second.range ?? '')?.[1]);
        // What a reset has thrown away before the page had it is asked for again.
        const lost = first.bytes - from;
        const most = rule.act === 'resetBody' ? IN_FLIGHT : 0;
        assert.ok(lost >= 0 && lost <= most, told);
        assert.deepEqual([second.status, second.from, second.how], [206, from, 'sent'], told);
        assert.ok(first.bytes + second.bytes <= segment.length + most, told);
        // Nothing that other origins have to be asked for.
        assert.deepEqual(
          session.log.filter(({ act }) => act === 'preflight'),
          [],
        );
      });
    }
  },
);

describe(
  'R28: a segment that ends too early, where no length tells, plays all the same',
  {
    concurrency: 2,
  },
  () => {
    /** @type {http.Server} */
    let closing;
    let asked = 0;
    before(async () => {
      // Without chunks, its end is that of the connection (RFC 9112, 6.3).
      const answer = shared((_, response) => {
        asked += 1;
        response.useChunkedEncodingByDefault = false;
        response.writeHead(200, { connection: 'close', 'content-type': 'video/iso.segment' });
        response.end(segment.subarray(0, half));
      });
      closing = http.createServer(answer);
      await new Promise((resolve) => closing.listen(0, '127.0.0.1', () => resolve(undefined)));
    });
    after(async () => {
      closing.closeAllConnections();
      await new Promise((resolve) => closing.close(resolve));
    });

    test('R28: where it ends with its connection, it is fetched again', async () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (closing.address());
      const to = `http://127.0.0.1:${port}/`;
      const played = await play([{ match: `^${FILE}$`, nth: 1, act: 'redirect', to }]);
      assertPlayed(played);
      assert.equal(asked, 1);
      // There, nothing says what the bytes were of.
      assert.deepEqual(restOf(played), [null, 200, segment.length]);
    });

    test('R20, R28: where its chunks say that it is whole, it is fetched on', async () => {
      const played = await play([{ match: `^${FILE}$`, nth: 1, act: 'truncateSilent', at: 0.5 }]);
      assertPlayed(played);
      assert.deepEqual(restOf(played), [`bytes=${half}-`, 206, segment.length - half]);
    });

    /** What the one other request for the segment asked for, and got. @param {Played} played */
    function restOf({ session }) {
      const [, { range, status, bytes }, ...more] = entriesOf(session);
      assert.deepEqual(more, []);
      return [range, status, bytes];
    }
  },
);
