// @ts-check
/** Which requests of a page a service worker takes, and for what. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { siteFinder } from '../../js/sw-sites.js';

const ORIGIN = 'https://cdn.example/';
/** @param {string} path @param {string} [destination] @param {string} [method] */
const request = (path, destination = '', method = 'GET') =>
  /** @type {Request} */ ({ url: ORIGIN + path, destination, method });

describe('the site of a request', () => {
  /** @type {Array<[path: string, destination: string, site: string | undefined]>} */
  const cases = [
    ['a.m4s', '', 'segment'],
    ['a.ts?token=a.js', '', 'segment'],
    ['a.mp4#t=10', '', 'segment'],
    ['a.vtt', '', 'text-segment'],
    ['a.key', '', 'key'],
    ['a.mpd', '', 'manifest'],
    ['a.ism/Manifest', '', 'manifest'],
    ['a.isml/manifest(format=m3u8-aapl)', '', 'manifest'],
    ['stream', 'video', 'segment'],
    ['stream', 'audio', 'segment'],
    ['captions', 'track', 'text-segment'],
    // What is run, shown or styled is no media, whatever its name.
    ['app.ts', 'script', undefined],
    ['a.mp4', 'image', undefined],
    ['a.mp4', 'iframe', undefined],
    ['a.mp4', 'document', undefined],
    ['api', '', undefined],
    ['a.json?file=a.m3u8', '', undefined],
  ];
  for (const [path, destination, site] of cases) {
    test(`of ${path} for ${destination || 'a script'} is ${site ?? 'none of ours'}`, () => {
      assert.equal(siteFinder()(request(path, destination), 'page'), site);
    });
  }

  test('is none of ours where it is no GET', () => {
    assert.equal(siteFinder()(request('a.m4s', '', 'HEAD'), 'page'), undefined);
    assert.equal(siteFinder()(request('a.m4s', '', 'POST'), 'page'), undefined);
  });
});

test('the first playlist of a page is its manifest, and one that it has had is a reload', () => {
  const find = siteFinder();
  const sites = (/** @type {string} */ page, /** @type {string[]} */ ...paths) =>
    paths.map((path) => find(request(path), page));
  assert.deepEqual(sites('one', 'main.m3u8', 'low.m3u8', 'mid.m3u8'), [
    'manifest',
    'playlist',
    'playlist',
  ]);
  assert.deepEqual(sites('one', 'low.m3u8?_HLS_msn=5', 'main.m3u8'), [
    'playlist-reload',
    'playlist-reload',
  ]);
  assert.deepEqual(sites('two', 'main.m3u8', 'low.m3u8'), ['manifest', 'playlist']);
});

test('no more pages and playlists are remembered than are of use', () => {
  const find = siteFinder();
  find(request('main.m3u8'), 'old');
  for (let i = 0; i < 64; i += 1) find(request('main.m3u8'), `page ${i}`);
  assert.equal(find(request('main.m3u8'), 'old'), 'manifest', 'forgotten');
  assert.equal(find(request('main.m3u8'), 'page 63'), 'playlist-reload');
});
