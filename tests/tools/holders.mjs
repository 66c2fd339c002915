// @ts-check
// Which tests hold which requirement, by the tests' own names, read from their sources:
//
//   Rust          fn r36_…, fn r36_r37_…, fn r58_to_r62_…
//   JavaScript    'R36: …', 'R36, R37: …', 'R58–R62: …', also of a describe() and all within it

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What holds a requirement: a test, or a group of tests with one title.
 * @typedef {object} Holder
 * @property {'native' | 'wasm' | 'node' | 'browser'} kind where it runs, the quickest first
 * @property {string} file relative to the clone
 * @property {string} name the function's name, or the title with … for what varies
 * @property {number[]} numbers of the requirements
 * @property {string[]} [parts] of the title, between what varies
 */

/** The quickest first. */
export const KINDS = /** @type {const} */ (['native', 'wasm', 'node', 'browser']);

const RUST_TEST =
  /#\[(wasm_bindgen_)?test\](?:\s*#\[[^\]]*\])*\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)/g;
const RUST_NUMBERS = /^(r\d+(?:_(?:to_)?r\d+)*)_/;
const TITLE =
  /\b(?:test|it|describe|suite)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;
const TITLE_NUMBERS = /^(R\d+(?:(?:\s*[,–-]\s*|\s+(?:and|to)\s+)R\d+)*):/;

/**
 * The numbers that a name begins with: `R1, R3–R5: …` is 1, 3, 4 and 5.
 * @param {string} name of a Rust function, or a title
 */
export function numbersOf(name) {
  const head = (RUST_NUMBERS.exec(name) ?? TITLE_NUMBERS.exec(name))?.[1].toLowerCase();
  /** @type {number[]} */
  const numbers = [];
  for (const [, between, digits] of (head ?? '').matchAll(/([^r\d]*)r(\d+)/g)) {
    const isRange = /[–-]|to/.test(between);
    const first = isRange ? Number(numbers.at(-1)) + 1 : Number(digits);
    for (let number = first; number <= Number(digits); number += 1) numbers.push(number);
  }
  return numbers;
}

/**
 * The holders in one source text.
 * @param {string} file
 * @param {string} source
 * @returns {Holder[]}
 */
export function holdersIn(file, source) {
  return file.endsWith('.rs') ? rustHolders(file, source) : titledHolders(file, source);
}

/** @param {string} file @param {string} source @returns {Holder[]} */
function rustHolders(file, source) {
  return [...source.matchAll(RUST_TEST)]
    .map(([, wasm, name]) => ({
      kind: /** @type {Holder['kind']} */ (wasm ? 'wasm' : 'native'),
      file,
      name,
      numbers: numbersOf(name),
    }))
    .filter(({ numbers }) => numbers.length);
}

/** @param {string} file @param {string} source @returns {Holder[]} */
function titledHolders(file, source) {
  const kind = file.startsWith('tests/browser/') ? 'browser' : 'node';
  return [...source.matchAll(TITLE)]
    .map(([, single, double, template]) => {
      const text = single ?? double ?? template;
      const parts = (template === undefined ? [text] : text.split(/\$\{[^}]*\}/)).map((part) =>
        part.replace(/\\(.)/g, '$1'),
      );
      return /** @type {Holder} */ ({
        ...{ kind, file, parts },
        name: parts.join('…'),
        numbers: numbersOf(parts[0]),
      });
    })
    .filter(({ numbers }) => numbers.length);
}

/**
 * Whether this test is that holder, or one of its group.
 * @param {Holder} holder
 * @param {import('./results.mjs').TestResult} result
 */
export function isOf(holder, result) {
  if (!holder.parts) return result.kind === holder.kind && result.path.at(-1) === holder.name;
  const { parts } = holder;
  return result.file === holder.file && result.path.some((title) => hasParts(title, parts));
}

/** @param {string} title @param {string[]} parts */
function hasParts(title, [first, ...others]) {
  const pattern = [first, ...others]
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^]*');
  return new RegExp(`^${pattern}$`).test(title);
}

/**
 * All holders of a clone: the quickest kinds first, then by file, then in the order of the file.
 * @param {string} root
 */
export function findHolders(root) {
  const rust = ['src', 'tests/core', 'tests/web', 'tests'].flatMap((folder) =>
    filesIn(root, folder, /\.rs$/, folder !== 'tests'),
  );
  const scripts = ['tests/node', 'tests/tools', 'tests/lab', 'tests/browser'].flatMap((folder) =>
    filesIn(root, folder, /\.test\.m?js$/, false),
  );
  const holders = [...rust, ...scripts].flatMap((file) =>
    holdersIn(file, readFileSync(join(root, file), 'utf8')),
  );
  return KINDS.flatMap((kind) => holders.filter((holder) => holder.kind === kind));
}

/** @param {string} root @param {string} folder @param {RegExp} pattern @param {boolean} recursive */
function filesIn(root, folder, pattern, recursive) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive })
    .map(String)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => `${folder}/${name}`);
}
