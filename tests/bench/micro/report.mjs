// @ts-check
/** The page of microbenchmarks. */
import { svg } from '../chart.mjs';
import { markdownTable } from '../table.mjs';

/** @typedef {import('./criterion.mjs').Row} Row */

const COLUMNS = [
  { title: 'case', cell: (/** @type {Row} */ row) => row.case },
  { title: 'median, ns', cell: (/** @type {Row} */ row) => row.medianNs, digits: 0 },
  {
    title: 'its 95 %',
    cell: (/** @type {Row} */ { lowNs, highNs }) => `${lowNs.toFixed(0)} … ${highNs.toFixed(0)}`,
  },
  { title: 'samples', cell: (/** @type {Row} */ row) => row.n, digits: 0 },
];

/** What a case is about, whatever the number of requests. @param {Row} row */
const factOf = (row) => row.case.replace(/, [\d,]+ under way$/, '');

/**
 * @param {readonly Row[]} rows
 * @returns {import('../report.mjs').Page}
 */
export function report(rows) {
  const single = rows.filter((row) => factOf(row) === row.case);
  const live = rows.filter((row) => factOf(row) !== row.case);
  const most = Math.max(...live.map((row) => row.live));
  const body = `
The core alone, compiled natively with the flags that the module is compiled with (\`opt-level = "z"\`), by
[criterion](https://docs.rs/criterion). Each time has what the driver does with a fact in it: telling it, taking all actions that follow, and asking
when the next timer is due.

## One request

A request that succeeds has its headers, four chunks and its end; one that breaks once has two attempts with a wait
between. A chunk is the only thing that happens often.

${markdownTable(COLUMNS, single)}

## Many requests under way

A page has a dozen requests under way. What happens with ${most.toLocaleString('en')} is for the shape of the curve: an engine looks
through all its requests at most facts, so the cost of one grows with their number, and that of all with its square.

${markdownTable(COLUMNS, live)}

![Time of one fact by the number of requests](micro-live.svg)

The same, drawn; both scales are logarithmic.
`;
  const plots = { 'micro-live.svg': plot(live) };
  return { title: 'Microbenchmarks', body, plots, headline: headline(rows) };
}

/** @param {readonly Row[]} live */
function plot(live) {
  // What takes no time at all would only stretch the scale.
  const facts = [...new Set(live.map(factOf))].filter((fact) => !fact.startsWith('poll'));
  const axis = /** @type {const} */ ({ type: 'log', nameLocation: 'middle' });
  return svg({
    legend: { right: 10, top: 'middle', orient: 'vertical' },
    grid: { left: 80, right: 190, top: 20, bottom: 50 },
    xAxis: { ...axis, name: 'requests under way', nameGap: 30 },
    yAxis: { ...axis, name: 'ns', nameGap: 55 },
    series: facts.map((fact) => ({
      name: fact,
      type: 'line',
      data: live
        .filter((row) => factOf(row) === fact)
        .map((row) => [row.live, Math.round(row.medianNs)]),
    })),
  });
}

/** @param {readonly Row[]} rows */
function headline(rows) {
  const us = (/** @type {string} */ name) => {
    const row = rows.find((row) => row.case === name);
    return row ? `${(row.medianNs / 1000).toFixed(2)} µs` : 'not measured';
  };
  return `All decisions of a request that succeeds: ${us('request that succeeds')}; of one that breaks once:
${us('request that breaks once')}; one chunk: ${us('chunk')}. With 100,000 requests under way, starting one more:
${us('start, 100,000 under way')}.`;
}
