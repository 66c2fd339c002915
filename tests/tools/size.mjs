// @ts-check
// What a page downloads for each entry of the package: minified JavaScript and wasm, raw,
// gzip -9 and brotli 11, with the limits that hold.
//
//   npm run size                      a table
//   npm run --silent size -- --json   one object a line: entry, rawB, gzipB, brotliB

import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { runAsProgram } from './main.mjs';
import { ROOT, ensureReady } from './setup.mjs';

/** Most bytes, in brotli, of all that is transferred. */
const LIMITS = {
  main: { entry: '.', brotliB: 48_000 },
  adapter: { folder: './js/adapters/', brotliB: 4_000 },
};

/** Entries that carry the wasm within, or need none. */
const WITHOUT_WASM_FILE = ['./inline', './cross-tab', './global.js', './service-worker.js'];

/** Entries that no page downloads. */
const NOT_FOR_PAGES = ['./bundler'];

/** How bundles are made, whoever's they are. */
export const FLAGS = /** @type {const} */ ({
  bundle: true,
  minify: true,
  splitting: true,
  write: false,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  logLevel: 'error',
});

/** @typedef {{ rawB: number, gzipB: number, brotliB: number }} Size */

/** The size of these bytes as they are, in gzip and in brotli, at their strongest. */
export function measure(/** @type {Uint8Array} */ bytes) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return {
    rawB: bytes.length,
    gzipB: gzipSync(bytes, { level: 9 }).length,
    brotliB: brotliCompressSync(bytes, { params }).length,
  };
}

/** The sentence to fail with, or undefined if the entry is within its limit. */
export function overLimit(
  /** @type {{ entry: string, file: string, brotliB: number }} */ measured,
) {
  const limit = limitOf(measured);
  if (limit === undefined || measured.brotliB <= limit) return undefined;
  return `'${measured.entry}' is ${measured.brotliB} bytes in brotli; the limit is ${limit}.`;
}

/** @param {{ entry: string, file: string }} of */
export function limitOf({ entry, file }) {
  if (entry === LIMITS.main.entry) return LIMITS.main.brotliB;
  return isAdapter(file) ? LIMITS.adapter.brotliB : undefined;
}

/** @param {string} file */
function isAdapter(file) {
  return file.startsWith(LIMITS.adapter.folder);
}

/**
 * The JavaScript entries of the package, as a browser's bundler resolves them.
 * @param {Record<string, string | { default: string }>} exports
 */
export function entriesOf(exports) {
  return Object.entries(exports)
    .map(([entry, target]) => ({
      entry,
      file: typeof target === 'string' ? target : target.default,
    }))
    .filter(({ entry, file }) => file.endsWith('.js') && !NOT_FOR_PAGES.includes(entry));
}

/**
 * One entry, bundled as a page would: minified and tree-shaken, the wasm left as a file of its
 * own, and what is imported only when it is needed in files of its own. An adapter is bundled
 * without the engine, which the page has already.
 * @param {string} file
 */
async function bundle(file) {
  const esbuild = await import('esbuild');
  const adapters = join(ROOT, LIMITS.adapter.folder);
  const { outputFiles, metafile } = await esbuild.build({
    ...FLAGS,
    absWorkingDir: ROOT,
    entryPoints: [file],
    metafile: true,
    outdir: 'out',
    plugins: isAdapter(file) ? [keepOutside(adapters)] : [],
  });
  const isLazy = lazily(metafile, file);
  const all = outputFiles.map(({ path, contents }) => ({ path: relative(ROOT, path), contents }));
  const part = (/** @type {boolean} */ lazy) =>
    Buffer.concat(all.filter(({ path }) => isLazy(path) === lazy).map(({ contents }) => contents));
  return { js: part(false), hooks: part(true) };
}

/**
 * Which files are loaded only when something needs them: those that the entry does not reach by
 * plain imports.
 * @param {import('esbuild').Metafile} metafile
 * @param {string} file the entry
 */
function lazily({ outputs }, file) {
  const isEntry = (/** @type {string} */ path) =>
    outputs[path].entryPoint !== undefined && join(outputs[path].entryPoint) === join(file);
  const reached = new Set(Object.keys(outputs).filter(isEntry));
  for (const path of reached) {
    for (const { path: next, kind, external } of outputs[path].imports) {
      if (kind === 'import-statement' && !external) reached.add(next);
    }
  }
  return (/** @type {string} */ path) => !reached.has(path.replaceAll('\\', '/'));
}

/**
 * Leaves every module outside `folder` as an import.
 * @param {string} folder
 * @returns {import('esbuild').Plugin}
 */
function keepOutside(folder) {
  return {
    name: 'keep-outside',
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, resolveDir, kind }) => {
        if (kind === 'entry-point') return undefined;
        const isInside = path.startsWith('.') && join(resolveDir, path).startsWith(folder);
        return isInside ? undefined : { path, external: true };
      });
    },
  };
}

/** @param {Size[]} sizes @returns {Size} */
function sum(sizes) {
  const total = { rawB: 0, gzipB: 0, brotliB: 0 };
  for (const { rawB, gzipB, brotliB } of sizes) {
    total.rawB += rawB;
    total.gzipB += gzipB;
    total.brotliB += brotliB;
  }
  return total;
}

/** What each entry of the package transfers. */
export async function measureEntries() {
  const { exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const wasm = measure(await readFile(join(ROOT, 'js', 'pkg', 'core_bg.wasm')));
  const measured = [];
  for (const { entry, file } of entriesOf(exports)) {
    const { js, hooks } = await bundle(file);
    const withWasm = !isAdapter(file) && !WITHOUT_WASM_FILE.includes(entry);
    const parts = { ...(withWasm && { wasm }), js: measure(js) };
    const lazy = hooks.length ? { hooks: measure(hooks) } : {};
    measured.push({ entry, file, parts, lazy, ...sum(Object.values(parts)) });
  }
  return measured;
}

/** @param {Awaited<ReturnType<typeof measureEntries>>} measured */
function printTable(measured) {
  const row = (/** @type {(string | number)[]} */ cells) =>
    console.log(
      cells
        .map((cell, i) => (i < 2 ? String(cell).padEnd(i ? 10 : 19) : String(cell).padStart(9)))
        .join(' '),
    );
  row(['entry', 'part', 'raw', 'gzip', 'brotli', 'limit']);
  for (const entry of measured) {
    for (const [part, { rawB, gzipB, brotliB }] of Object.entries(entry.parts)) {
      row([entry.entry, part, rawB, gzipB, brotliB, '']);
    }
    row([entry.entry, 'total', entry.rawB, entry.gzipB, entry.brotliB, limitOf(entry) ?? '']);
    for (const [part, { rawB, gzipB, brotliB }] of Object.entries(entry.lazy)) {
      row([entry.entry, `+ ${part}`, rawB, gzipB, brotliB, '']);
    }
  }
}

runAsProgram(import.meta.url, async (args) => {
  await ensureReady(['build']);
  const measured = await measureEntries();
  if (args.includes('--json')) {
    for (const { entry, rawB, gzipB, brotliB } of measured) {
      console.log(JSON.stringify({ entry, rawB, gzipB, brotliB }));
    }
  } else {
    printTable(measured);
  }
  const failures = measured.map(overLimit).filter(Boolean);
  if (failures.length) throw new Error(failures.join('\n'));
});
