// @ts-check
// What JavaScript calls by name, and the core by number, is the same on both sides.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CLASSES, EVENTS, EXHAUSTED, HURRIES, REASONS, SITES, WAITS } from '../../js/names.js';
import { DEFAULT_SITES } from '../../js/sites.js';

const ROOT = new URL('../../', import.meta.url);

/** @param {string} path */
const read = (path) => readFileSync(new URL(path, ROOT), 'utf8');

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
    names[Number(code)] = variant.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase();
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
  const flags = /const FLAGS = \{([^}]*)\}/.exec(read('js/engine.js'))?.[1];
  assert.ok(flags);
  const ours = [...flags.matchAll(/(\w+): (\d+)/g)].map(([, name, bit]) => [name, bit]);
  const source = read('src/web/driver.rs');
  const theirs = [...source.matchAll(/const ([A-Z_]+): u32 = (\d+);/g)].map(([, name, bit]) => [
    name
      .toLowerCase()
      .replace(/_only$/, '')
      .replace(/_(\w)/g, (_, letter) => letter.toUpperCase()),
    bit,
  ]);
  assert.deepEqual(ours, theirs);
});

test('the reasons of a hurry are the ones that the core logs', () => {
  const doc = /\/\/\/ A wait was cut short\.([^]*?)Hurried = /.exec(read('src/core/log.rs'))?.[1];
  const codes = [...(doc ?? '').matchAll(/\b(\d):/g)].map(([, code]) => Number(code));
  // The first is written as `detail` 0.
  assert.deepEqual(codes.length ? [...HURRIES.keys()] : [], [...HURRIES.keys()]);
  assert.equal(HURRIES.length, 3);
});

test('R5: the defaults of the sites are those of the core', (t) => {
  if (!existsSync(new URL('tests/vectors/sites.json', ROOT))) {
    return t.skip('tests/vectors/sites.json is not there');
  }
  const vector = JSON.parse(read('tests/vectors/sites.json'));
  assert.deepEqual(JSON.parse(JSON.stringify(DEFAULT_SITES)), vector.sites ?? vector);
  assert.deepEqual(Object.keys(vector.sites ?? vector), [...SITES]);
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
