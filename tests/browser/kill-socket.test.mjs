// @ts-check
/** Connections that break, at whatever byte, over real sockets: the bytes are the right ones. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { BROWSERS } from './drivers.mjs';
import { hashOf, servePage, shared } from './fixture.mjs';
import { serveOver } from './servers.mjs';

/** Bytes as good as random, and the same in each run. @param {string} seed @param {number} size */
const randomBytes = (seed, size) =>
  createHash('shake256', { outputLength: size }).update(seed).digest();

const SIZE = 400_000;
const BODY = randomBytes('body', SIZE);
const REQUESTS = 24;

/** Where an answer is broken off: before its headers, or before this byte of the body. */
const HEADERS = -1;
const EDGES = [HEADERS, 0, 1, SIZE / 2, SIZE - 1];
/** How it ends: reset in the middle of what was sent, or when it has arrived, or closed. */
const ENDS = /** @type {const} */ (['reset', 'reset later', 'close']);
/** @typedef {{ at: number, end: typeof ENDS[number] }} Break */

/** What happens to the attempts of one request, and to what the browser sends on its own. @param {string} name */
function breaksOf(name) {
  const dice = randomBytes(name, 12);
  const nth = Number(name.split('-').at(-1));
  const ats = [EDGES[nth] ?? dice.readUInt32LE(0) % SIZE];
  if (nth % 2) ats.push(dice.readUInt32LE(4) % SIZE);
  return ats.map((at, i) => /** @type {Break} */ ({ at, end: ENDS[dice[8 + i] % 3] }));
}

/** Requests by name, with the breaks that are still to come. @type {Map<string, Break[]>} */
const under = new Map();

/** @type {import('./fixture.mjs').Answer} */
function answer(request, response) {
  const name = new URL(request.url ?? '', 'http://a.invalid').search.slice(1);
  const breaks = under.get(name) ?? breaksOf(name);
  under.set(name, breaks);
  const next = breaks.shift();
  if (next?.at === HEADERS) return void request.socket.resetAndDestroy();

  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const from = Number(range?.[1] ?? 0);
  const to = range?.[2] ? Number(range[2]) + 1 : SIZE;
  response.writeHead(range ? 206 : 200, {
    ...(range && { 'content-range': `bytes ${from}-${to - 1}/${SIZE}` }),
    'content-length': to - from,
    'accept-ranges': 'bytes',
    'cache-control': name.includes('no-store') ? 'no-store' : 'max-age=3600',
    etag: '"a"',
    'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
  });
  if (!next) return void response.end(BODY.subarray(from, to));
  response.flushHeaders();
  response.write(BODY.subarray(from, Math.min(Math.max(from, next.at), to)), () => {
    if (next.end === 'reset') request.socket.resetAndDestroy();
    else if (next.end === 'close') request.socket.destroy();
    else setTimeout(() => request.socket.resetAndDestroy(), 30);
  });
}

/**
 * Runs in the page: the hash of what each request delivers, or why it does not.
 *
 * @param {string[]} urls @param {'load' | 'fetch'} how
 */
async function deliver(urls, how) {
  const { createEngine } = await import('holdfast');
  const backoff = { base: 20, factor: 1, cap: 20 };
  const sites = { segment: { attempts: 6, backoff, onExhausted: /** @type {const} */ ('reject') } };
  // Each URL counts as a host: one that fails so often would be left alone, and rightly.
  const getCdnId = (/** @type {string} */ url) => url;
  const budget = { source: 1e6, session: 1e6 };
  const engine = createEngine({ sites, budget, getCdnId });
  if (!(await engine.ready)) throw new Error('no module');
  const site = 'segment';

  const bytes = {
    load: async (/** @type {string} */ url) => (await engine.load({ url, site })).data,
    async fetch(/** @type {string} */ url) {
      const { body } = await engine.fetch(url, { site });
      const chunks = [];
      const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (body).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return new Blob(chunks).arrayBuffer();
        chunks.push(value);
      }
    },
  };
  const hash = async (/** @type {string} */ url) => {
    const digest = await crypto.subtle.digest('SHA-256', await bytes[how](url));
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join(
      '',
    );
  };
  return Promise.all(urls.map((url) => hash(url).catch((error) => `${url}: ${error}`)));
}

for (const [name, start] of Object.entries(BROWSERS)) {
  describe(`R76: a connection that breaks at any byte leaves the right bytes in ${name}`, () => {
    /** @type {import('./drivers.mjs').Driver} */
    let browser;
    /** @type {import('./drivers.mjs').Page} */
    let page;
    /** @type {Array<{ origin: string, close(): Promise<void> }>} */
    const servers = [];
    before(async () => {
      servers.push(await servePage({ answers: { '/body.m4s': answer } }));
      servers.push(await serveOver('http/1.1', /** @type {any} */ (shared(answer))));
      browser = await start();
      page = await browser.open(servers[0].origin);
    });
    after(async () => {
      await browser?.close();
      for (const server of servers) await server.close();
    });

    for (const [where, origin] of Object.entries({ 'the same origin': 0, 'another origin': 1 })) {
      for (const how of /** @type {const} */ (['load', 'fetch'])) {
        for (const cache of ['no-store', 'max-age']) {
          test(`by ${how}, from ${where}, with ${cache}`, async () => {
            const names = Array.from({ length: REQUESTS }, (_, i) =>
              [name, how, origin, cache, i].join('-'),
            );
            const urls = names.map((name) => `${servers[origin].origin}/body.m4s?${name}`);
            const delivered = await page.evaluate(deliver, urls, how);
            assert.equal(delivered.length, REQUESTS);
            const wrong = delivered.filter((hash) => hash !== hashOf(BODY));
            assert.deepEqual(wrong, []);
            const left = names.filter((name) => under.get(name)?.length !== 0);
            assert.deepEqual(left, [], 'every break has happened');
          });
        }
      }
    }
  });
}
