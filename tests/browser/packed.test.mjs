// @ts-check
/** The package as it is published: every entry works from the tarball, and nothing else. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { contentType } from '../lab/files.mjs';
import { ok } from '../node/server.mjs';
import { ROOT, ensureReady } from '../tools/setup.mjs';
import { shared, startBrowser } from './fixture.mjs';

const run = promisify(execFile);

/** @type {string} a project that has the package installed */
let project;
/** @type {string[]} all files of the package */
let files;
before(async () => {
  await ensureReady(['build']);
  project = await mkdtemp(join(tmpdir(), 'holdfast-packed-'));
  // The scripts that come before are the build, which is done.
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', project];
  const { stdout } = await run('npm', pack, { cwd: ROOT });
  const installed = join(project, 'node_modules', 'holdfast');
  await mkdir(installed, { recursive: true });
  const tarball = join(project, stdout.trim());
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  const entries = await readdir(installed, { recursive: true, withFileTypes: true });
  files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
});
after(() => project && rm(project, { recursive: true, force: true }));

test('the tarball holds one module, all that package.json names, and no tests', async () => {
  const wasm = files.filter((file) => file.endsWith('.wasm'));
  assert.deepEqual(wasm, [join('js', 'pkg', 'core_bg.wasm')]);
  assert.deepEqual(
    files.filter((file) => /^(tests|src|www|docs|target)\b|\.mjs$/.test(file)),
    [],
  );
  const { exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const targets = JSON.stringify(exports).match(/(?<="\.\/)[^"]+\.\w+(?="[,}])/g) ?? [];
  assert.ok(targets.length > 5, String(targets));
  for (const file of [...targets, 'README.md', 'CHANGELOG.md', 'LICENSE-MIT', 'LICENSE-APACHE']) {
    assert.ok(files.includes(file), file);
  }
});

/** @type {Record<string, string>} */
const options = {
  holdfast: '',
  'holdfast/slim': "{ wasm: await readFile(fileURLToPath(resolve('holdfast/core.wasm'))) }",
  'holdfast/inline': '',
};
for (const [entry, argument] of Object.entries(options)) {
  // Each in a process of its own: all entries share the module once one has loaded it.
  test(`Node imports ${entry}`, async () => {
    const script = `
      import { readFile } from 'node:fs/promises';
      import { fileURLToPath } from 'node:url';
      import { createEngine } from '${entry}';
      import { attachHls, hlsConfig } from 'holdfast/hls';

      const { resolve } = import.meta;
      const engine = createEngine(${argument});
      const ready = await engine.ready;
      const { loader } = hlsConfig(engine);
      const kinds = [typeof loader, typeof attachHls];
      console.log(JSON.stringify([ready, engine.state.mode, ...kinds]));
    `;
    await writeFile(join(project, 'entry.mjs'), script);
    const { stdout, stderr } = await run('node', ['entry.mjs'], { cwd: project });
    assert.deepEqual(JSON.parse(stdout), [true, 'engine', 'function', 'function']);
    assert.equal(stderr, '');
  });
}

test('a page imports it through an import map', async (t) => {
  const browser = await startBrowser();
  t.after(browser.close);
  const served = await Promise.all(
    files.map(async (file) => {
      const data = await readFile(join(project, 'node_modules', 'holdfast', file));
      const path = `/node_modules/holdfast/${file}`;
      return /** @type {const} */ ([path, ok(data, { 'content-type': contentType(file) })]);
    }),
  );
  const opened = await browser.open({
    answers: Object.fromEntries(served),
    imports: { holdfast: '/node_modules/holdfast/js/index.js' },
  });
  t.after(opened.close);
  const url = browser.media.on('/a.m4s', shared(ok('media')));
  const engine = await opened.engine();
  const text = await engine.evaluate(async (engine, url) => (await engine.fetch(url)).text(), url);
  assert.equal(text, 'media');
  assert.deepEqual(opened.warnings, []);
});
