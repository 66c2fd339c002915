// @ts-check
// The plugin says what is wrong with a build, and changes nothing else in it.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import holdfast from 'holdfast/bundler';
import { ALONE, builders } from '../browser/spf-bundles.mjs';

/** SPF's network module by what only it says. */
const THEIRS = /Response has no body/;
const OURS = /holdfast\.spf/;

/** @type {string} */
let folder;
before(async () => (folder = await mkdtemp(join(tmpdir(), 'holdfast-bundler-'))));
after(() => rm(folder, { recursive: true }));

for (const [name, build] of Object.entries(builders)) {
  describe(name, () => {
    test("SPF's network module is replaced, all of it", async () => {
      const { files, warnings } = await build(ALONE, [holdfast()]);
      const script = String(files.get('main.js'));
      assert.match(script, OURS);
      assert.doesNotMatch(script, THEIRS);
      assert.deepEqual(warnings, []);
    });

    test('a bundle without SPF is as it was, and the plugin says that it had nothing to do', async () => {
      const entry = join(folder, `${name}.js`);
      await writeFile(entry, 'console.log(1);\n');
      const bare = await build(entry, []);
      const { files, warnings } = await build(entry, [holdfast()]);
      assert.deepEqual(files.get('main.js'), bare.files.get('main.js'));
      assert.equal(warnings.length, 1);
      assert.match(warnings[0], /nothing in this bundle/);
    });

    test('SPF elsewhere is found by what its paths have in common', async () => {
      // With a flag that makes an expression remember where it was.
      const spf = /spf[\\/]dist/g;
      const { files, warnings } = await build(ALONE, [holdfast({ spf })]);
      assert.match(String(files.get('main.js')), OURS);
      assert.deepEqual(warnings, []);
    });
  });
}

test('a module that something else has resolved before is named', () => {
  const theirs = fileURLToPath(
    new URL('../../node_modules/@videojs/spf/dist/default/network/fetch.js', import.meta.url),
  );
  /** @type {string[]} */
  const warnings = [];
  const warn = (/** @type {string} */ text) => void warnings.push(text);
  holdfast().buildEnd.call({ getModuleIds: () => [theirs], warn });
  assert.equal(warnings.length, 1);
  assert.ok(warnings[0].startsWith(`${theirs} is still in the bundle`));
});

test('only what SPF imports is replaced', () => {
  const { resolveId } = holdfast();
  const spf = '/app/node_modules/@videojs/spf/dist/default/playback/behaviors/resolve-track.js';
  assert.match(resolveId('../../network/fetch.js', spf) ?? '', /spf-network\.js$/);
  const windows = spf.replaceAll('/', '\\');
  assert.match(resolveId('../../network/fetch.js', windows) ?? '', /spf-network\.js$/);
  assert.equal(resolveId('../../network/ewma.js', spf), undefined);
  assert.equal(resolveId('./network/fetch.js', '/app/src/player.js'), undefined);
  assert.equal(resolveId('./network/fetch.js', undefined), undefined);
});
