// @ts-check
// How a service worker answers, where no browser need be asked: requests are bare objects, and the
// engine is one that sends each of them once.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answering } from '../../js/sw-answer.js';
import { workerState } from '../../js/sw-page.js';
import { serving } from '../../js/sw-serve.js';

const URL_OF_MEDIA = 'https://cdn.example/a.mp4';

/** @param {Partial<Request>} [fields] @returns {Request} */
function request(fields) {
  const made = new Request(URL_OF_MEDIA);
  for (const [name, value] of Object.entries(fields ?? {})) {
    Object.defineProperty(made, name, { value });
  }
  return made;
}

describe('what is asked for twice before it is answered', () => {
  /** @param {Partial<Request>} one @param {Partial<Request>} other @param {string[]} [pages] */
  async function sent(one, other, [here, there] = ['page', 'page']) {
    let count = 0;
    const fetch = async () => {
      count += 1;
      return new Response('media');
    };
    const answer = answering(
      () => /** @type {any} */ ({ fetch }),
      () => assert.fail('it is no element'),
      () => assert.fail('it is the engine that sends'),
    );
    const responses = await Promise.all([
      answer(request(one), here, 'segment'),
      answer(request(other), there, 'segment'),
    ]);
    for (const response of responses) assert.equal(await response?.text(), 'media');
    return count;
  }
  const range = (/** @type {string} */ value) => ({ headers: new Headers({ range: value }) });

  test('is sent once', async () => assert.equal(await sent({}, {}), 1));

  /** @type {Array<[what: string, one: Partial<Request>, other?: Partial<Request>]>} */
  const kinds = [
    ['range', range('bytes=0-'), range('bytes=-500')],
    ['header', { headers: new Headers({ authorization: 'me' }) }],
    ['credentials mode', { credentials: 'omit' }],
    ['cache mode', { cache: 'no-store' }],
    ['mode', { mode: 'same-origin' }],
    ['referrer', { referrer: 'https://page.example/a' }],
    ['referrer policy', { referrerPolicy: 'no-referrer' }],
  ];
  for (const [what, one, other = {}] of kinds) {
    test(`is sent for each ${what}`, async () => assert.equal(await sent(one, other), 2));
  }

  test('is sent for each page', async () =>
    assert.equal(await sent({}, {}, ['page', 'other page']), 2));
});

test('an element has what the engine cannot read, also of an attempt that the engine changed', async () => {
  /** @type {AbortSignal | undefined} of the attempt on the network */
  let network;
  const answer = answering(
    () => /** @type {any} */ ({}),
    /** @type {any} */ (
      (/** @type {any} */ asMade) =>
        async (/** @type {Request} */ input, /** @type {{ signal: AbortSignal }} */ { signal }) => {
          // As with a fresh token. The engine's attempt ends with its request.
          await asMade(input, { signal, headers: new Headers({ 'x-token': 'b' }) });
          assert.equal(signal.aborted, true);
          throw signal.reason;
        }
    ),
    () => async (_, init) => {
      network = init?.signal ?? undefined;
      return new Response('media', { status: 206 });
    },
  );
  const response = await answer(request({ destination: 'video' }), 'page', 'segment');
  assert.equal(response?.status, 206);
  assert.equal(network?.aborted, false);
  assert.equal(await response?.text(), 'media');
});

test('a page under the worker of somebody else is told that there is none of ours', async (t) => {
  const usual = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  const serviceWorker = { controller: { postMessage() {} } };
  Object.defineProperty(globalThis, 'navigator', { configurable: true, value: { serviceWorker } });
  t.after(() => {
    if (usual) Object.defineProperty(globalThis, 'navigator', usual);
    else Reflect.deleteProperty(globalThis, 'navigator');
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const told = workerState();
  t.mock.timers.tick(5000);
  assert.equal(await told, undefined);
});

test('a worker assumes a target duration of 4 s until a page reports, and 10 s after it did last', async (t) => {
  const usual = Object.getOwnPropertyDescriptor(globalThis, 'addEventListener');
  /** @type {Map<string, (event: any) => void>} */
  const listeners = new Map();
  const value = listeners.set.bind(listeners);
  Object.defineProperty(globalThis, 'addEventListener', { configurable: true, value });
  t.after(() => {
    if (usual) Object.defineProperty(globalThis, 'addEventListener', usual);
    else Reflect.deleteProperty(globalThis, 'addEventListener');
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });

  /** @type {unknown[]} */
  const reports = [];
  const reportPlayback = (/** @type {unknown} */ report) => void reports.push(report);
  const fetch = async () => new Response('media');
  const createEngine = () => /** @type {any} */ ({ fetch, reportPlayback });
  serving({ createEngine, withRetry: () => assert.fail('it is no element') })();

  /** @type {Promise<Response> | undefined} */
  let answer;
  const respondWith = (/** @type {Promise<Response>} */ given) => void (answer = given);
  listeners.get('fetch')?.({ request: request(), clientId: 'page', respondWith });
  assert.equal(await (await answer)?.text(), 'media');
  assert.deepEqual(reports, [{ targetDuration: 4 }]);

  const report = { bufferAhead: 3, targetDuration: 6 };
  for (const count of [2, 3]) {
    const data = { holdfast: 'playback', ...report };
    listeners.get('message')?.({ data });
    t.mock.timers.tick(9999);
    assert.equal(reports.length, count);
    assert.deepEqual(reports.at(-1), report);
  }
  t.mock.timers.tick(1);
  assert.deepEqual(reports.slice(3), [{ targetDuration: 4 }]);

  listeners.get('message')?.({ data: { holdfast: 'playback', bufferAhead: 2 } });
  assert.deepEqual(reports.at(-1), { targetDuration: 4, bufferAhead: 2 });
});
