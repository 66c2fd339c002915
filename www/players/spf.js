// @ts-check
/** SPF, which a page can have only from a bundler. */

/** @type {import('./index.js').Driver['prepare']} */
export async function prepare(variant, setup) {
  const path = `/bundles/spf-${variant === 'holdfast' ? 'holdfast' : 'alone'}/main.js`;
  const bundle = await import(path);
  return bundle.prepare(setup);
}
