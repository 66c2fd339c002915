// @ts-check
/**
 * Players that come as modules for bundlers, built for the lab's page as an application builds
 * them. Each is built when a page first asks for it.
 */
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** By name: the entry, and whether Holdfast's plugin takes part. */
const BUNDLES = /** @type {const} */ ({
  'rx-player': { entry: 'rx-player.js', plugin: false },
  'spf-alone': { entry: 'spf-alone.js', plugin: false },
  'spf-holdfast': { entry: 'spf-holdfast.js', plugin: true },
});

/** @type {Map<string, Promise<Map<string, string | Uint8Array>>>} */
const built = new Map();

/**
 * One file of a bundle, `main.js` first of all; undefined where there is none.
 *
 * @param {string} path `<bundle>/<file>`
 * @returns {Promise<string | Uint8Array | undefined>}
 */
export async function bundledFile(path) {
  const [name, file] = [path.slice(0, path.indexOf('/')), path.slice(path.indexOf('/') + 1)];
  if (!(name in BUNDLES)) return undefined;
  if (!built.has(name)) built.set(name, make(/** @type {keyof typeof BUNDLES} */ (name)));
  return (await built.get(name))?.get(file);
}

/** @param {keyof typeof BUNDLES} name */
async function make(name) {
  const { entry, plugin } = BUNDLES[name];
  const { build } = await import('vite');
  const plugins = plugin ? [(await import('holdfast/bundler')).default()] : [];
  const result = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    base: `/bundles/${name}/`,
    plugins,
    build: {
      write: false,
      rolldownOptions: {
        input: `${ROOT}www/players/bundled/${entry}`,
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: 'main.js' },
      },
    },
  });
  const { output } = /** @type {import('vite').Rolldown.RolldownOutput} */ ([result].flat()[0]);
  return new Map(
    output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]),
  );
}
