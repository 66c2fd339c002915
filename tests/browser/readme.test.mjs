// @ts-check
/**
 * The lines that the README gives to a page that plays already: at most five, and a page with
 * exactly these plays through a segment that breaks off and one that is refused.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { ok } from '../node/server.mjs';
import { eventually, startBrowser } from './fixture.mjs';

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
/** @type {string} */
let readme;
before(async () => {
  browser = await startBrowser();
  lab = await browser.startLab();
  readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
});
after(() => browser?.close());

/** What the page had before and has after the lines, with `URL` for the address of the stream. */
const pages = {
  'hls.js': {
    manifest: 'pinned.m3u8',
    before: "import Hls from 'hls.js';",
    after: `
      hls.loadSource(URL);
      hls.attachMedia(document.querySelector('video'));`,
  },
  'Shaka Player': {
    manifest: 'pinned.mpd',
    before: `
      await new Promise((resolve, reject) => {
        const src = '/node_modules/shaka-player/dist/shaka-player.compiled.js';
        const script = Object.assign(document.createElement('script'), { src });
        Object.assign(script, { onload: resolve, onerror: reject });
        document.head.append(script);
      });
      const player = new shaka.Player();
      await player.attach(document.querySelector('video'));`,
    after: `
      await player.load(URL);`,
  },
};

for (const [name, { manifest, before, after }] of Object.entries(pages)) {
  test(`a page with ${name} plays through faults with the lines of the README`, async (t) => {
    const [, lines] = readme.split(`### With ${name}\n`)[1]?.match(/```js\n([^`]+)```/) ?? [];
    assert.ok(lines, 'the README has a section for it');
    const count = lines.split('\n').filter((line) => line.trim() !== '').length;
    assert.ok(count <= 5, `${count} lines`);

    const rules = /** @type {import('../lab/rules.mjs').Rule[]} */ ([
      { match: '^mid-02\\.m4s$', nth: 1, act: 'resetBody', at: 0.5 },
      { match: '^mid-03\\.m4s$', nth: 1, act: 'status', status: 503 },
    ]);
    const session = lab.createSession({ rules });
    const script = `${before}\n${lines}\n${after}`
      .replaceAll('URL', JSON.stringify(session.url(manifest)))
      .concat("\ndocument.querySelector('video').play().catch(() => {});\n")
      .concat('globalThis.engine = engine;');
    const type = { 'content-type': 'text/javascript' };
    const opened = await browser.open({
      script: '/app.js',
      answers: { '/app.js': ok(script, type) },
    });
    t.after(opened.close);
    const position = () => opened.page.evaluate("document.querySelector('video').currentTime");
    await eventually(
      async () => Number(await position()) > 6.5,
      'the fourth segment plays',
      60_000,
    );

    const failed = session.log.filter(({ act }) => act !== 'normal').map(({ file }) => file);
    assert.deepEqual(failed.sort(), ['mid-02.m4s', 'mid-03.m4s'], 'the faults were met');
    assert.equal(await opened.page.evaluate('engine.state.mode'), 'engine');
    const seen = await opened.page.evaluate(
      "engine.log().filter((e) => e.event === 'failed').length",
    );
    assert.equal(seen, 2, 'the engine carried what failed');
  });
}
