// @ts-check
/** hls.js, current and 1.5, plays real media through the adapter from a server that really fails. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { after as afterwards, answer, ok } from '../node/server.mjs';
import { live } from '../bench/faults/live.mjs';
import { atHosts } from '../bench/faults/streams.mjs';
import { PAGES, shared, startBrowser } from './fixture.mjs';

/** @typedef {import('./pages/hls-player.js').How} How */
/** @typedef {import('../lab/rules.mjs').Rule} Rule */
/** @typedef {Parameters<import('./fixture.mjs').Browser['open']>[0]} PageOptions */

/**
 * @typedef {object} Look
 * @property {string} mode
 * @property {{ details: string, fatal: boolean, code?: number }[]} errors
 * @property {string[]} fatal
 * @property {[from: number, to: number][]} jumps
 * @property {string[]} means
 * @property {number} aborts
 * @property {number} carried
 * @property {number} position
 * @property {boolean} ended
 * @property {number} estimate
 */

const WASM = '/js/pkg/core_bg.wasm';
/** @typedef {'1.7' | '1.5'} Version */
/** @type {readonly Version[]} */
const VERSIONS = ['1.7', '1.5'];
const DISTS = {
  1.7: '/vendor/hls.js/hls.mjs',
  1.5: '/node_modules/hls.js-1.5/dist/hls.mjs',
};
/** @param {Version} version */
const importsOf = (version) => ({
  holdfast: '/js/index.js',
  'holdfast/hls': '/js/adapters/hls.js',
  'hls.js': DISTS[version],
  'p2p-media-loader-hlsjs':
    '/node_modules/p2p-media-loader-hlsjs/dist/p2p-media-loader-hlsjs.es.js',
  'p2p-media-loader-core': '/node_modules/p2p-media-loader-core/dist/p2p-media-loader-core.es.js',
});

/** Segments are asked for one after the other, as they are played. */
const SHORT = { maxBufferLength: 4, maxBufferSize: 0 };
/** Ladders of short steps; silence is cut after a second and a half. */
const HASTY = { base: 100, factor: 1, cap: 100 };
/** @param {import('holdfast').SiteOptions} [segment] @returns {import('holdfast').EngineOptions} */
const hasty = (segment) => ({
  sites: { segment: { backoff: HASTY, stallTimeout: 1500, ...segment } },
});

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
before(async () => {
  browser = await startBrowser();
  lab = await browser.startLab();
});
after(() => browser?.close());

/**
 * A page with a player that plays.
 *
 * @param {{ after(fn: () => Promise<void>): void }} t
 * @param {{ version?: Version, rules?: Rule[], file?: string, url?: string, how?: How,
 *   page?: PageOptions, ready?: boolean, link?: import('../lab/session.mjs').LinkOptions,
 *   rewrite?: import('../lab/session.mjs').Rewrite }} options
 *   `ready`: once the engine has its module, or has failed open
 */
async function play(t, { version = '1.7', rules, file = 'pinned.m3u8', url, how, ready, ...more }) {
  const session = lab.createSession({ rules, link: more.link, rewrite: more.rewrite });
  const imports = importsOf(version);
  const opened = await browser.open({ imports, script: `${PAGES}hls-player.js`, ...more.page });
  t.after(opened.close);
  const { page } = opened;
  /** @type {import('playwright-core').Request[]} */
  const requests = [];
  page.on('request', (request) => requests.push(request));
  await page.waitForFunction('globalThis.player');
  const given = JSON.stringify({ ...how });
  const start = `player.play('${url ?? session.url(file)}', ${given})`;
  await page.evaluate(ready ? `${start}.then(() => player.ready())` : start);
  /** @returns {Promise<Look>} */
  const look = () => page.evaluate('player.look()');
  return {
    ...opened,
    session,
    requests,
    look,
    /** @param {string} name */
    statuses: (name) => session.log.filter((e) => e.file === name).map(({ status }) => status),
    /** @param {number} position in seconds */
    async reaches(position) {
      const seen = await when(look, (now) => now.position > position);
      assert.deepEqual(seen.fatal, []);
      return seen;
    },
    /** Until playback ends, in one way or the other. */
    ends: () => when(look, () => false),
  };
}

/**
 * What is to be seen once something holds, or once playback is over.
 *
 * @param {() => Promise<Look>} look
 * @param {(look: Look) => boolean} holds
 * @returns {Promise<Look>}
 */
async function when(look, holds) {
  const end = performance.now() + 30_000;
  for (;;) {
    const now = await look();
    if (holds(now) || now.ended || now.fatal.length > 0) return now;
    if (performance.now() > end) assert.fail(`neither that nor the end: ${JSON.stringify(now)}`);
    await sleep(20);
  }
}

/** For any origin, with any headers. @param {import('../node/server.mjs').Answer} then */
const open = (then) =>
  shared((request, response) => {
    if (request.method !== 'OPTIONS') return then(request, response);
    const headers = request.headers['access-control-request-headers'];
    response.writeHead(204, { 'access-control-allow-headers': headers }).end();
  });

/** @param {Pick<Look, 'jumps'>} look */
const skipped = ({ jumps }) => jumps.reduce((sum, [from, to]) => sum + to - from, 0);

for (const version of VERSIONS) {
  describe(`hls.js ${version}`, { concurrency: 4 }, () => {
    test('plays a healthy stream with the requests that it makes alone', async (t) => {
      const made = await Promise.all(
        [true, false].map(async (alone) => {
          const config = { ...SHORT };
          const player = await play(t, { version, how: { alone, config } });
          const look = await player.reaches(7);
          assert.ok(player.session.log.every(({ attempt }) => attempt === 1));
          assert.deepEqual(player.warnings, []);
          assert.deepEqual(look.jumps, []);
          // No preflight is among them, which would have attempt 0.
          const log = player.session.log.map(({ file: name, range }) => `${name} ${range}`);
          return new Set(log.filter((line) => /^\S+(m3u8|init.mp4|-0[1-5].m4s) /.test(line)));
        }),
      );
      assert.deepEqual([...made[1]].sort(), [...made[0]].sort());
      assert.ok(made[1].size >= 15);
    });

    test('plays over a body that stops, without an error', async (t) => {
      /** @type {Rule} */
      const rule = { match: '^mid-03', nth: 1, act: 'stallBody', at: 0.4 };
      const player = await play(t, { version, rules: [rule], how: { engine: hasty() } });
      const { errors, jumps } = await player.reaches(6.5);
      assert.ok(player.statuses('mid-03.m4s').length > 1);
      assert.deepEqual(
        errors.filter(({ details }) => /load/i.test(details)),
        [],
      );
      assert.deepEqual(jumps, []);
    });

    for (const [what, match, missing] of /** @type {const} */ ([
      ['video', '^mid-05', 1],
      ['audio', '^audio-05', 1],
      ['video and audio', '^(mid|audio)-05', 1],
      ['several segments of video and audio', '^(mid|audio)-0[56]', 2],
    ])) {
      test(`skips a hole in ${what} at the cost of its own duration`, async (t) => {
        const rules = [/** @type {Rule} */ ({ match, act: 'status', status: 404 })];
        const how = { config: { startPosition: 6 } };
        const { reaches } = await play(t, { version, rules, how });
        const look = await reaches(12.5 + (missing - 1) * 2);
        assert.ok(skipped(look) < missing * 2 + 0.7, JSON.stringify(look.jumps));
      });
    }

    test('skips a hole at the very beginning', async (t) => {
      const rules = [/** @type {Rule} */ ({ match: '^mid-01', act: 'status', status: 410 })];
      const { reaches } = await play(t, { version, rules });
      assert.ok(skipped(await reaches(3)) < 2.7);
    });

    test('ends where the last segments are missing', async (t) => {
      const rules = [/** @type {Rule} */ ({ match: '-20.m4s', act: 'status', status: 404 })];
      const how = { config: { startPosition: 36 } };
      const { ends } = await play(t, { version, rules, how });
      const { ended, fatal, position } = await ends();
      assert.deepEqual([ended, fatal], [true, []]);
      assert.ok(Math.abs(position - 38) < 0.3, String(position));
    });

    test('gives up where everything is missing', async (t) => {
      const rules = [/** @type {Rule} */ ({ match: '^mid-..\\.m4s', act: 'status', status: 410 })];
      const { ends, session } = await play(t, { version, rules });
      const { fatal, errors } = await ends();
      assert.deepEqual(fatal, ['fragLoadError']);
      assert.ok(errors.filter(({ code }) => code === 410).length > 5);
      assert.ok(session.log.filter(({ file }) => file.startsWith('mid-')).length < 14);
    });

    test('goes to another level that has the segment, and skips nothing', async (t) => {
      const rules = [/** @type {Rule} */ ({ match: '^high-0[3-9]', act: 'status', status: 410 })];
      const how = { config: { startLevel: 2 } };
      const { reaches, session } = await play(t, { version, rules, how, file: 'main.m3u8' });
      const { jumps } = await reaches(7);
      assert.deepEqual(jumps, []);
      assert.ok(session.log.some(({ file }) => /^(low|mid)-03/.test(file)));
    });

    test('skips a lost segment of a live stream once that is certain, and asks for it no more', async (t) => {
      const lost = { match: '^mid-05', act: /** @type {const} */ ('status'), status: 404 };
      const { statuses, reaches } = await play(t, { version, rules: [lost], rewrite: live });
      const { jumps } = await reaches(10);
      assert.deepEqual(statuses('mid-05.m4s'), [404, 404, 404]);
      assert.ok(skipped({ jumps }) < 2.5, `skipped: ${JSON.stringify(jumps)}`);
      assert.equal(statuses('mid-06.m4s').length, 1);
    });

    test('leaves a host for good, whichever of audio and video fails there first', async (t) => {
      const late = { act: 'stallHeaders', ms: 'inf', nth: 1 };
      const policy = { attempts: 3, headersTimeout: 1000, firstHeadersTimeout: 1000 };
      const ways = ['audio', 'mid'].map(async (first) => {
        const other = first === 'audio' ? 'mid' : 'audio';
        const at = { host: '^a\\.test' };
        const refuses = { ...at, act: 'status', status: 502 };
        const { session, reaches } = await play(t, {
          version,
          rules: /** @type {Rule[]} */ ([
            { ...at, match: `^${other}-0[4-9]`, ...late },
            { match: `^(audio|mid)-0[4-9]`, ...refuses },
          ]),
          rewrite: atHosts('a.test', 'b.test'),
          how: { config: SHORT, engine: hasty(policy) },
        });
        await reaches(8);
        const from = (/** @type {RegExp} */ name, /** @type {string} */ host) =>
          session.log.filter((one) => name.test(one.file) && one.host === host).length;
        assert.ok(from(/^mid-0[4-9]/, 'b.test') >= 3);
        assert.ok(from(/^audio-0[4-9]/, 'b.test') >= 3);
        assert.equal(from(/-0[6-9]/, 'a.test'), 0);
      });
      await Promise.all(ways);
    });

    test('skips a hole that every level has', async (t) => {
      const rules = [/** @type {Rule} */ ({ match: '^[lmh].*-03', act: 'status', status: 410 })];
      const how = { config: { startLevel: 1 } };
      const { reaches } = await play(t, { version, rules, how, file: 'main.m3u8' });
      assert.ok(skipped(await reaches(6.5)) < 2.7);
    });

    test('gives the player back as it was', async (t) => {
      /** @type {How['config']} */
      const config = {
        ...SHORT,
        keyLoadPolicy: { default: { maxLoadTimeMs: 1234 } },
        errorPenaltyExpireMs: 5,
      };
      /** @type {Rule} */
      const rule = { match: '^mid-06', nth: 1, act: 'status', status: 503 };
      const { page, reaches, look } = await play(t, { version, rules: [rule], how: { config } });
      await reaches(1);
      await page.evaluate('player.stop()');
      const before = (await look()).means;
      assert.ok(before.length > 0 && before.every((by) => by === 'fetch'));
      // A policy that was given in part is whole, as hls.js has it.
      const alone = `{ ...${JSON.stringify(config)}, keyLoadPolicy: undefined }`;
      const [mine, own] = /** @type {[string, string]} */ (
        await page.evaluate(`(() => {
          const own = ${alone};
          own.keyLoadPolicy = {
            default: { ...player.hls().constructor.DefaultConfig.keyLoadPolicy.default,
              maxLoadTimeMs: 1234 } };
          return [player.settings(), player.settings(own)];
        })()`)
      );
      assert.equal(mine.replace('["interstitialAssetListLoadPolicy",null],', ''), own);
      const { errors, means } = await reaches(10);
      // What was under way goes on.
      const later = means.slice(before.length + 2);
      assert.ok(later.length > 5 && later.every((by) => by === 'xhr'), later.join());
      assert.deepEqual(
        errors.filter(({ code }) => code).map(({ details, code }) => [details, code]),
        [['fragLoadError', 503]],
        'hls.js itself retries',
      );
    });
  });
}

describe(
  'where the engine fails open, hls.js has its own loader and retries back',
  {
    concurrency: 4,
  },
  () => {
    /** @type {Rule} */
    const twice503 = { match: '^mid-0[23]', nth: [1, 2], act: 'status', status: 503 };

    for (const [name, page] of Object.entries({
      'the module answers 404': { answers: { [WASM]: answer(404, 'no') } },
      'the content security policy forbids WebAssembly': { csp: "'self'" },
    })) {
      test(name, async (t) => {
        const how = { config: { ...SHORT } };
        const player = await play(t, { rules: [twice503], page, how });
        const { mode, means, errors } = await player.reaches(6.5);
        assert.equal(mode, 'plain');
        assert.deepEqual(player.statuses('mid-03.m4s'), [503, 503, 200]);
        assert.equal(means.at(-1), 'xhr');
        assert.ok(errors.some(({ code }) => code === 503));
        const [mine, own] = /** @type {string[]} */ (
          await player.page.evaluate('[player.settings(), player.settings({})]')
        );
        assert.equal(mine, own);
      });
    }

    test('also in the middle of playback', async (t) => {
      const page = { answers: { [WASM]: afterwards(2000, answer(404, 'no')) } };
      const how = { config: { ...SHORT } };
      const player = await play(t, { page, how });
      const { means } = await player.reaches(8);
      assert.equal(means[0], 'fetch');
      assert.equal(means.at(-1), 'xhr');
      assert.ok(player.session.log.every(({ attempt }) => attempt === 1));
    });
  },
);

describe(
  'CMCD is that of each attempt, and all other bytes of a URL are as they were',
  {
    concurrency: 4,
  },
  () => {
    const SIGNED = 'hdnts=st=1~exp=2~acl=/*~hmac=x&b=%7e+%20';

    for (const version of VERSIONS) {
      for (const useHeaders of [false, true]) {
        test(`hls.js ${version}, in ${useHeaders ? 'headers' : 'queries'}`, async (t) => {
          const session = lab.createSession({
            rules: [{ match: '^mid-04', nth: [1, 2], act: 'status', status: 503 }],
          });
          const text = await readFile(path.join(lab.mediaDir, 'mid.m3u8'), 'utf8');
          const signed = text.replace(
            /mid-[\w]+\.m(4s|p4)/g,
            (name) => `${session.url(name)}?${SIGNED}`,
          );
          const url = browser.media.on(`/signed-${session.id}.m3u8`, open(ok(signed)));
          const how = {
            config: { cmcd: { sessionId: 's', contentId: 'c', useHeaders }, ...SHORT },
            engine: hasty({ backoff: { base: 600, factor: 1, cap: 600 } }),
          };
          const player = await play(t, { version, url: `${url}?${SIGNED}`, how });
          await player.reaches(7);
          const asked = player.requests.filter((request) => request.url().includes(SIGNED));
          const all = player.requests.filter((request) => /signed-|mid-/.test(request.url()));
          assert.ok(all.length > 5);
          assert.deepEqual(
            all.map((request) => request.url()).filter((each) => !each.includes(`?${SIGNED}`)),
            [],
          );
          /** @param {import('playwright-core').Request} request */
          const cmcdOf = (request) => {
            const headers = Object.entries(request.headers()).filter(([name]) =>
              /^cmcd/.test(name),
            );
            const { url } = { url: request.url() };
            const rest = url.slice(url.indexOf(SIGNED) + SIGNED.length);
            if (useHeaders) assert.equal(rest, '');
            else assert.match(rest, /^&CMCD=[^&]+$/);
            const said = useHeaders
              ? headers
                  .map((each) => each.join('='))
                  .sort()
                  .join()
              : rest;
            return decodeURIComponent(said);
          };
          for (const request of asked) assert.match(cmcdOf(request), /sid="s"/);
          const fourth = asked
            .filter((request) => new URL(request.url()).pathname.endsWith('mid-04.m4s'))
            .map(cmcdOf);
          assert.equal(fourth.length, 3, fourth.join('\n'));
          const lengths = fourth.map((cmcd) => Number(/\bbl=\(?(\d+)/.exec(cmcd)?.[1]));
          assert.ok(lengths[0] > lengths[1] && lengths[1] > lengths[2], fourth.join('\n'));
        });
      }
    }
  },
);

describe('a loader of another library underneath', { concurrency: 4 }, () => {
  /** @type {Rule[]} */
  const faults = [
    { match: '^mid-02', nth: 1, act: 'status', status: 503 },
    { match: '^mid-03', nth: 1, act: 'stallBody', at: 0.4 },
    { match: '^audio-03', nth: 1, act: 'resetBody', at: 0.5 },
    { match: '^mid-04', nth: 1, act: 'truncate', at: 0.5 },
  ];
  for (const [version, transport] of /** @type {const} */ ([
    ['1.7', 'xhr'],
    ['1.7', 'fetch'],
    ['1.7', 'p2p'],
    ['1.5', 'xhr'],
  ])) {
    test(`carries each attempt: ${transport} of hls.js ${version}, through faults`, async (t) => {
      const how = { transport, engine: hasty({ headersTimeout: 3000 }) };
      const player = await play(t, { version, rules: faults, how });
      const { errors, jumps, aborts, carried } = await player.reaches(8.5);
      assert.deepEqual(
        errors.filter(({ details }) => /load/i.test(details)),
        [],
      );
      assert.deepEqual(jumps, []);
      assert.deepEqual(player.warnings, []);
      if (transport === 'p2p') assert.ok(carried > 4, String(carried));
      else {
        assert.equal(aborts, 1, 'the silent attempt is cut');
        assert.equal(player.statuses('mid-02.m4s').join(), '503,200');
        assert.ok(player.statuses('mid-03.m4s').length > 1);
      }
    });
  }

  test('has its 404 for good skipped, too', async (t) => {
    const rules = [/** @type {Rule} */ ({ match: '^mid-03', act: 'status', status: 404 })];
    const player = await play(t, { rules, how: { transport: 'xhr', engine: hasty() } });
    assert.ok(skipped(await player.reaches(6.5)) < 2.7);
  });

  test('shows how much has come, so that a slow body is not taken for a silent one', async (t) => {
    const rules = [/** @type {Rule} */ ({ match: '^mid-03', nth: 1, act: 'drip', rate: 40_000 })];
    const how = {
      transport: /** @type {const} */ ('xhr'),
      engine: hasty({ headersTimeout: 2000 }),
    };
    const player = await play(t, { rules, how });
    await player.reaches(6.5);
    assert.equal(player.statuses('mid-03.m4s').length, 1);
  });
});

describe('a hole is skipped only where it is one', { concurrency: 4 }, () => {
  /** @param {number} status @param {How} [how] */
  const refused = (status, how) => ({
    rules: [/** @type {Rule} */ ({ match: '^mid-03', act: 'status', status })],
    how: {
      engine: { ...hasty({ attempts: 2 }), onExhausted: /** @type {const} */ ('reject') },
      ...how,
    },
  });
  for (const status of [403, 500]) {
    test(`not after ${status}`, async (t) => {
      const { ends } = await play(t, refused(status));
      const { fatal, errors } = await ends();
      assert.deepEqual(fatal, ['fragLoadError']);
      assert.ok(errors.some(({ fatal, code }) => fatal && code === status));
    });
  }

  test('not with skipHoles: false', async (t) => {
    const { ends } = await play(t, refused(404, { options: { skipHoles: false } }));
    assert.deepEqual((await ends()).fatal, ['fragLoadError']);
  });
});
