// @ts-check
/** Shows what the Holdfast engine knows and what it decided. */

const SHOWN_RECORDS = 60;

/** @param {unknown} value */
function short(value) {
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toFixed(1);
  if (typeof value === 'string') return value.replace(/^https?:\/\/[^/]+\/s\/[^/]+\//, '');
  if (value === undefined || value === null) return '–';
  return JSON.stringify(value, (_key, inner) => (typeof inner === 'string' ? short(inner) : inner));
}

/**
 * @param {Element} target
 * @param {{ state: unknown, log(): any[] }} engine
 */
export function drawEngine(target, engine) {
  const state = Object.entries(engine.state ?? {});
  const records = engine.log().slice(-SHOWN_RECORDS).reverse();
  target.replaceChildren(
    element(
      'dl',
      'state',
      state.flatMap(([key, value]) => [element('dt', '', key), element('dd', '', short(value))]),
    ),
    element(
      'ol',
      'decisions',
      records.map((record) => element('li', '', describe(record))),
    ),
  );
}

/** @param {any} record */
function describe(record) {
  if (typeof record !== 'object' || record === null) return short(record);
  return Object.entries(record)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => `${key} ${short(value)}`)
    .join('  ·  ');
}

/**
 * @param {string} tag
 * @param {string} css
 * @param {string | Element[]} content
 */
function element(tag, css, content) {
  const node = document.createElement(tag);
  if (css) node.className = css;
  node.replaceChildren(...[content].flat());
  return node;
}
