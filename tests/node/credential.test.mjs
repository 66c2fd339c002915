// @ts-check
// The credential in an URL: found, read and exchanged, without touching another byte.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { credentialOf, evidenceOf, fresh, rewrite } from '../../js/credential.js';
import { random } from './random.mjs';

/** @type {{ vendor: string, url: string, parts: string[] | null, expiresAt: number | null }[]} */
const CASES = JSON.parse(
  readFileSync(new URL('../vectors/tokens.json', import.meta.url), 'utf8'),
).cases;

const NOW = 1_795_000_000_000;

/** A JWT with these claims. @param {unknown} claims */
function jwt(claims) {
  const encode = (/** @type {unknown} */ value) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  return `${encode({ alg: 'RS256' })}.${encode(claims)}.c2lnbmF0dXJl`;
}

for (const { vendor, url, parts, expiresAt } of CASES) {
  test(`R50: the credential and its end are read from the URL (${vendor})`, () => {
    const found = credentialOf(url);
    assert.deepEqual(found?.parts ?? null, parts);
    assert.equal(found?.expiresAt ?? null, expiresAt);
    for (const part of parts ?? []) assert.ok(url.includes(part), 'the bytes of the URL');
  });
}

test('R51: URLs with the same credential have the same key, others have not', () => {
  const key = (/** @type {string} */ url) => credentialOf(url)?.key;
  const query = 'Policy=eyJ&Signature=abc&Key-Pair-Id=K';
  const same = 'Key-Pair-Id=K&v=3&Policy=eyJ&Signature=abc';
  assert.equal(key(`https://a.example/1.ts?${query}`), key(`https://b.example/v/2.ts?${same}`));
  assert.notEqual(key(`https://a.example/1.ts?${query}`), key(`https://a.example/1.ts?${query}d`));
  assert.equal(key('https://a.example/1.ts'), undefined);
});

test('R50: an end that cannot be read is none', () => {
  for (const claims of [
    '{"exp":',
    '{"exp":1e400}',
    { exp: 1e300 },
    { exp: '1796000000' },
    { exp: null },
    { exp: { toString: 1 } },
    [1_796_000_000],
    { inner: { exp: 1 } },
    'null',
  ]) {
    const found = credentialOf(`https://a.example/?token=${jwt(claims)}`);
    assert.ok(found);
    assert.equal(found.expiresAt, undefined, JSON.stringify(claims));
  }
  for (const query of [
    'token=x&expires=99999999999999999999',
    'hdnts=exp=99999999999999999999~hmac=x',
    'X-Amz-Signature=x&X-Amz-Date=20261130T120000Z&X-Amz-Expires=99999999999',
    'token=x&expires=3600',
    'token=x&expires=1796000000x',
    'token=x&expires=%E0%A4%A',
    'X-Amz-Signature=x&X-Amz-Date=20269930T120000Z&X-Amz-Expires=60',
    'X-Amz-Signature=x&X-Amz-Date=5&X-Amz-Expires=60',
    'X-Amz-Signature=x&X-Amz-Expires=60',
    'Signature=x&Policy=%%%',
    'Signature=x&Policy=e30_',
  ]) {
    const found = credentialOf(`https://a.example/?${query}`);
    assert.ok(found, query);
    assert.equal(found.expiresAt, undefined, query);
  }
});

test('R50: of two ends the earlier counts', () => {
  const url = `https://a.example/?token=${jwt({ exp: 1_796_000_000 })}&expires=1795000001`;
  assert.equal(credentialOf(url)?.expiresAt, 1_795_000_001_000);
});

const ODD = 'hdnts=st=1~exp=2~acl=/*~hmac=x';
const EXCHANGES = /** @type {const} */ ([
  [
    'a parameter',
    '/a.m3u8?token=A',
    '/a.m3u8?token=B',
    '/v/s.ts?x=1&token=A',
    '/v/s.ts?x=1&token=B',
  ],
  [
    "Akamai's bytes and their neighbours",
    `/a.m3u8?${ODD}`,
    '/a.m3u8?hdnts=st=3~exp=4~acl=/*~hmac=y==',
    `/s.ts?q=~=/+%2B%7e%7E&${ODD}&&=&z#t=1`,
    '/s.ts?q=~=/+%2B%7e%7E&hdnts=st=3~exp=4~acl=/*~hmac=y==&&=&z#t=1',
  ],
  [
    'several parameters, in another order',
    '/a?Expires=1&Signature=S&Key-Pair-Id=K',
    '/a?Signature=T&Key-Pair-Id=K&Expires=2',
    '/b?Key-Pair-Id=K&n=1&Signature=S&Expires=1',
    '/b?Key-Pair-Id=K&n=1&Signature=T&Expires=2',
  ],
  ['a removed one', '/a?token=A&old=1', '/a?token=B', '/b?old=1&token=A&c', '/b?token=B&c'],
  ['all removed', '/a/x/c?token=A', '/a/x/c', '/a/y/d?token=A', '/a/y/d'],
  ['an added one', '/a?token=A', '/a?token=B&kid=2', '/b?token=A&c', '/b?token=B&c&kid=2'],
  ['one added where there was none', '/a', '/a?token=B', '/b?x', '/b?x&token=B'],
  ['a segment', '/t/OLD/a.m3u8', '/t/NEW/a.m3u8', '/t/OLD/v/s%2F~.ts?', '/t/NEW/v/s%2F~.ts?'],
  [
    'a segment of parameters',
    '/bcdn_token=A&expires=1/v/a.m3u8',
    '/bcdn_token=B&expires=2&token_path=%2F/v/a.m3u8',
    '/bcdn_token=A&expires=1/v/s.ts',
    '/bcdn_token=B&expires=2&token_path=%2F/v/s.ts',
  ],
  ["a pattern of replace's", '/a?token=A', "/a?token=$&$1$'", '/b?token=A', "/b?token=$&$1$'"],
]);

for (const [what, from, to, url, expected] of EXCHANGES) {
  test(`R51: the credential is exchanged, and no other byte (${what})`, () => {
    const at = (/** @type {string} */ path) => `https://cdn.example${path}`;
    assert.equal(rewrite(at(url), at(from), at(to)), at(expected));
    assert.equal(rewrite(at(from), at(from), at(to)), at(to));
  });
}

test('R51: what cannot be derived is asked for', () => {
  const jwtA = jwt({ exp: 1 });
  for (const [why, url, from, to] of [
    ['another value', 'https://h/b?token=Z', 'https://h/a?token=A', 'https://h/a?token=B'],
    ['no credential in it', 'https://h/b', 'https://h/a?token=A', 'https://h/a?token=B'],
    ['another credential', 'https://h/b?token=Z', 'https://h/a', 'https://h/a?token=B'],
    ['the same name, not known', 'https://h/b?x=2', 'https://h/a', 'https://h/a?x=1'],
    [
      'another origin came back',
      'https://h/b?token=A',
      'https://h/a?token=A',
      'https://i/a?token=B',
    ],
    ['another port', 'https://h/b?token=A', 'https://h/a?token=A', 'https://h:8/a?token=B'],
    ['another file', 'https://h/b?token=A', 'https://h/a?token=A', 'https://h/c?token=B'],
    ['another depth', 'https://h/x/b', 'https://h/x/a', 'https://h/x/y/a'],
    ['another segment', 'https://h/OTHER/b', 'https://h/OLD/a', 'https://h/NEW/a'],
    ['too short', 'https://h/OLD', 'https://h/OLD/a', 'https://h/NEW/a'],
    ['only the order', 'https://h/b?x=1&y=2', 'https://h/a?x=1&y=2', 'https://h/a?y=2&x=1'],
    ['two of a name', 'https://h/b?x=1', 'https://h/a?x=1', 'https://h/a?x=2&x=3'],
    ['too long', `https://h/${'b'.repeat(20_000)}?t=A`, 'https://h/a?t=A', 'https://h/a?t=B'],
    ['path only', `https://h/${jwtA}`, 'https://h/a', 'https://h/b'],
  ]) {
    assert.equal(rewrite(url, from, to), undefined, why);
  }
});

test('R51: another origin gets the new credential only if it had the old one', () => {
  const from = 'https://h/v/a?token=A';
  assert.equal(
    rewrite('https://i/v/b?token=A', from, 'https://h/v/a?token=B'),
    'https://i/v/b?token=B',
  );
  assert.equal(rewrite('https://i/v/b', 'https://h/v/a', 'https://h/v/a?token=B'), undefined);
  assert.equal(
    rewrite('https://i/v/b?v=1', 'https://h/v/a?v=1', 'https://h/v/a?v=2&token=B'),
    undefined,
  );
  assert.equal(rewrite('https://i/v/b', 'https://h/v/a', 'https://h/SECRET/a'), undefined);
});

test('R49: a whole URL is taken as it is', () => {
  for (const url of [
    'https://b.example/x?token=%7e~=/+',
    'HTTP://b.example',
    'https://[::1]:8/a?b#c',
  ]) {
    assert.deepEqual(fresh('https://a.example/x?token=A', url), { url });
  }
});

test('R49: a bare token takes the place of the one recognised value', () => {
  const old = jwt({ exp: 1 });
  for (const [original, answer, url] of [
    ['https://a/x?b=1&token=A&c#t', 'B+/=~%2B', 'https://a/x?b=1&token=B+/=~%2B&c#t'],
    ['https://a/x?token=A&c', 'token=B', 'https://a/x?token=B&c'],
    [
      `https://a/x?${ODD}&c`,
      'hdnts=exp=9~acl=/*~hmac=z',
      'https://a/x?hdnts=exp=9~acl=/*~hmac=z&c',
    ],
    ['https://a/x?token=A', 'a&b#c\u0001\u007fé$&', 'https://a/x?token=a%26b%23c%01%7Fé$%26'],
    ['https://a/x?token=A', '/base64+token==', 'https://a/x?token=/base64+token=='],
    [`https://a/${old}/m.m3u8`, 'ne/w', 'https://a/ne%2Fw/m.m3u8'],
    [`https://a/x?auth=Bearer%20${old}`, 'new', 'https://a/x?auth=Bearer%20new'],
    ['https://a/x?token=A', '\ud800', 'https://a/x?token=\ud800'],
  ]) {
    assert.deepEqual(fresh(original, answer), { url });
  }
});

test('R53: an answer that is no use has its own name', () => {
  const one = 'https://a.example/x?token=A';
  for (const [problem, original, answer] of /** @type {[string, string, unknown][]} */ ([
    ['not-a-string', one, undefined],
    ['not-a-string', one, null],
    ['not-a-string', one, { url: one }],
    ['not-a-string', one, new URL(one)],
    ['empty', one, ''],
    ['empty', one, ' \n'],
    ['same', one, one],
    ['same', one, 'A'],
    ['not-http', one, 'ftp://a.example/x'],
    ['not-http', one, 'javascript:alert(1)'],
    ['not-http', one, 'data:text/plain,x'],
    ['not-http', one, 'https://'],
    ['not-http', one, 'https:///x'],
    ['not-http', one, '/x.m3u8?token=B'],
    ['not-http', one, '//b.example/x'],
    ['not-http', one, '../x.m3u8'],
    ['not-http', one, 'x.m3u8?token=B'],
    ['not-http', one, 'not found'],
    ['not-http', one, 'B\n'],
    ['no-place-for-token', 'https://a.example/x', 'B'],
    ['no-place-for-token', `${one}&expires=1796000000`, 'B'],
    ['no-place-for-token', 'https://a.example/?url=https%3A%2F%2Fb%2F%3Ftoken%3DA', 'B'],
    ['no-place-for-token', `${one}${'A'.repeat(20_000)}`, 'B'],
  ])) {
    assert.deepEqual(fresh(original, answer), { problem }, `${original} ${String(answer)}`);
  }
});

const PLAIN = 'https://a.example/x.ts?token=A';

test('R50: an end that passed is evidence, one to come is none', () => {
  const url = `https://a.example/x?token=${jwt({ exp: NOW / 1000 })}`;
  assert.equal(evidenceOf({ status: 403, url, now: NOW }), 'expired');
  assert.equal(evidenceOf({ status: 401, url, now: NOW }), 'expired');
  assert.equal(evidenceOf({ status: 403, url, now: NOW - 1 }), 'none');
  assert.equal(evidenceOf({ status: 403, url: PLAIN, now: NOW }), 'none');
});

test('R50: only 401 and 403 are asked, unless the caller says otherwise', () => {
  const url = `https://a.example/x?token=${jwt({ exp: 1 })}`;
  for (const status of [0, 200, 400, 404, 410, 429, 500]) {
    assert.equal(evidenceOf({ status, url, now: NOW }), 'none');
    assert.equal(evidenceOf({ status, url, now: NOW, statuses: [status] }), 'expired');
  }
});

for (const body of [
  '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>',
  '{"errorCode":7011,"message":"Token is Expired"}',
  '{"code":7011}',
  '{"code":"drm_3031"}',
  '{"error":"token_expired"}',
  '<Code>ExpiredToken</Code>',
  '[{"error_code":"ACCESS_DENIED","error_subcode":"TOKEN_VALIDATION"}]',
  'URL signature expired',
  'jwt expired',
]) {
  test(`R50: a body is evidence (${body.slice(0, 40)})`, () => {
    assert.equal(evidenceOf({ status: 403, url: PLAIN, body, now: NOW }), 'expired');
  });
}

for (const body of [
  '[{"error_code":"ACCESS_DENIED","error_subcode":"DENIED_BY_STREAM_LIMIT"}]',
  '[{"error_code":"ACCESS_DENIED","error_subcode":"CLIENT_GEO"}]',
  'Concurrent stream limit reached',
  'concurrency: the limit is 2',
  'Too many active streams',
  'Geo-blocked',
  'The distribution is configured to block access from your country.',
]) {
  test(`R50: what no credential changes is final, expired or not (${body.slice(0, 40)})`, () => {
    const url = `https://a.example/x?token=${jwt({ exp: 1 })}`;
    const text = `${body} token expired`;
    assert.equal(evidenceOf({ status: 403, url, body: text, now: NOW }), 'denied-for-good');
  });
}

test('R50: 451 is never refreshed', () => {
  const url = `https://a.example/x?token=${jwt({ exp: 1 })}`;
  assert.equal(evidenceOf({ status: 451, url, now: NOW, statuses: [451] }), 'denied-for-good');
});

test('R50: other bodies, and what stands after 8 KiB, are no evidence', () => {
  for (const body of [
    '',
    '<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
    '{"error":{"messages":["Invalid Parameters"],"type":"invalid_parameters"}}',
    'Your subscription expired',
    `${' '.repeat(8192)}token expired`,
  ]) {
    assert.equal(evidenceOf({ status: 403, url: PLAIN, body, now: NOW }), 'none', body);
  }
});

const INK = [..."abeJ0Z9-_.~=&/?#%+:;@!*' \u0000\n\u007fé", '\ud800', '\udc00', '💧'].concat(
  ['%2', '%zz', '%3D', '%7E', 'eyJ', 'token=', 'exp=', 'hmac=', '://', 'https://', '1796000000'],
  ['X-Amz-Date=20261130T120000Z', 'Policy=', 'expires=9', '&&', '..', 'sig=', 'st='],
);

test('R49, R50, R51, R53: no input throws, and an exchange of its own gives what the hook gave', () => {
  const dice = random(49);
  const pick = (/** @type {readonly any[]} */ list) => list[Math.floor(dice() * list.length)];
  const noise = () => Array.from({ length: dice() * 40 }, () => pick(INK)).join('');
  /** An URL of a vendor with a piece cut out, doubled or spoiled. */
  const mutant = () => {
    const { url } = pick(CASES);
    const at = Math.floor(dice() * url.length);
    const to = at + Math.floor(dice() * 12);
    return url.slice(0, at) + pick([noise(), url.slice(at, to).repeat(2), '']) + url.slice(to);
  };
  for (let i = 0; i < 20_000; i += 1) {
    const [a, b, c] = [0, 1, 2].map(() => (dice() < 0.3 ? noise() : mutant()));
    assert.equal(rewrite(a, a, b), b);
    rewrite(a, b, c);
    fresh(a, b);
    const found = credentialOf(a);
    const end = found?.expiresAt;
    assert.ok(end === undefined || Number.isSafeInteger(end), `${end} of ${a}`);
    assert.ok(found === undefined || (found.key && found.parts.every((part) => a.includes(part))));
    const seen = evidenceOf({ status: 403, url: a, body: noise(), now: NOW });
    assert.match(seen, /^(expired|denied-for-good|none)$/);
  }
});

test('R51: in any place, among any neighbours, the credential alone is exchanged', () => {
  const dice = random(57);
  const LETTERS = 'ghiklmnopqruvwxyzGHIKLMNOPQRUVWXYZ2345678_-';
  const word = (/** @type {number} */ length) =>
    Array.from({ length }, () => LETTERS[Math.floor(dice() * LETTERS.length)]).join('');
  const shapes = [
    (/** @type {string} */ secret) => [`token=${secret}`],
    (/** @type {string} */ secret) => [`hdnts=st=1~exp=1796000000~acl=/*~hmac=${secret}`],
    (/** @type {string} */ secret) => ['Expires=1796000000', `Signature=${secret}~_`, 'KeyName=k'],
    (/** @type {string} */ secret) => [`w=eyJhbGciOiJub25lIn0.${secret}.${secret}`],
    (/** @type {string} */ secret) => [`md5=${secret}`, 'e=1796000000'],
  ];
  const FILLERS = ['', 'a', 'a=', '=', 'q=~/+%2B%7E%zz', 'x=%F0', 'range=1-2', 'é=\ud800'];
  for (let i = 0; i < 5000; i += 1) {
    const [old, now] = [word(24), word(24)];
    const shape = shapes[i % shapes.length];
    const [before, after] = [shape(old), shape(now)];
    const fillers = Array.from({ length: 3 }, () => FILLERS[Math.floor(dice() * FILLERS.length)]);
    const url = (/** @type {string[]} */ list) =>
      `https://a.example/v/s~%2f+.ts?${[fillers[0], ...list, fillers[1], fillers[2]].join('&')}#f`;
    const manifest = (/** @type {string[]} */ list) => `https://a.example/a.m3u8?${list.join('&')}`;
    assert.equal(rewrite(url(before), manifest(before), manifest(after)), url(after));
  }
});

test('R49, R50: a megabyte of anything is dealt with in no time', () => {
  const size = 2 ** 20;
  for (const piece of [
    'eyJ',
    'eyJaaaaaaaaaa.',
    'token',
    'token=&',
    '/',
    '&a',
    'a=b&',
    '%3D',
    'expired ',
    '~exp=',
  ]) {
    for (const length of [16_000, size]) {
      const text = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
      const url = `https://a.example/?${text}`;
      const startedAt = performance.now();
      credentialOf(url);
      fresh(url, text);
      rewrite(url, `${url}1`, `${url}2`);
      evidenceOf({ status: 403, url, body: text, now: NOW });
      const took = performance.now() - startedAt;
      assert.ok(took < 1000, `${piece} × ${length}: ${took} ms`);
    }
  }
});
