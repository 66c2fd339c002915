// @ts-check
// What CORS hides costs precision, never a wrong byte. Node's `fetch` hides nothing, so responses
// are dressed here as a browser shows them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { engineFor, failureOf } from './fixture.mjs';
import { answer, breakAt, content, file, ok, serve } from './server.mjs';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

const SIZE = 400_000;
const MEDIA = content(SIZE);
const OTHER = Buffer.from(MEDIA.map((byte) => byte ^ 0xff));
const CUT = 150_000;
const DATED = { 'last-modified': 'Wed, 01 Jan 2025 00:00:00 GMT' };
const HEADERS = { etag: '"one"', ...DATED };
const REST = `bytes=${CUT}-${SIZE - 1}`;

/** What every page may read (Fetch, "CORS-safelisted response-header name"). */
const SAFE =
  /^(cache-control|content-language|content-length|content-type|expires|last-modified|pragma)$/;

/**
 * `fetch` from another origin, which exposes these.
 *
 * @param {string[]} exposed
 * @returns {typeof fetch}
 */
const cors = (exposed) => async (input, init) => {
  const response = await fetch(input, init);
  const shown = [...response.headers].filter(([name]) => SAFE.test(name) || exposed.includes(name));
  return Object.defineProperties(response, {
    headers: { value: new Headers(shown) },
    type: { value: 'cors' },
  });
};
const ALL = ['content-encoding', 'content-range', 'etag'];

let paths = 0;
/** @param {...import('./server.mjs').Answer} answers */
function put(...answers) {
  const path = `/${(paths += 1)}.mp4`;
  const url = server.on(path, ...answers);
  const seen = () => server.seen(path);
  return { url, seen, ranges: () => seen().map(({ headers }) => headers.range) };
}

/**
 * Reads it as it streams.
 *
 * @param {import('holdfast').Engine} engine
 * @param {ReturnType<typeof breakAt>} fault
 * @param {string} url
 * @param {RequestInit} [init]
 */
async function stream(engine, fault, url, init) {
  const { body } = await engine.fetch(url, init);
  const all = [];
  let size = 0;
  for await (const chunk of /** @type {any} */ (body)) {
    all.push(chunk);
    fault.has((size += chunk.byteLength));
  }
  return Buffer.concat(all);
}

/** What no request to another origin may carry: it would be asked for leave first. */
function isSimple(/** @type {import('./server.mjs').Seen[]} */ seen) {
  for (const { headers } of seen) {
    assert.equal(headers['if-range'], undefined);
    assert.match(headers.range ?? 'bytes=0-', /^bytes=\d+-\d*$/);
  }
}

describe('R20: across origins', () => {
  test('R20: where it can be read that nothing is encoded, the missing bytes are asked for, without If-Range', async (t) => {
    const fault = breakAt(CUT);
    const headers = { ...HEADERS, 'content-encoding': 'identity' };
    const { url, seen, ranges } = put(file(MEDIA, headers, fault), file(MEDIA, headers));
    const engine = await engineFor(t, {}, { fetch: cors(ALL) });
    assert.ok(MEDIA.equals(await stream(engine, fault, url)));
    assert.deepEqual(ranges(), [undefined, REST]);
    isSimple(seen());
  });

  test('R21, R22: with nothing exposed, all is asked for again, and a reader sees no seam', async (t) => {
    const fault = breakAt(CUT);
    const { url, seen, ranges } = put(file(MEDIA, HEADERS, fault), file(MEDIA, HEADERS));
    const engine = await engineFor(t, {}, { fetch: cors([]) });
    assert.ok(MEDIA.equals(await stream(engine, fault, url)));
    assert.deepEqual(ranges(), [undefined, undefined]);
    isSimple(seen());
  });

  test('R21: with nothing exposed, and a change of date or length, a reader gets CHANGED', async (t) => {
    const engine = await engineFor(t, {}, { fetch: cors([]) });
    const later = { 'last-modified': 'Thu, 02 Jan 2025 00:00:00 GMT' };
    for (const second of [file(OTHER, later), file(OTHER.subarray(1), DATED), ok(OTHER)]) {
      const fault = breakAt(CUT);
      const { url } = put(file(MEDIA, DATED, fault), second);
      const error = await failureOf(stream(engine, fault, url));
      assert.deepEqual([error.code, error.reason], ['CHANGED', 'released']);
    }
  });

  test('R21, R22: with nothing exposed and no date, nothing can be shown, and a load starts over', async (t) => {
    const engine = await engineFor(t, {}, { fetch: cors([]) });
    const tag = { etag: '"one"' };
    let fault = breakAt(CUT);
    const loaded = put(file(MEDIA, tag, fault), file(OTHER, tag));
    const { data } = await engine.load({
      url: loaded.url,
      onProgress: ({ loaded: size }) => fault.has(size),
    });
    assert.ok(OTHER.equals(Buffer.from(data)));
    fault = breakAt(CUT);
    const streamed = put(file(MEDIA, tag, fault), file(MEDIA, tag));
    const error = await failureOf(stream(engine, fault, streamed.url));
    assert.deepEqual([error.code, error.reason], ['TRUNCATED', 'released']);
  });

  test('R20: a range of the caller says that nothing is encoded; where its place is hidden, it is asked for again', async (t) => {
    const init = { headers: { range: 'bytes=1000-299999' } };
    const hidden = await engineFor(t, {}, { fetch: cors([]) });
    let fault = breakAt(CUT);
    const again = put(file(MEDIA, HEADERS, fault), file(MEDIA, HEADERS));
    const wanted = MEDIA.subarray(1000, 300_000);
    assert.ok(wanted.equals(await stream(hidden, fault, again.url, init)));
    assert.deepEqual(again.ranges(), ['bytes=1000-299999', 'bytes=1000-299999']);
    isSimple(again.seen());

    const shown = await engineFor(t, {}, { fetch: cors(['content-range']) });
    fault = breakAt(CUT);
    const on = put(file(MEDIA, HEADERS, fault), file(MEDIA, HEADERS));
    assert.ok(wanted.equals(await stream(shown, fault, on.url, init)));
    assert.deepEqual(on.ranges(), ['bytes=1000-299999', `bytes=${1000 + CUT}-299999`]);
  });

  test('R20: where the embedder says so, bytes are counted, and a hidden place is trusted', async (t) => {
    const engine = await engineFor(
      t,
      { assumeIdentity: true, trustUnexposedRange: true },
      { fetch: cors([]) },
    );
    const fault = breakAt(CUT);
    const { url, seen, ranges } = put(file(MEDIA, HEADERS, fault), file(MEDIA, HEADERS));
    assert.ok(MEDIA.equals(await stream(engine, fault, url)));
    assert.deepEqual(ranges(), [undefined, REST]);
    isSimple(seen());
  });

  test('R21: a hidden place is trusted only if the part is as long, and of the same date', async (t) => {
    const engine = await engineFor(
      t,
      { assumeIdentity: true, trustUnexposedRange: true },
      { fetch: cors([]) },
    );
    const late = { 'last-modified': 'Thu, 02 Jan 2025 00:00:00 GMT' };
    for (const part of [
      answer(206, OTHER.subarray(CUT + 1), DATED),
      answer(206, OTHER.subarray(CUT), late),
      answer(206, OTHER.subarray(CUT)),
    ]) {
      const fault = breakAt(CUT);
      const { url, ranges } = put(file(MEDIA, DATED, fault), part, file(MEDIA, DATED));
      assert.ok(MEDIA.equals(await stream(engine, fault, url)));
      assert.deepEqual(ranges(), [undefined, REST, undefined]);
    }
  });

  test('R21: a hidden place that nobody vouches for is not trusted', async (t) => {
    const engine = await engineFor(t, { assumeIdentity: true }, { fetch: cors([]) });
    const fault = breakAt(CUT);
    const { url, ranges } = put(file(MEDIA, HEADERS, fault), file(MEDIA, HEADERS));
    assert.ok(MEDIA.equals(await stream(engine, fault, url)));
    assert.deepEqual(ranges(), [undefined, REST, undefined]);
  });

  test('R20, R91: asked for with a range from the first byte on, it needs no leave to go on', async (t) => {
    const engine = await engineFor(t, { rangeFirst: true }, { fetch: cors(['content-range']) });
    const fault = breakAt(CUT);
    const { url, seen, ranges } = put(file(MEDIA, HEADERS, fault), file(MEDIA, HEADERS));
    assert.ok(MEDIA.equals(await stream(engine, fault, url)));
    assert.deepEqual(ranges(), ['bytes=0-', REST]);
    isSimple(seen());
  });

  test('R21, R22: where the place of a first range is hidden, the whole is asked for', async (t) => {
    const engine = await engineFor(t, { rangeFirst: true }, { fetch: cors([]) });
    const { url, ranges } = put(file(MEDIA, HEADERS));
    const response = await engine.fetch(url);
    assert.deepEqual([response.status, response.headers.get('content-length')], [200, `${SIZE}`]);
    assert.ok(MEDIA.equals(Buffer.from(await response.arrayBuffer())));
    assert.deepEqual(ranges(), ['bytes=0-', undefined]);
  });
});
