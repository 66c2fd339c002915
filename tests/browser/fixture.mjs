// @ts-check
/**
 * What the tests in a browser share: one Chromium, pages that import the package as it ships
 * through an import map, and scripted media on an origin of its own.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureMedia } from '../lab/media.mjs';
import { pageHandler } from '../lab/page-origin.mjs';
import { startLab } from '../lab/server.mjs';
import { serve } from '../node/server.mjs';
import { ensureReady, findChromium } from '../tools/setup.mjs';

/** @typedef {import('holdfast').Engine} Engine */
/** @typedef {import('holdfast').EngineOptions} EngineOptions */
/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('../node/server.mjs').Answer} Answer */
/** @typedef {Awaited<ReturnType<typeof startBrowser>>} Browser */
/** @typedef {Awaited<ReturnType<typeof servePage>>} PageServer */
/** @typedef {{ close: () => Promise<void> }} Closable */
/** @typedef {{ pages: Set<Closable>, servers: Set<Closable> }} Opened what ends with the browser */

/**
 * What a page is made of.
 *
 * @typedef {object} PageOptions
 * @property {string} [csp] its `script-src`, besides the nonce that the import map needs
 * @property {Record<string, Answer>} [answers] by path, instead of the package's files
 * @property {Record<string, string>} [imports] of the import map
 * @property {string} [script] a module that the page loads
 */

/** Where a page finds the scripts of the tests: as the package, where they are on disk. */
export const PAGES = '/tests/browser/pages/';

const IMPORTS = {
  holdfast: '/js/index.js',
  'holdfast/dash': '/js/adapters/dash.js',
  'holdfast/hls': '/js/adapters/hls.js',
  'holdfast/rx-player': '/js/adapters/rx-player.js',
  'holdfast/shaka': '/js/adapters/shaka.js',
  'holdfast/spf': '/js/adapters/spf.js',
  'holdfast/vhs': '/js/adapters/vhs.js',
  'hls.js': '/vendor/hls.js/hls.mjs',
};

/**
 * Starts Chromium, a media server, and prepares what they need.
 *
 * @param {import('../tools/setup.mjs').Part[]} [parts] besides those that every test needs
 */
export async function startBrowser(parts = []) {
  await ensureReady(['npm', 'browser', 'build', ...parts]);
  const browser = await launchChromium();
  const media = await serve();
  /** @type {Opened} */
  const opened = { pages: new Set(), servers: new Set() };
  return {
    media,
    /** @param {Parameters<typeof openPage>[2]} [options] */
    open: (options) => openPage(browser, opened, options),
    /** A lab with the test stream, or with another one. @param {typeof ensureMedia} [ensure] */
    async startLab(ensure = ensureMedia) {
      await ensureReady(['media']);
      const { dir } = await ensure({ log: console.error });
      const lab = await startLab({ mediaDir: dir });
      opened.servers.add(lab);
      return lab;
    },
    /** Ends its pages and labs too. */
    async close() {
      try {
        for (const page of opened.pages) await page.close();
      } finally {
        await browser.close();
        await media.close();
        // Also those of pages that failed while they opened: one keeps the process alive.
        for (const server of opened.servers) await server.close();
      }
    },
  };
}

/** Chromium, without a window and without requests of its own. */
export async function launchChromium() {
  const { chromium } = await import('playwright-core');
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--disable-background-networking',
    '--autoplay-policy=no-user-gesture-required',
    // Further names of the labs.
    '--host-resolver-rules=MAP a.test 127.0.0.1, MAP b.test 127.0.0.1',
  ];
  return chromium.launch({ executablePath: findChromium(), args });
}

/**
 * The origin of a page: the page at its root, the package, and the scripts of the tests.
 *
 * @param {PageOptions} [options]
 */
export async function servePage(options = {}) {
  const { csp, answers = {}, imports = IMPORTS, script } = options;
  const nonce = randomBytes(8).toString('hex');
  const files = pageHandler({ find: () => undefined, create: () => assert.fail('no sessions') });
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page.invalid');
    if (pathname === '/') {
      /** @type {http.OutgoingHttpHeaders} */
      const headers = { 'content-type': 'text/html; charset=utf-8' };
      if (csp) headers['content-security-policy'] = `script-src 'nonce-${nonce}' ${csp}`;
      response.writeHead(200, headers).end(html(nonce, imports, script));
    } else if (/^\/tests\/browser\/pages\/[\w-]+\.js$/.test(pathname)) {
      response.writeHead(200, { 'content-type': 'text/javascript' });
      createReadStream(new URL(`../..${pathname}`, import.meta.url)).pipe(response);
    } else if (answers[pathname]) answers[pathname](request, response);
    else void files(request, response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * A page of an origin of its own, in a context of its own: no cache and no socket is shared.
 *
 * @param {import('playwright-core').Browser} browser
 * @param {Opened} opened where it adds itself, as long as it is open
 * @param {PageOptions} [options]
 */
async function openPage(browser, { pages, servers }, options) {
  const server = await servePage(options);
  servers.add(server);
  // The secure servers of the tests have signed for themselves.
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  /** @type {string[]} */
  const warnings = [];
  /** @type {string[]} */
  const errors = [];
  page.on('console', (message) => {
    if (message.type() === 'warning') warnings.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(server.origin);
  const opened = {
    page,
    context,
    origin: server.origin,
    warnings,
    errors,
    /** An engine of the page. @param {EngineOptions} [options] @param {boolean} [ready] */
    async engine(options, ready = true) {
      const engine = await page.evaluateHandle(async (options) => {
        const { createEngine } = await import('holdfast');
        // Functions do not get from here into the page.
        return createEngine(/** @type {EngineOptions | undefined} */ (options));
      }, options);
      assert.equal(await engine.evaluate((engine) => engine.ready), ready);
      return engine;
    },
    async close() {
      pages.delete(opened);
      await context.close();
      servers.delete(server);
      await server.close();
      assert.deepEqual(errors, [], 'uncaught errors in the page');
    },
  };
  pages.add(opened);
  return opened;
}

/** @param {string} nonce @param {Record<string, string>} imports @param {string} [script] */
const html = (nonce, imports, script) => `<!doctype html>
<link rel="icon" href="data:," />
<script type="importmap" nonce="${nonce}">${JSON.stringify({ imports })}</script>
${script ? `<script type="module" src="${script}"></script>` : ''}
<video muted></video>`;

/** An answer that any origin may read. @param {Answer} answer @returns {Answer} */
export const shared = (answer) => (request, response) => {
  response.setHeader('access-control-allow-origin', '*');
  answer(request, response);
};

/** The SHA-256 of bytes, as pages give it. @param {Uint8Array} bytes */
export const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

/**
 * Waits until something holds.
 *
 * @template T
 * @param {() => T | Promise<T>} test
 * @param {string} what
 * @param {number} [patience] in milliseconds
 * @returns {Promise<NonNullable<Awaited<T>>>}
 */
export async function eventually(test, what, patience = 15_000) {
  const end = performance.now() + patience;
  for (;;) {
    const value = await test();
    if (value) return /** @type {NonNullable<Awaited<T>>} */ (value);
    if (performance.now() > end) assert.fail(`never came true in ${patience} ms: ${what}`);
    await sleep(10);
  }
}

/**
 * A segment's policy with short bounds and a ladder of 100 ms steps. A busy machine takes a second
 * for an answer now and then, so the bounds are longer than that.
 *
 * @param {import('holdfast').SiteOptions} [policy]
 * @returns {EngineOptions}
 */
export const quick = (policy) => ({
  sites: {
    segment: {
      attempts: 3,
      backoff: { base: 100, factor: 1, cap: 100 },
      headersTimeout: 2500,
      stallTimeout: 2500,
      onExhausted: 'reject',
      ...policy,
    },
  },
});
