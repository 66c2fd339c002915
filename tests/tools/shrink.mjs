// @ts-check
// Makes the built module small: takes the texts of panics out, then optimizes for size.
//
// Stable Rust cannot build without the code that words a panic's message, a third of this
// module. Nobody reads it: a panic ends in a trap either way, and JavaScript reports that. So
// the functions that format and report are replaced by the trap they end in, by their names,
// and what only they used goes with them. Debug builds keep their messages.

import binaryen from 'binaryen';
import { blankPanics } from './blank.mjs';
import { reorder } from './order.mjs';

/**
 * Formatting, and the way from a panic to its message: nothing else in the module formats. And
 * what runs futures, which comes along with js-sys and which nothing here spawns.
 */
const PANIC_TEXT =
  /\bcore(\[\w+\])?::(fmt|panicking)\b|\bstd(\[\w+\])?::panicking\b|_fail(_rt)?$|panic|(unwrap|expect|assert)_failed|handle_(alloc_)?error|capacity_overflow|^js_sys::futures/;

/** Less than that, and the names have changed under us: the build would only be larger. */
const AT_LEAST = 30;

/**
 * @param {Uint8Array} wasm with its name section
 * @param {string} glue
 * @returns {Uint8Array}
 */
export function shrink(wasm, glue) {
  const module = binaryen.readBinary(wasm);
  try {
    const cut = cutPanicText(module);
    if (cut < AT_LEAST) {
      throw new Error(
        `only ${cut} functions look like panic formatting; the compiler has renamed them, ` +
          'or the module came without its name section (see PANIC_TEXT in tests/tools/shrink.mjs)',
      );
    }
    cutExports(module, glue);
    // A shrink level of 2 makes it smaller as it is, but larger when compressed.
    binaryen.setOptimizeLevel(2);
    binaryen.setShrinkLevel(1);
    binaryen.setDebugInfo(false);
    // The stack grows down towards the lowest addresses and never gets there.
    binaryen.setLowMemoryUnused(true);
    binaryen.setGenerateStackIR(true);
    binaryen.setOptimizeStackIR(true);
    // Calls that take more room than what they call.
    binaryen.setAlwaysInlineMaxSize(5);
    module.runPasses(['merge-similar-functions']);
    // Once more finds a little; a third time nothing.
    for (let round = 0; round < 2; round += 1) {
      module.runPasses(['flatten', 'rereloop']);
      module.optimize();
      module.optimize();
    }
    // The order by name is where the next one begins: it settles what is alike to the same degree.
    module.runPasses(['reorder-functions-by-name', 'strip-producers', 'strip-target-features']);
    return blankPanics(reorder(module.emitBinary()));
  } finally {
    module.dispose();
  }
}

/** @param {any} module @returns {number} how many functions were cut */
function cutPanicText(module) {
  const functions = Array.from({ length: module.getNumFunctions() }, (_, index) =>
    binaryen.getFunctionInfo(module.getFunctionByIndex(index)),
  );
  const cut = functions.filter(({ module: imported, name }) => !imported && PANIC_TEXT.test(name));
  for (const { name, params, results } of cut) {
    module.removeFunction(name);
    module.addFunction(name, params, results, [], module.unreachable());
  }
  return cut.length;
}

/** What the glue does not ask for goes, with all that only it used. @param {any} module @param {string} glue */
function cutExports(module, glue) {
  const names = Array.from(
    { length: module.getNumExports() },
    (_, index) => binaryen.getExportInfo(module.getExportByIndex(index)).name,
  );
  for (const name of names) {
    if (!new RegExp(`\\bwasm\\.${name}\\b`).test(glue)) module.removeExport(name);
  }
}
