// @ts-check
// The core decides and does nothing else: no file under src/core may name a crate of the
// browser's side, serialisation, or the parts of std that reach the machine. Comments may.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runAsProgram } from './main.mjs';
import { log } from './processes.mjs';
import { ROOT } from './setup.mjs';

const FORBIDDEN =
  /\b(?:(js_sys|web_sys|wasm_bindgen(?:_futures)?|serde(?:_\w+)?|gloo_timers|getrandom)\b|std::(env|fs|io|net|process|thread)\b|std::time::(Instant|SystemTime)\b)/;

/**
 * Lines of a source text that break the rule, with their numbers.
 * @param {string} source
 */
export function impureLines(source) {
  return source
    .split('\n')
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter(({ text }) => FORBIDDEN.test(text.replace(/\/\/.*$/, '')));
}

runAsProgram(import.meta.url, async () => {
  const core = join(ROOT, 'src', 'core');
  const files = readdirSync(core, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.rs'))
    .sort();
  const found = files.flatMap((name) =>
    impureLines(readFileSync(join(core, name), 'utf8')).map(
      ({ number, text }) => `  src/core/${name}:${number}: ${text}`,
    ),
  );
  if (found.length) {
    throw new Error(
      `the core is pure, so these do not belong in it:\n\n${found.join('\n')}\n\n` +
        'Give the core the value as an argument, or move the code to src/web.',
    );
  }
  log(`holdfast: the ${files.length} files of the core are pure`);
});
