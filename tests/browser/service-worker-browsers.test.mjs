// @ts-check
/** What of the service worker depends on the browser, in Firefox and WebKit. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ensureMedia } from '../lab/media.mjs';
import { answer, content, drip, file, ok, redirect, serve } from '../node/server.mjs';
import { BROWSERS } from './drivers.mjs';
import { eventually, hashOf, servePage, shared } from './fixture.mjs';

/** @typedef {import('./fixture.mjs').Answer} Answer */

const BODY = content(400_000);
const VALIDATORS = { etag: '"a"', 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' };
const LIST = ok('#EXTM3U', { 'content-type': 'application/vnd.apple.mpegurl' });
const VTT = ok('WEBVTT\n\n00:00.000 --> 00:10.000\nhello\n', { 'content-type': 'text/vtt' });

/** Answers one after the other, and counts. @param {...Answer} answers */
function scripted(...answers) {
  const answerOf = Object.assign(
    (/** @type {Parameters<Answer>} */ ...to) => {
      answerOf.count += 1;
      answers[Math.min(answerOf.count, answers.length) - 1](...to);
    },
    { count: 0 },
  );
  return answerOf;
}

for (const name of ['Firefox', 'WebKit']) {
  describe(`in ${name}`, () => {
    /** @type {import('./drivers.mjs').Driver} */
    let browser;
    /** @type {import('./drivers.mjs').Page} */
    let page;
    /** @type {Awaited<ReturnType<typeof serve>>} */
    let media;
    /** @type {Awaited<ReturnType<typeof servePage>>} */
    let server;
    let isClosed = false;
    const answers = {
      '/api': scripted(answer(503)),
      '/captions.vtt': scripted(answer(503), VTT),
      '/broken.m4s': scripted(
        (...to) => {
          const when = new Promise((resolve) => setTimeout(resolve, 300));
          file(BODY, VALIDATORS, { at: 150_000, when })(...to);
        },
        file(BODY, VALIDATORS),
      ),
      '/dropped.m4s': scripted((request, response) => {
        response.on('close', () => (isClosed = true));
        setTimeout(() => drip(content(1_000_000), 500, 50)(request, response), 500);
      }),
    };

    before(async () => {
      browser = await BROWSERS[name]();
      media = await serve();
      const { dir } = await ensureMedia({ log: console.error });
      const parts = ['mid-init.mp4', 'mid-01.m4s', 'mid-02.m4s'];
      const mp4 = Buffer.concat(await Promise.all(parts.map((part) => readFile(join(dir, part)))));
      const video = file(mp4, { 'content-type': 'video/mp4', ...VALIDATORS });
      media.on('/deep/there.m3u8', shared(LIST));
      media.on('/video.mp4', shared(answer(503)), shared(video));
      media.on('/opaque.mp4', video);
      const script = new URL('../../js/pkg/service-worker.js', import.meta.url);
      server = await servePage({
        answers: {
          ...answers,
          '/video.mp4': scripted(answer(503), video),
          '/here.m3u8': redirect(`${media.origin}/deep/there.m3u8`),
          '/worker.js': ok(await readFile(script), { 'content-type': 'text/javascript' }),
        },
      });
      page = await browser.open(server.origin);
      await page.evaluate(async () => {
        const { serviceWorker } = navigator;
        const taken = new Promise((resolve) => (serviceWorker.oncontrollerchange = resolve));
        await serviceWorker.register('/worker.js');
        await taken;
      });
    });
    after(async () => {
      await page?.close();
      await browser?.close();
      await media?.close();
      await server?.close();
    });

    test('what scripts fetch is whole where its connection breaks', async () => {
      const told = await page.evaluate(async () => {
        const response = await fetch('/broken.m4s', { headers: { range: 'bytes=1000-299999' } });
        const bytes = await response.arrayBuffer();
        const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
        const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
        return [response.status, response.headers.get('content-range'), hash];
      });
      const hash = hashOf(BODY.subarray(1000, 300_000));
      assert.deepEqual(told, [206, 'bytes 1000-299999/400000', hash]);
      assert.equal(answers['/broken.m4s'].count, 2);
    });

    test('a playlist has the URL that it was redirected to', async () => {
      // WebKit says of it that it was not redirected.
      const url = await page.evaluate(async () => (await fetch('/here.m3u8')).url);
      assert.equal(url, `${media.origin}/deep/there.m3u8`);
      assert.equal(media.seen('/deep/there.m3u8').length, 1);
    });

    test('<track> has its captions after a 503', async () => {
      const cues = await page.evaluate(
        () =>
          new Promise((resolve) => {
            const track = document.createElement('track');
            track.src = '/captions.vtt';
            track.onload = () => resolve(track.track.cues?.length);
            track.onerror = () => resolve('no captions');
            document.querySelector('video')?.append(track);
            track.track.mode = 'showing';
          }),
      );
      assert.equal(cues, 1);
      assert.equal(answers['/captions.vtt'].count, 2);
    });

    // WebKit plays no video here, with a worker or without.
    const videos = /** @type {const} */ ([
      ['/video.mp4', null],
      ['another/video.mp4', 'anonymous'],
      ['another/opaque.mp4', null],
    ]);
    for (const [where, crossOrigin] of name === 'WebKit' ? [] : videos) {
      test(`<video> has ${where}, whose origin ${crossOrigin ?? 'says nothing'}`, async () => {
        const src = where.replace('another', media.origin);
        const told = await page.evaluate(
          (src, crossOrigin) =>
            new Promise((resolve) => {
              const video = document.createElement('video');
              video.oncanplay = () => resolve('can play');
              video.onerror = () => resolve(video.error?.message ?? 'an error');
              Object.assign(video, { crossOrigin, src, muted: true });
              document.body.append(video);
            }),
          src,
          crossOrigin,
        );
        assert.equal(told, 'can play');
      });
    }

    // WebKit reads what was given up before its head to the end.
    const moments = name === 'WebKit' ? ['while it is read'] : ['while it is read', 'before'];
    for (const moment of moments) {
      test(`what a page gives up ${moment} is let go of`, async () => {
        isClosed = false;
        const error = await page.evaluate(async (isEarly) => {
          const signal = AbortSignal.timeout(isEarly ? 200 : 1500);
          const loading = fetch('/dropped.m4s', { signal }).then((response) => response.text());
          return loading.catch(({ name }) => name);
        }, moment === 'before');
        assert.match(error, /^(Timeout|Abort)Error$/);
        await eventually(() => isClosed, 'the connection is closed');
      });
    }

    test('what is no media is left alone', async () => {
      const status = await page.evaluate(async () => (await fetch('/api')).status);
      assert.deepEqual([status, answers['/api'].count], [503, 1]);
    });
  });
}
