// @ts-check
// Reads how many tests passed and failed from what a test runner printed.

/** @typedef {{ passed: number, failed: number, skipped: number }} Totals */

// eslint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-9;]*m/g;
const RUST = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm;
// Node reports a file without tests as one passed test with the name of the file.
const EMPTY_FILE = /^✔ \S+\.test\.m?js \(/gm;
const NODE = /^(?:#|ℹ) (pass|fail|cancelled|skipped|todo) (\d+)$/gm;

/**
 * The sum over every `test result:` line, as `cargo test` and wasm-bindgen's runner print one
 * for each binary.
 * @param {string} output
 * @returns {Totals}
 */
export function rustTotals(output) {
  const totals = { passed: 0, failed: 0, skipped: 0 };
  for (const [, passed, failed, ignored] of output.replace(COLOURS, '').matchAll(RUST)) {
    totals.passed += Number(passed);
    totals.failed += Number(failed);
    totals.skipped += Number(ignored);
  }
  return totals;
}

/**
 * The summary at the end of `node --test`, in either of its two usual forms. Files without tests
 * are not counted, as far as the spec reporter shows them.
 * @param {string} output
 * @returns {Totals}
 */
export function nodeTotals(output) {
  const counts = { pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };
  const text = output.replace(COLOURS, '');
  for (const [, word, count] of text.matchAll(NODE)) {
    counts[/** @type {keyof typeof counts} */ (word)] += Number(count);
  }
  return {
    passed: counts.pass - (text.match(EMPTY_FILE)?.length ?? 0),
    failed: counts.fail + counts.cancelled,
    skipped: counts.skipped + counts.todo,
  };
}
