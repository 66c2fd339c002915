// @ts-check
/**
 * A build-time plugin for Vite, Rollup and webpack, which all take what this returns: it puts
 * `adapters/spf-network.js` in the place of SPF's own network module, which nothing else can reach.
 */

const NAME = 'holdfast';
const OURS = `${import.meta.dirname}/adapters/spf-network.js`;
/** How SPF's modules name it, and how bundlers do. */
const THEIRS = /[\\/]network[\\/]fetch\.js(\?|$)/;
const SPF = /@videojs[\\/]spf[\\/]dist[\\/]/;

/** @type {typeof import('./bundler.d.ts').default} */
export default function holdfast({ spf = SPF } = {}) {
  // One that remembers where it was (flags g and y) would miss every second file.
  const ofSpf = new RegExp(spf.source, spf.flags.replace(/[gy]/g, ''));
  let isServing = false;

  /** @param {string} request @param {string | undefined} issuer @returns {string | undefined} */
  const swap = (request, issuer) =>
    issuer && ofSpf.test(issuer) && THEIRS.test(request) ? OURS : undefined;

  /**
   * What is wrong with a bundle of these files, if anything is.
   *
   * @param {string[]} files
   */
  const complaint = (files) => {
    const left = files.find((file) => ofSpf.test(file) && THEIRS.test(file));
    if (left) {
      return `${left} is still in the bundle, so SPF's requests go past Holdfast. Let no other plugin or alias resolve it first.`;
    }
    if (files.some((file) => clean(file) === clean(OURS))) return undefined;
    return `nothing in this bundle imports SPF's network module, so nothing was put in its place. Remove this plugin, or tell it where SPF is: holdfast({ spf: /packages\\/spf\\/dist/ }).`;
  };

  return {
    name: NAME,
    enforce: 'pre',

    // A dependency that Vite bundles ahead for its dev server is bundled without plugins.
    config(_, { command }) {
      isServing = command === 'serve';
      return { optimizeDeps: { exclude: ['@videojs/spf'] } };
    },
    resolveId: swap,
    buildEnd(error) {
      const wrong = error || isServing ? undefined : complaint([...this.getModuleIds()]);
      if (wrong) this.warn(wrong);
    },

    apply(target) {
      // Vite asks a plugin's `apply` whether the plugin takes part.
      if (!target.hooks) return true;
      target.hooks.normalModuleFactory.tap(NAME, (/** @type {any} */ factory) => {
        factory.hooks.beforeResolve.tap(NAME, (/** @type {any} */ data) => {
          data.request = swap(data.request, data.contextInfo.issuer) ?? data.request;
        });
      });
      target.hooks.thisCompilation.tap(NAME, (/** @type {any} */ compilation) => {
        compilation.hooks.finishModules.tap(NAME, (/** @type {Iterable<any>} */ modules) => {
          const wrong = complaint([...modules].map(({ resource }) => resource ?? ''));
          if (wrong) compilation.warnings.push(new Error(`${NAME}: ${wrong}`));
        });
      });
      return true;
    },
  };
}

/** A path as it can be compared. @param {string} file */
function clean(file) {
  return file.replace(/\?.*/, '').replaceAll('\\', '/');
}
