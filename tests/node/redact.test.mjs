// @ts-check
// R57: an URL is shown without its credential, and an ordinary one as it is.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { redact } from '../../js/redact.js';
import { random } from './random.mjs';

/** @type {{ vendor: string, url: string, parts: string[] | null, redacted: string }[]} */
const CASES = JSON.parse(
  readFileSync(new URL('../vectors/tokens.json', import.meta.url), 'utf8'),
).cases;

/** The longest piece of a value that may be left of it: it is the end of no secret. */
const LEFT = 8;

for (const { vendor, url, parts, redacted } of CASES) {
  test(`R57: nothing of the credential is left (${vendor})`, () => {
    const shown = redact(url);
    assert.equal(shown, redacted);
    for (const part of parts ?? []) {
      const value = part.slice(part.indexOf('=') + 1);
      for (let at = 0; at + LEFT < value.length; at += 1) {
        const piece = value.slice(at, at + LEFT + 1);
        assert.ok(!shown.includes(piece), `${piece} in ${shown}`);
      }
    }
  });
}

for (const url of [
  'https://cdn.example/video/1080p/segment_00012.m4s?n=5',
  'https://cdn.example/live/2026-11-30T12-00-00Z/master.m3u8?v=1&range=0-100',
  'https://cdn.example:8443/vod/4f2a9c3d/audio_en/init.mp4',
  'https://cdn.example/a.m3u8?_HLS_msn=273&_HLS_part=2&_HLS_skip=YES',
  'https://cdn.example/~user/%C3%A9t%C3%A9/seg-1.ts?e=5&cmcd=br%3D1',
  'https://cdn.example/v;res=720/a&b=c/seg.ts?',
  '../720p/seg-1.ts?x=&y',
  'blob:https://cdn.example/9115d58c-bcda-ff47-86e5-083e9a215304',
]) {
  test(`R57: an URL without a secret is shown as it is (${url})`, () => {
    assert.equal(redact(url), url);
  });
}

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjF9.c2lnbmF0dXJl';
const HASH = '5f3a9c1be2d34f7081aa6b7c8d9e0f12';

for (const [url, shown] of [
  ['https://user:pa@ss@a.example/x', 'https://***@a.example/x'],
  ['https://a.example/x#access=1', 'https://a.example/x#***'],
  ['https://a.example/x?#', 'https://a.example/x?#***'],
  [`https://a.example/x?n=1&m=%3D${JWT}`, 'https://a.example/x?n=1&m=***'],
  [`https://a.example/x?n=${JWT}.${HASH}.${HASH}`, 'https://a.example/x?n=***'],
  [`https://a.example/${JWT}.${HASH}.${HASH}/a.ts`, 'https://a.example/***/a.ts'],
  [`https://a.example/x%2F${JWT}/a.ts`, 'https://a.example/x%2F***/a.ts'],
  [`https://a.example/v/${HASH}/seg.ts`, 'https://a.example/v/***/seg.ts'],
  ['seg.ts?token=A', 'seg.ts?token=***'],
  ['https://a.example/x?access_key_id=A&b=1', 'https://a.example/x?access_key_id=***&b=1'],
  // The other base64, whose slash is no end of the value in a query.
  ['https://a.example/x?sig=ab/cd+ef==&b=1', 'https://a.example/x?sig=***&b=1'],
  ['https://a.example/x?p=ab/cdefghijk~l?m&b=1', 'https://a.example/x?p=***&b=1'],
  ['https://a.example/auth=A/x.ts?b=1', 'https://a.example/auth=***/x.ts?b=1'],
]) {
  test(`R57: what is hidden (${url.slice(0, 48)})`, () => assert.equal(redact(url), shown));
}

test('R57: in any place, among any neighbours, the credential is hidden, and hiding twice is no more', () => {
  const dice = random(57);
  const LETTERS = 'ghiklmnopqruvwxyzGHIKLMNOPQRUVWXYZ2345678_-~+/';
  const word = (/** @type {number} */ length) =>
    Array.from({ length }, () => LETTERS[Math.floor(dice() * LETTERS.length)]).join('');
  const shapes = [
    (/** @type {string} */ secret) => [`token=${secret}`],
    (/** @type {string} */ secret) => [`hdnts=st=1~exp=1796000000~acl=/*~hmac=${secret}`],
    (/** @type {string} */ secret) => ['Expires=1796000000', `Signature=${secret}~_`, 'KeyName=k'],
    (/** @type {string} */ secret) => [`md5=${secret}`, 'e=1796000000'],
  ];
  const FILLERS = [
    '',
    'a',
    'a=',
    '=',
    'q=~=/+%2B%7E%zz',
    'x=%F0',
    'range=1-2',
    'é=\ud800',
    ';',
    '?',
  ];
  for (let i = 0; i < 5000; i += 1) {
    const secret = word(24);
    const fillers = Array.from({ length: 3 }, () => FILLERS[Math.floor(dice() * FILLERS.length)]);
    const query = [fillers[0], ...shapes[i % shapes.length](secret), fillers[1], fillers[2]];
    const url = `https://a.example/v/s~%2f+.ts?${query.join('&')}#f`;
    const shown = redact(url);
    for (let at = 0; at + LEFT < secret.length; at += 1) {
      assert.ok(!shown.includes(secret.slice(at, at + LEFT + 1)), `${shown} of ${url}`);
    }
    assert.ok(shown.startsWith('https://a.example/v/s~%2f+.ts?'));
    assert.equal(redact(shown), shown);
  }
});

test('R57: a quarter of a megabyte of anything is dealt with in no time', () => {
  const pieces = ['eyJ', '-eyJ', 'eyJaaaaaaaaaa.', 'token', 'token=&', '/', '&a', 'a=b&', '%3D'];
  for (const piece of [...pieces, '?', ';', '~', '=', '@', 'expired ', '~exp=', ';token', '#']) {
    const text = piece.repeat(2 ** 18 / piece.length);
    for (const url of [`https://a.example/?${text}`, `https://a.example/${text}`, text]) {
      const startedAt = performance.now();
      redact(url);
      const took = performance.now() - startedAt;
      assert.ok(took < 1000, `${piece}: ${took} ms`);
    }
  }
});
