// @ts-check
/** The demo's table, and the line that shows a run while it goes on. */
import { textTable } from '../bench/table.mjs';

/** @typedef {import('./runner.mjs').Row} Row */

/** @type {Record<string, string>} */
const variants = { plain: 'alone', holdfast: 'with Holdfast' };

/** @param {string} variant */
export function variantName(variant) {
  return variants[variant] ?? variant;
}

/** @param {Row} row */
const startText = ({ startS }) => (startS === null ? 'never' : `${startS.toFixed(1)} s`);

/** @param {Row} row */
const stallText = ({ stallS, outcome }) =>
  `${stallS.toFixed(1)}${outcome === 'ended' ? '' : '+'} s`;

/** @type {import('../bench/table.mjs').Column<Row>[]} */
const columns = [
  { title: 'scenario', cell: ({ scenario }) => scenario },
  { title: 'player', cell: ({ player }) => player },
  { title: 'variant', cell: ({ variant }) => variantName(variant) },
  { title: 'start', cell: startText, right: true },
  { title: 'rebuffering', cell: stallText, right: true },
  { title: 'oracle', cell: ({ oracleStallS }) => `${oracleStallS.toFixed(1)} s`, right: true },
  { title: 'outcome', cell: ({ outcome }) => outcome },
  { title: 'requests', cell: ({ requests }) => requests, digits: 0 },
  { title: 'wasted kB', cell: ({ wastedKB }) => wastedKB },
];

/** @param {readonly Row[]} rows */
export const table = (rows) => textTable(columns, rows);

/** @param {Row} row */
export function finishedLine(row) {
  const { scenario, player, variant, outcome } = row;
  return `${scenario}, ${player} ${variantName(variant)}: ${outcome}, start ${startText(row)}, rebuffering ${stallText(row)}`;
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
