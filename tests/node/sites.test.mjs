// @ts-check
// What an URL is taken for that comes without a site.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { siteOf } from '../../js/sites.js';

/** @type {Record<string, string[]>} */
const PATHS = {
  playlist: ['/a/index.m3u8', '/list.M3U8', '/old.m3u'],
  segment: ['/1.ts', '/init.mp4', '/2.m4s', '/v.cmfv', '/a.aac', '/v.webm', '/a.b/3.M4A'],
  'text-segment': ['/en.vtt', '/en.webvtt'],
  key: ['/k1.key'],
  other: ['/', '', '/beacon', '/segment', '/ts', '/x.json', '/x.m3u8/', '/x.ts.gz', '/page.html'],
};

for (const [site, paths] of Object.entries(PATHS)) {
  test(`R12: by the ending of its path an URL is of the site ${site}`, () => {
    for (const path of paths) assert.equal(siteOf(path), site, path);
  });
}
