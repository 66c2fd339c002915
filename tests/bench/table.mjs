// @ts-check
/** Tables, for terminals and for Markdown. Columns of numbers are aligned to the right. */

/** @typedef {string | number | null | undefined | boolean} Cell */

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: Row) => Cell} cell null is shown as a dash
 * @property {number} [digits] after the point, of numbers (default 1)
 * @property {boolean} [right] whether it is aligned as numbers are, though it holds text
 */

/**
 * @template Row
 * @param {readonly Column<Row>[]} columns
 * @param {readonly Row[]} rows
 */
function shown(columns, rows) {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  const numeric = columns.map(
    ({ right }, index) => right ?? cells.every((line) => typeof (line[index] ?? 0) === 'number'),
  );
  const text = cells.map((line) =>
    line.map((value, index) => {
      if (value === null || value === undefined) return '–';
      if (typeof value !== 'number') return String(value);
      return Number.isFinite(value) ? value.toFixed(columns[index].digits ?? 1) : '∞';
    }),
  );
  return { numeric, text };
}

/**
 * For a terminal.
 * @template Row
 * @param {readonly Column<Row>[]} columns
 * @param {readonly Row[]} rows
 */
export function textTable(columns, rows) {
  const { numeric, text } = shown(columns, rows);
  const titles = columns.map(({ title }) => title);
  const lines = [titles, ...text];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const padded = lines.map((line) =>
    line
      .map((cell, column) =>
        numeric[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
      )
      .join('  ')
      .trimEnd(),
  );
  padded.splice(1, 0, widths.map((width) => '─'.repeat(width)).join('  '));
  return padded.join('\n');
}

/**
 * For a document.
 * @template Row
 * @param {readonly Column<Row>[]} columns
 * @param {readonly Row[]} rows
 */
export function markdownTable(columns, rows) {
  const { numeric, text } = shown(columns, rows);
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(' | ')} |`;
  return [
    line(columns.map(({ title }) => title)),
    line(numeric.map((right) => (right ? '---:' : '---'))),
    ...text.map((cells) => line(cells.map((cell) => cell.replaceAll('|', '\\|')))),
  ].join('\n');
}
