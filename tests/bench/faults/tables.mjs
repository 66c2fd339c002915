// @ts-check
/** The tables of the page of npm run bench:faults. */
import { quantile } from '../stats.mjs';
import { markdownTable } from '../table.mjs';
import { beside } from './summary.mjs';
import * as bars from './verdicts.mjs';
import { WEIGHTINGS, weighted } from './weightings.mjs';

/** @typedef {import('./summary.mjs').Cell} Cell */

/** @type {Record<string, string>} */
export const VARIANTS = { plain: 'default', tuned: 'tuned', holdfast: 'with Holdfast' };

/** @param {Cell} cell */
export function outcomeOf({ outcome, endedRuns, runs }) {
  return endedRuns === 0 || endedRuns === runs
    ? outcome
    : `${outcome} (${endedRuns}/${runs} ended)`;
}

/** One cell of the table. @param {Cell | undefined} cell */
export function figure(cell) {
  if (!cell) return '–';
  const { fault, outcome, stallS, minStallS, maxStallS, startS, skippedS } = cell;
  const ended = outcome === 'ended';
  const range =
    maxStallS - minStallS > 0.5 ? ` (${minStallS.toFixed(1)}–${maxStallS.toFixed(1)})` : '';
  const parts = [
    ended ? '' : `**${outcomeOf(cell)}**`,
    startS === null ? 'never starts' : `${stallS.toFixed(1)}${ended ? '' : '+'}${range}`,
    fault.startup && startS !== null ? `[${startS.toFixed(1)}]` : '',
    skippedS > 0.5 ? `skips ${skippedS.toFixed(1)}` : '',
    ended && cell.endedRuns < cell.runs ? `(${cell.endedRuns}/${cell.runs} ended)` : '',
  ];
  return parts.filter(Boolean).join(' ');
}

/** @param {Cell} cell */
function oracleFigure({ fault, oracleOutcome, oracleStallS, oracleStartS, oracleSkippedS }) {
  if (oracleOutcome !== 'ended') return oracleOutcome;
  const start = fault.startup && oracleStartS !== null ? ` [${oracleStartS.toFixed(1)}]` : '';
  const skips = oracleSkippedS > 0 ? ` skips ${oracleSkippedS.toFixed(1)}` : '';
  return `${oracleStallS.toFixed(1)}${start}${skips}`;
}

/** One cell for each fault and player. @param {readonly Cell[]} cells */
function rowsOf(cells) {
  const seen = new Set();
  return cells.filter(({ scenario, mode, player }) => {
    const key = `${scenario} ${mode} ${player}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

/** @param {readonly Cell[]} cells */
export function faultTable(cells) {
  const faults = rowsOf(cells.filter(({ fault }) => fault.kind !== undefined));
  return markdownTable(
    [
      { title: 'fault', cell: ({ fault }) => `${fault.id}: ${fault.title}` },
      { title: 'player', cell: ({ player }) => player },
      { title: 'default', cell: (cell) => figure(beside(cells, cell, 'plain')) },
      { title: 'tuned', cell: (cell) => figure(beside(cells, cell, 'tuned')) },
      { title: 'with Holdfast', cell: (cell) => figure(beside(cells, cell, 'holdfast')) },
      { title: 'oracle', cell: oracleFigure },
    ],
    faults,
  );
}

/** @param {readonly Cell[]} cells */
export function modes(cells) {
  if (cells.length === 0) return 'Not measured yet.';
  const names = [...new Set(cells.map(({ mode }) => mode))];
  return names
    .map((name) => `### ${name}\n\n${faultTable(cells.filter(({ mode }) => mode === name))}`)
    .join('\n\n');
}

/** @param {readonly Cell[]} cells */
export function controls(cells) {
  const checks = bars.controlChecks(cells);
  if (checks.length === 0) return 'Not measured yet.';
  return markdownTable(
    [
      { title: 'control', cell: ({ cell }) => `${cell.fault.id}: ${cell.fault.title}` },
      { title: 'player', cell: ({ cell }) => cell.player },
      { title: 'variant', cell: ({ cell }) => VARIANTS[cell.variant] },
      { title: 'bar', cell: ({ what }) => what },
      { title: 'measured', cell: ({ measured }) => measured },
      { title: 'holds', cell: ({ holds }) => (holds ? 'yes' : '**no**') },
    ],
    checks,
  );
}

/** @param {readonly Cell[]} cells */
export function mannersTable(cells) {
  /** @param {(cell: Cell) => number | null} value @param {number} digits */
  const three = (value, digits) => (/** @type {Cell} */ row) =>
    ['plain', 'tuned', 'holdfast']
      .map((variant) => beside(cells, row, variant))
      .map((cell) => (cell ? (value(cell)?.toFixed(digits) ?? '–') : '–'))
      .join(' / ');
  const table = markdownTable(
    [
      { title: 'fault', cell: ({ scenario }) => scenario },
      { title: 'player', cell: ({ player }) => player },
      { title: 'requests', cell: three(({ requests }) => requests, 0) },
      { title: 'for each file', cell: three(({ amplification }) => amplification, 2) },
      { title: 'wasted kB', cell: three(({ wastedKB }) => wastedKB, 0) },
      { title: 'longest stall s', cell: three(({ longestStallS }) => longestStallS, 1) },
      { title: 'before Retry-After', cell: three(({ earlyRetries }) => earlyRetries, 0) },
      { title: 'tokens fetched', cell: three(({ tokenRequests }) => tokenRequests, 0) },
    ],
    rowsOf(cells),
  );
  return `Default / tuned / with Holdfast. Requests are what the server counts, those that the browser adds by
itself included; *for each file* divides them by the files that were asked for. Wasted is every byte that
was sent beyond the union of the ranges of each file, and every byte of an error page. A player that died
early asked for less, so compare where both ended. *Before Retry-After* counts repetitions of a
request before the server wanted them.\n\n${table}`;
}

/** @param {readonly Cell[]} cells */
export function estimates(cells) {
  const groups = rowsOf(cells.map((cell) => ({ ...cell, scenario: cell.variant, mode: '' })));
  const table = markdownTable(
    [
      { title: 'player', cell: ({ player }) => player },
      { title: 'variant', cell: ({ variant }) => VARIANTS[variant] },
      { title: 'rows', cell: ({ errors }) => errors.length, digits: 0 },
      { title: 'median error %', cell: ({ errors }) => quantile(errors.map(Math.abs), 0.5) * 100 },
      { title: 'p95 %', cell: ({ errors }) => quantile(errors.map(Math.abs), 0.95) * 100 },
      {
        title: 'more than 25 % too high',
        cell: ({ errors }) => errors.filter((e) => e > 0.25).length,
        digits: 0,
      },
    ],
    groups
      .map(({ player, variant }) => ({
        player,
        variant,
        errors: cells.flatMap((cell) =>
          cell.player === player && cell.variant === variant && cell.estimateError !== null
            ? [cell.estimateError]
            : [],
        ),
      }))
      .filter(({ errors }) => errors.length > 0),
  );
  return `What the player takes the link for at the end of each row, beside what the link let through while anything was
sent. Too high is the dangerous side: it picks a bitrate that cannot be had.\n\n${table}`;
}

/** @param {readonly Cell[]} cells @param {readonly string[]} players */
export function aggregates(cells, players) {
  const lines = players.flatMap((player) => {
    const faults = cells.filter(
      (cell) => cell.player === player && cell.fault.kind && !cell.fault.extra,
    );
    const whole = faults.filter((cell) =>
      Object.keys(VARIANTS).every((variant) => beside(faults, cell, variant)),
    );
    return Object.keys(VARIANTS).map((variant) => ({
      player,
      variant,
      cells: whole.filter((cell) => cell.variant === variant),
    }));
  });
  const names = Object.keys(WEIGHTINGS);
  const table = markdownTable(
    [
      { title: 'player', cell: ({ player }) => player },
      { title: 'variant', cell: ({ variant }) => VARIANTS[variant] },
      ...names.map((name) => ({
        title: `${name}: lost s`,
        cell: (/** @type {(typeof lines)[number]} */ { cells }) =>
          weighted(cells, name, ({ lostS }) => lostS),
      })),
      ...names.map((name) => ({
        title: `${name}: ended %`,
        digits: 0,
        cell: (/** @type {(typeof lines)[number]} */ { cells }) =>
          weighted(cells, name, ({ endedRuns, runs }) => (100 * endedRuns) / runs),
      })),
    ],
    lines,
  );
  const says = Object.entries(WEIGHTINGS).map(
    ([name, classes]) =>
      `*${name}*: ${classes.map(({ kinds, weight }) => (classes.length > 1 ? `${kinds.join(' and ')} ${weight}` : 'every fault alike')).join(', ')}`,
  );
  return `How often which fault happens is published nowhere, so these weights are assumptions, declared before
anything was measured: ${says.join('; ')}. A ranking counts only where all three have it. *Lost* are the
seconds of a fault's viewing that were waited (start-up included), skipped, or never seen because playback had ended.\n\n${table}`;
}
