// @ts-check
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { ROOT, ensureReady } from './setup.mjs';
import { shortNames } from './short-names.mjs';

const [CUSTOM, TYPES, IMPORTS, FUNCTIONS, MEMORIES, EXPORTS, CODE] = [0, 1, 2, 3, 5, 7, 10];
const FUNCTION = 0;
const MEMORY = 2;
const I32 = 0x7f;
const CALL = 0x10;
const END = 0x0b;
const MODULE = './core_bg.js';

const NOW = '__wbg_now_0123456789abcdef';
const NOW_TOO = '__wbg_now_fedcba9876543210';
const CAST = '__wbindgen_cast_0000000000000001';
const SET_TIMEOUT = '__wbg_set_timeout_00112233445566ff';
const INVOKE = 'wasm_bindgen__convert__closures_____invoke__h0123456789abcdef';

test('the module and its glue still fit together', async () => {
  const wasm = moduleOf([NOW, NOW_TOO, CAST, SET_TIMEOUT], [INVOKE, 'driver_tell']);
  const glue = `({
    imports: { '${MODULE}': {
      ${NOW}: () => 1,
      ${NOW_TOO}: () => 2,
      ${CAST}: () => 3,
      ${SET_TIMEOUT}: () => 4,
    } },
    invoke: (wasm) => wasm.${INVOKE}(),
    tell: (wasm) => wasm.driver_tell(),
  })`;
  assert.deepEqual(await outcome(wasm, glue), [1, 1, [1, 2, 3, 4]]);
  const made = shortNames(wasm, glue);
  assert.deepEqual(await outcome(made.wasm, made.glue), [1, 1, [1, 2, 3, 4]]);
});

test('each name is a letter, but for the memory, and the glue remembers the word', () => {
  const names = [NOW, NOW_TOO, CAST, SET_TIMEOUT];
  const glue = `${names.map((name) => `${name}: x,`).join('\n')}\nwasm.${INVOKE}; wasm.memory;`;
  const made = shortNames(moduleOf(names, [INVOKE]), glue);
  const module = new WebAssembly.Module(copyOf(made.wasm));
  assert.deepEqual(
    WebAssembly.Module.imports(module).map((one) => `${one.module} ${one.name}`),
    ['. a', '. b', '. c', '. d'],
  );
  const exported = WebAssembly.Module.exports(module).map(({ name }) => name);
  assert.deepEqual(exported, ['memory', 'a']);
  const words = ['now', 'now', 'cast', 'set_timeout'];
  assert.equal(
    made.glue,
    `${words.map((word, i) => `${'abcd'[i]} /* ${word} */: x,`).join('\n')}\nwasm.a; wasm.memory;`,
  );
});

test('what is no name of the two is left alone', () => {
  const glue = `x${NOW}: 1, wasm.other(); wasm.driver_tells(); other.driver_tell(); '__wbg_now_0123': 2`;
  const wasm = moduleOf([NOW], ['driver_tell']);
  assert.equal(shortNames(wasm, glue).glue, glue);

  // Not a name that the glue shares.
  const note = section(CUSTOM, [...text('note'), ...text(NOW)]);
  const told = shortNames(Uint8Array.from([...wasm, ...note]), '').wasm;
  assert.deepEqual([...told.subarray(-note.length)], note);
});

test('lengths of more than one byte are read and written', () => {
  const long = 'a_name_of_two_hundred_letters_'.repeat(7);
  const names = [long, ...Array.from({ length: 300 }, (_, i) => `__wbg_x_${hex(i)}`)];
  const made = shortNames(moduleOf(names, ['run']), '');
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(copyOf(made.wasm)));
  const short = imports.map(({ name }) => name);
  assert.equal(new Set(short).size, names.length);
  assert.ok(short.every((name) => /^[a-z]{1,2}$/i.test(name)));
});

test('an import that is no function is refused', () => {
  const memory = [...text('env'), ...text('memory'), MEMORY, 0, 1];
  const wasm = Uint8Array.from([...PREAMBLE, ...section(IMPORTS, [1, ...memory])]);
  assert.ok(WebAssembly.validate(wasm));
  assert.throws(() => shortNames(wasm, ''), /an import that is no function/);
});

test('the module that ships has short names alone, and its glue has each of them', async () => {
  await ensureReady(['npm', 'build']);
  const [wasm, glue] = await Promise.all([
    readFile(`${ROOT}/js/pkg/core_bg.wasm`),
    readFile(`${ROOT}/js/pkg/core.js`, 'utf8'),
  ]);
  const module = new WebAssembly.Module(wasm);
  const imported = WebAssembly.Module.imports(module).map(({ name }) => name);
  const names = [...imported, ...WebAssembly.Module.exports(module).map(({ name }) => name)];
  assert.ok(imported.length > 10, `${imported.length} imports`);
  assert.deepEqual(
    names.filter((name) => !/^[a-z]{1,2}$/i.test(name)),
    ['memory'],
  );
  assert.deepEqual(
    imported.filter((name) => !new RegExp(`^ *${name} /\\* \\w+ \\*/: `, 'm').test(glue)),
    [],
  );
});

/**
 * What the glue finds behind the module's names.
 *
 * @param {Uint8Array} wasm @param {string} glue
 */
async function outcome(wasm, glue) {
  const { imports, invoke, tell } = (0, eval)(glue);
  const { instance } = await WebAssembly.instantiate(copyOf(wasm), imports);
  const values = Object.values(imports[MODULE] ?? imports['.']).map((value) => value());
  return [invoke(instance.exports), tell(instance.exports), values];
}

const PREAMBLE = [0, ...Buffer.from('asm'), 1, 0, 0, 0];

/**
 * A module that imports functions of these names, and has its memory and, by these names, a function
 * that calls the first of them.
 *
 * @param {string[]} imports @param {string[]} exports
 */
function moduleOf(imports, exports) {
  const own = imports.length;
  const body = [0, CALL, 0, END];
  return Uint8Array.from([
    ...PREAMBLE,
    ...section(TYPES, [1, 0x60, 0, 1, I32]),
    ...section(IMPORTS, [
      ...number(imports.length),
      ...imports.flatMap((name) => [...text(MODULE), ...text(name), FUNCTION, 0]),
    ]),
    ...section(FUNCTIONS, [1, 0]),
    ...section(MEMORIES, [1, 0, 1]),
    ...section(EXPORTS, [
      ...number(exports.length + 1),
      ...[...text('memory'), MEMORY, 0],
      ...exports.flatMap((name) => [...text(name), FUNCTION, ...number(own)]),
    ]),
    ...section(CODE, [1, ...number(body.length), ...body]),
  ]);
}

/** @param {number} id @param {number[]} body */
const section = (id, body) => [id, ...number(body.length), ...body];

/** @param {string} value */
const text = (value) => [...number(Buffer.byteLength(value)), ...Buffer.from(value)];

/** LEB128. @param {number} value @returns {number[]} */
const number = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...number(value >>> 7)]);

/** @param {number} value */
const hex = (value) => value.toString(16).padStart(16, '0');

/** Of its own: what WebAssembly takes is no view of something shared. @param {Uint8Array} bytes */
const copyOf = (bytes) => new Uint8Array(bytes);
