// @ts-check
/**
 * Media of another origin that lets everybody read, and exposes no header or all of them: what is
 * hidden costs precision, never a wrong byte, and nothing that is asked for needs a preflight.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { content } from '../node/server.mjs';
import { BROWSERS } from './drivers.mjs';
import { hashOf, servePage } from './fixture.mjs';
import { serveOver } from './servers.mjs';

/** @typedef {import('node:http').IncomingMessage} Request */
/** @typedef {import('node:http').ServerResponse} Response */
/** @typedef {{ range?: string, at: number }} Seen */
/** @typedef {Awaited<ReturnType<typeof serveMedia>>} Media */

const SIZE = 400_000;
const BODY = content(SIZE);
/** Behind so many bytes a body breaks. */
const CUT = 150_000;
const LOADS = 3;
const HOWS = /** @type {const} */ (['load', 'fetch']);
const ALL = ['Content-Encoding', 'Content-Range', 'Date', 'ETag', 'Retry-After'];
/** What a server asks to wait: longer than the engine's own waits, in s. */
const LONG = 2;

/** What breaks a body, by its name. @type {Map<string, () => void>} */
const cuts = new Map();
/** A page has all that was sent of a body before it breaks. @type {(request: Request, response: Response) => void} */
function has(request, response) {
  cuts.get(nameOf(request))?.();
  response.writeHead(204).end();
}

/** @param {Request} request */
const nameOf = ({ url }) => new URL(url ?? '', 'http://a.invalid').search.slice(1);

/**
 * Serves a body to every origin. What is asked for first breaks, or is refused where its name says
 * so.
 *
 * @param {string} [exposed]
 */
async function serveMedia(exposed) {
  /** @type {Map<string, Seen[]>} */
  const all = new Map();
  /** @type {Set<string>} */
  const methods = new Set();
  const server = await serveOver('http/1.1', (asked, answer) => {
    const [request, response] = /** @type {[Request, Response]} */ ([asked, answer]);
    const { method = '', headers, socket } = request;
    methods.add(method);
    response.setHeader('access-control-allow-origin', '*');
    if (method === 'OPTIONS') {
      // What asks for leave gets it, and the test tells of it.
      response.writeHead(204, { 'access-control-allow-headers': '*' }).end();
      return;
    }
    const name = nameOf(request);
    const seen = all.get(name) ?? [];
    all.set(name, seen);
    seen.push({ range: headers.range, at: performance.now() });
    if (exposed) response.setHeader('access-control-expose-headers', exposed);
    const isFirst = seen.length === 1;
    if (isFirst && name.startsWith('busy')) {
      response.writeHead(429, { 'retry-after': `${LONG}`, 'content-length': 0 }).end();
      return;
    }
    const from = Number(/^bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
    response.writeHead(headers.range ? 206 : 200, {
      ...(headers.range && { 'content-range': `bytes ${from}-${SIZE - 1}/${SIZE}` }),
      'content-length': SIZE - from,
      'cache-control': 'no-store',
      etag: '"one"',
      'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
    });
    if (!isFirst) return void response.end(BODY.subarray(from));
    response.write(BODY.subarray(from, CUT));
    cuts.set(name, () => socket.destroy());
  });
  return {
    ...server,
    methods,
    /** @param {string} name */
    url: (name) => `${server.origin}/body.m4s?${name}`,
    /** @param {string} name @returns {Seen[]} */
    seen: (name) => all.get(name) ?? [],
  };
}

/**
 * Runs in the page: what one engine delivers, one after the other, and what it says of it.
 *
 * @param {string[]} urls @param {'load' | 'fetch'} how @param {number} cut
 */
async function deliver(urls, how, cut) {
  const { createEngine } = await import('holdfast');
  const engine = createEngine({ sites: { segment: { onExhausted: 'reject' } } });
  if (!(await engine.ready)) throw new Error('no module');
  const site = 'segment';

  /** Says that all has come that comes. @param {string} url @param {number} size */
  const tell = (url, size) => {
    if (size >= cut) void fetch(`/has${new URL(url).search}`);
  };
  const bytes = {
    /** @param {string} url */
    async load(url) {
      const onProgress = (/** @type {{ loaded: number }} */ { loaded }) => tell(url, loaded);
      return (await engine.load({ url, site, onProgress })).data;
    },
    /** @param {string} url */
    async fetch(url) {
      const { body } = await engine.fetch(url, { site });
      const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (body).getReader();
      const chunks = [];
      let size = 0;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return new Blob(chunks).arrayBuffer();
        chunks.push(value);
        tell(url, (size += value.length));
      }
    },
  };
  const hashes = [];
  for (const url of urls) {
    const digest = await crypto.subtle.digest('SHA-256', await bytes[how](url));
    const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'));
    hashes.push(hex.join(''));
  }
  // It is told behind the answer that it is about.
  for (let i = 0; i < 100 && engine.state.diagnostics.length === 0; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { diagnostics } = engine.state;
  const waits = engine.log().filter(({ event }) => event === 'waiting');
  engine.destroy();
  return { hashes, diagnostics, waits };
}

for (const [name, start] of Object.entries(BROWSERS)) {
  describe(`R21, R22: media of another origin in ${name}`, () => {
    /** @type {import('./drivers.mjs').Driver} */
    let browser;
    /** @type {import('./drivers.mjs').Page} */
    let page;
    /** @type {Media} */
    let hiding;
    /** @type {Media} */
    let open;
    /** @type {import('./fixture.mjs').PageServer} */
    let server;
    before(async () => {
      server = await servePage({ answers: { '/has': has } });
      [hiding, open] = await Promise.all([serveMedia(), serveMedia('*')]);
      browser = await start();
      page = await browser.open(server.origin);
    });
    after(async () => {
      await browser?.close();
      for (const each of [server, hiding, open]) await each?.close();
    });

    /** @param {Media} media @param {typeof HOWS[number]} how @param {string} kind */
    async function run(media, how, kind, count = LOADS) {
      const names = Array.from({ length: count }, (_, i) => `${kind}-${name}-${how}-${i}`);
      const told = await page.evaluate(deliver, names.map(media.url), how, CUT);
      assert.deepEqual(
        told.hashes,
        names.map(() => hashOf(BODY)),
      );
      const seen = names.map(media.seen);
      assert.deepEqual([...media.methods], ['GET'], 'no preflight');
      return { ...told, seen, ranges: seen.map((each) => each.map(({ range }) => range ?? null)) };
    }

    for (const how of HOWS) {
      test(`R21, R22: a broken body of one that exposes nothing is delivered whole, by ${how}`, async () => {
        const { diagnostics, ranges } = await run(hiding, how, 'hidden');
        assert.deepEqual(ranges, Array(LOADS).fill([null, null]));
        assert.deepEqual(
          diagnostics.map(({ origin, missing }) => ({ origin, missing })),
          [{ origin: hiding.origin, missing: ALL }],
        );
        for (const header of ALL) assert.ok(diagnostics[0].message.includes(header));
      });

      test(`R20, R22: of one that exposes all, only the missing bytes are asked for, by ${how}`, async () => {
        const { diagnostics, ranges } = await run(open, how, 'open');
        assert.deepEqual(diagnostics, []);
        for (const [first, second, ...more] of ranges) {
          assert.deepEqual([first, more], [null, []]);
          // The page has told that it has them all.
          assert.match(second ?? '', new RegExp(`^bytes=${CUT}-(${SIZE - 1})?$`));
        }
      });
    }

    test('R22: a refusal whose time is hidden is waited for by the own numbers', async () => {
      const { diagnostics, seen, waits } = await run(hiding, 'load', 'busy', 1);
      assert.equal(diagnostics.length, 1);
      assert.ok(diagnostics[0].missing.includes('Retry-After'));
      const [[first, second, ...more]] = seen;
      assert.deepEqual(more, []);
      const [{ detail, value }] = waits;
      assert.notEqual(detail, 'retry-after');
      // Both clocks tick in steps, and the one of a page in coarse ones.
      assert.ok(value >= 50 && second.at - first.at > value - 20, `${value} ms`);
    });

    test('R22: one whose time is shown is waited for by that', async () => {
      const { diagnostics, seen, waits } = await run(open, 'load', 'busy', 1);
      assert.deepEqual(diagnostics, []);
      const [[first, second]] = seen;
      assert.equal(waits[0].detail, 'retry-after');
      assert.ok(second.at - first.at > LONG * 1000 - 20);
    });
  });
}
