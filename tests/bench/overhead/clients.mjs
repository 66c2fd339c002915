// @ts-check
/** Who is measured, and the module of each as a page loads it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FLAGS } from '../../tools/size.mjs';
import { ROOT } from '../../tools/setup.mjs';

/**
 * What a client's module exports as `create`, once it is called.
 *
 * @typedef {object} Client
 * @property {(url: string) => Promise<number>} read reads a body to its end; its bytes
 * @property {Promise<boolean>} [ready] for who needs more than this module
 */

/** By the name of its file: how it is called. @type {Record<string, string>} */
export const CLIENTS = {
  plain: 'fetch, reader loop',
  'plain-buffer': 'fetch, arrayBuffer()',
  holdfast: 'Holdfast engine.fetch, reader loop',
  'holdfast-load': 'Holdfast engine.load',
  spf: 'SPF createTrackedFetch',
  ky: 'ky, reader loop',
  cockatiel: 'cockatiel around fetch, reader loop',
};

/** Those whose modules differ: the others only read in another way. */
export const MODULES = ['plain', 'holdfast', 'spf', 'ky', 'cockatiel'];

/** @param {string} name */
export const addressOf = (name) => `/clients/${name}/${name}.js`;

/**
 * Each client in one file, so that no start has to wait for a second one; what is else loaded only
 * where it is needed is within. The wasm module is beside it.
 * @returns {Promise<Map<string, Buffer>>} by path
 */
export async function bundleClients() {
  const esbuild = await import('esbuild');
  const wasm = readFileSync(join(ROOT, 'js/pkg/core_bg.wasm'));
  /** @type {Map<string, Buffer>} */
  const files = new Map();
  for (const name of Object.keys(CLIENTS)) {
    const folder = `/clients/${name}`;
    const { outputFiles } = await esbuild.build({
      ...FLAGS,
      splitting: false,
      absWorkingDir: ROOT,
      entryPoints: [`tests/bench/overhead/clients/${name}.js`],
      outdir: folder,
    });
    for (const { path, contents } of outputFiles) files.set(path, Buffer.from(contents));
    if (name.startsWith('holdfast')) files.set(`${folder}/pkg/core_bg.wasm`, wasm);
  }
  return files;
}
