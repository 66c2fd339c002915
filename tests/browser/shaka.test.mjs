// @ts-check
/**
 * The network of Shaka Player, 4 and 5, with Holdfast underneath: what its users rely on, one
 * retry layer, and the page's registry of schemes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  after as later,
  answer,
  breakOff,
  content,
  drip,
  file,
  hang,
  ok,
} from '../node/server.mjs';
import { redirect, reset } from '../node/server.mjs';
import { eventually, shared, startBrowser } from './fixture.mjs';
import { openShaka } from './shaka-fixture.mjs';

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof openShaka>>} */
let page;
before(async () => {
  browser = await startBrowser();
  page = await openShaka(browser);
});
after(() => browser?.close());

let paths = 0;
const EXPOSED = { 'access-control-expose-headers': '*' };

/** A path of its own with these answers. @param {...import('../node/server.mjs').Answer} answers */
function serve(...answers) {
  const path = `/shaka/${++paths}`;
  let count = 0;
  // Any origin may ask with any header. Preflights are nobody's attempts.
  const url = browser.media.on(
    path,
    shared((request, response) => {
      response.setHeader('access-control-allow-headers', '*');
      if (request.method === 'OPTIONS') response.writeHead(204).end();
      else answers[Math.min(count++, answers.length - 1)](request, response);
    }),
  );
  const seen = () => browser.media.seen(path).filter(({ method }) => method !== 'OPTIONS');
  return {
    url,
    get count() {
      return count;
    },
    get seen() {
      return seen();
    },
  };
}

for (const version of [4, 5]) {
  describe(`Shaka ${version}`, () => {
    /** One request of a player. @param {string} type @param {string | string[]} uris @param {object} [fields] */
    const request = (type, uris, fields = {}) =>
      page.run(
        async ({ shakaPage, version, type, uris, fields }) => {
          const { request, events, player, uninstall } = await shakaPage.start(version);
          const outcome = await request(type, uris, fields).outcome;
          uninstall();
          await player.destroy();
          return { ...outcome, events };
        },
        { version, type, uris, fields },
      );

    test('a request that fails twice is sent three times and answered as by Shaka itself', async () => {
      const target = serve(answer(503), answer(503), ok('hello', { ...EXPOSED, 'x-own': 'YES' }));
      const response = await request('SEGMENT', target.url);
      assert.equal(target.count, 3);
      assert.equal(response.text, 'hello');
      assert.equal(response.uri, target.url);
      assert.equal(response.originalUri, target.url);
      assert.equal(response.status, 200);
      assert.equal(response.headers['x-own'], 'YES');
      assert.equal(response.fromCache, false);
      assert.ok(response.timeMs > 0);
      assert.ok(!('range' in target.seen[0].headers));
    });

    test('the last failure is the verdict, and Shaka does not add attempts of its own', async () => {
      const target = serve(
        answer(503, 'first'),
        answer(500, 'second'),
        answer(502, 'last', { ...EXPOSED, foo: 'BAR' }),
      );
      const error = await page.run(
        async ({ shakaPage, version, url }) => {
          const { request, player, uninstall } = await shakaPage.start(version);
          player.configure('streaming.retryParameters.maxAttempts', 5);
          const retryParameters = player.getConfiguration().streaming.retryParameters;
          const outcome = await request('SEGMENT', url, { retryParameters }).outcome;
          uninstall();
          return outcome;
        },
        { version, url: target.url },
      );
      assert.equal(target.count, 3);
      assert.equal(error.code, 1001);
      assert.equal(error.category, 1);
      assert.equal(error.severity, 2, 'critical');
      const [uri, status, text, headers, type, final] = error.data;
      assert.deepEqual([uri, status, text, type, final], [target.url, 502, 'last', 1, target.url]);
      assert.equal(headers.foo, 'BAR');
      await eventually(
        () => page.warnings.some((line) => line.includes('streaming.retryParameters.maxAttempts')),
        'the setting without effect is named',
      );
    });

    test('what asking again cannot change is asked for once', async () => {
      const target = serve(answer(410));
      const error = await request('SEGMENT', target.url);
      assert.equal(target.count, 1);
      assert.deepEqual([error.code, error.data[1], error.severity], [1001, 410, 2]);
      assert.ok(!error.events.some((/** @type {any[]} */ [name]) => name === 'retry'));
    });

    test('each attempt but the first is announced, and a listener can prevent it', async () => {
      const failing = serve(answer(503), answer(500), ok('x'));
      const { events } = await request('SEGMENT', failing.url);
      const retries = events.filter((/** @type {any[]} */ [name]) => name === 'retry');
      assert.deepEqual(retries, [
        ['retry', 1001, 503],
        ['retry', 1001, 500],
      ]);

      const target = serve(answer(503, 'no'), ok('x'));
      const error = await page.run(
        async ({ shakaPage, version, url }) => {
          const { request, network, uninstall } = await shakaPage.start(version);
          network.addEventListener('retry', (event) => event.preventDefault());
          const outcome = await request('SEGMENT', url).outcome;
          uninstall();
          return outcome;
        },
        { version, url: target.url },
      );
      assert.equal(target.count, 1);
      assert.deepEqual([error.code, error.data[1], error.severity], [1001, 503, 2]);
    });

    test('silence is a TIMEOUT, a broken network an HTTP_ERROR, as is an impossible header', async () => {
      const silent = serve(hang());
      const engine = {
        sites: {
          segment: {
            attempts: 1,
            headersTimeout: 300,
            firstHeadersTimeout: 300,
            onExhausted: /** @type {const} */ ('reject'),
          },
        },
      };
      const timeout = await page.run(
        async ({ shakaPage, version, url, engine }) => {
          const { request, uninstall } = await shakaPage.start(version, { engine });
          const outcome = await request('SEGMENT', url).outcome;
          uninstall();
          return outcome;
        },
        { version, url: silent.url, engine },
      );
      assert.deepEqual([timeout.code, timeout.data], [1003, [silent.url, 1]]);

      const broken = serve(reset());
      const lost = await request('SEGMENT', broken.url);
      assert.deepEqual([lost.code, lost.data[0], lost.data[2]], [1002, broken.url, 1]);
      assert.equal(lost.data[1].class, 'transport');

      const unsent = serve(ok('x'));
      const odd = await request('SEGMENT', unsent.url, { headers: { 'not a name': 'x' } });
      assert.deepEqual([odd.code, odd.data[0], unsent.count], [1002, unsent.url, 0]);
    });

    test("Shaka's own clocks do not cut what the engine waits for", async () => {
      const target = serve(later(900, drip(content(60_000), 3, 600)));
      const outcome = await page.run(
        async ({ shakaPage, version, url }) => {
          const { request, shaka, end } = await shakaPage.start(version);
          const retryParameters = {
            ...shaka.net.NetworkingEngine.defaultRetryParameters(),
            ...{ timeout: 300, connectionTimeout: 300, stallTimeout: 300 },
          };
          const outcome = await request('SEGMENT', url, { retryParameters }).outcome;
          await end();
          return outcome;
        },
        { version, url: target.url },
      );
      assert.deepEqual([outcome.bytes, target.count], [60_000, 1]);
    });

    test('202 is no answer yet, 204 is one, and a redirect tells where it led', async () => {
      const late = serve(answer(202, 'soon'), ok('now'));
      assert.equal((await request('MANIFEST', late.url)).text, 'now');
      assert.equal(late.count, 2);
      const never = serve(answer(202, 'soon'));
      const error = await request('SEGMENT', never.url);
      assert.deepEqual([error.code, error.data[1], error.data[2]], [1001, 202, 'soon']);

      const empty = await request('SEGMENT', serve(answer(204)).url);
      assert.deepEqual([empty.status, empty.bytes], [204, 0]);

      const target = serve(ok('there'));
      const from = serve(redirect(target.url));
      const moved = await request('SEGMENT', from.url);
      assert.deepEqual([moved.uri, moved.originalUri, moved.text], [target.url, from.url, 'there']);
    });

    test('requests are what Shaka would send: method, body, credentials, headers, no more', async () => {
      const open = {
        'access-control-allow-origin': page.origin,
        'access-control-allow-credentials': 'true',
      };
      const target = serve(ok('licence', open));
      const other = serve(ok('x'));
      await page.run(
        async ({ shakaPage, version, url, plain }) => {
          document.cookie = 'viewer=1';
          const { request, uninstall } = await shakaPage.start(version);
          const body = new TextEncoder().encode('challenge');
          const allowCrossSiteCredentials = true;
          const fields = { method: 'POST', body, allowCrossSiteCredentials };
          await request('LICENSE', url, fields).outcome;
          await request('SEGMENT', plain, { headers: { Range: 'bytes=0-0' } }).outcome;
          uninstall();
        },
        { version, url: target.url, plain: other.url },
      );
      const [license] = target.seen;
      assert.equal(license.method, 'POST');
      assert.equal(String(await license.body), 'challenge');
      assert.equal(license.headers.cookie, 'viewer=1');
      assert.equal(other.seen[0].headers.cookie, undefined);
      assert.equal(other.seen[0].headers.range, 'bytes=0-0');
      const preflights = browser.media.seen(new URL(other.url).pathname).length - other.count;
      assert.equal(preflights, 0, 'no preflight');
    });

    test('the next place is asked after each failure, and each place keeps its own headers', async () => {
      const bad = serve(answer(503));
      const good = serve(ok('good', { ...EXPOSED, 'common-access-token': 'B' }));
      const elsewhere = (/** @type {string} */ url) => url.replace('127.0.0.1', 'localhost');
      const outcome = await page.run(
        async ({ shakaPage, version, uris, host }) => {
          const { request, network, uninstall } = await shakaPage.start(version);
          network.registerRequestFilter((type, request) => {
            if (request.uris[0].includes(host)) request.headers['x-token'] = 'secret';
          });
          const outcome = await request('SEGMENT', uris, { headers: { Range: 'bytes=0-3' } })
            .outcome;
          uninstall();
          return outcome;
        },
        { version, uris: [bad.url, elsewhere(good.url)], host: '127.0.0.1' },
      );
      assert.deepEqual([bad.count, good.count, outcome.text], [1, 1, 'good']);
      assert.equal(outcome.uri, elsewhere(good.url));
      assert.equal(bad.seen[0].headers['x-token'], 'secret');
      assert.equal(good.seen[0].headers['x-token'], undefined, 'the token stays with its host');
      assert.equal(good.seen[0].headers.range, 'bytes=0-3');
    });

    test('a place that is down is left at once, when it has failed often enough', async () => {
      const bad = serve(answer(503));
      const good = serve(ok('good'));
      const uris = [bad.url, good.url.replace('127.0.0.1', 'localhost')];
      const { texts, health, log } = await page.run(
        async ({ shakaPage, version, uris }) => {
          const { request, engine, uninstall } = await shakaPage.start(version);
          const texts = [];
          for (let i = 0; i < 8; i++) {
            const own = uris.map((uri) => `${uri}?n=${i}`);
            texts.push((await request('SEGMENT', own).outcome).text);
          }
          uninstall();
          const health = Object.values(engine.state.hostHealth).map(({ state }) => state);
          return {
            texts,
            health,
            log: engine.log().map((entry) => Object.values(entry).join(' ')),
          };
        },
        { version, uris },
      );
      assert.deepEqual(texts, Array(8).fill('good'));
      if (bad.count >= 8) console.error(log.join('\n'));
      assert.equal(good.count, 8);
      assert.ok(bad.count < 8, `asked ${bad.count} times`);
      assert.ok(health.includes('open'));
    });

    test('where all places fail, attempts go round among them', async () => {
      const [one, two] = [serve(answer(503), ok('late')), serve(answer(503))];
      const uris = [one.url, two.url.replace('127.0.0.1', 'localhost')];
      const outcome = await request('SEGMENT', uris);
      assert.equal(outcome.text, 'late');
      assert.deepEqual([one.count, two.count], [2, 1]);
    });

    test('request filters run before each attempt in Shaka 5, and once in Shaka 4, as without', async () => {
      const target = serve(answer(503), answer(503), ok('x'));
      const { calls } = await page.run(
        async ({ shakaPage, version, url }) => {
          const { request, network, uninstall } = await shakaPage.start(version);
          /** @type {unknown[][]} */
          const calls = [];
          network.registerRequestFilter(async (type, request, context) => {
            calls.push([request.attempt, request.headers['x-try'], context?.type]);
            await new Promise((resolve) => setTimeout(resolve, 10));
            request.headers['x-try'] = String(calls.length);
            request.uris[0] += `?try=${calls.length}`;
          });
          const context = { type: 1 };
          await request('SEGMENT', url, { context }).outcome;
          uninstall();
          return { calls };
        },
        { version, url: target.url },
      );
      const tries = target.seen.map(({ headers }) => headers['x-try']);
      const urls = target.seen.map(({ url }) => url.split('?')[1]);
      if (version === 5) {
        assert.deepEqual(calls, [
          [0, undefined, 1],
          [1, undefined, 1],
          [2, undefined, 1],
        ]);
        assert.deepEqual(tries, ['1', '2', '3']);
        assert.deepEqual(urls, ['try=1', 'try=2', 'try=3']);
      } else {
        assert.equal(calls.length, 1);
        assert.deepEqual(tries, ['1', '1', '1']);
        assert.deepEqual(urls, ['try=1', 'try=1', 'try=1']);
      }
    });

    test('a request filter that throws ends the request, as without, and nothing is sent', async () => {
      const target = serve(answer(503), ok('x'));
      const [first, second] = await page.run(
        async ({ shakaPage, version, url }) => {
          const { request, network, uninstall } = await shakaPage.start(version);
          let calls = 0;
          const filter = () => {
            if (++calls !== 2) throw new Error('mine');
          };
          network.registerRequestFilter(filter);
          const first = await request('SEGMENT', url).outcome;
          const second = await request('SEGMENT', url).outcome;
          uninstall();
          return [first, second];
        },
        { version, url: target.url },
      );
      assert.deepEqual([first.code, first.severity], [1006, 2]);
      if (version === 5)
        assert.deepEqual([second.code, second.severity, target.count], [1006, 2, 1]);
      else assert.deepEqual([second.text, target.count], ['x', 2]);
    });

    test('response filters see successes only, and may change them', async () => {
      const target = serve(answer(503, 'bad'), ok('good'));
      const outcome = await page.run(
        async ({ shakaPage, version, url }) => {
          const { request, network, uninstall } = await shakaPage.start(version);
          network.registerResponseFilter(async (type, response) => {
            const text = new TextDecoder().decode(response.data);
            response.data = new TextEncoder().encode(`${text}, filtered`).buffer;
          });
          const outcome = await request('SEGMENT', url).outcome;
          uninstall();
          return outcome;
        },
        { version, url: target.url },
      );
      assert.equal(outcome.text, 'good, filtered');
    });

    test('an abort ends the request in any phase, at once, with nothing sent afterwards', async () => {
      const hanging = serve(hang());
      const waiting = serve(answer(503));
      const unsent = serve(ok('x'));
      const outcomes = await page.run(
        async ({ shakaPage, version, hanging, waiting, unsent }) => {
          const { request, network, engine, uninstall } = await shakaPage.start(version, {
            engine: {
              sites: {
                segment: {
                  backoff: { base: 60_000, factor: 1, cap: 60_000 },
                  attempts: 3,
                  deadline: 600_000,
                },
              },
            },
          });
          const until = async (/** @type {() => unknown} */ test) => {
            while (!test()) await new Promise((resolve) => setTimeout(resolve, 10));
          };
          const outcomes = [];
          const one = request('SEGMENT', hanging);
          await until(() => engine.log().some(({ event }) => event === 'sent'));
          await one.abort();
          outcomes.push(await one.outcome);
          const two = request('SEGMENT', waiting);
          await until(() => engine.log().some(({ event }) => event === 'waiting'));
          await two.abort();
          outcomes.push(await two.outcome);
          network.registerRequestFilter(() => new Promise((resolve) => setTimeout(resolve, 50)));
          const three = request('SEGMENT', unsent);
          await three.abort();
          outcomes.push(await three.outcome);
          uninstall();
          return { outcomes, left: Object.keys(engine.state.retryState).length };
        },
        { version, hanging: hanging.url, waiting: waiting.url, unsent: unsent.url },
      );
      assert.deepEqual(
        outcomes.outcomes.map(({ code }) => code),
        [7001, 7001, 7001],
      );
      assert.deepEqual([hanging.count, waiting.count, unsent.count], [1, 1, 0]);
      assert.equal(outcomes.left, 0);
      await eventually(() => hanging.seen[0].closedAt, 'the request is cut');
    });

    test('a player that is destroyed asks no more, and gives the page back', async () => {
      const waiting = serve(answer(503));
      const silent = serve(hang());
      const { first, native } = await page.run(
        async ({ shakaPage, version, waiting, silent }) => {
          const { request, player, engine } = await shakaPage.start(version);
          const one = request('SEGMENT', waiting);
          while (!engine.log().some(({ event }) => event === 'waiting')) {
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
          await player.destroy();
          const first = await one.outcome;
          const other = await shakaPage.start(version, { isAlone: true });
          const native = await shakaPage.isAsFound(other, silent);
          return { first, native };
        },
        { version, waiting: waiting.url, silent: silent.url },
      );
      assert.equal(first.code, 7001);
      assert.equal(waiting.count, 1);
      assert.equal(native, true);
    });

    test('exactly one bandwidth sample: that of the attempt that won', async () => {
      const body = content(200_000);
      const target = serve(breakOff(body, 120_000), later(300, ok(body)));
      const cached = serve(ok(body, { ...EXPOSED, 'x-shaka-from-cache': 'true' }));
      const manifest = serve(ok(body));
      const { samples, response, quiet } = await page.run(
        async ({ shakaPage, version, url, others }) => {
          const { shaka, player, engine, uninstall } = await shakaPage.start(version);
          const own = shakaPage.installShaka(engine, shaka);
          /** @type {number[][]} */
          const samples = [];
          const network = new shaka.net.NetworkingEngine((ms, bytes) => {
            if (bytes) samples.push([ms, bytes]);
          });
          network.configure(player.getConfiguration().networking);
          const send = (/** @type {number} */ type, /** @type {string} */ url) =>
            network.request(
              type,
              shaka.net.NetworkingEngine.makeRequest(
                [url],
                shaka.net.NetworkingEngine.defaultRetryParameters(),
              ),
            ).promise;
          const response = await send(1, url);
          const found = samples.splice(0);
          await send(1, others[0]);
          await send(0, others[1]);
          own();
          uninstall();
          return { samples: found, quiet: samples, response: { timeMs: response.timeMs } };
        },
        { version, url: target.url, others: [cached.url, manifest.url] },
      );
      assert.equal(samples.length, 1);
      assert.equal(samples[0][1], body.byteLength);
      assert.ok(samples[0][0] >= 250, 'with the time to its first byte');
      assert.ok(Math.abs(samples[0][0] - response.timeMs) < 50);
      assert.deepEqual(quiet, [], 'neither what a cache has nor a manifest');
    });

    test('Shaka is told of progress while a segment comes, and of its bytes once, at the end', async () => {
      const body = content(300_000);
      const target = serve(drip(body, 6, 150));
      const progress = await page.run(
        async ({ shakaPage, version, url }) => {
          const { shaka, player, engine, uninstall } = await shakaPage.start(version);
          const own = shakaPage.installShaka(engine, shaka);
          /** @type {number[][]} */
          const progress = [];
          const { NetworkingEngine } = shaka.net;
          const network = new NetworkingEngine((ms, bytes) => progress.push([ms, bytes]));
          network.configure(player.getConfiguration().networking);
          const retries = NetworkingEngine.defaultRetryParameters();
          await network.request(1, NetworkingEngine.makeRequest([url], retries)).promise;
          own();
          uninstall();
          return progress;
        },
        { version, url: target.url },
      );
      const [ms, bytes] = progress.pop() ?? [];
      assert.ok(ms > 500);
      assert.equal(bytes, body.byteLength);
      assert.ok(progress.length > 0);
      for (const each of progress) assert.deepEqual(each, [0, 0]);
    });

    test('streamed data comes once, in order, and never from a refusal', async () => {
      const body = content(300_000);
      const etag = { ...EXPOSED, etag: '"one"' };
      /** @type {import('../node/server.mjs').Answer} */
      const half = (...exchange) =>
        file(body, etag, { at: 150_000, when: sleep(100) })(...exchange);
      const refusals = [answer(503, Buffer.alloc(70_000, 'no')), answer(202, 'soon')];
      const target = serve(...refusals, half, file(body, etag));
      const { chunks, bytes, isSame } = await page.run(
        async ({ shakaPage, version, url }) => {
          const { request, uninstall } = await shakaPage.start(version, {
            engine: {
              sites: { segment: { attempts: 6, backoff: { base: 20, factor: 1, cap: 20 } } },
            },
          });
          let isBusy = false;
          /** @type {Uint8Array<ArrayBuffer>[]} */
          const chunks = [];
          const streamDataCallback = async (/** @type {any} */ data) => {
            if (isBusy) throw new Error('called while busy');
            isBusy = true;
            chunks.push(new Uint8Array(data));
            await new Promise((resolve) => setTimeout(resolve, 5));
            isBusy = false;
          };
          const { promise } = request('SEGMENT', url, { streamDataCallback });
          const { data } = await promise;
          uninstall();
          const joined = new Uint8Array(await new Blob(chunks).arrayBuffer());
          const whole = new Uint8Array(data);
          return {
            chunks: chunks.length,
            bytes: joined.byteLength,
            isSame:
              joined.every((byte, i) => byte === ((i * 31 + (i >> 8)) & 0xff)) &&
              whole.every((byte, i) => byte === joined[i]),
          };
        },
        { version, url: target.url },
      );
      assert.equal(bytes, body.byteLength);
      assert.ok(isSame);
      assert.ok(chunks > 0);
      assert.equal(target.count, 4);
    });

    test('CMCD is in each attempt, and no other byte of a signed URL changes', async () => {
      const target = serve(answer(503), answer(503), ok('x'));
      const signed = '?Signature=a%2Fb~c%3D&Policy=x_y-z';
      await page.run(
        async ({ shakaPage, version, url }) => {
          const { request, player, end } = await shakaPage.start(version, { media: true });
          player.configure({ cmcd: { enabled: true, useHeaders: false, contentId: 'film' } });
          await request('SEGMENT', url).outcome;
          await end();
        },
        { version, url: target.url + signed },
      );
      const urls = target.seen.map(({ url }) => url);
      assert.equal(urls.length, 3);
      for (const url of urls) {
        assert.match(url, /[?&]CMCD=[^&]*film/);
        assert.equal(url.match(/CMCD=/g)?.length, 1);
      }
      const rest = new Set(urls.map((url) => url.replace(/[?&]CMCD=[^&]*/, '')));
      assert.equal(rest.size, 1);
      assert.match([...rest][0], /Signature=a%2Fb(~|%7E)c%3D/);
    });

    test('a token that a host gives is kept for that host', async () => {
      const name = version === 4 ? 'common-access-token' : 'cta-common-access-token';
      const token = { ...EXPOSED, [name]: 'one' };
      const first = serve(ok('x', token));
      const [bad, good] = [serve(answer(503)), serve(ok('y'))];
      await page.run(
        async ({ shakaPage, version, url, uris }) => {
          const { request, end } = await shakaPage.start(version);
          await request('SEGMENT', url).outcome;
          await request('SEGMENT', uris).outcome;
          await end();
        },
        { version, url: first.url, uris: [bad.url, good.url.replace('127.0.0.1', 'localhost')] },
      );
      assert.equal(bad.seen[0].headers[name], 'one');
      assert.equal(good.seen[0].headers[name], undefined);
    });

    test('schemes are those of Shaka: in any case, and others as before', async () => {
      const target = serve(ok('x'));
      const [loud, inline, odd] = await page.run(
        async ({ shakaPage, version, url }) => {
          const { request, engine, end } = await shakaPage.start(version);
          const loud = await request('SEGMENT', url.replace('http', 'HTTP')).outcome;
          const carried = engine.log().filter(({ event }) => event === 'succeeded').length;
          const inline = await request('SEGMENT', 'data:text/plain,hello').outcome;
          const odd = await request('SEGMENT', 'strange://x').outcome;
          await end();
          return [{ ...loud, carried }, inline, odd];
        },
        { version, url: target.url },
      );
      assert.deepEqual([loud.text, loud.carried], ['x', 1]);
      assert.equal(inline.text, 'hello');
      assert.equal(odd.code, 1000);
    });

    test('beacons are sent once by the engine, and again by Shaka as without', async () => {
      const target = serve(answer(503));
      const { log } = await page.run(
        async ({ shakaPage, version, url }) => {
          const { request, engine, end } = await shakaPage.start(version);
          await request('ADS', url).outcome;
          const log = engine
            .log()
            .flatMap(({ event, detail }) => (event === 'started' ? [detail] : []));
          await end();
          return { log };
        },
        { version, url: target.url },
      );
      assert.deepEqual(log, ['other', 'other']);
      assert.equal(target.count, 2);
    });

    test('without a player all players of the page are served', async () => {
      const target = serve(answer(503), ok('x'));
      const { outcome, carried } = await page.run(
        async ({ shakaPage, version, url }) => {
          const { shaka, request, engine, end } = await shakaPage.start(version, { isAlone: true });
          const uninstall = shakaPage.installShaka(engine, shaka);
          const outcome = await request('SEGMENT', url).outcome;
          uninstall();
          await request('SEGMENT', url).outcome;
          const carried = engine.log().filter(({ event }) => event === 'succeeded').length;
          await end();
          return { outcome, carried };
        },
        { version, url: target.url },
      );
      assert.deepEqual([outcome.text, carried, target.count], ['x', 1, 3]);
    });

    test('a plugin that is registered afterwards is named, and left alone', async () => {
      const target = serve(ok('x'));
      const had = page.warnings.length;
      const { first, second } = await page.run(
        async ({ shakaPage, version, url }) => {
          const { shaka, request, uninstall, end } = await shakaPage.start(version);
          const { HttpFetchPlugin, NetworkingEngine } = shaka.net;
          const { AbortableOperation } = shaka.util;
          NetworkingEngine.registerScheme('http', (uri) =>
            AbortableOperation.completed(
              /** @type {any} */ ({
                ...{ uri, originalUri: uri, headers: {} },
                data: new TextEncoder().encode('strange').buffer,
              }),
            ),
          );
          const first = await request('SEGMENT', url).outcome;
          uninstall();
          const second = await request('SEGMENT', url).outcome;
          NetworkingEngine.unregisterScheme('http');
          const { PREFERRED } = NetworkingEngine.PluginPriority;
          NetworkingEngine.registerScheme('http', HttpFetchPlugin.parse, PREFERRED, true);
          NetworkingEngine.registerScheme('https', HttpFetchPlugin.parse, PREFERRED, true);
          await end();
          return { first, second };
        },
        { version, url: target.url },
      );
      assert.deepEqual([first.text, second.text, target.count], ['strange', 'strange', 0]);
      await eventually(
        () => page.warnings.slice(had).some((line) => line.includes('another plugin')),
        'it is named',
      );
    });
  });
}
