// @ts-check
/** The package as one script: pages without modules, bundlers, or even a server. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ok } from '../node/server.mjs';
import { adapters } from '../tools/bundles.mjs';
import { eventually, startBrowser } from './fixture.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
before(async () => {
  browser = await startBrowser();
  lab = await browser.startLab();
});
after(() => browser?.close());

/** A page as of old, that plays a stream. @param {string} root where scripts are @param {string} url */
const html = (root, url) => `<!doctype html>
<title>A page without modules</title>
<video muted></video>
<script src="${root}node_modules/hls.js/dist/hls.min.js"></script>
<script src="${root}js/pkg/global.js"></script>
<script>
  var video = document.querySelector('video');
  var engine = Holdfast.createEngine();
  var hls = new Hls(Holdfast.hlsConfig(engine));
  var errors = [];
  hls.on(Hls.Events.ERROR, function (event, data) { errors.push(data.details); });
  Holdfast.attachHls(engine, hls);
  hls.loadSource('${url}');
  hls.attachMedia(video);
  video.play();
</script>`;

/** A segment that is refused twice, and one that stops half way. */
const RULES = /** @type {import('../lab/rules.mjs').Rule[]} */ ([
  { match: '-01\\.m4s$', nth: [1, 2], act: 'status', status: 503 },
  { match: '^(low|mid|high)-02\\.m4s$', nth: 1, act: 'stallBody', at: 0.5, ms: 'inf' },
]);

/**
 * @param {import('playwright-core').Page} page
 * @param {import('../lab/session.mjs').Session} session
 */
async function assertPlays(page, session) {
  await eventually(
    () => page.evaluate('video.currentTime > 4.2'),
    'the third segment plays',
    45_000,
  );
  const told = JSON.stringify(session.log, null, 1);
  const errors = /** @type {string[]} */ (await page.evaluate('errors'));
  assert.deepEqual(
    errors.filter((error) => /Load/.test(error)),
    [],
    told,
  );
  assert.equal(await page.evaluate('engine.state.mode'), 'engine');
  for (const { act } of RULES)
    assert.ok(
      session.log.some((entry) => entry.act === act),
      told,
    );
}

test('a page with nothing but script tags plays through faults', async (t) => {
  const session = lab.createSession({ rules: RULES });
  const page = ok(html('/', session.url('main.m3u8')), { 'content-type': 'text/html' });
  const opened = await browser.open({ answers: { '/of-old.html': page } });
  t.after(opened.close);
  /** @type {string[]} */
  const requested = [];
  opened.page.on('request', (request) => void requested.push(new URL(request.url()).pathname));
  await opened.page.goto(`${opened.origin}/of-old.html`);
  await assertPlays(opened.page, session);
  // One file: the module is within.
  const ours = requested.filter((path) => path.startsWith('/js/'));
  assert.deepEqual(ours, ['/js/pkg/global.js']);
});

test('a page that is opened from the disk plays, too', async (t) => {
  const session = lab.createSession({ rules: RULES });
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-page-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const name = join(folder, 'index.html');
  await writeFile(name, html(pathToFileURL(ROOT).href, session.url('main.m3u8')));
  const opened = await browser.open();
  t.after(opened.close);
  const page = await opened.context.newPage();
  await page.goto(pathToFileURL(name).href);
  assert.equal(await page.evaluate('origin'), 'null');
  await assertPlays(page, session);
});

test('all that the entries export is there', async (t) => {
  const opened = await browser.open();
  t.after(opened.close);
  await opened.page.addScriptTag({ url: '/js/pkg/global.js' });
  const names = new Set(
    /** @type {string[]} */ (await opened.page.evaluate('Object.keys(Holdfast)')),
  );
  const files = adapters();
  assert.ok(files.includes('./js/adapters/hls.js'));
  let count = 0;
  for (const file of ['./js/inline.js', './js/cross-tab.js', ...files]) {
    for (const name of Object.keys(await import(pathToFileURL(join(ROOT, file)).href))) {
      assert.ok(names.has(name), `${name} of ${file}`);
      count += 1;
    }
  }
  // None of them hides another.
  assert.equal(names.size, count);
});

test('it leaves one global behind', async (t) => {
  const opened = await browser.open();
  t.after(opened.close);
  const before = await opened.page.evaluate(() => Object.getOwnPropertyNames(globalThis));
  await opened.page.addScriptTag({ url: '/js/pkg/global.js' });
  const after = await opened.page.evaluate(() => Object.getOwnPropertyNames(globalThis));
  assert.deepEqual(
    after.filter((name) => !before.includes(name)),
    ['Holdfast'],
  );
});
