// @ts-check
// Whose a request is, without parsing its URL each time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe } from '../../js/request.js';

const URLS = [
  ...['/a.ts', '/a.ts?b', '//other.test/a.ts', '/\\other.test/a.ts', '/\t/other.test/a.ts'],
  ...['a.ts', './a.ts', '?a', '/', '', 'https:a.ts', 'HTTPS://CDN.test/a.ts'],
  ...['https://cdn.test', 'https://cdn.test/a.ts', 'https://cdn.test?a', 'https://cdn.test#a'],
  ...['https://cdn.test:443/', 'https://cdn.test:8443/', 'http://cdn.test:443/'],
  ...['https://cdn.test@other.test/', 'https://cdn.test:443@other.test/', 'https://cdn.test:/'],
  ...['https://cdn.test\\@other.test/', 'https://cd\tn.test/', ' https://cdn.test/'],
  ...[
    'https://1.2.3/a',
    'https://0x7f.1/',
    'https://[::1]/a',
    'https://b\u00fccher.test/',
    'data:,a',
  ],
];

test('the origin of a URL is the one that the browser parses, now and the next time', (t) => {
  t.after(() => void Reflect.deleteProperty(globalThis, 'document'));
  for (const baseURI of ['https://page.test/b/c.html', 'http://localhost:8080/', 'blob:null/a']) {
    Object.assign(globalThis, { document: { baseURI } });
    for (const url of [...URLS, ...URLS]) {
      const parsed = URL.canParse(url, baseURI) ? new URL(url, baseURI) : undefined;
      if (parsed) assert.equal(describe(url, { site: 'segment' }).host, parsed.origin, url);
      else assert.throws(() => describe(url, { site: 'segment' }), { code: 'INVALID_URL' }, url);
    }
  }
});

test('what is no URL is refused each time', () => {
  for (const url of [
    'https://cdn.test:99999/a',
    'https://1.2.3.4.5/',
    'https://1.2.3.4.5/',
    '/a',
  ]) {
    assert.throws(() => describe(url, { site: 'segment' }), { code: 'INVALID_URL' }, url);
  }
});
