// @ts-check
// Bundles what is used without a bundler, each into one classic script with the wasm inside:
//
//   js/pkg/global.js          all entries, as the global `Holdfast`
//   js/pkg/service-worker.js  the service worker
//
// Part of `npm run build`; npm packages and the compiled core must be there.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './setup.mjs';

const PKG = join(ROOT, 'js', 'pkg');
const STAMP = join(PKG, '.stamp-bundles');
export const BUNDLES = ['service-worker.js', 'global.js'];

/** The folders of what is bundled. */
const FOLDERS = ['js', 'js/adapters'];
const SOURCES = ['package.json', 'js/pkg/core.js', 'js/pkg/inline.js', 'tests/tools/bundles.mjs'];

/** True if the bundles were made from the sources as they are now. */
export function areBundled() {
  if (!BUNDLES.every((name) => existsSync(join(PKG, name)))) return false;
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === fingerprint();
}

/** Makes the bundles. */
export async function bundle() {
  const stamp = fingerprint();
  rmSync(STAMP, { force: true });
  const entries = ['./js/inline.js', './js/cross-tab.js', ...adapters()];
  const contents = entries.map((file) => `export * from '${file}';`).join('\n');
  await make('service-worker.js', { entryPoints: ['js/sw-classic.js'] });
  await make('global.js', { stdin: { contents, resolveDir: ROOT }, globalName: 'Holdfast' });
  writeFileSync(STAMP, stamp);
}

/**
 * The adapters that the package exports. SPF has no script to load it by: its adapter takes the place
 * of one of its modules, in a bundle.
 */
export function adapters() {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return Object.values(exports)
    .map((target) => target.default)
    .filter((file) => file?.startsWith('./js/adapters/') && !file.endsWith('/spf.js'))
    .filter((file) => existsSync(join(ROOT, file)));
}

/** @param {string} name @param {import('esbuild').BuildOptions} options */
async function make(name, options) {
  const { build } = await import('esbuild');
  const { outputFiles = [] } = await build({
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'error',
    ...options,
  });
  // A rename is atomic: nobody is served half a file.
  const making = join(PKG, `.making-${process.pid}-${name}`);
  writeFileSync(making, outputFiles[0].contents);
  renameSync(making, join(PKG, name));
}

/** A hash over the paths and contents of everything that is bundled. */
function fingerprint() {
  const hash = createHash('sha256');
  const scripts = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.js'))
      .sort()
      .map((name) => `${folder}/${name}`),
  );
  for (const path of [...SOURCES, ...scripts]) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(ROOT, path)))
      .update('\0');
  }
  return hash.digest('hex');
}
