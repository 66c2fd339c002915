// @ts-check
/** Rebuffering by fault, of one player. */
import { COLORS, svg } from '../chart.mjs';

/** @typedef {import('./summary.mjs').Cell} Cell */

/** What never ended is drawn this long. */
const NEVER_S = 30;
const ROW_PX = 34;

const SERIES = /** @type {const} */ ([
  ['holdfast', 'with Holdfast', COLORS[0]],
  ['tuned', 'tuned', COLORS[1]],
  ['plain', 'default', COLORS[6]],
]);

/**
 * @param {readonly Cell[]} cells
 * @param {string} player
 */
export function stallPlot(cells, player) {
  const faults = cells.filter((cell) => cell.player === player && cell.fault.kind);
  // A chart has its first category at the bottom.
  const ids = [...new Set(faults.map(({ scenario }) => scenario))].reverse();
  const of = (/** @type {string} */ id, /** @type {string} */ variant) =>
    faults.find((cell) => cell.scenario === id && cell.variant === variant);
  return svg(
    {
      title: { text: `${player}: rebuffering by fault`, left: 'center' },
      legend: { top: 28 },
      grid: { left: 90, right: 60, top: 60, bottom: 40 },
      xAxis: { type: 'value', name: 's', max: NEVER_S },
      yAxis: { type: 'category', data: ids },
      series: [
        ...[...SERIES].reverse().map(([variant, name, color]) => ({
          name,
          type: /** @type {const} */ ('bar'),
          color,
          data: ids.map((id) => bar(of(id, variant))),
        })),
        {
          name: 'oracle',
          type: /** @type {const} */ ('scatter'),
          symbol: 'rect',
          symbolSize: [3, ROW_PX * 0.7],
          color: '#000000',
          data: ids.map((id) => {
            const cell = faults.find(({ scenario }) => scenario === id);
            return cell?.oracleOutcome === 'ended' ? Math.min(cell.oracleStallS, NEVER_S) : null;
          }),
        },
      ],
    },
    { width: 800, height: 120 + ids.length * ROW_PX },
  );
}

/** @param {Cell | undefined} cell */
function bar(cell) {
  if (!cell) return null;
  const { outcome, stallS } = cell;
  const ended = outcome === 'ended';
  const text = ended ? (stallS > NEVER_S ? stallS.toFixed(0) : '') : outcome;
  const label = { show: text !== '', formatter: text, position: /** @type {const} */ ('right') };
  const itemStyle = ended ? {} : { opacity: 0.45 };
  return { value: ended ? Math.min(stallS, NEVER_S) : NEVER_S, label, itemStyle };
}
