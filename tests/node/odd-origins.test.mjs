// @ts-check
// Origins, wrappers and callers that do what nobody expects, and the right bytes all the same.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { withRetry } from 'holdfast';
import { bytesOf, engineFor } from './fixture.mjs';
import { breakAt, content, file, redirect, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const SIZE = 400_000;
const MEDIA = content(SIZE);
const TAG = { etag: '"one"' };
const CUT = 150_000;

let paths = 0;
/** @param {string} ending @param {...import('./server.mjs').Answer} answers */
const put = (ending, ...answers) => server.on(`/odd-${(paths += 1)}.${ending}`, ...answers);

describe('parts that are encoded', () => {
  const TEXT = Buffer.from(
    `WEBVTT\n\n${Array.from({ length: 3000 }, (_, i) => `${i}\n00:00:01.000 --> 00:00:02.000\nline ${i}\n`).join('\n')}`,
  );
  const stored = file(gzipSync(TEXT), { ...TAG, 'content-encoding': 'gzip' });

  for (const rangeFirst of [false, true]) {
    const whose = rangeFirst ? 'the engine asks for' : 'the caller asks for';
    test(`R20: a part that ${whose} is decoded to its end`, async (t) => {
      const engine = await engineFor(t, {}, { sites: { 'text-segment': { rangeFirst } } });
      const url = put('vtt', stored);
      const headers = rangeFirst ? undefined : { range: 'bytes=0-' };
      const { data } = await engine.load({ url, init: { headers } });
      assert.ok(TEXT.equals(Buffer.from(data)));
      const response = await engine.fetch(url, { headers });
      assert.equal(response.status, rangeFirst ? 200 : 206);
      assert.ok(TEXT.equals(Buffer.from(await response.arrayBuffer())));
    });
  }
});

describe('a plan that changes from within a callback', () => {
  test('R86: no byte comes twice when the path goes and comes back', async (t) => {
    const engine = await engineFor(t);
    const fault = breakAt(20_000);
    const url = put('mp4', file(MEDIA, TAG, fault), file(MEDIA, TAG));
    let isFirst = true;
    const { data } = await engine.load({
      url,
      onProgress() {
        if (!isFirst) return;
        isFirst = false;
        engine.reportPath({ reachability: 'none' });
        fault.has(SIZE);
        setTimeout(() => engine.reportPath({}), 100);
      },
    });
    assert.ok(MEDIA.equals(Buffer.from(data)));
  });

  test('R86: nor when consent is taken back and given again', async (t) => {
    const engine = await engineFor(t);
    engine.reportPath({ cost: 'metered' });
    engine.setUserConsent(true);
    const fault = breakAt(20_000);
    const url = put('mp4', file(MEDIA, TAG, fault), file(MEDIA, TAG));
    let isFirst = true;
    const { data } = await engine.load({
      url,
      purpose: 'ahead',
      onProgress() {
        if (!isFirst) return;
        isFirst = false;
        engine.setUserConsent(false);
        fault.has(SIZE);
        setTimeout(() => engine.setUserConsent(true), 100);
      },
    });
    assert.ok(MEDIA.equals(Buffer.from(data)));
  });
});

describe('redirections', () => {
  test('R20: two files with one tag, at the end of one URL, are never mixed', async (t) => {
    const engine = await engineFor(t);
    const [mine, other] = [Buffer.alloc(SIZE, 0x41), Buffer.alloc(SIZE, 0x42)];
    const fault = breakAt(CUT);
    const first = put('mp4', file(mine, TAG, fault), file(mine, TAG));
    const second = put('mp4', file(other, TAG));
    const url = put('mp4', redirect(first), redirect(second));
    const { data } = await engine.load({ url, onProgress: ({ loaded }) => fault.has(loaded) });
    const got = Buffer.from(data);
    assert.ok(got.equals(mine) || got.equals(other), 'one of the two, whole');
  });
});

describe('R1: around an own fetch of parts', () => {
  for (const [start, end] of [
    [0, 999],
    [1000, 1999],
    [100_000, 149_999],
  ]) {
    test(`R1: bytes ${start} to ${end} come as they are`, async (t) => {
      const engine = await engineFor(t);
      const url = put('mp4', file(MEDIA, TAG));
      /** @type {import('holdfast').FetchBytes} */
      const own = async (resource, init) => {
        const { byteRange } = resource;
        const headers = { Range: `bytes=${byteRange?.start}-${byteRange?.end}` };
        const { body } = await fetch(resource.url, { signal: init?.signal, headers });
        return /** @type {any} */ (body);
      };
      const wrapped = withRetry(own, { engine });
      const got = await bytesOf(await wrapped({ url, byteRange: { start, end } }));
      assert.ok(MEDIA.subarray(start, end + 1).equals(got));
    });
  }
});

describe('who opens several and reads later', () => {
  for (const how of ['thermal', 'power']) {
    test(`R87: one place in a lane holds up nobody for good: ${how}`, async (t) => {
      const engine = await engineFor(t);
      engine.reportPath(how === 'thermal' ? { thermal: 'serious' } : { power: 'low-power' });
      const urls = [put('mp4', file(MEDIA, TAG)), put('mp4', file(MEDIA, TAG))];
      const open = await Promise.all(urls.map((url) => engine.fetchBytes({ url })));
      for (const chunks of open) assert.ok(MEDIA.equals(await bytesOf(chunks)));
    });
  }
});

test('R20: headers that can be read only once are sent with each attempt', async (t) => {
  const engine = await engineFor(t);
  const url = put('mp4', file(MEDIA, TAG));
  const headers = new Map([['x-own', 'yes']]);
  const fault = breakAt(CUT);
  const again = put('mp4', file(MEDIA, TAG, fault), file(MEDIA, TAG));
  for (const target of [url, again]) {
    const { data } = await engine.load({
      url: target,
      // It can be read only once, and there may be several attempts.
      init: { headers: /** @type {any} */ (headers.entries()) },
      onProgress: ({ loaded }) => fault.has(loaded),
    });
    assert.ok(MEDIA.equals(Buffer.from(data)));
    const { pathname } = new URL(target);
    for (const { headers: sent } of server.seen(pathname)) assert.equal(sent['x-own'], 'yes');
  }
  assert.equal(server.seen(new URL(again).pathname).length, 2);
});
