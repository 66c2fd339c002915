// @ts-check
/** The phase diagram: for each policy, where it comes back and where it does not. */
import { svg } from '../chart.mjs';
import { OURS } from './bars.mjs';

const COLUMNS = 5;
const WIDTH = 190;
const HEIGHT = 190;
const LEFT = 60;
const TOP = 30;

/** From quick to slow, legible to the colour-blind; the last is for runs that never come back. */
const SHADES = ['#f7fcf5', '#c7e9c0', '#74c476', '#238b45', '#fdae6b', '#e6550d', '#252525'];
const STEPS = [0, 5, 10, 20, 40, 80, 1000];

/** How a recovery that never comes is drawn. */
const NEVER = 9999;

/**
 * A heat map of each policy side by side: head-room to the right, length of the fault upwards.
 * @param {readonly import('./bars.mjs').Run[]} runs of one fault
 */
export function phasePlot(runs) {
  const names = [...new Set(runs.map(({ policy }) => policy))];
  const policies = [
    OURS,
    ...names.filter((name) => name !== OURS).sort((a, b) => a.localeCompare(b)),
  ].filter((name) => names.includes(name));
  const ascending = (/** @type {number} */ a, /** @type {number} */ b) => a - b;
  const headrooms = [...new Set(runs.map(({ headroom }) => headroom))].sort(ascending);
  const outages = [...new Set(runs.map(({ outageS }) => outageS))].sort(ascending);
  const places = policies.map((_, index) => ({
    left: LEFT + (index % COLUMNS) * WIDTH,
    top: TOP + Math.floor(index / COLUMNS) * HEIGHT,
  }));
  const rows = Math.ceil(policies.length / COLUMNS);
  return svg(
    {
      title: policies.map((policy, index) => ({
        text: policy,
        left: places[index].left,
        top: places[index].top - 22,
        textStyle: { fontSize: 12, fontWeight: policy === OURS ? 'bold' : 'normal' },
      })),
      grid: places.map((place) => ({ ...place, width: WIDTH - 50, height: HEIGHT - 65 })),
      xAxis: policies.map((_, index) => ({
        type: /** @type {const} */ ('category'),
        gridIndex: index,
        data: headrooms.map(String),
        axisLabel: { fontSize: 9 },
      })),
      yAxis: policies.map((_, index) => ({
        type: /** @type {const} */ ('category'),
        gridIndex: index,
        data: outages.map((seconds) => `${seconds} s`),
        axisLabel: { fontSize: 9 },
      })),
      visualMap: {
        type: 'piecewise',
        orient: 'horizontal',
        left: 'center',
        bottom: 0,
        pieces: [
          ...STEPS.slice(0, -1).map((from, index) => ({
            gte: from,
            lt: STEPS[index + 1],
            color: SHADES[index],
            label: index < STEPS.length - 2 ? `< ${STEPS[index + 1]} s` : `≥ ${from} s`,
          })),
          { gte: STEPS[STEPS.length - 1], color: SHADES[SHADES.length - 1], label: 'not back' },
        ],
      },
      series: policies.map((policy, index) => ({
        type: /** @type {const} */ ('heatmap'),
        xAxisIndex: index,
        yAxisIndex: index,
        itemStyle: { borderColor: '#ffffff', borderWidth: 1 },
        data: runs
          .filter((run) => run.policy === policy)
          .map(({ headroom, outageS, recover95S }) => [
            headrooms.indexOf(headroom),
            outages.indexOf(outageS),
            recover95S ?? NEVER,
          ]),
      })),
    },
    { width: LEFT + COLUMNS * WIDTH, height: TOP + rows * HEIGHT + 40 },
  );
}
