// @ts-check
/** The pages of SPF, built by three bundlers as an application builds them. */
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The scripts of the pages. */
export const PLAYER = `${ROOT}tests/browser/pages/spf-player.js`;
export const ALONE = `${ROOT}tests/browser/pages/spf-alone.js`;

/**
 * @typedef {Map<string, string | Uint8Array>} Files by name; the page loads `main.js`
 * @typedef {{ files: Files, warnings: string[] }} Built
 * @typedef {(entry: string, plugins: import('holdfast/bundler').HoldfastPlugin[]) => Promise<Built>} Build
 */

/** @type {Record<'Vite' | 'Rollup' | 'webpack', Build>} */
export const builders = {
  async Vite(entry, plugins) {
    const { build } = await import('vite');
    /** @type {string[]} */
    const warnings = [];
    const built = await build({
      root: ROOT,
      configFile: false,
      logLevel: 'silent',
      base: '/bundle/',
      plugins,
      build: {
        write: false,
        rolldownOptions: {
          input: entry,
          output: { entryFileNames: 'main.js' },
          onwarn: ({ message }) => void warnings.push(message),
        },
      },
    });
    return { files: filesOf(/** @type {any} */ ([built].flat()[0]).output), warnings };
  },

  async Rollup(entry, plugins) {
    const { rollup } = await import('rollup');
    /** @type {string[]} */
    const warnings = [];
    const bundle = await rollup({
      input: entry,
      plugins: [...plugins, resolvePackages()],
      onwarn: ({ message }) => void warnings.push(message),
    });
    const { output } = await bundle.generate({ format: 'es', entryFileNames: 'main.js' });
    const files = filesOf(output);
    // Rollup leaves it to its user to put the module where the script looks for it.
    files.set('pkg/core_bg.wasm', await readFile(`${ROOT}js/pkg/core_bg.wasm`));
    return { files, warnings };
  },

  async webpack(entry, plugins) {
    const { default: webpack } = await import('webpack');
    const folder = await mkdtemp(path.join(tmpdir(), 'holdfast-webpack-'));
    try {
      const stats = await new Promise((resolve, reject) =>
        webpack(
          {
            mode: 'production',
            optimization: { minimize: false },
            target: ['web', 'es2022'],
            context: ROOT,
            entry,
            output: { path: folder, filename: 'main.js', publicPath: '/bundle/' },
            performance: { hints: false },
            plugins,
          },
          (error, stats) => (error ? reject(error) : resolve(stats)),
        ),
      );
      const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
      if (errors.length) throw new Error(errors[0].message);
      /** @type {Files} */
      const files = new Map();
      for (const name of await readdir(folder)) {
        files.set(name, await readFile(path.join(folder, name)));
      }
      const messages = warnings.map((/** @type {{ message: string }} */ { message }) => message);
      return { files, warnings: messages };
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

/**
 * @param {Array<{ fileName: string, code?: string, source?: string | Uint8Array }>} output
 * @returns {Files}
 */
function filesOf(output) {
  return new Map(output.map(({ fileName, code, source }) => [fileName, code ?? source ?? '']));
}

/** Names of packages, as the resolver of Node finds them for browsers. @returns {import('rollup').Plugin} */
function resolvePackages() {
  return {
    name: 'resolve-packages',
    resolveId(source) {
      if (source === 'holdfast') return `${ROOT}js/index.js`;
      if (/^[./\0]/.test(source)) return undefined;
      return fileURLToPath(import.meta.resolve(source));
    },
  };
}

/**
 * Vite's dev server, which bundles nothing.
 *
 * @param {import('holdfast/bundler').HoldfastPlugin[]} plugins
 */
export async function serveWithVite(plugins) {
  const { createServer } = await import('vite');
  const cacheDir = await mkdtemp(path.join(tmpdir(), 'holdfast-vite-'));
  const server = await createServer({
    root: ROOT,
    configFile: false,
    logLevel: 'silent',
    appType: 'custom',
    cacheDir,
    plugins,
    optimizeDeps: { entries: [PLAYER] },
    server: { host: '127.0.0.1', port: 0, hmr: false, ws: false, watch: null },
  });
  await server.listen();
  const [origin] = server.resolvedUrls?.local ?? [];
  return {
    script: `${origin}tests/browser/pages/spf-player.js`,
    async close() {
      await server.close();
      await rm(cacheDir, { recursive: true, force: true });
    },
  };
}
