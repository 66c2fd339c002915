// @ts-check
/** The demo's table, and the line that shows a run while it goes on. */

/** @type {Record<string, string>} */
const variants = { plain: 'alone', holdfast: 'with Holdfast' };

/** @param {string} variant */
export function variantName(variant) {
  return variants[variant] ?? variant;
}

/** @param {import('./runner.mjs').Row} row */
function cells(row) {
  const never = row.outcome === 'ended' ? '' : '+';
  return [
    row.scenario,
    row.player,
    variantName(row.variant),
    row.startS === null ? 'never' : `${row.startS.toFixed(1)} s`,
    `${row.stallS.toFixed(1)}${never} s`,
    `${row.oracleStallS.toFixed(1)} s`,
    row.outcome,
    String(row.requests),
    row.wastedKB.toFixed(1),
  ];
}

const header = [
  'scenario',
  'player',
  'variant',
  'start',
  'rebuffering',
  'oracle',
  'outcome',
  'requests',
  'wasted kB',
];

/** Columns that hold numbers are aligned to the right. */
const numeric = new Set([3, 4, 5, 7, 8]);

/**
 * @param {import('./runner.mjs').Row[]} rows
 * @returns {string}
 */
export function table(rows) {
  const lines = [header, ...rows.map(cells)];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const text = lines.map((line) =>
    line
      .map((cell, column) =>
        numeric.has(column) ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
      )
      .join('  ')
      .trimEnd(),
  );
  text.splice(1, 0, widths.map((width) => '─'.repeat(width)).join('  '));
  return text.join('\n');
}

/** @param {import('./runner.mjs').Row} row */
export function finishedLine(row) {
  const [scenario, player, variant, start, stall, , outcome] = cells(row);
  return `${scenario}, ${player} ${variant}: ${outcome}, start ${start}, rebuffering ${stall}`;
}

/**
 * @param {string} scenario
 * @param {string} variant
 * @param {import('./runner.mjs').Live} live
 */
export function liveText(scenario, variant, live) {
  const at = `${live.elapsedS.toFixed(0)} s`;
  const position = `at ${live.position.toFixed(1)} s`;
  return `${scenario} ${variantName(variant)} ${at}: ${live.phase} ${position}, ${live.ahead.toFixed(0)} s ahead, waited ${live.stallS.toFixed(1)} s`;
}
