// @ts-check
/** The service worker under pages that know nothing of it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  answer,
  content,
  drip,
  file,
  hang,
  ok,
  page as portal,
  redirect,
  reset,
} from '../node/server.mjs';
import { eventually, hashOf, PAGES, shared, startBrowser } from './fixture.mjs';

/** @typedef {import('./fixture.mjs').Answer} Answer */
/** @typedef {{ after(fn: () => Promise<void>): void }} Test */
/** @typedef {import('holdfast/service-worker').WorkerState} WorkerState */

const SCRIPT = '/holdfast-sw.js';
const VALIDATORS = { etag: '"a"', 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' };
const VTT = ok('WEBVTT\n\n00:00.000 --> 00:10.000\nhello\n', { 'content-type': 'text/vtt' });

/** The worker as a site serves it. @type {string} */
let script;
/** Eight seconds in one file. @type {Buffer} */
let mp4;
/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
before(async () => {
  browser = await startBrowser();
  script = await readFile(new URL('../../js/pkg/service-worker.js', import.meta.url), 'utf8');
  lab = await browser.startLab();
  const parts = ['init.mp4', '01.m4s', '02.m4s', '03.m4s', '04.m4s'].map((part) => `mid-${part}`);
  mp4 = Buffer.concat(await Promise.all(parts.map((part) => readFile(join(lab.mediaDir, part)))));
});
after(() => browser?.close());

/** @param {string} source @returns {Answer} */
const scriptOf = (source) => ok(source, { 'content-type': 'text/javascript' });

/**
 * A page that a worker answers for.
 *
 * @param {Test} t
 * @param {import('./fixture.mjs').PageOptions} [options]
 * @param {[url: string, options?: RegistrationOptions]} [registration]
 */
async function open(t, options, registration = [SCRIPT]) {
  const answers = { [SCRIPT]: scriptOf(script), ...options?.answers };
  const opened = await browser.open({ ...options, answers });
  t.after(opened.close);
  await opened.page.evaluate(async ([url, options]) => {
    const { serviceWorker } = navigator;
    const taken = new Promise((resolve) => (serviceWorker.oncontrollerchange = resolve));
    await serviceWorker.register(url, options);
    await taken;
  }, registration);
  return opened;
}

/** One answer for each request, and the last one for all that follow. @param {...Answer} answers */
function scripted(...answers) {
  /** @type {import('node:http').IncomingMessage[]} */
  const seen = [];
  /** @type {Answer} */
  const answerOf = (request, response) => {
    seen.push(request);
    answers[Math.min(seen.length, answers.length) - 1](request, response);
  };
  return Object.assign(answerOf, { seen });
}

/**
 * What the worker's engine knows.
 *
 * @param {import('playwright-core').Page} page
 * @returns {Promise<WorkerState>}
 */
const stateOf = (page) =>
  page.evaluate(() => {
    const { port1, port2 } = new MessageChannel();
    navigator.serviceWorker.controller?.postMessage({ holdfast: 'state' }, [port2]);
    return new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
  });

/**
 * What a page's own `fetch` comes to.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} url
 * @param {RequestInit} [init]
 * @returns {Promise<{ error?: string, status?: number, url?: string, redirected?: boolean,
 *   headers?: Record<string, string>, text?: string, size?: number, hash?: string }>}
 */
const fetched = (page, url, init) =>
  page.evaluate(
    async ({ url, init }) => {
      try {
        const response = await fetch(url, init);
        const bytes = await response.arrayBuffer();
        const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
        return {
          ...{ status: response.status, url: response.url, redirected: response.redirected },
          headers: Object.fromEntries(response.headers),
          text: bytes.byteLength < 1000 ? new TextDecoder().decode(bytes) : undefined,
          size: bytes.byteLength,
          hash: Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''),
        };
      } catch (error) {
        return { error: /** @type {Error} */ (error).name };
      }
    },
    { url, init },
  );

describe('plain hls.js survives, with nothing but the registration,', { concurrency: 3 }, () => {
  const link = { kbps: 1600, delayMs: 40 };
  /** @type {Array<[name: string, rule: import('../lab/rules.mjs').Rule]>} */
  const faults = [
    [
      'a segment that stops half way',
      { match: '^(low|mid|high)-03\\.m4s$', nth: 1, act: 'stallBody', at: 0.5, ms: 'inf' },
    ],
    ['four seconds of 503', { match: '\\.m4s$', window: [500, 4500], act: 'status', status: 503 }],
    [
      'a manifest that never answers',
      { match: '^main\\.m3u8$', nth: 1, act: 'stallHeaders', ms: 'inf' },
    ],
  ];
  for (const [name, rule] of faults) {
    test(name, async (t) => {
      const session = lab.createSession({ link, rules: [rule] });
      const { page } = await open(t, { script: `${PAGES}sw-hls.js` });
      await page.evaluate(`player.play('${session.url('main.m3u8')}')`);
      /** @returns {Promise<{ errors: string[], position: number }>} */
      const look = () => page.evaluate('player.look()');
      await eventually(async () => (await look()).position > 6.2, 'the fourth segment', 45_000);
      const told = JSON.stringify(session.log, null, 1);
      // That its buffer ran out is no failure of a load.
      const { errors } = await look();
      assert.deepEqual(
        errors.filter((error) => /Load|fatal/.test(error)),
        [],
        told,
      );
      assert.ok(
        session.log.some(({ act }) => act === rule.act),
        told,
      );
      // Nothing is asked of the other origin that the page would not ask.
      assert.ok(!session.log.some(({ act }) => act === 'preflight'), told);
    });
  }

  test('a manifest that is redirected to another origin', async (t) => {
    const session = lab.createSession({ link });
    const answers = { '/live.m3u8': redirect(session.url('main.m3u8')) };
    const { page } = await open(t, { script: `${PAGES}sw-hls.js`, answers });
    await page.evaluate(`player.play('/live.m3u8')`);
    /** @returns {Promise<{ errors: string[], position: number }>} */
    const look = () => page.evaluate('player.look()');
    await eventually(async () => (await look()).position > 2.2, 'the second segment', 45_000);
    // What is relative in it is found beside it, and nothing is asked for twice.
    assert.deepEqual((await look()).errors, []);
    const told = JSON.stringify(session.log, null, 1);
    assert.ok(
      session.log.every(({ attempt }) => attempt === 1),
      told,
    );
  });
});

describe('what elements load', { concurrency: 2 }, () => {
  test('<track> has its captions after a 503', async (t) => {
    const captions = scripted(answer(503), VTT);
    const { page } = await open(t, { answers: { '/captions.vtt': captions } });
    const cues = await page.evaluate(
      () =>
        new Promise((resolve, reject) => {
          const track = document.createElement('track');
          track.src = '/captions.vtt';
          track.default = true;
          track.onload = () => resolve(track.track.cues?.length);
          track.onerror = () => reject(new Error('no captions'));
          document.querySelector('video')?.append(track);
        }),
    );
    assert.equal(cues, 1);
    assert.equal(captions.seen.length, 2);
  });

  /**
   * Plays a file to its end, four times as fast, and says where that is.
   *
   * @param {import('playwright-core').Page} page
   * @param {string} src
   * @param {string | null} [crossOrigin]
   */
  const played = (page, src, crossOrigin = null) =>
    page.evaluate(
      ({ src, crossOrigin }) =>
        new Promise((resolve, reject) => {
          const video = /** @type {HTMLVideoElement} */ (document.querySelector('video'));
          Object.assign(video, { crossOrigin, src, muted: true });
          video.onerror = () => reject(new Error(video.error?.message));
          video.onended = () => resolve(video.currentTime);
          video.oncanplay = () => {
            video.playbackRate = 4;
            video.play().catch(() => {});
          };
        }),
      { src, crossOrigin },
    );
  const type = { 'content-type': 'video/mp4', ...VALIDATORS, 'cache-control': 'no-store' };
  const whole = () => file(mp4, type);

  test('<video src> plays after a 503', async (t) => {
    const video = scripted(answer(503), (...to) => whole()(...to));
    const { page } = await open(t, { answers: { '/a.mp4': video } });
    assert.ok(Number(await played(page, '/a.mp4')) > 7.5);
    const ranges = video.seen.map(({ headers }) => headers.range);
    // What is asked for again is what the element has asked for.
    assert.deepEqual(ranges.slice(0, 2), ['bytes=0-', 'bytes=0-']);
  });

  test('<video src> plays on where its file breaks off, from that byte', async (t) => {
    const AT = 400_000;
    let isBroken = false;
    const video = scripted((request, response) => {
      const first = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? AT);
      if (isBroken || first >= AT) return whole()(request, response);
      // An element drops what it has begun to read where it wants to look at the end first.
      const when = new Promise((resolve) => setTimeout(resolve, 400));
      void when.then(() => (isBroken ||= !response.destroyed));
      return file(mp4, type, { at: AT - first, when })(request, response);
    });
    const { page } = await open(t, { answers: { '/a.mp4': video } });
    assert.ok(Number(await played(page, '/a.mp4')) > 7.5);
    assert.ok(isBroken);
    const { log } = await stateOf(page);
    const failed = log.find(({ event }) => event === 'failed');
    assert.equal(failed?.detail, 'truncated', JSON.stringify(log));
    const second = log.find(
      ({ request, attempt, event }) =>
        request === failed?.request && attempt === 2 && event === 'accepted',
    );
    assert.equal(second?.detail, 206, JSON.stringify(log));
    const ranges = video.seen.map(({ headers }) => headers.range);
    assert.ok(ranges.includes(`bytes=${AT}-${mp4.length - 1}`), ranges.join());
  });

  for (const [name, headers] of Object.entries({
    'that hides its length': {},
    'that shows it': { 'access-control-expose-headers': 'content-range, etag' },
  })) {
    test(`<video crossorigin> plays from an origin ${name}`, async (t) => {
      const url = browser.media.on(
        `/crossorigin-${Object.keys(headers).length}.mp4`,
        shared(answer(503)),
        shared((...to) => file(mp4, { ...type, ...headers })(...to)),
      );
      const { page } = await open(t);
      assert.ok(Number(await played(page, url, 'anonymous')) > 7.5);
    });
  }

  test('<video src> plays from an origin without CORS, though its connection breaks', async (t) => {
    const url = browser.media.on('/opaque.mp4', reset(), (...to) => whole()(...to));
    const { page } = await open(t);
    assert.ok(Number(await played(page, url)) > 7.5);
    // What cannot be judged is nothing against its URL or its host.
    const { state, log } = await stateOf(page);
    assert.deepEqual(state.retryExhausted, []);
    assert.ok(!log.some(({ event }) => event === 'given-up'), JSON.stringify(log));
  });

  test('<video src> plays where it is redirected to, without CORS', async (t) => {
    const url = browser.media.on('/there.mp4', (...to) => whole()(...to));
    const { page } = await open(t, { answers: { '/here.mp4': redirect(url) } });
    assert.ok(Number(await played(page, '/here.mp4')) > 7.5);
  });
});

describe('what scripts fetch', { concurrency: 2 }, () => {
  test('is whole where its connection breaks, with the part that they asked for', async (t) => {
    const body = content(400_000);
    const part = body.subarray(1000, 300_000);
    const when = () => new Promise((resolve) => setTimeout(resolve, 200));
    /** @type {Answer} */
    const broken = (...to) => file(body, VALIDATORS, { at: 150_000, when: when() })(...to);
    const media = scripted(broken, file(body, VALIDATORS));
    const { page } = await open(t, { answers: { '/a.m4s': media } });
    const told = await fetched(page, '/a.m4s', { headers: { range: 'bytes=1000-299999' } });
    assert.deepEqual([told.status, told.size, told.hash], [206, part.length, hashOf(part)]);
    assert.equal(told.headers?.['content-range'], 'bytes 1000-299999/400000');
    assert.equal(told.headers?.['content-length'], String(part.length));
    assert.equal(media.seen.length, 2);
    assert.match(media.seen[1].headers.range ?? '', /^bytes=\d{6}-299999$/);
  });

  test('is a refusal with its headers and its body, where that is the verdict', async (t) => {
    const refused = scripted(answer(403, '<Error>AccessDenied</Error>', { 'x-own': 'yes' }));
    const { page } = await open(t, { answers: { '/a.m4s': refused } });
    const told = await fetched(page, '/a.m4s');
    assert.deepEqual([told.status, told.text], [403, '<Error>AccessDenied</Error>']);
    assert.equal(told.headers?.['x-own'], 'yes');
    assert.equal(refused.seen.length, 1);
  });

  test('is a network error where a page comes instead', async (t) => {
    const { page } = await open(t, { answers: { '/a.vtt': portal() } });
    assert.deepEqual(await fetched(page, '/a.vtt'), { error: 'TypeError' });
  });

  test('is a network error where nothing answers', async (t) => {
    const dead = scripted(reset());
    const { page } = await open(t, { answers: { '/a.vtt': dead } });
    assert.deepEqual(await fetched(page, '/a.vtt'), { error: 'TypeError' });
    assert.ok(dead.seen.length > 1);
  });

  test('keeps its credentials mode, and its integrity', async (t) => {
    const media = scripted(ok('media'));
    const { page } = await open(t, { answers: { '/a.m4s': media } });
    await page.evaluate(() => (document.cookie = 'who=me'));
    await fetched(page, '/a.m4s', { credentials: 'omit' });
    await fetched(page, '/a.m4s', { credentials: 'same-origin' });
    assert.deepEqual(
      media.seen.map(({ headers }) => headers.cookie),
      [undefined, 'who=me'],
    );
    const integrity = (/** @type {string} */ text) =>
      `sha256-${createHash('sha256').update(text).digest('base64')}`;
    const right = await fetched(page, '/a.m4s', { integrity: integrity('media') });
    assert.equal(right.text, 'media');
    const wrong = await fetched(page, '/a.m4s', { integrity: integrity('other') });
    assert.equal(wrong.error, 'TypeError');
    // That is no failure of the network.
    assert.equal(media.seen.length, 4);
  });

  for (const [name, origin] of Object.entries({ 'the same origin': 0, 'another origin': 1 })) {
    test(`has the URL of ${name} that it was redirected to`, async (t) => {
      const list = ok('#EXTM3U', { 'content-type': 'application/vnd.apple.mpegurl' });
      const answers = { '/deep/there.m3u8': scripted(list), '/here.m3u8': scripted() };
      const there = scripted(shared(list));
      browser.media.on('/deep/there.m3u8', there);
      const opened = { answers: { ...answers, '/here.m3u8': scripted(redirect('')) } };
      const target = origin ? `${browser.media.origin}/deep/there.m3u8` : '/deep/there.m3u8';
      opened.answers['/here.m3u8'] = scripted(redirect(target));
      const { page, origin: self } = await open(t, opened);
      const told = await fetched(page, '/here.m3u8');
      const url = new URL(target, self).href;
      assert.deepEqual(
        [told.status, told.text, told.url, told.redirected],
        [200, '#EXTM3U', url, true],
      );
      // Nothing is sent twice for it.
      const sent = origin ? there.seen : answers['/deep/there.m3u8'].seen;
      assert.deepEqual([opened.answers['/here.m3u8'].seen.length, sent.length], [1, 1]);
    });
  }

  test('is not sent twice where it is redirected to what does not look like media', async (t) => {
    const there = scripted(ok('#EXTM3U'));
    const answers = { '/here.m3u8': redirect('/there?signed=1'), '/there': there };
    const { page, origin } = await open(t, { answers });
    const told = await fetched(page, '/here.m3u8');
    assert.deepEqual([told.text, told.url], ['#EXTM3U', `${origin}/there?signed=1`]);
    assert.equal(there.seen.length, 1);
    // What is asked for there by itself is left alone.
    await fetched(page, '/there?signed=1');
    assert.equal(there.seen.length, 2);
    assert.equal((await stateOf(page)).log.filter(({ event }) => event === 'sent').length, 1);
  });

  test('ends where the page ends it, once there is a body', async (t) => {
    let closed = false;
    /** @type {Answer} */
    const slow = (request, response) => {
      drip(content(1_000_000), 500, 50)(request, response);
      response.on('close', () => (closed = true));
    };
    const { page } = await open(t, { answers: { '/a.m4s': slow } });
    const name = await page.evaluate(async () => {
      const controller = new AbortController();
      const { body } = await fetch('/a.m4s', { signal: controller.signal });
      const reader = /** @type {ReadableStream<Uint8Array>} */ (body).getReader();
      await reader.read();
      controller.abort();
      return reader.read().catch((error) => error.name);
    });
    assert.equal(name, 'AbortError');
    await eventually(() => closed, 'the connection is closed');
    await eventually(
      async () => (await stateOf(page)).log.at(-1)?.event === 'aborted',
      'the engine has let go of it',
    );
  });

  test('is joined where it is asked for again before it is answered', async (t) => {
    const media = scripted((request, response) => {
      setTimeout(() => ok(content(100_000))(request, response), 1500);
    });
    const { page } = await open(t, { answers: { '/a.m4s': media } });
    const told = await page.evaluate(async () => {
      const impatient = new AbortController();
      const first = fetch('/a.m4s', { signal: impatient.signal }).catch((error) => error.name);
      await new Promise((resolve) => setTimeout(resolve, 200));
      impatient.abort();
      const sizes = ['/a.m4s', '/a.m4s'].map(
        async (url) => (await (await fetch(url)).arrayBuffer()).byteLength,
      );
      return Promise.all([first, ...sizes]);
    });
    assert.deepEqual(told, ['AbortError', 100_000, 100_000]);
    assert.equal(media.seen.length, 1);
  });

  test('is left alone where it is no media', async (t) => {
    const api = scripted(answer(503));
    const post = scripted(answer(503));
    const run = scriptOf('globalThis.hasRun = true;');
    const { page } = await open(t, {
      answers: { '/api': api, '/a.mp4': post, '/script.ts': run },
    });
    assert.equal((await fetched(page, '/api')).status, 503);
    assert.equal((await fetched(page, '/a.mp4', { method: 'POST', body: 'a' })).status, 503);
    assert.equal((await fetched(page, '/a.mp4', { redirect: 'manual' })).status, 503);
    await page.addScriptTag({ url: '/script.ts', type: 'module' });
    assert.equal(await page.evaluate('hasRun'), true);
    await page.reload();
    assert.deepEqual([api.seen.length, post.seen.length], [1, 2]);
    assert.deepEqual((await stateOf(page)).log, []);
  });
});

describe('its life', { concurrency: 2 }, () => {
  test('it goes on after the browser has stopped it', async (t) => {
    const media = scripted(answer(503), ok('one'), answer(503), ok('two'));
    const { page, context } = await open(t, { answers: { '/a.m4s': media } });
    assert.equal((await fetched(page, '/a.m4s')).text, 'one');
    const client = await context.newCDPSession(page);
    await client.send('ServiceWorker.enable');
    await client.send('ServiceWorker.stopAllWorkers');
    // What it knew is forgotten, and it has begun anew to say so.
    await eventually(async () => !(await stateOf(page)).log.length, 'the worker was stopped');
    assert.equal((await fetched(page, '/a.m4s')).text, 'two');
    assert.equal(media.seen.length, 4);
  });

  test('a new version takes over, and what is under way is finished', async (t) => {
    const body = content(60_000);
    let source = script;
    /** @type {Answer} */
    const current = (request, response) => scriptOf(source)(request, response);
    const slow = drip(body, 30, 100);
    const { page } = await open(t, { answers: { [SCRIPT]: current, '/a.m4s': slow } });
    await page.evaluate(() => {
      const loading = fetch('/a.m4s').then((response) => response.arrayBuffer());
      Object.assign(globalThis, { loading });
    });
    source = `${script}\naddEventListener('message', ({ data, ports }) => {
      if (data === 'version') ports[0].postMessage(2); });`;
    const version = await page.evaluate(async () => {
      const { serviceWorker } = navigator;
      const taken = new Promise((resolve) => (serviceWorker.oncontrollerchange = resolve));
      await (await serviceWorker.ready).update();
      await taken;
      const { port1, port2 } = new MessageChannel();
      serviceWorker.controller?.postMessage('version', [port2]);
      return new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
    });
    assert.equal(version, 2);
    assert.equal(await page.evaluate('loading.then(({ byteLength }) => byteLength)'), body.length);
  });

  test('out of service, it leaves requests alone at once', async (t) => {
    const media = scripted(answer(503));
    const { page } = await open(t, { answers: { '/a.vtt': media } });
    await page.evaluate(async () => {
      const { unregister } = await import(/** @type {any} */ ('/js/service-worker.js'));
      return unregister();
    });
    assert.equal((await fetched(page, '/a.vtt')).status, 503);
    assert.equal(media.seen.length, 1);
    await page.reload();
    assert.equal(await page.evaluate('navigator.serviceWorker.controller'), null);
    assert.deepEqual(
      await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length),
      0,
    );
  });

  test('a file that ends it can be served in its place', async (t) => {
    let source = script;
    const media = scripted(answer(503));
    const { page } = await open(t, {
      answers: {
        [SCRIPT]: (request, response) => scriptOf(source)(request, response),
        '/a.vtt': media,
      },
    });
    source = `addEventListener('install', () => skipWaiting());
      addEventListener('activate', (event) => event.waitUntil(registration.unregister()));`;
    await page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready;
      await registration.update();
    });
    await eventually(
      () => page.evaluate(async () => !(await navigator.serviceWorker.getRegistration())),
      'it is unregistered',
    );
    assert.equal((await fetched(page, '/a.vtt')).status, 503);
    assert.equal(media.seen.length, 1);
  });

  test('where the module cannot be compiled, requests go out with a few retries', async (t) => {
    const media = scripted(answer(503), ok('media'));
    const policy = { 'content-security-policy': "script-src 'self'" };
    const { page } = await open(t, {
      answers: {
        [SCRIPT]: ok(script, { 'content-type': 'text/javascript', ...policy }),
        '/a.m4s': media,
      },
    });
    assert.equal((await fetched(page, '/a.m4s')).text, 'media');
    assert.equal((await stateOf(page)).state.mode, 'plain');
    assert.equal(media.seen.length, 2);
  });

  test('with a wrong option, it is not installed', async (t) => {
    const own = scriptOf(`self.holdfast = { holdLimit: 'long' }; importScripts('${SCRIPT}');`);
    const opened = await browser.open({
      answers: { [SCRIPT]: scriptOf(script), '/own.js': own },
    });
    t.after(opened.close);
    const failure = await opened.page.evaluate(() =>
      navigator.serviceWorker.register('/own.js').catch((error) => String(error)),
    );
    assert.match(String(failure), /TypeError/);
  });
});

describe('its options', { concurrency: 2 }, () => {
  test('a worker of the site may set them, hooks included', async (t) => {
    const own = scriptOf(`
      self.holdfast = {
        match: (request) => (request.url.includes('/api/') ? 'segment' : undefined),
        shouldRetry: (error) => error.status === 404,
        sites: { segment: { attempts: 2, onExhausted: 'reject' } },
      };
      importScripts('${SCRIPT}');`);
    const api = scripted(answer(404), ok('found'));
    const media = scripted(answer(503));
    const answers = { '/own.js': own, '/api/a': api, '/a.m4s': media };
    const { page } = await open(t, { answers }, ['/own.js']);
    assert.equal((await fetched(page, '/api/a')).text, 'found');
    assert.equal((await fetched(page, '/a.m4s')).status, 503);
    assert.deepEqual([api.seen.length, media.seen.length], [2, 1]);
  });

  test('a module of the site may serve what it says, beside its own', async (t) => {
    // It has the hooks at once: workers can load nothing later.
    const media = scripted(answer(404), ok('media'));
    const once = scripted(answer(503));
    // A worker answers for the folder that its script is in, unless its server allows more.
    const source = await readFile(new URL('pages/sw-own.js', import.meta.url), 'utf8');
    const own = scriptOf(source.replace('../../../js/', '/js/'));
    const answers = { '/own.js': own, '/media/a': media, '/once/a': once };
    const { page } = await open(t, { answers }, ['/own.js', { type: 'module' }]);
    assert.equal((await fetched(page, '/media/a')).text, 'media');
    assert.equal((await fetched(page, '/once/a')).status, 503);
    assert.equal((await fetched(page, '/own')).text, 'of its own');
    assert.deepEqual([media.seen.length, once.seen.length], [2, 1]);
    assert.equal((await stateOf(page)).state.mode, 'engine');
  });

  test('a page may tell it how playback stands', async (t) => {
    const hung = scripted(hang(), ok('media'));
    const { page } = await open(t, { answers: { '/a.m4s': hung, '/b.m4s': ok('media') } });
    await fetched(page, '/b.m4s');
    const text = await page.evaluate(async () => {
      const { reportPlayback, workerState } = await import(
        /** @type {any} */ ('/js/service-worker.js')
      );
      reportPlayback({ bufferAhead: 4 });
      // A message and a request may overtake each other, two messages do not.
      await workerState();
      return (await fetch('/a.m4s')).text();
    });
    assert.equal(text, 'media');
    // Half of what is buffered is for the first attempt; else it would have 8 s.
    const { log } = await stateOf(page);
    const failed = log.findIndex(({ event }) => event === 'failed');
    assert.equal(log[failed]?.detail, 'timeout', JSON.stringify(log));
    const { at } = log[log.findLastIndex(({ event }, i) => event === 'sent' && i < failed)];
    assert.ok(log[failed].at - at < 6000, JSON.stringify(log));
  });

  test('a page that registers it by the package has it at once', async (t) => {
    const opened = await browser.open({ answers: { [SCRIPT]: scriptOf(script) } });
    t.after(opened.close);
    const told = await opened.page.evaluate(async (url) => {
      const { register, workerState } = await import(/** @type {any} */ ('/js/service-worker.js'));
      const registration = await register(url);
      const { state } = await workerState();
      return [registration.scope, navigator.serviceWorker.controller !== null, state.retryState];
    }, SCRIPT);
    assert.deepEqual(told, [`${opened.origin}/`, true, {}]);
  });
});
