// @ts-check
// hls.js and what is protected, in a real Chromium: licenses, keys and certificates through the
// engine, and the hooks that its users set up requests with.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually, PAGES, startBrowser } from './fixture.mjs';
import { answer, hang, ok, reset } from '../node/server.mjs';
import { CLEARKEY_LICENSE, ensureProtectedMedia } from '../lab/protected-media.mjs';

/** @typedef {import('../node/server.mjs').Answer} Answer */
/** @typedef {import('../node/server.mjs').Seen} Seen */

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
before(async () => {
  browser = await startBrowser();
  lab = await browser.startLab(ensureProtectedMedia);
});
after(() => browser?.close());

/** Short, and never early for a busy machine. */
const POLICY = {
  attempts: 3,
  backoff: { base: 200, factor: 1, cap: 200 },
  headersTimeout: 2000,
  firstHeadersTimeout: 2000,
};
const SITES = { license: POLICY, certificate: POLICY };
/** What the page puts before each challenge. */
const PREFIX = Buffer.from([8, 4, 255, 0]);

const busy = answer(503, 'busy', { 'retry-after': '1' });
const clearKeys = ok(CLEARKEY_LICENSE, { 'content-type': 'application/json' });
const binaryLicense = ok(Buffer.concat([PREFIX, Buffer.from(CLEARKEY_LICENSE)]), {
  'x-license': 'fresh',
});

/**
 * A license server: answers preflights, and each request by script.
 *
 * @param {string} path
 * @param {...Answer} answers
 */
function serveLicenses(path, ...answers) {
  /** @type {Seen[]} */
  const seen = [];
  const url = browser.media.on(path, (request, response) => {
    const { origin = '*' } = request.headers;
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-allow-credentials', 'true');
    response.setHeader('access-control-expose-headers', 'retry-after, x-license');
    if (request.method === 'OPTIONS') {
      response.setHeader('access-control-allow-headers', 'x-auth');
      response.writeHead(204).end();
      return;
    }
    const next = answers[Math.min(seen.length, answers.length - 1)];
    seen.push(/** @type {Seen} */ (browser.media.all.at(-1)));
    next(request, response);
  });
  return { url, seen };
}

/** @typedef {import('./pages/license-player.js').Options} Options */

/**
 * A page with hls.js that plays this.
 *
 * @param {import('node:test').TestContext} t
 * @param {Options} options
 */
async function play(t, options) {
  const { page, close } = await browser.open({ script: `${PAGES}license-player.js` });
  t.after(close);
  /** @type {import('playwright-core').Request[]} */
  const requests = [];
  page.on('request', (request) => requests.push(request));
  await page.waitForFunction('globalThis.player');
  // Cookies know no ports: it goes to the license server too, with credentials.
  await page.evaluate(() => (document.cookie = 'viewer=1'));
  await page.evaluate(
    (options) => /** @type {any} */ (globalThis).player.start(options),
    /** @type {object} */ ({ sites: SITES, ...options }),
  );
  return {
    /** Those of the page since it plays. */
    requests,
    look: () => page.evaluate(() => /** @type {any} */ (globalThis).player.look()),
    stop: () => page.evaluate(() => /** @type {any} */ (globalThis).player.stop()),
  };
}

/**
 * Waits for so much to be played, and without a fatal error.
 *
 * @param {() => Promise<any>} look @param {number} [seconds]
 */
async function plays(look, seconds = 1) {
  const seen = await eventually(
    async () => {
      const seen = await look();
      const fatal = seen.errors.filter((/** @type {any} */ error) => error.fatal);
      assert.deepEqual(fatal, []);
      return seen.position > seconds && seen;
    },
    `${seconds} s are played`,
    30_000,
  );
  assert.ok(seen.frames >= seconds * 5, `${seen.frames} frames were decoded`);
  return seen;
}

/** @param {() => Promise<any>} look */
const fatalError = (look) =>
  eventually(
    async () => (await look()).errors.find((/** @type {any} */ error) => error.fatal),
    'a fatal error',
    30_000,
  );

/** @param {string} licenseUrl @param {object} [more] */
const clearKey = (licenseUrl, more) => ({ 'org.w3.clearkey': { licenseUrl, ...more } });

/** @param {import('../lab/rules.mjs').Rule[]} [rules] */
const openSession = (rules) =>
  // Without a cache, which would hide what is asked for again.
  lab.createSession({
    rules,
    cache: 'no-store',
    expose: ['accept-ranges', 'content-range', 'etag', 'retry-after'],
  });

/** @param {import('../lab/session.mjs').Session} session @param {string} file */
const asked = (session, file) => session.log.filter((entry) => entry.file === file);

describe('licenses of hls.js', { concurrency: 2 }, () => {
  test('a ClearKey stream plays to its end though the license server was busy', async (t) => {
    const { url, seen } = serveLicenses('/busy', busy, clearKeys);
    const { look } = await play(t, {
      url: openSession().url('cenc.m3u8'),
      drmSystems: clearKey(url),
    });
    const { isProtected } = await plays(look, 4);
    assert.ok(isProtected);
    await eventually(async () => (await look()).ended, 'the end');
    assert.equal(seen.length, 2);
    assert.ok(seen[1].at - seen[0].at >= 1000, 'not before the second that the server asked for');
    const [first, second] = await Promise.all(seen.map(({ body }) => body));
    assert.equal(JSON.parse(String(first)).type, 'temporary');
    assert.deepEqual(second, first);
    const methods = browser.media.seen('/busy').map(({ method }) => method);
    assert.deepEqual(methods, ['POST', 'POST'], 'no preflight');
  });

  /** @type {Array<[what: string, fault: Answer, freshHeaders?: Record<string, string>]>} */
  const faults = [
    ['says 503 and when to come back', busy],
    ['never answers', hang()],
    ['resets the connection', reset()],
    ['refuses until the request is refreshed', answer(403, 'expired'), { 'x-auth': 'new' }],
  ];
  for (const [i, [what, fault, freshHeaders]] of faults.entries()) {
    test(`a binary license comes from a server that ${what}`, async (t) => {
      const { url, seen } = serveLicenses(`/binary-${i}`, fault, binaryLicense);
      const { look } = await play(t, {
        ...{ url: openSession().url('cenc.m3u8'), drmSystems: clearKey(url) },
        ...{ licenses: 'binary', freshHeaders },
      });
      const { told } = await plays(look);
      assert.equal(seen.length, 2);
      const [first, second] = await Promise.all(seen.map(({ body }) => body));
      assert.deepEqual(first.subarray(0, 4), PREFIX, 'what the hook made of the challenge');
      assert.match(String(first.subarray(4)), /"kids"/);
      assert.deepEqual(second, first);
      assert.deepEqual(
        seen.map(({ headers }) => [headers['x-auth'], headers.cookie]),
        [
          ['old', 'viewer=1'],
          [freshHeaders?.['x-auth'] ?? 'old', 'viewer=1'],
        ],
      );
      assert.deepEqual(told, ['setup', [4, 200, url, 'fresh']], 'the hooks of the customer');
    });
  }

  test('a hook that does not open is called again, as hls.js does it', async (t) => {
    const { url, seen } = serveLicenses('/unopened', busy, clearKeys);
    const { look } = await play(t, {
      ...{ url: openSession().url('cenc.m3u8'), drmSystems: clearKey(url), licenses: 'unopened' },
    });
    const { told } = await plays(look);
    assert.deepEqual(told, ['setup', 'setup']);
    assert.deepEqual(
      seen.map(({ headers }) => headers['x-auth']),
      ['late', 'late'],
    );
  });

  test('a server that is down gets 3 requests a session, and from hls.js alone 9 without a pause', async (t) => {
    /** @param {boolean} alone */
    const measure = async (alone) => {
      const { url, seen } = serveLicenses(`/down-${alone}`, answer(503, 'sold out'));
      const { look } = await play(t, {
        ...{ url: openSession().url('cenc.m3u8'), drmSystems: clearKey(url), alone },
      });
      // It tries a second session of its own; for the page both failures are fatal.
      const fatal = await eventually(async () => {
        const { errors } = await look();
        const fatal = errors.filter((/** @type {any} */ error) => error.fatal);
        return fatal.length > 2 && fatal;
      }, 'the second session has failed too');
      const span = Math.round(seen[seen.length / 2 - 1].at - seen[0].at);
      t.diagnostic(`${alone ? 'alone' : 'with an engine'}: ${seen.length / 2} in ${span} ms`);
      return { error: fatal[0], count: seen.length, span };
    };
    const ours = await measure(false);
    const alone = await measure(true);
    assert.deepEqual([ours.count, alone.count], [2 * 3, 2 * 9]);
    for (const { error } of [ours, alone]) {
      const { details, code, body } = error;
      assert.deepEqual([details, code, body], ['keySystemLicenseRequestFailed', 503, 'sold out']);
    }
    assert.match(ours.error.message, /the server answered 503 \(attempts: 3\)/);
  });

  test('the end of the player aborts the license request', async (t) => {
    const { url, seen } = serveLicenses('/aborted', hang());
    const { stop } = await play(t, {
      ...{ url: openSession().url('cenc.m3u8'), drmSystems: clearKey(url) },
      sites: { license: { ...POLICY, headersTimeout: 20_000, firstHeadersTimeout: 20_000 } },
    });
    await eventually(() => seen.length, 'the request');
    assert.equal(seen[0].closedAt, undefined);
    await stop();
    await eventually(() => seen[0].closedAt, 'the connection is closed');
  });

  test('hls.js sends its own XMLHttpRequest where the engine has failed open', async (t) => {
    const { url, seen } = serveLicenses('/plain', binaryLicense);
    const { look, requests } = await play(t, {
      ...{ url: openSession().url('cenc.m3u8'), drmSystems: clearKey(url), licenses: 'binary' },
      wasm: '/nowhere.wasm',
    });
    const { mode, told } = await plays(look);
    assert.equal(mode, 'plain');
    assert.equal(seen.length, 1);
    const license = requests.find((request) => request.url() === url);
    assert.equal(license?.resourceType(), 'xhr');
    assert.deepEqual(told, ['setup', [4, 200, url, 'fresh']]);
  });

  test('the server certificate goes through the engine', async (t) => {
    const certificate = serveLicenses('/certificate', busy, ok(Buffer.alloc(64, 7)));
    const { url } = serveLicenses('/with-certificate', clearKeys);
    const drmSystems = clearKey(url, { serverCertificateUrl: certificate.url });
    const { look } = await play(t, { url: openSession().url('cenc.m3u8'), drmSystems });
    await plays(look);
    assert.equal(certificate.seen.length, 2);
    assert.ok(certificate.seen[1].at - certificate.seen[0].at >= 1000);
  });
});

describe('AES-128 keys of hls.js', { concurrency: 2 }, () => {
  test('a stream plays though its key server said 503 twice', async (t) => {
    const session = openSession([{ match: 'aes128.key', nth: [1, 2], act: 'status', status: 503 }]);
    const { look } = await play(t, { url: session.url('aes128.m3u8') });
    await plays(look, 4);
    assert.equal(asked(session, 'aes128.key').length, 3);
    assert.equal(asked(session, 'aes-01.m4s').length, 1);
  });

  test('a stream waits for a key server that is down for 4 s, at the pace of a hold, and plays', async (t) => {
    const session = openSession([
      { match: 'aes128.key', window: [0, 4000], act: 'status', status: 503 },
    ]);
    const { look } = await play(t, { url: session.url('aes128.m3u8') });
    await plays(look);
    const requests = asked(session, 'aes128.key');
    const count = requests.length;
    t.diagnostic(`${count} key requests, at ${requests.map(({ t }) => t).join(', ')} ms`);
    // Three of the ladder, then one in 750 ms.
    assert.ok(count >= 4 && count <= 3 + 4000 / 750 + 2, `${count} key requests`);
    assert.equal(asked(session, 'aes-01.m4s').length, 1, 'the segment is not fetched again');
  });

  test('hls.js alone asks 81 times, and fetches the segment nine times', async (t) => {
    const session = openSession([{ match: 'aes128.key', act: 'status', status: 503 }]);
    // Its delay is 1 s: the pattern is the same, and over sooner.
    const { look } = await play(t, {
      ...{ url: session.url('aes128.m3u8'), alone: true, keyRetryDelay: 1 },
    });
    const { details } = await fatalError(look);
    assert.equal(details, 'keyLoadError');
    assert.equal(asked(session, 'aes128.key').length, 81);
    assert.equal(asked(session, 'aes-01.m4s').length, 9);
  });
});

describe('xhrSetup of hls.js', { concurrency: 2 }, () => {
  test('runs for each attempt, may open another URL and may take its time', async (t) => {
    const session = openSession([{ match: 'aes-02', nth: 1, act: 'status', status: 503 }]);
    const { look, requests } = await play(t, {
      ...{ url: session.url('aes128.m3u8'), xhrSetup: 'token' },
    });
    const { told } = await plays(look, 3);
    const sent = requests.filter((request) => request.url().includes('/s/'));
    const tokens = sent.map((request) => new URL(request.url()).searchParams.get('token'));
    const counts = sent.map((request) => request.headers()['x-count']);
    assert.deepEqual(counts, tokens);
    assert.equal(new Set(tokens).size, sent.length, 'another one each');
    assert.equal(asked(session, 'aes-02.m4s').filter(({ act }) => act !== 'preflight').length, 2);
    assert.ok(told.every((/** @type {string} */ url) => !url.includes('token')));
    assert.equal(told.length, sent.length);
  });

  test('keeps the range of a resume', async (t) => {
    const session = openSession([{ match: 'aes-02', nth: 1, act: 'resetBody', at: 0.5 }]);
    const { look } = await play(t, {
      ...{ url: session.url('aes128.m3u8'), xhrSetup: 'unopened' },
      sites: { segment: { assumeIdentity: true } },
    });
    await plays(look, 3);
    const ranges = asked(session, 'aes-02.m4s').filter(({ act }) => act !== 'preflight');
    assert.equal(ranges.length, 2);
    assert.equal(ranges[0].range, null);
    assert.match(String(ranges[1].range), /^bytes=\d{4,}-/);
  });

  test('is called again once it is opened, and its headers are sent', async (t) => {
    const session = openSession();
    const { look, requests } = await play(t, {
      ...{ url: session.url('aes128.m3u8'), xhrSetup: 'unopened' },
    });
    const { told } = await plays(look);
    const sent = requests.filter((request) => request.url().includes('/s/'));
    assert.ok(sent.every((request) => request.headers()['x-auth'] === 'late'));
    assert.deepEqual(told.slice(0, 4), [0, 1, 0, 1]);
  });

  test('may set credentials, which alone cause no preflight', async (t) => {
    const { url, seen } = serveLicenses('/seen.m3u8', ok('#EXTM3U\n'));
    const { look } = await play(t, { url, xhrSetup: 'credentials' });
    await fatalError(look);
    assert.equal(seen[0].headers.cookie, 'viewer=1');
    const methods = browser.media.seen('/seen.m3u8').map(({ method }) => method);
    assert.ok(!methods.includes('OPTIONS'));
  });

  test('that throws ends the load at once, as it does without an engine', async (t) => {
    for (const alone of [false, true]) {
      const session = openSession();
      const { look } = await play(t, {
        ...{ url: session.url('aes128.m3u8'), xhrSetup: 'throwing', alone },
      });
      const { details, code } = await fatalError(look);
      assert.deepEqual([details, code], ['manifestLoadError', 0]);
      assert.deepEqual((await look()).told, ['setup', 'setup']);
      assert.deepEqual(session.log, []);
    }
  });
});
