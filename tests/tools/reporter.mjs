// @ts-check
// A reporter of `node --test`: one line of JSON for each test that was run, with its file, the
// titles from the outermost describe() to its own, and its outcome.

import { relative, sep } from 'node:path';

const ROOT = process.cwd();

/** @param {AsyncIterable<{ type: string, data: any }>} events */
export default async function* lines(events) {
  /** The titles that are open, by file. @type {Map<string, string[]>} */
  const open = new Map();
  for await (const { type, data } of events) {
    if (!data?.file || !/^test:(start|pass|fail)$/.test(type)) continue;
    const titles = open.get(data.file) ?? [];
    open.set(data.file, titles);
    titles[data.nesting] = data.name;
    if (type === 'test:start' || data.details?.type === 'suite') continue;
    const file = relative(ROOT, data.file).split(sep).join('/');
    const path = titles.slice(0, data.nesting + 1);
    yield `${JSON.stringify({ file, path, outcome: outcomeOf(type, data) })}\n`;
  }
}

/** @param {string} type @param {any} data */
function outcomeOf(type, data) {
  const isOff = (/** @type {unknown} */ value) => value !== undefined && value !== false;
  if (isOff(data.skip) || isOff(data.todo)) return 'skipped';
  return type === 'test:pass' ? 'passed' : 'failed';
}
