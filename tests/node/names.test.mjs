// @ts-check
// What JavaScript calls by name, and the core by number, is the same on both sides.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { hooksFor } from '../../js/hooks.js';
import {
  ALLOWED,
  ANSWERS,
  CLASSES,
  CONNECTIONS,
  EVENTS,
  EXHAUSTED,
  FACT,
  HEALTHS,
  HOOKS,
  HURRIES,
  REASONS,
  RECOVERIES,
  SCOPES,
  SITES,
  VIEW,
  WAITS,
} from '../../js/names.js';
import { flagsOf } from '../../js/link.js';
import { flatten, parseOptions } from '../../js/options.js';
import { DEFAULT_BREAKER, DEFAULT_BUDGET, DEFAULT_SITES } from '../../js/sites.js';

const ROOT = new URL('../../', import.meta.url);

/** @param {string} path */
const read = (path) => readFileSync(new URL(path, ROOT), 'utf8');

/** @param {string} name in capitals and small letters */
const kebab = (name) => name.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase();

/** @param {string} name in capitals with underscores */
const camel = (name) => name.toLowerCase().replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** The text without the marks and the line breaks of comments. @param {string} text */
const flat = (text) => text.replace(/\s*\n\s*\/\/[/!]\s*/g, ' ');

/**
 * The names of an enum of the core, by their codes.
 *
 * @param {string} file @param {string} name
 */
function variants(file, name) {
  const source = read(`src/core/${file}`);
  const body = new RegExp(`pub enum ${name} \\{([^}]*)\\}`).exec(source)?.[1];
  assert.ok(body, `${file} has no enum ${name}`);
  /** @type {string[]} */
  const names = [];
  for (const [, variant, code] of body.matchAll(/^\s*(\w+) = (\d+),/gm)) {
    names[Number(code)] = kebab(variant);
  }
  const declared = body.match(/^\s*[A-Z]\w*\b/gm)?.length;
  assert.equal(names.length, declared, 'every variant has a code, and codes have no gaps');
  return names;
}

const ENUMS = /** @type {const} */ ([
  ['site.rs', 'Site', SITES],
  ['classify.rs', 'FailureClass', CLASSES],
  ['error.rs', 'Reason', REASONS],
  ['retry.rs', 'WaitReason', WAITS],
  ['log.rs', 'LogEvent', EVENTS],
  ['retry.rs', 'Exhausted', EXHAUSTED],
  ['recovery.rs', 'Recovery', RECOVERIES],
  ['breaker.rs', 'Health', HEALTHS],
  ['hook.rs', 'Hook', HOOKS],
  ['engine/facts.rs', 'Scope', SCOPES],
]);

for (const [file, name, names] of ENUMS) {
  test(`the names of ${name} are those of the core, in its order`, () => {
    assert.deepEqual([...names], variants(file, name));
  });
}

test('the codes of alternatives are the ones that JavaScript sends', () => {
  assert.deepEqual(variants('retry.rs', 'Alternatives'), ['unknown', 'none', 'some']);
});

test('the flags of a request are the ones that JavaScript sends', () => {
  const source = read('src/web/driver.rs');
  const theirs = Object.fromEntries(
    [...source.matchAll(/const ([A-Z_]+): u32 = (\d+);/g)].map(([, name, bit]) => [
      camel(name.replace(/_ONLY$/, '')),
      Number(bit),
    ]),
  );
  const bare = { site: 'segment', url: 'https://cdn.example/a', range: null };
  const reload = { ...bare, site: 'playlist-reload' };
  const bitsOf = (/** @type {any} */ request) => flagsOf(request);
  const ours = {
    streaming: bitsOf({ ...bare, streaming: true }),
    once: bitsOf({ ...bare, once: true }),
    noBody: bitsOf({ ...bare, noBody: true }),
    blocking: bitsOf({ ...reload, url: 'a?_HLS_msn=1' }) & ~theirs.directives,
    optional: bitsOf({ ...bare, optional: true }),
    directives: bitsOf({ ...reload, url: 'a?_HLS_skip=YES' }),
    ahead: bitsOf({ ...bare, ahead: true }),
    ranged: bitsOf({ ...bare, range: 'bytes=0-1' }),
    inOne: bitsOf({ ...bare, inOne: true }),
    seesStatus: bitsOf({ ...bare, keepsRefusal: true }),
  };
  assert.deepEqual(ours, theirs);
  assert.equal(bitsOf(bare), 0);
});

test('the bits of hooks are the ones that JavaScript sends', () => {
  const source = read('src/core/hook.rs');
  const bit = Object.fromEntries(
    [...source.matchAll(/pub const ([A-Z_]+): Self = Self\((\d+)\);/g)].map(([, name, bit]) => [
      camel(name),
      Number(bit),
    ]),
  );
  assert.equal(Object.keys(bit).length, 4);
  const hook = () => undefined;
  const bitsOf = (/** @type {any} */ hooks, /** @type {any} */ site) =>
    hooksFor({ sites: { [site]: hooks } }, undefined, site).bits;
  assert.equal(bitsOf({ shouldRetry: hook }, 'segment'), bit.shouldRetry);
  assert.equal(bitsOf({ refreshPlaybackToken: hook }, 'segment'), bit.refreshToken);
  assert.equal(bitsOf({ refreshLicenseRequest: hook }, 'license'), bit.refreshLicense);
  assert.equal(
    bitsOf({ refreshLicenseRequest: hook, refreshBeforeRetry: true }, 'license'),
    bit.refreshLicense | bit.refreshBeforeRetry,
  );
});

test('the facts have the codes that the driver knows them by, and no two the same', () => {
  const source = read('src/web/fact.rs');
  const theirs = [...source.matchAll(/const ([A-Z_]+): u32 = (\d+);/g)].map(([, name, code]) => [
    camel(name),
    Number(code),
  ]);
  assert.deepEqual(Object.entries(FACT), theirs);
  assert.deepEqual(Object.values(FACT), [...Object.keys(FACT).keys()]);
});

test('the views have the codes that the driver shows them by', () => {
  const source = read('src/web/records.rs');
  const doc = flat(/What the engine shows([^]*?)\.\s*\n/.exec(source)?.[1] ?? '');
  const named = [...doc.matchAll(/(\d) its (\w+)/g)].map(([, code, name]) => [name, Number(code)]);
  assert.deepEqual(Object.entries(VIEW), named);
  const shown = [...source.matchAll(/^ {8}(\d|_) => \{[^]*?engine\s*\.(\w+)\(/gm)];
  assert.deepEqual(
    shown.map(([, code, method]) => [code, method]),
    [
      ['0', 'retry_states'],
      ['1', 'hosts'],
      ['2', 'log'],
      ['4', 'path_state'],
      ['_', 'estimator'],
    ],
  );
});

test('the answers of hooks have the codes that the driver and the log know them by', () => {
  const body = /pub enum Answer \{([^}]*)\}/.exec(read('src/core/hook.rs'))?.[1] ?? '';
  const names = [...body.matchAll(/^ {4}([A-Z]\w*)/gm)].map(([, name]) => kebab(name));
  assert.deepEqual([...ANSWERS], names);
  const parsed = [...read('src/web/fact.rs').matchAll(/(\d|_) => Answer::(\w+)/g)];
  const codes = parsed.map(([, code, name]) => [kebab(name), code === '_' ? 0 : Number(code)]);
  assert.deepEqual(
    Object.fromEntries(codes),
    Object.fromEntries([...ANSWERS.entries()].map(([code, name]) => [name, code])),
  );
  assert.deepEqual(details('Answered'), ['no opinion', 'no', 'yes', 'after']);
});

/**
 * What the core says that the detail of an event is, by its codes.
 *
 * @param {string} event
 */
function details(event) {
  const log = read('src/core/log.rs');
  const body = /pub enum LogEvent \{([^}]*)\}/.exec(log)?.[1] ?? '';
  const doc = flat(body.split(/ = \d+,/).find((text) => text.trim().endsWith(event)) ?? '');
  const codes = [...doc.matchAll(/\b(\d): ([^;.`]+)/g)];
  assert.deepEqual(
    codes.map(([, code]) => Number(code)),
    [...codes.keys()],
  );
  return codes.map(([, , text]) => text.trim());
}

test('the reasons of a hurry, and the scopes of a limit, are the ones that the core logs', () => {
  for (const [event, names] of /** @type {const} */ ([
    ['Hurried', HURRIES],
    ['Throttled', SCOPES],
  ])) {
    const told = details(event);
    assert.equal(told.length, names.length, event);
    for (const [code, name] of names.entries()) {
      assert.ok(told[code].includes(name.split('-')[0]), `${event} ${code}: ${told[code]}`);
    }
  }
});

test('R5: the defaults of the sites are those of the core', () => {
  const vector = JSON.parse(read('tests/vectors/sites.json'));
  assert.deepEqual(JSON.parse(JSON.stringify(DEFAULT_SITES)), vector);
  assert.deepEqual(Object.keys(vector), [...SITES]);
});

test('R5: the defaults of the budget and of the breaker are those of the core', () => {
  const { budget, breaker } = JSON.parse(read('tests/vectors/protection.json'));
  assert.deepEqual({ ...DEFAULT_BUDGET }, budget);
  assert.deepEqual({ ...DEFAULT_BREAKER }, breaker);
});

test('R5: the numbers of the options stand where the core reads them', () => {
  const source = read('src/web/options.rs');
  const [head, budget, breaker, row] = [...flat(source).matchAll(/`\[(\w+(?:, \w+)+)\]`/g)].map(
    ([, names]) => names.split(', '),
  );
  assert.deepEqual(budget, Object.keys(DEFAULT_BUDGET));
  assert.deepEqual(breaker, Object.keys(DEFAULT_BREAKER));
  const size = (/** @type {string} */ name) =>
    Number(new RegExp(`const ${name}: usize = (\\d+);`).exec(source)?.[1]);
  assert.equal(size('HEAD'), head.length + budget.length + breaker.length);
  assert.equal(size('ROW'), row.length);

  // Each field of one site, changed alone, changes the number in its place and no other.
  const usual = flatten({}, parseOptions({}));
  assert.equal(usual.length, size('HEAD') + size('ROW') * SITES.length);
  const first = size('HEAD') + size('ROW') * SITES.indexOf('segment');
  for (const [place, name] of row.entries()) {
    const isBackoff = ['base', 'factor', 'cap'].includes(name);
    const values = /** @type {Record<string, any>} */ ({ onExhausted: 'hold', resume: false });
    const value = values[name] ?? usual[first + place] + 1;
    const changes = isBackoff ? { backoff: { [name]: value } } : { [name]: value };
    const policy = { ...changes, allowOverride: true };
    const options = /** @type {any} */ ({ sites: { segment: policy } });
    const own = flatten(options, parseOptions(options));
    const changed = [...own.keys()].filter((i) => own[i] !== usual[i]);
    // The first headers' bound is never longer than that of all.
    assert.deepEqual(changed, name === 'firstHeadersTimeout' ? [] : [first + place], name);
  }
});

test('the declared types have the same names', () => {
  const types = read('js/index.d.ts');
  for (const [type, names] of /** @type {const} */ ([
    ['Site', SITES],
    ['FailureClass', CLASSES],
    ['Reason', REASONS],
    ['WaitReason', WAITS],
    ['LogEvent', EVENTS],
    ['ExhaustedMode', EXHAUSTED],
    ['Recovery', RECOVERIES],
    ['Health', HEALTHS],
    ['ConnectionClass', CONNECTIONS],
    ['Allowed', ALLOWED],
  ])) {
    const body = new RegExp(`export type ${type} =([^;]*);`).exec(types)?.[1] ?? '';
    assert.deepEqual(
      [...body.matchAll(/'([^']+)'/g)].map(([, name]) => name),
      [...names],
      type,
    );
  }
  const codes = /export type ErrorCode =([^;]*);/.exec(types)?.[1] ?? '';
  const known = new Set([...codes.matchAll(/'([^']+)'/g)].map(([, name]) => name));
  for (const name of CLASSES.slice(1)) {
    assert.ok(known.has(name.toUpperCase().replaceAll('-', '_')), `ErrorCode has ${name}`);
  }
});
