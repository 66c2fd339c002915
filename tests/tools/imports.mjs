// @ts-check
// Two gates that keep the module honest about what it touches:
// 1. what the wasm imports equals tests/vectors/wasm-imports.txt, so that a new reach into the
//    page is seen in review;
// 2. the native build, which is the pure core, depends on no crate of the browser's side.
//
//   node tests/tools/imports.mjs           check both
//   node tests/tools/imports.mjs --write   accept the module's imports as the new list

import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { runAsProgram } from './main.mjs';
import { log, readOutput } from './processes.mjs';
import { ROOT, ensureReady } from './setup.mjs';

const WASM = join(ROOT, 'js', 'pkg', 'core_bg.wasm');
const GLUE = join(ROOT, 'js', 'pkg', 'core.js');
const LIST = join(ROOT, 'tests', 'vectors', 'wasm-imports.txt');
const BROWSER_CRATES =
  /^(wasm-bindgen|wasm-bindgen-futures|js-sys|web-sys|gloo-timers|serde-wasm-bindgen) /;

/**
 * One line per import, sorted, by the name that the comment beside its short one gives: `. fetch`.
 * @param {{ module: string, name: string }[]} imports
 * @param {string} glue
 */
export function normalise(imports, glue) {
  const words = new Map(
    [...glue.matchAll(/^ *(\w+) \/\* (\w+) \*\/: /gm)].map(([, name, word]) => [name, word]),
  );
  const lines = imports.map(({ module, name }) => `${module} ${words.get(name) ?? name}`);
  return [...new Set(lines)].sort();
}

/**
 * What must be said about the difference between two lists; empty if there is none.
 * @param {string[]} allowed
 * @param {string[]} found
 */
export function difference(allowed, found) {
  return [
    ...found.filter((line) => !allowed.includes(line)).map((line) => `+ ${line}`),
    ...allowed.filter((line) => !found.includes(line)).map((line) => `- ${line}`),
  ];
}

/** Throws unless the module imports exactly what the list allows. */
export async function checkImports() {
  const found = await moduleImports();
  const allowed = await readFile(LIST, 'utf8').then(
    (text) => text.split('\n').filter(Boolean),
    () => [],
  );
  const lines = difference(allowed, found);
  if (lines.length) {
    throw new Error(
      `the wasm module's imports differ from ${relative(ROOT, LIST)}:\n\n  ${lines.join('\n  ')}\n\n` +
        'Each import is something of the page that the module can reach; + is new, - is gone. If that is ' +
        'meant, accept it with `node tests/tools/imports.mjs --write` and commit the list.',
    );
  }
  log(`holdfast: the wasm module imports the ${found.length} things it may`);
}

/** Throws if the native build depends on a crate of the browser's side. */
async function checkNativeDependencies() {
  const tree = await readOutput('cargo', [
    ...['tree', '--manifest-path', join(ROOT, 'Cargo.toml')],
    ...['--edges', 'normal', '--prefix', 'none', '--quiet'],
  ]);
  if (tree === undefined) throw new Error('`cargo tree` failed; run it to see why.');
  const found = new Set(tree.split('\n').filter((line) => BROWSER_CRATES.test(line)));
  if (found.size) {
    throw new Error(
      `the native build depends on ${[...found].join(', ')}. The core must compile without the browser: ` +
        'move the dependency under [target.\'cfg(target_family = "wasm")\'.dependencies] in Cargo.toml.',
    );
  }
  log('holdfast: the native build depends on no crate of the browser');
}

/** What the module imports, by the names that the glue remembers (short-names.mjs). */
async function moduleImports() {
  const [module, glue] = await Promise.all([
    readFile(WASM).then((wasm) => WebAssembly.compile(wasm)),
    readFile(GLUE, 'utf8'),
  ]);
  return normalise(WebAssembly.Module.imports(module), glue);
}

runAsProgram(import.meta.url, async (args) => {
  await ensureReady(['build']);
  if (args.includes('--write')) await writeFile(LIST, `${(await moduleImports()).join('\n')}\n`);
  await checkImports();
  await checkNativeDependencies();
});
