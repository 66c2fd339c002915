// @ts-check
/** SPF, which a page can have only from a bundler. */

/** @type {import('./index.js').Driver['prepare']} */
export async function prepare(variant) {
  const path = `/bundles/spf-${variant === 'holdfast' ? 'holdfast' : 'alone'}/main.js`;
  const { begin } = await import(path);
  return begin;
}
