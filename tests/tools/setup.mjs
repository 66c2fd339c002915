// @ts-check
// Makes this clone ready to build, test or play, from nothing but Rust (rustup) and Node.
//
//   npm run setup                    everything
//   node tests/tools/setup.mjs rust  one part, with the parts it needs
//
// A script that needs more than Node itself starts like this, and imports the rest after it,
// because until then node_modules may not exist:
//
//   import { ensureReady } from '../tools/setup.mjs';
//   await ensureReady(['npm', 'media']);
//   const { serve } = await import('./server.mjs');
//
// For the same reason this file, and all it imports at its top, use only node: modules.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromedriver, findChromium, findOnPath, isProgram } from './find.mjs';
import { withLock } from './lock.mjs';
import { runAsProgram } from './main.mjs';
import { log, readOutput, runQuietly } from './processes.mjs';

export { findChromedriver, findChromium } from './find.mjs';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The oldest Rust that builds the crate; Cargo.toml says the same. */
export const OLDEST_RUST = [1, 95];

/**
 * Tools from crates.io, in the one version that is used. wasm-bindgen's must equal the version
 * of the wasm-bindgen crate in Cargo.toml, to the digit.
 */
export const PINNED = {
  'wasm-bindgen-cli': {
    version: '0.2.129',
    programs: ['wasm-bindgen', 'wasm-bindgen-test-runner'],
  },
  'wasm-pack': { version: '0.15.1', programs: ['wasm-pack'] },
};

/** More of them, which only those tasks install that use them. */
export const ON_REQUEST = {
  mutants: { 'cargo-mutants': { version: '27.1.0', programs: ['cargo-mutants'] } },
  fuzz: { 'cargo-fuzz': { version: '0.13.2', programs: ['cargo-fuzz'] } },
};

/** What drives Firefox and WebKit: Debian's packages, and the programs that are wanted of them. */
const OTHER_BROWSERS = {
  'firefox-esr': ['firefox-esr', 'firefox'],
  'webkit2gtk-driver': ['WebKitWebDriver'],
  xvfb: ['Xvfb'],
  openssl: ['openssl'],
};

const WASM_TARGET = 'wasm32-unknown-unknown';

/** @typedef {Record<string, { version: string, programs: string[] }>} Tools */
/** @typedef {'npm' | 'rust' | 'wasm-tools' | 'browser' | 'browsers' | 'media' | 'build' | 'mutants' | 'fuzz'} Part */

/**
 * `ready` is cheap and starts no installer; `prepare` runs only where it says no. A part that is
 * `shared` is the same for every clone on the machine; one that is `onRequest` is no part of
 * everything.
 * @type {Record<Part, {
 *   needs: Part[], shared?: boolean, onRequest?: boolean,
 *   ready: () => Promise<boolean>, prepare: () => Promise<void>
 * }>}
 */
const PARTS = {
  npm: { needs: [], ready: async () => nodeModulesMatchLock(), prepare: installNodeModules },
  rust: { needs: [], shared: true, ready: rustIsReady, prepare: prepareRust },
  'wasm-tools': {
    needs: ['rust'],
    shared: true,
    ready: async () => (await missingTools(PINNED)).length === 0,
    prepare: () => installTools(PINNED),
  },
  mutants: {
    needs: ['rust'],
    shared: true,
    onRequest: true,
    ready: async () => (await missingTools(ON_REQUEST.mutants)).length === 0,
    prepare: () => installTools(ON_REQUEST.mutants),
  },
  fuzz: {
    needs: ['rust'],
    shared: true,
    onRequest: true,
    ready: async () =>
      (await nightlyIsThere()) && (await missingTools(ON_REQUEST.fuzz)).length === 0,
    prepare: prepareFuzz,
  },
  browser: {
    needs: [],
    shared: true,
    ready: async () => Boolean(findChromium() && findChromedriver()),
    prepare: () => installPackages(['chromium', 'chromium-driver']),
  },
  browsers: {
    needs: ['browser'],
    shared: true,
    ready: async () => missingPackages(OTHER_BROWSERS).length === 0,
    prepare: () => installPackages(missingPackages(OTHER_BROWSERS)),
  },
  media: { needs: [], ready: async () => false, prepare: prepareMedia },
  build: {
    needs: ['npm', 'rust', 'wasm-tools'],
    ready: async () => (await import('./build.mjs')).isBuilt(),
    prepare: async () => (await import('./build.mjs')).build(),
  },
};

/** @type {Map<Part, Promise<void>>} */
const begun = new Map();

/**
 * Makes sure of the named parts and of what they need: `npm` node_modules, `rust` compiler and
 * wasm target, `wasm-tools` wasm-pack and wasm-bindgen, `browser` Chromium and chromedriver,
 * `browsers` Firefox, WebKit and openssl besides, `media` the lab's generated media, `build` js/pkg,
 * `mutants` cargo-mutants, `fuzz` cargo-fuzz and a nightly Rust. Installs what is missing and says
 * so on stderr. Rejects, with a sentence that says what to do, where it cannot.
 * @param {Part[]} parts
 */
export async function ensureReady(parts) {
  for (const part of parts) {
    if (!PARTS[part])
      throw new Error(`Unknown part '${part}'. Parts: ${Object.keys(PARTS).join(', ')}.`);
    if (!begun.has(part)) begun.set(part, ensurePart(part));
    await begun.get(part);
  }
}

/** @param {Part} part */
async function ensurePart(part) {
  const { needs, shared, ready, prepare } = PARTS[part];
  await ensureReady(needs);
  if (await ready()) return;
  const clone = createHash('sha256').update(ROOT).digest('hex').slice(0, 8);
  await withLock(join(cacheFolder(), 'locks', shared ? part : `${part}-${clone}`), async () => {
    if (!(await ready())) await prepare();
  });
}

/** Folders to put first on PATH, so that the pinned tools and npm's wasm-opt are the ones found. */
export function toolPaths() {
  const all = Object.entries({ ...PINNED, ...ON_REQUEST.mutants, ...ON_REQUEST.fuzz });
  const tools = all.map(([name, { version }]) => toolFolder(name, version));
  return [join(ROOT, 'node_modules', '.bin'), ...tools].filter((folder) => existsSync(folder));
}

/** The environment with those folders on PATH. @returns {NodeJS.ProcessEnv} */
export function toolEnvironment() {
  return { ...process.env, PATH: [...toolPaths(), process.env.PATH ?? ''].join(delimiter) };
}

// npm

/** True if what is installed is what package-lock.json asks for. */
export function nodeModulesMatchLock(root = ROOT) {
  const installed = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  const wanted = packagesOf(join(root, 'package-lock.json'));
  if (!installed || !wanted) return false;
  delete wanted[''];
  const isAsWanted = (/** @type {string} */ path) =>
    installed[path]?.version === wanted[path].version;
  return (
    Object.keys(wanted).every(
      (path) => isAsWanted(path) || (wanted[path].optional && !installed[path]),
    ) && Object.keys(installed).every((path) => wanted[path])
  );
}

/**
 * @param {string} lockFile
 * @returns {Record<string, { version: string, optional?: boolean }> | undefined}
 */
function packagesOf(lockFile) {
  if (!existsSync(lockFile)) return undefined;
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
}

async function installNodeModules() {
  // No package here needs its install script.
  const flags = ['--ignore-scripts', '--include=dev', '--no-audit', '--no-fund'];
  await runQuietly('installing npm packages', 'about 20 s', 'npm', ['ci', ...flags], { cwd: ROOT });
}

// Rust

async function rustIsReady() {
  addCargoToPath();
  const [version, sysroot] = await Promise.all([
    readOutput('rustc', ['--version']),
    readOutput('rustc', ['--print', 'sysroot']),
  ]);
  checkRustVersion(version);
  return missingRustParts(String(sysroot).trim()).length === 0;
}

/** rustup's programs are found even in a shell that has not read its settings. */
function addCargoToPath() {
  const folder = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'bin');
  if (findOnPath('cargo') || !existsSync(folder)) return;
  process.env.PATH = [process.env.PATH, folder].filter(Boolean).join(delimiter);
}

/** Throws unless this output of `rustc --version` names a Rust that is new enough. */
export function checkRustVersion(/** @type {string | undefined} */ output) {
  const wanted = OLDEST_RUST.join('.');
  if (output === undefined) {
    throw new Error(
      `Rust ${wanted} or later is needed and rustc was not found. Install it from https://rustup.rs.`,
    );
  }
  const [, major, minor] = (/rustc (\d+)\.(\d+)/.exec(output) ?? []).map(Number);
  const isOldEnough =
    major > OLDEST_RUST[0] || (major === OLDEST_RUST[0] && minor >= OLDEST_RUST[1]);
  if (!isOldEnough) {
    throw new Error(
      `Rust ${wanted} or later is needed, this is ${output.trim()}. Run \`rustup update stable\`.`,
    );
  }
}

/** @param {string} sysroot */
function missingRustParts(sysroot) {
  const missing = [];
  if (!existsSync(join(sysroot, 'lib', 'rustlib', WASM_TARGET, 'lib'))) missing.push('target');
  if (!isProgram(join(sysroot, 'bin', 'cargo-clippy'))) missing.push('clippy');
  if (!isProgram(join(sysroot, 'bin', 'cargo-fmt'))) missing.push('rustfmt');
  return missing;
}

async function prepareRust() {
  if (!findOnPath('rustup')) {
    throw new Error(
      `This Rust lacks the ${WASM_TARGET} target, clippy or rustfmt, and there is no rustup to add them. ` +
        'Install rustup from https://rustup.rs, or these three from where this Rust came.',
    );
  }
  const sysroot = String(await readOutput('rustc', ['--print', 'sysroot'])).trim();
  for (const part of missingRustParts(sysroot)) {
    const args = part === 'target' ? ['target', 'add', WASM_TARGET] : ['component', 'add', part];
    await runQuietly(`adding Rust's ${args[2]}`, 'about 20 s', 'rustup', args, { cwd: ROOT });
  }
}

// Tools from crates.io

/** Where tools of every clone are kept: $HOLDFAST_TOOLS, else the user's cache folder. */
export function cacheFolder() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return process.env.HOLDFAST_TOOLS || join(cache, 'holdfast');
}

/** @param {string} name @param {string} version */
function toolFolder(name, version) {
  return join(cacheFolder(), `${name}-${version}`, 'bin');
}

/** @param {Tools} tools */
async function missingTools(tools) {
  const missing = [];
  for (const [name, { version, programs }] of Object.entries(tools)) {
    const kept = programs.every((program) => isProgram(join(toolFolder(name, version), program)));
    if (!kept && !(await isOnPath(programs, version))) missing.push({ name, version });
  }
  return missing;
}

/** True if PATH holds all these programs in this version. @param {string[]} programs @param {string} version */
async function isOnPath(programs, version) {
  if (!programs.every((program) => findOnPath(program))) return false;
  const output = await readOutput(programs[0], ['--version']);
  return output?.trim().split(' ').at(-1) === version;
}

/** @param {Tools} tools */
async function installTools(tools) {
  for (const { name, version } of await missingTools(tools)) {
    const args = [
      'install',
      name,
      '--version',
      version,
      '--locked',
      '--quiet',
      '--root',
      dirname(toolFolder(name, version)),
    ];
    // Away from this folder, whose .cargo/config.toml is meant for the crate alone.
    const cwd = tmpdir();
    await runQuietly(
      `building ${name} ${version}`,
      '2 to 7 minutes, once per machine',
      'cargo',
      args,
      { cwd },
    );
  }
}

/** The fuzzer's instruments are in the nightly compiler alone. */
async function nightlyIsThere() {
  return (await readOutput('rustc', ['+nightly', '--version'])) !== undefined;
}

async function prepareFuzz() {
  if (!findOnPath('rustup')) {
    throw new Error('Fuzzing takes a nightly Rust. Install rustup from https://rustup.rs.');
  }
  if (!(await nightlyIsThere())) {
    const args = ['toolchain', 'install', 'nightly', '--profile', 'minimal'];
    await runQuietly('adding a nightly Rust', 'about a minute', 'rustup', args, { cwd: ROOT });
  }
  await installTools(ON_REQUEST.fuzz);
}

// Packages of the system

/**
 * The packages none of whose programs is on the search path.
 * @param {Record<string, string[]>} packages programs by package
 * @param {string} [searchPath]
 */
export function missingPackages(packages, searchPath) {
  return Object.keys(packages).filter((name) => !findOnPath(packages[name], searchPath));
}

/** What to do where these cannot be installed. @param {string} list of packages */
export const packagesAdvice = (list) =>
  `Missing: ${list}. On Debian and Ubuntu run \`sudo apt-get update && sudo apt-get install ${list}\`; ` +
  'elsewhere install Chromium or Chrome with its chromedriver, Firefox, WebKitWebDriver with Xvfb, ' +
  'openssl, and ffmpeg. The variables CHROMIUM and CHROMEDRIVER may name a browser and driver that ' +
  'are not on PATH.';

/** @param {string[]} packages */
async function installPackages(packages) {
  const list = packages.join(' ');
  if (process.getuid?.() !== 0 || !findOnPath('apt-get')) throw new Error(packagesAdvice(list));
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await runQuietly('reading the package lists', 'about 10 s', 'apt-get', ['update'], { env });
  // Another installer may be at work: it is waited for.
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  const args = ['install', '--yes', '--no-install-recommends', ...wait, ...packages];
  await runQuietly(`installing ${list}`, 'about a minute', 'apt-get', args, { env });
}

// Media

async function prepareMedia() {
  mkdirSync(cacheFolder(), { recursive: true });
  if (!findOnPath('ffmpeg')) await installPackages(['ffmpeg']);
  const { ensureMedia } = await import('../lab/media.mjs');
  await ensureMedia({ log });
}

runAsProgram(import.meta.url, async (args) => {
  const started = performance.now();
  const everything = Object.keys(PARTS).filter(
    (part) => !PARTS[/** @type {Part} */ (part)].onRequest,
  );
  await ensureReady(/** @type {Part[]} */ (args.length ? args : everything));
  log(`holdfast: ready (${((performance.now() - started) / 1000).toFixed(1)} s)`);
});
