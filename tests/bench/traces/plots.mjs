// @ts-check
/** The plots of recorded links. */
import { COLORS, svg } from '../chart.mjs';
import { caseOf, linkTrace } from './cases.mjs';
import { pairs } from './summary.mjs';

/** @typedef {import('./summary.mjs').TraceRow} TraceRow */

const [OURS, ALONE] = COLORS;
const LEGEND = { data: ['alone', 'with Holdfast'], top: 4, right: 30 };
const MARGIN = 70;
const GAP = 50;

/** The rate of a link is drawn up to this: what is beyond is more than any rendition needs. */
const CEILING_KBPS = 4000;

/**
 * Rebuffering and bitrate of each trace, one panel a player: from alone to with Holdfast.
 * @param {readonly TraceRow[]} rows
 */
export function tradePlot(rows) {
  const players = [...new Set(rows.map(({ player }) => player))];
  const width = 320;
  const height = 300;
  const both = pairs(rows);
  const highest = Math.max(...rows.map(({ meanKbps }) => meanKbps ?? 0));
  const longest = Math.max(...rows.map(({ stallS }) => stallS));
  const spots = (/** @type {string} */ player, /** @type {'plain' | 'holdfast'} */ variant) =>
    both
      .filter((pair) => pair.player === player)
      .map((pair) => {
        const row = pair[variant];
        // An empty mark: it did not play to its end.
        const isWhole = row.outcome === 'ended';
        const color = variant === 'plain' ? ALONE : OURS;
        const itemStyle = {
          color: isWhole ? color : '#ffffff',
          borderColor: color,
          borderWidth: 2,
        };
        return { value: [row.stallS, row.meanKbps ?? 0], itemStyle };
      });
  const series = players.flatMap((player, index) => {
    const place = { xAxisIndex: index, yAxisIndex: index };
    const steps = both
      .filter((pair) => pair.player === player)
      .map(({ plain, holdfast }) => [
        { coord: [plain.stallS, plain.meanKbps ?? 0] },
        { coord: [holdfast.stallS, holdfast.meanKbps ?? 0] },
      ]);
    const markLine = {
      ...{ symbol: ['none', 'arrow'], symbolSize: 6, silent: true },
      lineStyle: { color: '#999999', type: /** @type {const} */ ('solid') },
      data: /** @type {any} */ (steps),
    };
    const type = /** @type {const} */ ('scatter');
    return [
      { ...place, type, name: 'alone', symbolSize: 9, data: spots(player, 'plain'), markLine },
      { ...place, type, name: 'with Holdfast', symbolSize: 9, data: spots(player, 'holdfast') },
    ];
  });
  const left = (/** @type {number} */ index) => MARGIN + index * (width + MARGIN);
  return svg(
    {
      legend: LEGEND,
      color: [ALONE, OURS],
      title: players.map((text, index) => titled(`${text}, kbit/s shown`, left(index) - 10, 30)),
      grid: players.map((_, index) => ({ left: left(index), top: 60, width, height })),
      xAxis: players.map((_, index) => ({
        ...{
          gridIndex: index,
          name: 'rebuffering, s',
          nameLocation: 'middle',
          nameGap: 28,
          min: 0,
          max: upTo(longest, 5),
        },
      })),
      yAxis: players.map((_, index) => ({ gridIndex: index, min: 0, max: upTo(highest, 500) })),
      series,
    },
    { width: left(players.length), height: height + 130 },
  );
}

/**
 * One link as it was, and under it the buffer of each player, alone and with Holdfast.
 * @param {string} trace
 * @param {readonly TraceRow[]} rows of this trace
 */
export function timePlot(trace, rows) {
  const players = [...new Set(rows.map(({ player }) => player))];
  const seconds = Math.max(...rows.map(({ ahead }) => ahead.length));
  const height = 130;
  const top = (/** @type {number} */ index) => 60 + index * (height + GAP);
  const panels = ['the link, Mbit/s', ...players.map((player) => `${player}, seconds of buffer`)];
  const place = (/** @type {number} */ index) => ({ xAxisIndex: index, yAxisIndex: index });
  const link = {
    ...place(0),
    ...{
      type: /** @type {const} */ ('line'),
      step: /** @type {const} */ ('start'),
      symbol: 'none',
    },
    ...{ areaStyle: { color: '#dddddd' }, lineStyle: { color: '#777777', width: 1 } },
    data: rates(trace, seconds).map(([at, kbps]) => [at, Math.min(kbps, CEILING_KBPS) / 1000]),
  };
  const buffers = players.flatMap((player, index) =>
    /** @type {const} */ (['plain', 'holdfast']).flatMap((variant) => {
      const row = rows.find((one) => one.player === player && one.variant === variant);
      if (!row) return [];
      return {
        ...place(index + 1),
        ...{ type: /** @type {const} */ ('line'), symbol: 'none' },
        name: variant === 'plain' ? 'alone' : 'with Holdfast',
        data: row.ahead.map((ahead, second) => [second, ahead]),
      };
    }),
  );
  return svg(
    {
      legend: LEGEND,
      color: [ALONE, OURS],
      title: panels.map((text, index) => titled(text, 50, top(index) - 24)),
      grid: panels.map((_, index) => ({ left: 60, right: 30, top: top(index), height })),
      xAxis: panels.map((_, index) => ({
        ...{ gridIndex: index, type: 'value', min: 0, max: seconds },
        ...(index === panels.length - 1 ? { name: 's', nameGap: 8 } : {}),
      })),
      yAxis: panels.map((_, index) => ({ gridIndex: index, min: 0, splitNumber: 3 })),
      series: [
        // Named series take the colours in their order.
        ...buffers.map((one) => ({ ...one, color: one.name === 'alone' ? ALONE : OURS })),
        link,
      ],
    },
    { height: top(panels.length) + 10 },
  );
}

/** The next multiple. @param {number} value @param {number} step */
const upTo = (value, step) => Math.max(1, Math.ceil(value / step)) * step;

/** @param {string} text @param {number} left @param {number} top */
function titled(text, left, top) {
  return {
    text,
    left,
    top,
    textStyle: { fontSize: 13, fontWeight: /** @type {const} */ ('normal') },
  };
}

/**
 * The rate at the end of each step, by which a stepped line is drawn.
 * @param {string} trace
 * @param {number} seconds
 * @returns {[number, number][]} s, kbit/s
 */
function rates(trace, seconds) {
  /** @type {[number, number][]} */
  const points = [];
  let at = 0;
  for (const { ms, kbps } of linkTrace(caseOf(trace))) {
    if (points.length === 0) points.push([0, kbps]);
    at += ms / 1000;
    points.push([Math.min(at, seconds), kbps]);
    if (at >= seconds) break;
  }
  return points;
}
