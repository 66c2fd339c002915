// @ts-check
/** Plots as SVG, drawn by ECharts without a browser. */
import * as echarts from 'echarts';

/** Ours first, then peers; chosen to be told apart by the colour-blind (Okabe and Ito). */
export const COLORS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#d55e00', '#56b4e9', '#777777'];

/**
 * @param {echarts.EChartsOption} option
 * @param {{ width?: number, height?: number }} [size] in pixels
 * @returns {string} an SVG document on white, so that it is legible on dark pages too
 */
export function svg(option, { width = 800, height = 420 } = {}) {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption({ animation: false, backgroundColor: '#ffffff', color: COLORS, ...option });
  const text = chart.renderToSVGString();
  chart.dispose();
  return text;
}
