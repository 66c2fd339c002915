// @ts-check
/** What the tests of the package share: engines with short ladders, spies, and patience. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// Not the globals, which tests replace.
import { clearTimeout, setTimeout } from 'node:timers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createEngine, DEFAULT_SITES } from 'holdfast';

/** @typedef {import('holdfast').EngineOptions} EngineOptions */
/** @typedef {import('holdfast').SiteOptions} SiteOptions */
/** @typedef {import('holdfast').Site} Site */
/** @typedef {Record<string, any>} Failure the fields of an error that a test looks at */

/** A ladder of 50 ms steps. @type {SiteOptions} */
const QUICK = {
  attempts: 3,
  backoff: { base: 50, factor: 1, cap: 50 },
  headersTimeout: 5000,
  stallTimeout: 5000,
};

/**
 * Options in which every site has a short ladder.
 *
 * @param {SiteOptions} [policy] for all sites
 * @param {EngineOptions} [options]
 * @returns {EngineOptions}
 */
export function quick(policy, options) {
  const names = /** @type {Site[]} */ (Object.keys(DEFAULT_SITES));
  const sites = names.map((site) => {
    const own = site === 'other' ? { attempts: 1 } : {};
    // What is for licenses alone is refused elsewhere.
    const foreign = /^(license|certificate)$/.test(site)
      ? {}
      : { singleUse: undefined, refreshBeforeRetry: undefined };
    const shared = { ...QUICK, ...own, onExhausted: 'reject', ...policy, ...foreign };
    return [site, { ...shared, allowOverride: true }];
  });
  return { sites: Object.fromEntries(sites), ...options };
}

/**
 * Each path is a host of its own: what is learnt of one is not held against the others.
 *
 * @type {EngineOptions}
 */
export const OWN_HOSTS = { getCdnId: (url) => new URL(url).pathname };

/**
 * An engine with short ladders that is in charge, and is destroyed after the test.
 *
 * @param {{ after(fn: () => void): void }} test
 * @param {SiteOptions} [policy]
 * @param {EngineOptions} [options]
 */
export async function engineFor(test, policy, options) {
  const engine = createEngine(quick(policy, options));
  test.after(() => engine.destroy());
  assert.equal(await engine.ready, true);
  return engine;
}

/** What a promise rejects with. @param {Promise<unknown>} promise @returns {Promise<Failure>} */
export async function failureOf(promise) {
  try {
    await promise;
  } catch (error) {
    return /** @type {Failure} */ (error);
  }
  assert.fail('nothing was thrown');
}

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(() => resolve(undefined), ms));

/**
 * Waits until something holds.
 *
 * @template T
 * @param {() => T} test
 * @param {string} [what]
 * @param {number} [patience]
 * @returns {Promise<NonNullable<T>>}
 */
export async function eventually(test, what = String(test), patience = 10_000) {
  const end = performance.now() + patience;
  for (;;) {
    const value = test();
    if (value) return value;
    if (performance.now() > end) assert.fail(`never came true: ${what}`);
    await sleep(5);
  }
}

/**
 * Rejects in place of a promise that does not settle in time.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {number} ms
 * @param {string} what
 * @returns {Promise<T>}
 */
export function within(promise, ms, what) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${ms} ms`)), ms);
  });
  return Promise.race([promise, /** @type {Promise<never>} */ (late)]).finally(() =>
    clearTimeout(timer),
  );
}

/** All bytes of an iterable. @param {AsyncIterable<Uint8Array>} chunks */
export async function bytesOf(chunks) {
  const all = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/**
 * The timers that the package has armed. The HTTP client arms others, so whoever calls is
 * looked at.
 *
 * @param {{ after(fn: () => void): void }} test
 * @returns {Set<unknown>}
 */
export function spyTimers(test) {
  const usual = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  /** @type {Set<unknown>} */
  const armed = new Set();
  const spies = {
    /** @type {(call: (...args: any[]) => void, ms: number, ...args: any[]) => unknown} */
    setTimeout(call, ms, ...args) {
      const timer = setTimeout(() => {
        armed.delete(timer);
        call(...args);
      }, ms);
      if (/\/js\/(pkg\/core|ladder)\.js/.test(String(new Error().stack))) armed.add(timer);
      return timer;
    },
    clearTimeout(/** @type {NodeJS.Timeout} */ timer) {
      armed.delete(timer);
      clearTimeout(timer);
    },
  };
  Object.assign(globalThis, spies);
  test.after(() => void Object.assign(globalThis, usual));
  return armed;
}

/** A signal that counts who listens. */
export function spySignal() {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (/** @type {any[]} */ ...args) => {
    listeners += 1;
    add(.../** @type {[any, any]} */ (args));
  };
  signal.removeEventListener = (/** @type {any[]} */ ...args) => {
    listeners -= 1;
    remove(.../** @type {[any, any]} */ (args));
  };
  return { controller, signal, listeners: () => listeners };
}

/**
 * Takes over a method of the console.
 *
 * @param {{ after(fn: () => void): void }} test
 * @param {'warn' | 'error'} method
 */
export function hush(test, method) {
  /** @type {unknown[][]} */
  const calls = [];
  const usual = console[method];
  console[method] = (...args) => void calls.push(args);
  test.after(() => {
    console[method] = usual;
  });
  return calls;
}

/**
 * Collects uncaught errors in place of the test runner, which would fail the test.
 *
 * @param {{ after(fn: () => void): void }} test
 */
export function catchUncaught(test) {
  /** @type {unknown[]} */
  const errors = [];
  const events = /** @type {const} */ (['uncaughtException', 'unhandledRejection']);
  const usual = events.map((event) => process.listeners(/** @type {any} */ (event)));
  const note = (/** @type {unknown} */ error) => void errors.push(error);
  for (const event of events) {
    process.removeAllListeners(event);
    process.on(event, note);
  }
  test.after(() => {
    events.forEach((event, i) => {
      process.removeAllListeners(event);
      for (const listener of usual[i]) process.on(event, /** @type {any} */ (listener));
    });
  });
  return errors;
}

/**
 * A copy of the package of its own, in which no module is loaded yet.
 *
 * @param {{ after(fn: () => Promise<void>): void }} test
 */
export async function freshPackage(test) {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-package-'));
  test.after(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, 'package.json'), '{ "type": "module" }');
  await cp(fileURLToPath(new URL('../../js', import.meta.url)), join(root, 'js'), {
    recursive: true,
  });
  /** @param {string} file */
  const load = (file) => import(pathToFileURL(join(root, 'js', file)).href);
  return {
    /** Where its files are. */
    url: pathToFileURL(join(root, 'js/')).href,
    /** @returns {Promise<typeof import('holdfast')>} */
    node: () => load('node.js'),
    /** @returns {Promise<typeof import('holdfast/slim')>} */
    slim: () => load('slim.js'),
    /** @returns {Promise<typeof import('holdfast/inline')>} */
    inline: () => load('inline.js'),
    /** @returns {Promise<typeof import('../../js/pkg/core.js')>} */
    core: () => load('pkg/core.js'),
  };
}
