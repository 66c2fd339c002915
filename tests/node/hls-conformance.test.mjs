// What hls.js does with its own loaders and with Holdfast's, over the same broken servers, counted
// at the server. hls.js's delays and the engine's are shortened alike; counts do not depend on them.
// The counts are those of docs/hls.md, which has the table.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, describe, test } from 'node:test';
import { attachHls, hlsConfig } from '../../js/adapters/hls.js';
import { createEngine, DEFAULT_SITES } from '../../js/node.js';
import { until, wait } from './hls/loader.mjs';
import { Hls, play } from './hls/player.mjs';
import {
  body,
  cut,
  hang,
  inTurn,
  live,
  media,
  multivariant,
  reset,
  segment,
  serve,
  status,
} from './hls/server.mjs';

const { FetchLoader } = await import('hls.js');
// hls.js's own retries name it without saying so; pages have it.
Object.assign(globalThis, { status: '' });

/** @type {(() => void)[]} */
const cleanups = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

const SEGMENT = segment();
const KEY = '#EXT-X-KEY:METHOD=AES-128,URI="k.key"\n';
/** Nothing is asked for any more when this long nothing was. */
const QUIET_MS = 1200;
const FIVE = ['a.m3u8', 'b.m3u8', 'c.m3u8', 'd.m3u8', 'e.m3u8'];

/**
 * hls.js's policies as they are, with delays of 20 ms for each second of theirs.
 *
 * @param {Partial<import('hls.js').HlsConfig>} [config]
 */
function alone(config) {
  const scaled = Object.fromEntries(
    Object.entries(Hls.DefaultConfig)
      .filter(([name]) => /LoadPolicy$/.test(name))
      .map(([name, policy]) => [name, { default: shorter(/** @type {any} */ (policy).default) }]),
  );
  return { ...scaled, loader: FetchLoader, ...config };
}

/** The engine's policies as they are, with the same. */
function engine() {
  const sites = Object.entries(DEFAULT_SITES).map(([site, { backoff }]) => {
    const shorter = { ...backoff, base: backoff.base / 50, cap: backoff.cap / 50 };
    const bounds = { headersTimeout: 600, firstHeadersTimeout: 600, stallTimeout: 600 };
    return [site, { ...bounds, backoff: shorter }];
  });
  return createEngine({ sites: Object.fromEntries(sites) });
}

/** @param {any} policy */
function shorter(policy) {
  const own = { ...policy, maxTimeToFirstByteMs: 600, maxLoadTimeMs: 600 };
  for (const kind of ['timeoutRetry', 'errorRetry']) {
    const retry = policy[kind];
    if (!retry) continue;
    const { retryDelayMs, maxRetryDelayMs } = retry;
    own[kind] = {
      ...retry,
      retryDelayMs: retryDelayMs / 50,
      maxRetryDelayMs: maxRetryDelayMs / 50,
    };
  }
  return own;
}

/**
 * @typedef {object} Case
 * @property {string} name as the document has it
 * @property {() => Record<string, import('./hls/server.mjs').Route>} routes
 * @property {(log: import('./hls/server.mjs').Seen[]) => number} count the requests that matter
 * @property {object} [config] of hls.js
 * @property {(events: ReturnType<typeof play>) => string} [outcome]
 */

/** @param {RegExp} pattern */
const requestsOf = (pattern) => (/** @type {import('./hls/server.mjs').Seen[]} */ log) =>
  log.filter(({ path }) => pattern.test(path)).length;

/** Whether hls.js has given up, or has what it wanted. @param {ReturnType<typeof play>} player */
const outcomeOf = ({ fatal, all }) => {
  if (fatal().length) return 'ends';
  return all(Hls.Events.FRAG_LOADED).some(({ frag }) => frag.sn !== 'initSegment')
    ? 'plays'
    : 'waits';
};

const vod = (/** @type {Record<string, import('./hls/server.mjs').Route>} */ routes) => () => ({
  '/m.m3u8': body(media({ segments: ['1.ts'] })),
  ...routes,
});
const levels = (/** @type {Record<string, import('./hls/server.mjs').Route>} */ routes) => () => ({
  '/m.m3u8': body(multivariant(...FIVE)),
  ...Object.fromEntries(
    FIVE.map((name) => [`/${name}`, body(media({ segments: [`${name[0]}.ts`] }))]),
  ),
  ...routes,
});

/** @type {Case[]} */
const CASES = [
  {
    name: 'a key server that answers 503 for good: requests for the key',
    routes: () => ({
      '/m.m3u8': body(media({ segments: ['1.ts'], tags: KEY })),
      '/k.key': status(503),
      '*': body(SEGMENT),
    }),
    count: requestsOf(/k\.key/),
  },
  {
    name: 'a segment that answers 503 twice',
    routes: vod({ '/1.ts': inTurn(status(503), status(503), body(SEGMENT)) }),
    count: requestsOf(/1\.ts/),
  },
  {
    name: 'a segment that answers 404 for good',
    routes: vod({ '/1.ts': status(404) }),
    count: requestsOf(/1\.ts/),
  },
  {
    name: 'a segment whose connection is reset once',
    routes: vod({ '/1.ts': inTurn(reset(), body(SEGMENT)) }),
    count: requestsOf(/1\.ts/),
  },
  {
    name: 'a segment that stops half way, once',
    routes: vod({ '/1.ts': inTurn(cut(SEGMENT, 9000), body(SEGMENT)) }),
    count: requestsOf(/1\.ts/),
  },
  {
    name: 'a segment that never answers, once',
    routes: vod({ '/1.ts': inTurn(hang(), body(SEGMENT)) }),
    count: requestsOf(/1\.ts/),
  },
  {
    name: 'five levels that all answer 429 with Retry-After: 1, once each',
    routes: levels(
      Object.fromEntries(
        FIVE.map((name) => [
          `/${name[0]}.ts`,
          inTurn(status(429, { 'retry-after': '1' }), body(SEGMENT)),
        ]),
      ),
    ),
    count: requestsOf(/\.ts/),
  },
  {
    name: 'five levels whose playlists all answer 503 for good',
    routes: levels(Object.fromEntries(FIVE.map((name) => [`/${name}`, status(503)]))),
    count: requestsOf(/^\/[a-e]\.m3u8/),
  },
  {
    name: 'a manifest that answers 503 three times',
    routes: () => ({
      '/m.m3u8': inTurn(status(503), status(503), status(503), body(media({ segments: ['1.ts'] }))),
      '*': body(SEGMENT),
    }),
    count: requestsOf(/m\.m3u8/),
  },
  {
    name: 'a manifest that never answers, once',
    routes: () => ({
      '/m.m3u8': inTurn(hang(), body(media({ segments: ['1.ts'] }))),
      '*': body(SEGMENT),
    }),
    count: requestsOf(/m\.m3u8/),
  },
  {
    name: 'a live segment whose connection is reset once: is it skipped?',
    routes: () => {
      const playlist = live({ target: 2 });
      /** @type {Set<string>} */
      const broken = new Set();
      return {
        '/m.m3u8': (_, response) => void response.end(playlist()),
        '*': (request, response, nth) => {
          const first = broken.size === 0 && nth === 1;
          if (first) broken.add(request.url ?? '');
          if (first) request.socket.destroy();
          else response.end(SEGMENT);
        },
      };
    },
    count: (log) => {
      const media = log.filter(({ path }) => path.endsWith('.ts'));
      return media.filter(({ path }) => path === media[0]?.path).length;
    },
  },
];

/**
 * Plays until nothing is asked for any more.
 *
 * @param {Case} of
 * @param {'alone' | 'with'} how
 */
async function run({ routes, count, config }, how) {
  const http = await serve(routes());
  cleanups.push(http.close);
  const holdfast = how === 'with' ? engine() : undefined;
  await holdfast?.ready;
  const player = play(
    holdfast ? hlsConfig(holdfast, config) : alone(config),
    `${http.base}/m.m3u8`,
  );
  if (holdfast) cleanups.push(() => holdfast.destroy());
  cleanups.push(() => player.hls.destroy());
  if (holdfast) cleanups.push(attachHls(holdfast, player.hls));
  const quiet = () => performance.now() - (http.log.at(-1)?.at ?? Infinity) > QUIET_MS;
  const over = () => player.fatal().length > 0 || outcomeOf(player) === 'plays';
  await until(() => (over() && http.log.length > 1) || quiet(), 30_000);
  await wait(300);
  return `${count(http.log)}, ${outcomeOf(player)}`;
}

/**
 * The table of the document: what each case came to. What goes on for as long as the server is down has
 * an upper bound.
 *
 * @returns {Map<string, string[]>}
 */
function documented() {
  const text = readFileSync(new URL('../../docs/hls.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| (.+?) \| (\d+, \w+) +\| ((?:at most )?\d+, \w+) +\|$/gm)];
  return new Map(rows.map(([, name, ...cells]) => [name.trim(), cells]));
}

/** @param {string} measured @param {string} [said] */
function holds(measured, said = '') {
  const [, most, bound] = /^(at most )?(\d+)/.exec(said) ?? [];
  const [count, outcome] = measured.split(', ');
  if (!most) return measured === said;
  return Number(count) <= Number(bound) && said.endsWith(`, ${outcome}`);
}

describe('counted at the server', { concurrency: 1 }, () => {
  const table = documented();
  for (const of of CASES) {
    test(`${of.name}: as docs/hls.md says`, async (t) => {
      const measured = [await run(of, 'alone'), await run(of, 'with')];
      t.diagnostic(`| ${of.name} | ${measured.join(' | ')} |`);
      const said = table.get(of.name);
      assert.ok(
        measured.every((cell, i) => holds(cell, said?.[i])),
        `measured: ${measured.join(' | ')}; said: ${said?.join(' | ')}`,
      );
    });
  }

  test('docs/hls.md has no other rows', () => {
    assert.deepEqual([...table.keys()].sort(), CASES.map(({ name }) => name).sort());
  });
});
