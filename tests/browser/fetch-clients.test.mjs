// @ts-check
/** `engine.fetch` given to libraries and to plain code in a page. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, hang, ok } from '../node/server.mjs';
import { eventually, quick, shared, startBrowser } from './fixture.mjs';

const IMPORTS = {
  holdfast: '/js/index.js',
  axios: '/node_modules/axios/dist/esm/axios.js',
  ky: '/node_modules/ky/distribution/index.js',
};
const json = ok('{"a":1}', { 'content-type': 'application/json' });

/** @type {import('./fixture.mjs').Browser} */
let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

/** @param {{ after(fn: () => Promise<void>): void }} t */
async function open(t) {
  const opened = await browser.open({ imports: IMPORTS });
  t.after(opened.close);
  return { ...opened, engine: await opened.engine(quick()) };
}

test('ky gets JSON, media after a 503, and an HTTPError of a refusal', async (t) => {
  const { engine } = await open(t);
  browser.media.on('/ky/json', shared(json));
  browser.media.on('/ky/media.m4s', shared(answer(503)), shared(ok('media')));
  browser.media.on('/ky/gone.m4s', shared(answer(410, 'gone')));
  const told = await engine.evaluate(async ({ fetch }, prefixUrl) => {
    const { default: ky, HTTPError } = await import('ky');
    const api = ky.create({ prefixUrl, fetch, retry: 0 });
    const refusal = await api('ky/gone.m4s')
      .text()
      .catch((error) => error);
    return [
      await api('ky/json').json(),
      await api('ky/media.m4s').text(),
      refusal instanceof HTTPError,
      refusal.response.status,
      await refusal.response.text(),
    ];
  }, browser.media.origin);
  assert.deepEqual(told, [{ a: 1 }, 'media', true, 410, 'gone']);
  assert.equal(browser.media.seen('/ky/media.m4s').length, 2);
});

test('axios gets JSON, media after a 503, and an error of a refusal', async (t) => {
  const { engine } = await open(t);
  browser.media.on('/axios/json', shared(json));
  browser.media.on('/axios/media.m4s', shared(answer(503)), shared(ok('media')));
  browser.media.on('/axios/gone.m4s', shared(answer(410, 'gone')));
  const told = await engine.evaluate(async ({ fetch }, baseURL) => {
    const { default: axios } = await import('axios');
    const env = /** @type {any} */ ({ fetch, Request, Response });
    const api = axios.create({ baseURL, adapter: 'fetch', env });
    const refusal = await api('/axios/gone.m4s').catch((error) => error);
    return [
      (await api('/axios/json')).data,
      (await api('/axios/media.m4s', { responseType: 'text' })).data,
      refusal.response.status,
      refusal.response.data,
    ];
  }, browser.media.origin);
  assert.deepEqual(told, [{ a: 1 }, 'media', 410, 'gone']);
  assert.equal(browser.media.seen('/axios/media.m4s').length, 2);
});

test('plain code has forms, keepalive, data: and blob: URLs', async (t) => {
  const { engine } = await open(t);
  const url = browser.media.on('/plain/form', shared(answer(503, 'busy')));
  const told = await engine.evaluate(async ({ fetch }, url) => {
    const body = new FormData();
    body.set('file', new Blob(['bytes']), 'a.bin');
    const posted = await fetch(url, { method: 'POST', body, keepalive: true });
    const blob = URL.createObjectURL(new Blob(['in here'], { type: 'video/mp4' }));
    return [
      posted.status,
      await posted.text(),
      await (await fetch('data:,over%20here')).text(),
      await (await fetch(blob)).clone().text(),
    ];
  }, url);
  assert.deepEqual(told, [503, 'busy', 'over here', 'in here']);
  const [{ headers, body }, ...more] = browser.media.seen('/plain/form');
  assert.deepEqual(more, []);
  assert.match(headers['content-type'] ?? '', /^multipart\/form-data; boundary=/);
  assert.match(String(await body), /filename="a\.bin"[^]*bytes/);
});

test('plain code has AbortSignal.timeout close the connection', async (t) => {
  const { engine } = await open(t);
  const url = browser.media.on('/plain/slow.m4s', shared(hang()));
  const name = await engine.evaluate(
    ({ fetch }, url) =>
      fetch(url, { signal: AbortSignal.timeout(200) }).then(String, (error) => error.name),
    url,
  );
  assert.equal(name, 'TimeoutError');
  await eventually(() => browser.media.seen('/plain/slow.m4s')[0].closedAt, 'it is closed');
});

test('plain code has opaque responses as fetch gives them', async (t) => {
  const { engine } = await open(t);
  const url = browser.media.on('/plain/opaque.m4s', ok('media'));
  const told = await engine.evaluate(async ({ fetch }, url) => {
    const { type, status } = await fetch(url, { mode: 'no-cors' });
    return [type, status];
  }, url);
  assert.deepEqual(told, ['opaque', 0]);
});
