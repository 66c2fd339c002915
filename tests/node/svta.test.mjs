// @ts-check
// Exhaustions in the SVTA's codes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { svtaErrors } from '../../js/svta.js';
import { engineFor, failureOf } from './fixture.mjs';
import { answer, content, hang, page, reset, serve, stall, truncate } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const MEDIA = content(20_000);

/** @type {[what: string, answer: import('./server.mjs').Answer, codes: number[]][]} */
const CASES = [
  ['500', answer(500, ''), [3500, 3008]],
  ['503', answer(503, ''), [3503, 3008]],
  ['410', answer(410, ''), [3410, 3008]],
  ['401', answer(401, ''), [3010, 3401, 3008]],
  ['403', answer(403, ''), [3010, 3403, 3008]],
  ['451', answer(451, ''), [3010, 3451, 3008]],
  ['no headers in time', hang(), [3002, 3008]],
  ['silence', stall(MEDIA, 100), [3002, 3008]],
  ['a reset', reset(), [3007, 3008]],
  ['a body that breaks off', truncate(MEDIA, 100), [3007, 3008]],
  ['a captive portal', page(), [3011, 3008]],
];
for (const [i, [what, refusal, codes]] of CASES.entries()) {
  test(`R67: ${what} is ${codes.join(', ')}`, async (t) => {
    /** @type {any[]} */
    const events = [];
    const engine = await engineFor(
      t,
      { attempts: 1, headersTimeout: 1000, stallTimeout: 1000 },
      { onExhausted: (event) => events.push(event) },
    );
    const url = `${server.on(`/svta-${i}.mp4`, refusal)}?token=0123456789abcdef`;
    const error = await failureOf(engine.load({ url }));
    assert.equal(events.length, 1);
    const [{ errors, elapsed, status }] = events;
    assert.deepEqual(
      errors.map((/** @type {any} */ { code }) => code),
      codes,
    );
    assert.equal(error.svta, codes.at(-2));
    for (const each of errors) {
      assert.ok(Object.isFrozen(each) && Object.isFrozen(each.data));
      assert.deepEqual(each.data, {
        ...{ site: 'segment', host: server.origin, url: url.replace(/=.*/, '=***') },
        ...{ attempts: 1, lastStatus: status, elapsedMs: elapsed },
      });
    }
    assert.ok(Object.isFrozen(errors));
    assert.deepEqual(JSON.parse(JSON.stringify(errors)), errors);
  });
}

test('R27, R67: "DNS" (3003) is nothing that a page can know', () => {
  const event = { site: 'segment', host: '', url: '', attempts: 1, elapsed: 1 };
  for (const [status, svta] of [
    [0, 3001],
    [0, 3007],
    [404, 3404],
  ]) {
    const codes = svtaErrors({ ...event, status, svta }).map(({ code }) => code);
    assert.deepEqual(codes, [svta, 3008]);
  }
});
