// @ts-check
// What the documents say of the limits of this package, and what shows that it is true.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { bytesOf, engineFor } from './fixture.mjs';
import { answer, content, ok, serve } from './server.mjs';
import { createTrackedFetch as theirs } from './spf.mjs';

/** @typedef {import('holdfast').BandwidthState} BandwidthState */

const ROOT = new URL('../../', import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, ROOT), 'utf8');
const README = read('README.md').replace(/\s+/g, ' ');
const CODE = readdirSync(new URL('js/', ROOT))
  .filter((name) => name.endsWith('.js'))
  .map((name) => ({ name, text: read(`js/${name}`) }));

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => (server = await serve()));
after(() => server.close());

test('R66: the README says that a wrapped fetch cannot keep retries out of the estimate of SPF', () => {
  assert.match(
    README,
    /Wrapping the global `fetch` under an unchanged SPF retries too, but cannot keep retries out/,
  );
});

test('R66: under a wrapped fetch the estimator of SPF samples a retry, and ours does not', async (t) => {
  const usual = globalThis.fetch;
  // Its own fetch, or it would be wrapped by itself.
  const engine = await engineFor(t, { backoff: { base: 1, cap: 1 } }, { fetch: usual });
  const media = content(300_000);
  t.after(() => void (globalThis.fetch = usual));
  /** @param {any} tracked @param {string} path */
  const sampled = async (tracked, path) => {
    let bytes = 0;
    const zero = {
      ...{ fastEstimate: 0, fastTotalWeight: 0, slowEstimate: 0, slowTotalWeight: 0 },
      bytesSampled: 0,
    };
    const url = server.on(path, answer(503), ok(media));
    const fetchBytes = tracked(zero, (/** @type {BandwidthState} */ next) => {
      bytes = next.bytesSampled;
    });
    await bytesOf(await fetchBytes({ url }));
    return bytes;
  };
  globalThis.fetch = /** @type {typeof fetch} */ (
    (input, init) => engine.fetch(/** @type {any} */ (input), { ...init, site: 'segment' })
  );
  assert.equal(await sampled(theirs, '/claims/theirs.mp4'), 300_000);
  globalThis.fetch = usual;
  const { createTrackedFetch } = await import('holdfast');
  const ours = (/** @type {any} */ zero, /** @type {any} */ onSample) =>
    createTrackedFetch(zero, onSample, { engine });
  assert.equal(await sampled(ours, '/claims/ours.mp4'), 0);
});

test('R70: no URL is asked for that the caller did not ask for', async (t) => {
  const engine = await engineFor(t, {
    attempts: 2,
    backoff: { base: 1, cap: 1 },
    onExhausted: 'reject',
  });
  engine.setPathways({ other: 'http://127.0.0.1:9' });
  engine.declareAlternatives('segment', 3);
  const url = server.on('/claims/dead.mp4', answer(503));
  /** @type {string[]} */
  const asked = [];
  const usual = globalThis.fetch;
  t.after(() => void (globalThis.fetch = usual));
  globalThis.fetch = (input, init) => {
    asked.push(String(input));
    return usual(input, init);
  };
  await assert.rejects(engine.load({ url, site: 'segment' }));
  assert.deepEqual(asked, [url, url]);
});

test('R70: the documents say that it changes no hosts, and offers no proxying and no circumvention', () => {
  assert.match(
    README,
    /It never asks for a URL that it was not given\. It also offers no proxying and no circumvention/,
  );
});

test('R42: nothing of a player, of its failover or of its playlists is imported', () => {
  for (const { name, text } of CODE) {
    for (const [, from] of text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
      const isOwn = from.startsWith('./') || (name === 'node.js' && from.startsWith('node:'));
      assert.ok(isOwn, `${name} imports ${from}`);
    }
  }
});

test('R27: 3003 (host resolution) is given nowhere', () => {
  for (const { name, text } of CODE) assert.doesNotMatch(text, /\b3003\b/, name);
  const core = readdirSync(new URL('src/core/', ROOT)).filter((name) => name.endsWith('.rs'));
  for (const name of core) {
    const code = read(`src/core/${name}`).replace(/\/\/.*/g, '');
    assert.doesNotMatch(code, /\b3_?003\b/, name);
  }
});

test('R72: the documents say what is left to others', () => {
  assert.match(
    README,
    /What is left to others\?\*\* Signing tokens, enforcing rate limits, checking DNS/,
  );
});

test('R44: no signature of a vendor is built in', () => {
  const all =
    CODE.map(({ text }) => text).join('\n') +
    read('src/core/throttle.rs') +
    read('src/core/classify.rs');
  assert.doesNotMatch(all, /\bmux\b|vrlt[-_]|x-mux/i);
});
