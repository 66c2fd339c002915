// @ts-check
// What a server writes into its headers when it is broken, by the hundred: the engine never throws
// anything of its own, never sends before the time that was named, and each request ends.
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { isHoldfastError } from 'holdfast';
import { OWN_HOSTS, catchUncaught, engineFor, within } from './fixture.mjs';
import { random as randomOf } from './random.mjs';

/** The same headers each time; another seed finds others. */
const SEED = Number(process.env.HOLDFAST_SEED ?? 1);
const CASES = 300;
/** A server that names a longer time is given up. */
const MAX_WAIT = 1500;
const BODY = 'x'.repeat(2000);

/**
 * @typedef {object} Case
 * @property {string} head of the first answer, as it goes over the wire
 * @property {string} body
 * @property {number} wait how long nothing may be sent after it, in ms; Infinity: never again
 */

const random = randomOf(SEED);
/** @template T @param {T[]} all @returns {T} */
const one = (all) => all[Math.floor(random() * all.length)];
const below = (/** @type {number} */ limit) => Math.floor(random() * limit);

/** Letters that headers may hold, and some for which a client refuses the whole response. */
const LETTERS = '0123456789-+.,:; \t"=GMTMonJan\xe9\xff';
const FOUL = `${LETTERS}\x01\x7f`;
const noise = (letters = LETTERS) =>
  Array.from({ length: below(30) }, () => one([...letters])).join('');

const utc = (/** @type {number} */ ms) => new Date(ms).toUTCString();
const NOW = 1_800_000_000_000;

/**
 * A `Retry-After`, with what it asks for where it is one; what no clock can count is none.
 * @returns {[string, number, string?]} */
function retryAfter() {
  const seconds = below(2);
  return one([
    () => /** @type {[string, number]} */ ([`${seconds}`, seconds * 1000]),
    () => /** @type {[string, number]} */ ([`\t000${seconds}  `, seconds * 1000]),
    () => /** @type {[string, number]} */ (['9'.repeat(1 + below(12)), Infinity]),
    () => /** @type {[string, number, string]} */ ([utc(NOW + 1000), 1000, utc(NOW)]),
    () => /** @type {[string, number, string]} */ ([utc(NOW - 1000), 0, utc(NOW)]),
    () => /** @type {[string, number]} */ ([utc(NOW).slice(0, below(29)), 0]),
    () =>
      /** @type {[string, number]} */ ([
        one(['-1', '1.5', '1e3', '0x1', '', '1, 2', 'soon', '9'.repeat(20 + below(400))]),
        0,
      ]),
    () => /** @type {[string, number]} */ ([`x${noise()}`, 0]),
  ])();
}

const LENGTHS = '-1|1e3|0x7d0|2000.0|9999999999999999999999| |1999|2001|0|2000, 2000'.split('|');

/** @returns {Case} */
function draw() {
  const refusal = one(['429 Slow Down', '503 Busy', '500 Oh']);
  const [asked, wait, date] = retryAfter();
  const timed = (/** @type {string} */ status, /** @type {string} */ at) =>
    `HTTP/1.1 ${status}\r\nDate: ${at}\r\nRetry-After: ${asked}\r\nContent-Length: 2\r\n`;
  return one([
    () => ({ head: timed(refusal, date ?? utc(Date.now())), body: 'no', wait }),
    // A date that cannot be read leaves the local clock, and what it says of dates is not held to.
    () => ({ head: timed(refusal, noise()), body: 'no', wait: date ? 0 : wait }),
    () => ({ head: `HTTP/1.1 200 OK\r\nContent-Length: ${one(LENGTHS)}\r\n`, body: BODY, wait: 0 }),
    () => ({
      head: `HTTP/1.1 ${one(['301', '302', '307', '300', '399'])} Moved\r\nContent-Length: 0\r\n`,
      body: '',
      wait: 0,
    }),
    () => ({
      head: `HTTP/1.1 ${one(['200', '503', '99', '1000', ''])}\r\nX: ${noise(FOUL)}\r\n`,
      body: BODY,
      wait: 0,
    }),
  ])();
}

/** @type {net.Server} */
let server;
let origin = '';
/** @type {Case[]} */
const cases = Array.from({ length: CASES }, draw);
/** When each was asked for, and when it was first answered. @type {{ sent: number[], answered: number }[]} */
const seen = cases.map(() => ({ sent: [], answered: NaN }));

before(async () => {
  server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (request) => {
      const which = Number(/^GET \/(\d+)\.mp4/.exec(request.toString('latin1'))?.[1]);
      const { sent } = seen[which];
      sent.push(performance.now());
      const { head, body } = sent.length === 1 ? cases[which] : GOOD;
      if (sent.length === 1) seen[which].answered = performance.now();
      socket.end(Buffer.from(`${head}Connection: close\r\n\r\n${body}`, 'latin1'));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  origin = `http://127.0.0.1:${port}`;
});
after(() => server.close());

const GOOD = { head: `HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n`, body: BODY };

test('R25, R26: whatever a broken server writes, requests end and none is sent early', async (t) => {
  const uncaught = catchUncaught(t);
  const plenty = 1e6;
  const budget = { host: plenty, source: plenty, session: plenty };
  const engine = await engineFor(t, { maxWait: MAX_WAIT }, { ...OWN_HOSTS, budget });
  const load = async (/** @type {number} */ which) => {
    try {
      await engine.load({ url: `${origin}/${which}.mp4`, site: 'segment' });
    } catch (error) {
      assert.ok(isHoldfastError(error), `${which}: ${error}`);
    }
  };
  await within(Promise.all(cases.map((_, which) => load(which))), 10_000, 'all of them');
  for (const [which, { sent, answered }] of seen.entries()) {
    const what = JSON.stringify(cases[which].head);
    assert.ok(sent.length >= 1 && sent.length <= 3, `${sent.length} of ${what}`);
    const again = sent[1] ?? Infinity;
    // The clock of a timer may be a millisecond ahead.
    assert.ok(again - answered >= cases[which].wait - 2, `${again - answered} ms after ${what}`);
  }
  const named = cases.filter(({ wait }) => wait > 0 && wait < MAX_WAIT);
  assert.ok(named.length > 10, 'some of them name a time');
  assert.deepEqual(uncaught, []);
});
