// @ts-check
// Compiles the crate to js/pkg: core.js, core.d.ts, core_bg.wasm and, for js/inline.js, the same
// wasm as base64; then bundles what is used without a bundler. Does nothing if the sources are those
// of the last build.
//
//   npm run build            compile if needed, then compare the imports with the allow-list
//   npm run build -- --force compile anyway

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { areBundled, bundle } from './bundles.mjs';
import { shortNames } from './short-names.mjs';
import { trimGlue } from './glue.mjs';
import { runAsProgram } from './main.mjs';
import { log, runQuietly } from './processes.mjs';
import { ROOT, ensureReady, toolEnvironment } from './setup.mjs';

const PKG = join(ROOT, 'js', 'pkg');
const STAMP = join(PKG, '.stamp');
const SOURCES = [
  'Cargo.toml',
  'Cargo.lock',
  '.cargo/config.toml',
  'src',
  'tests/tools/blank.mjs',
  'tests/tools/short-names.mjs',
  'tests/tools/build.mjs',
  'tests/tools/glue.mjs',
  'tests/tools/order.mjs',
  'tests/tools/setup.mjs',
  'tests/tools/shrink.mjs',
];
const PRODUCTS = ['core.js', 'core.d.ts', 'core_bg.wasm', 'inline.js', 'inline.d.ts'];

/** True if js/pkg was built from the sources as they are now. */
export function isBuilt() {
  return isCompiled() && areBundled();
}

function isCompiled() {
  if (!PRODUCTS.every((name) => existsSync(join(PKG, name)))) return false;
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === fingerprint();
}

/** Builds js/pkg. The tools must be there: call it through `ensureReady(['build'])`. */
export async function build() {
  if (!isCompiled()) await compile();
  await bundle();
}

async function compile() {
  const stamp = fingerprint();
  rmSync(STAMP, { force: true });
  await runQuietly(
    'compiling the core to wasm',
    'a few seconds, or a minute or two the first time',
    'wasm-pack',
    [
      ...['build', '--release', '--target', 'web', '--mode', 'no-install'],
      ...['--no-pack', '--out-dir', 'js/pkg', '--out-name', 'core'],
    ],
    { cwd: ROOT, env: buildEnvironment() },
  );
  for (const unwanted of ['.gitignore', 'package.json', 'README.md']) {
    rmSync(join(PKG, unwanted), { force: true });
  }
  // Not before now: binaryen comes with the npm packages that \`ensureReady\` installs.
  const { shrink } = await import('./shrink.mjs');
  const [wasm, glue] = ['core_bg.wasm', 'core.js'].map((name) => join(PKG, name));
  const trimmed = trimGlue(readFileSync(glue, 'utf8'));
  const made = shortNames(shrink(readFileSync(wasm), trimmed), trimmed);
  writeFileSync(wasm, made.wasm);
  writeFileSync(glue, made.glue);
  const base64 = readFileSync(wasm).toString('base64');
  writeFileSync(join(PKG, 'inline.js'), `export const base64 =\n  '${base64}';\n`);
  writeFileSync(join(PKG, 'inline.d.ts'), 'export const base64: string;\n');
  writeFileSync(STAMP, stamp);
}

/** The wasm must not depend on whose home folder it was built in: panics carry source paths. */
function buildEnvironment() {
  const environment = toolEnvironment();
  const cargoHome = environment.CARGO_HOME ?? join(homedir(), '.cargo');
  const flags = [
    environment.RUSTFLAGS,
    `--remap-path-prefix=${cargoHome}/registry/src/=`,
    // Small functions are worth their place where they are called: smaller, compressed, than what
    // `opt-level = "z"` chooses by itself.
    '-C llvm-args=-inline-threshold=25',
    '-C llvm-args=-inline-call-penalty=15',
    // Nothing recurses; the default is 1 MiB, which every page would pay for.
    '-C link-arg=-zstack-size=65536',
  ];
  return { ...environment, RUSTFLAGS: flags.filter(Boolean).join(' ') };
}

/** A hash over the paths and contents of everything the build reads. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const path of SOURCES.flatMap(filesUnder)) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(ROOT, path)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** @param {string} path @returns {string[]} */
function filesUnder(path) {
  const full = join(ROOT, path);
  if (!existsSync(full)) return [];
  if (statSync(full).isFile()) return [path];
  return readdirSync(full)
    .sort()
    .flatMap((name) => filesUnder(`${path}/${name}`));
}

runAsProgram(import.meta.url, async (args) => {
  if (args.includes('--force')) rmSync(STAMP, { force: true });
  await ensureReady(['build']);
  log('holdfast: js/pkg is up to date');
  const { checkImports } = await import('./imports.mjs');
  await checkImports();
});
