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
const FOREIGN = ['__wbg_driver_free', '__wbindgen_malloc', 'driver_tell', 'h0123456789abcdef'];

test('the module and its glue still fit together', async () => {
  const wasm = moduleOf([NOW, NOW_TOO, CAST, SET_TIMEOUT], [INVOKE, 'driver_tell']);
  const glue = `({
    imports: { '${MODULE}': {
      ${NOW}: () => 1, ${NOW_TOO}: () => 2, ${CAST}: () => 3, ${SET_TIMEOUT}() { return 4; },
    } },
    invoke: (wasm) => wasm.${INVOKE}(),
    tell: (wasm) => wasm.driver_tell(),
  })`;
  assert.deepEqual(await outcome(wasm, glue), [1, 1, [1, 2, 3, 4]]);
  const made = shortNames(wasm, glue);
  assert.deepEqual(await outcome(made.wasm, made.glue), [1, 1, [1, 2, 3, 4]]);
});

test('what wasm-bindgen has named is named by what it does and a number, each by its own', () => {
  const names = [NOW, NOW_TOO, CAST, SET_TIMEOUT];
  const made = shortNames(moduleOf(names, [INVOKE]), [...names, INVOKE, NOW].join(' '));
  const module = new WebAssembly.Module(copyOf(made.wasm));
  const imported = WebAssembly.Module.imports(module).map(({ name }) => name);
  const exported = WebAssembly.Module.exports(module).map(({ name }) => name);
  assert.deepEqual(imported, ['now_0', 'now_1', 'cast_2', 'set_timeout_3']);
  assert.deepEqual(exported, ['memory', 'invoke_4']);
  assert.equal(made.glue, [...imported, 'invoke_4', 'now_0'].join(' '));
});

test('other names are left alone, as is all that is no name', () => {
  const long = 'a_name_of_two_hundred_letters_'.repeat(7);
  const glue = `${FOREIGN.join(' ')} ${long} x${NOW} ${NOW}0 '__wbg_now_0123'`;
  const wasm = moduleOf([...FOREIGN, long], FOREIGN);
  const made = shortNames(wasm, glue);
  assert.equal(made.glue, glue);
  assert.deepEqual(made.wasm, wasm);

  // Not a name that the glue shares.
  const told = Uint8Array.from([...wasm, ...section(CUSTOM, [...text('note'), ...text(NOW)])]);
  assert.deepEqual(shortNames(told, '').wasm, told);
});

test('lengths of more than one byte are written as they are read', () => {
  const names = Array.from({ length: 300 }, (_, i) => `__wbg_x_${hex(i)}`);
  const made = shortNames(moduleOf(names, ['run']), names.join(' '));
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(copyOf(made.wasm)));
  assert.deepEqual(
    imports.map(({ name }) => name),
    names.map((_, i) => `x_${i}`),
  );
  assert.ok(WebAssembly.validate(copyOf(made.wasm)));
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
    names.filter((name) => /[0-9a-f]{16}$/.test(name)),
    [],
  );
  assert.deepEqual(
    imported.filter((name) => !new RegExp(`\\b${name}\\b`).test(glue)),
    [],
  );
  // Done is done.
  const again = shortNames(wasm, glue);
  assert.equal(again.glue, glue);
  assert.ok(wasm.equals(again.wasm));
});

/**
 * What the glue finds behind the module's names.
 *
 * @param {Uint8Array} wasm @param {string} glue
 */
async function outcome(wasm, glue) {
  const { imports, invoke, tell } = (0, eval)(glue);
  const { instance } = await WebAssembly.instantiate(copyOf(wasm), imports);
  const values = Object.values(imports[MODULE]).map((value) => value());
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
