// @ts-check
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { holdersIn, isOf, numbersOf } from './holders.mjs';
import lines from './reporter.mjs';
import { COUNT, assign, documentOf, isHeld, parseRequirements, tally } from './requirements.mjs';
import { hashOfTree, keepResults, keptResults, rustResults } from './results.mjs';

/** @typedef {import('./results.mjs').TestResult} TestResult */

/** @param {import('node:test').TestContext} t */
function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-requirements-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** So that these examples are no tests of this file. @param {string} text */
const script = (text) => holdersIn('tests/node/a.test.mjs', text.replaceAll('call(', 'test('));

/** @type {(outcome: TestResult['outcome'], ...path: string[]) => TestResult} */
const titled = (outcome, ...path) => ({
  kind: 'node',
  file: 'tests/node/a.test.mjs',
  path,
  outcome,
});

test('numbers are read from the head of a name', () => {
  assert.deepEqual(numbersOf('r36_it_ends'), [36]);
  assert.deepEqual(numbersOf('r36_r37_it_ends'), [36, 37]);
  assert.deepEqual(numbersOf('r58_to_r62_it_ends'), [58, 59, 60, 61, 62]);
  assert.deepEqual(numbersOf('R36: it ends'), [36]);
  assert.deepEqual(numbersOf('R36, R38: it ends'), [36, 38]);
  assert.deepEqual(numbersOf('R36 and R38: it ends'), [36, 38]);
  assert.deepEqual(numbersOf('R1, R58–R60: it ends'), [1, 58, 59, 60]);
  assert.deepEqual(numbersOf('R58 to R60: it ends'), [58, 59, 60]);
});

test('a number within a name, or a word that looks like one, is none', () => {
  for (const name of ['it_ends_r36_times', 'retry_ends', 'r36', 'as R36: says', 'R36 ends']) {
    assert.deepEqual(numbersOf(name), [], name);
  }
});

test('Rust tests are found, and functions that are none are not', () => {
  const source = `
    #[test]
    fn r1_one() {}
    #[test]
    #[should_panic]
    fn r2_two() {}
    #[wasm_bindgen_test]
    async fn r3_three() {}
    fn r4_four() {}`;
  const found = holdersIn('tests/core/a.rs', source);
  assert.deepEqual(
    found.map(({ kind, name }) => [kind, name]),
    [
      ['native', 'r1_one'],
      ['native', 'r2_two'],
      ['wasm', 'r3_three'],
    ],
  );
});

test('a Rust test is known by its function, whatever its module', () => {
  const [holder] = holdersIn('src/core/a.rs', '#[test] fn r1_one() {}');
  assert.ok(isOf(holder, rustResults('test core::a::tests::r1_one ... ok\n', 'native')[0]));
  assert.ok(!isOf(holder, rustResults('test core::a::tests::r1_one_more ... ok\n', 'native')[0]));
  assert.ok(!isOf(holder, rustResults('test core::a::tests::r1_one ... ok\n', 'wasm')[0]));
});

test('titles are found in each kind of quotes, and what varies in them is left open', () => {
  const found = script(`call('R1: it\\'s', () => {}); call("R2: a", x); call(\`R3: \${n} is b\`, x);
    call('R4 is none', x); call(name, x);`);
  assert.deepEqual(
    found.map(({ name }) => name),
    ["R1: it's", 'R2: a', 'R3: … is b'],
  );
  assert.ok(isOf(found[2], titled('passed', 'R3: 404 (no) is b')));
  assert.ok(!isOf(found[2], titled('passed', 'R3: 404 is bad')));
});

test('a title of a group stands for all within it, in its own file', () => {
  const [group] = script("call('R1: group', x)");
  assert.ok(isOf(group, titled('passed', 'R1: group', 'inner', 'innermost')));
  assert.ok(!isOf(group, titled('passed', 'another', 'inner')));
  const elsewhere = { ...titled('passed', 'R1: group'), file: 'tests/node/b.test.mjs' };
  assert.ok(!isOf(group, elsewhere));
});

const LIST = Array.from({ length: COUNT }, (_, i) => ({
  id: `R${i + 1}`,
  status: i ? 'later' : 'held',
  text: 'It holds.',
}));

test('a list that is not whole, in order and of known words is refused by name', () => {
  const parse = (/** @type {unknown[]} */ list) => parseRequirements(JSON.stringify(list));
  assert.equal(parse(LIST).length, COUNT);
  assert.throws(() => parse(LIST.slice(1)), /R2 stands where R1 belongs/);
  assert.throws(() => parse(LIST.slice(0, -1)), /91 entries/);
  assert.throws(() => parse(LIST.with(4, { ...LIST[4], status: 'done' })), /status of R5 is done/);
  assert.throws(() => parse(LIST.with(4, { ...LIST[4], text: 'a\nb' })), /text of R5/);
});

test('a requirement is held by a test that passed, where none failed', () => {
  const [one] = assign(parseRequirements(JSON.stringify(LIST)), script("call('R1: it', x)"));
  const tallyOf = (/** @type {TestResult[]} */ ...results) => tally(one, results);
  assert.equal(isHeld(tallyOf(titled('passed', 'R1: it'))), true);
  assert.equal(isHeld(tallyOf()), false);
  assert.equal(isHeld(tallyOf(titled('skipped', 'R1: it'))), false);
  assert.equal(isHeld(tallyOf(titled('passed', 'R2: it'))), false);
  assert.deepEqual(tallyOf(titled('passed', 'R1: it'), titled('failed', 'R1: it')), {
    passed: 1,
    failed: 1,
  });
  assert.equal(isHeld({ passed: 1, failed: 1 }), false);
});

test('a test of a number beyond the list is refused by name', () => {
  const list = parseRequirements(JSON.stringify(LIST));
  assert.throws(() => assign(list, script("call('R93: it', x)")), /there is no R93: R93: it/);
});

test('the page names four tests and counts the others', () => {
  const list = parseRequirements(JSON.stringify(LIST));
  const six = [1, 2, 3, 4, 5, 6].map((i) => `call('R1: test|${i}', x)`).join(';');
  const page = documentOf(assign(list, script(six)));
  assert.match(
    page,
    /^\| R1 \| It holds\. \| held \| `tests\/node\/a.test.mjs`: .*; R1: test\\\|4; and 2 more \|$/m,
  );
  assert.match(page, /^\| R2 \| It holds\. \| later \| {2}\|$/m);
});

test('results are kept for the tree that they are of, the newest of each test', (t) => {
  const root = temporaryFolder(t);
  keepResults('node', 'a', [titled('failed', 'x'), titled('passed', 'y')], root);
  keepResults('node', 'a', [titled('passed', 'x')], root);
  assert.deepEqual(
    keptResults('a', root).map(({ path, outcome }) => [path[0], outcome]),
    [
      ['y', 'passed'],
      ['x', 'passed'],
    ],
  );
  assert.deepEqual(keptResults('b', root), []);
  assert.deepEqual(keptResults(undefined, root), []);
  keepResults('node', 'b', [], root);
  assert.deepEqual(keptResults('a', root), [], 'one tree at a time');
});

test('the hash of a tree follows what Git does not ignore, committed or not', async (t) => {
  const root = temporaryFolder(t);
  const write = (/** @type {string} */ name, /** @type {string} */ text) =>
    writeFileSync(join(root, name), text);
  assert.equal(await hashOfTree(root), undefined, 'no Git');
  execFileSync('git', ['init', '--quiet', root]);
  write('.gitignore', 'ignored\n');
  write('a', '1');
  const first = await hashOfTree(root);
  write('ignored', '1');
  mkdirSync(join(root, 'docs'));
  write('docs/requirements.md', 'generated');
  assert.equal(await hashOfTree(root), first);
  write('b', '1');
  const second = await hashOfTree(root);
  assert.notEqual(second, first);
  execFileSync('git', ['-C', root, 'add', 'a']);
  assert.equal(await hashOfTree(root), second);
  write('a', '2');
  assert.notEqual(await hashOfTree(root), second);
});

test('what the runners of Rust print is read', () => {
  const output = `test a::one ... ok
test a::two - should panic ... ok
test \u001b[31mb\u001b[0m ... FAILED
test c ... FAIL
test d ... ignored, for a reason
test result: ok. 2 passed; 2 failed;`;
  assert.deepEqual(
    rustResults(output, 'native').map(({ path, outcome }) => `${path.join('/')} ${outcome}`),
    ['a/one passed', 'a/two passed', 'b failed', 'c failed', 'd skipped'],
  );
});

test('the reporter gives each test its titles from the outermost on', async () => {
  const file = join(process.cwd(), 'a.test.mjs');
  /** @type {(type: string, name: string, nesting: number, rest?: object) => any} */
  const event = (type, name, nesting, rest) => ({ type, data: { name, nesting, file, ...rest } });
  async function* events() {
    yield event('test:start', 'group', 0);
    yield event('test:start', 'one', 1);
    yield event('test:pass', 'one', 1, { details: {} });
    yield event('test:start', 'two', 1);
    yield event('test:fail', 'two', 1, { details: {} });
    yield event('test:pass', 'group', 0, { details: { type: 'suite' } });
    yield event('test:start', 'three', 0);
    yield event('test:pass', 'three', 0, { skip: true });
    yield { type: 'test:diagnostic', data: { message: 'tests 3' } };
  }
  const found = [];
  for await (const line of lines(events())) found.push(JSON.parse(line));
  assert.deepEqual(found, [
    { file: 'a.test.mjs', path: ['group', 'one'], outcome: 'passed' },
    { file: 'a.test.mjs', path: ['group', 'two'], outcome: 'failed' },
    { file: 'a.test.mjs', path: ['three'], outcome: 'skipped' },
  ]);
});
