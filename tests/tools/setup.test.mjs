// @ts-check
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import test from 'node:test';
import { findOnPath } from './find.mjs';
import {
  OLDEST_RUST,
  PINNED,
  ROOT,
  checkRustVersion,
  ensureReady,
  missingPackages,
  nodeModulesMatchLock,
  packagesAdvice,
} from './setup.mjs';

/** @param {import('node:test').TestContext} t */
function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-setup-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

const manifest = readFileSync(join(ROOT, 'Cargo.toml'), 'utf8');

test("wasm-bindgen's tool is pinned to the version of its crate", () => {
  const [, version] = /^wasm-bindgen = "=([^"]+)"$/m.exec(manifest) ?? [];
  assert.equal(PINNED['wasm-bindgen-cli'].version, version);
});

test('the oldest Rust is the one that Cargo.toml names', () => {
  const [, version] = /^rust-version = "([^"]+)"$/m.exec(manifest) ?? [];
  assert.equal(OLDEST_RUST.join('.'), version);
});

test('a Rust that is new enough is accepted', () => {
  checkRustVersion('rustc 1.95.0 (59807616e 2026-04-14)');
  checkRustVersion('rustc 1.101.0-nightly (0123456 2027-01-01)');
  checkRustVersion('rustc 2.0.0');
});

test('a Rust that is old, unreadable or absent is refused with what to do', () => {
  assert.throws(() => checkRustVersion('rustc 1.94.1 (abc 2026-03-01)'), /rustup update stable/);
  assert.throws(() => checkRustVersion('gibberish'), /rustup update stable/);
  assert.throws(() => checkRustVersion(undefined), /rustup\.rs/);
});

test('an unknown part is refused by name', async () => {
  await assert.rejects(ensureReady([/** @type {any} */ ('npn')]), /Unknown part 'npn'.*npm/);
});

test('a program is found on the path in the order of its names, and must be executable', (t) => {
  const [first, second] = [temporaryFolder(t), temporaryFolder(t)];
  writeFileSync(join(first, 'tool'), '');
  writeFileSync(join(second, 'tool'), '');
  chmodSync(join(second, 'tool'), 0o755);
  const path = [first, second].join(delimiter);
  assert.equal(findOnPath(['absent', 'tool'], path), join(second, 'tool'));
  assert.equal(findOnPath('absent', path), undefined);
});

test('a package is missing if none of its programs is there, and the advice names it', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'firefox'), '', { mode: 0o755 });
  const packages = { 'firefox-esr': ['firefox-esr', 'firefox'], xvfb: ['Xvfb'] };
  assert.deepEqual(missingPackages(packages, folder), ['xvfb']);
  assert.match(packagesAdvice('xvfb'), /apt-get install xvfb`/);
});

/**
 * @param {import('node:test').TestContext} t
 * @param {Record<string, object>} wanted
 * @param {Record<string, object>} [installed]
 */
function cloneWith(t, wanted, installed) {
  const root = temporaryFolder(t);
  const packages = { '': { name: 'holdfast' }, ...wanted };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
  if (installed) {
    mkdirSync(join(root, 'node_modules'));
    const file = join(root, 'node_modules', '.package-lock.json');
    writeFileSync(file, JSON.stringify({ packages: installed }));
  }
  return root;
}

test('node_modules match if every package has its version', (t) => {
  const packages = { 'node_modules/a': { version: '1.0.0' } };
  assert.equal(nodeModulesMatchLock(cloneWith(t, packages, packages)), true);
});

test('node_modules that are absent, other, short or surplus do not match', (t) => {
  const one = { 'node_modules/a': { version: '1.0.0' } };
  const other = { 'node_modules/a': { version: '1.0.1' } };
  const both = { ...one, 'node_modules/b': { version: '1.0.0' } };
  assert.equal(nodeModulesMatchLock(cloneWith(t, one)), false);
  assert.equal(nodeModulesMatchLock(cloneWith(t, one, other)), false);
  assert.equal(nodeModulesMatchLock(cloneWith(t, both, one)), false);
  assert.equal(nodeModulesMatchLock(cloneWith(t, one, both)), false);
});

test('an optional package of another platform may be absent', (t) => {
  const a = { 'node_modules/a': { version: '1.0.0' } };
  const wanted = { ...a, 'node_modules/mac': { version: '1.0.0', optional: true } };
  assert.equal(nodeModulesMatchLock(cloneWith(t, wanted, a)), true);
});
