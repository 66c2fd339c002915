// @ts-check
/** The page of the fleet simulation. */
import { COLORS, svg } from '../chart.mjs';
import { markdownTable } from '../table.mjs';
import { OURS, allowedPeak, barsOf, better, totals } from './bars.mjs';
import { phasePlot } from './phase-plot.mjs';

/** @typedef {import('./bars.mjs').FleetRow} Row */
/** @typedef {ReturnType<typeof totals>[number]} Total */

const TOTALS = [
  { title: 'policy', cell: (/** @type {Total} */ row) => row.policy },
  { title: 'stall, s', cell: (/** @type {Total} */ row) => row.stallS },
  { title: 'load in the outage', cell: (/** @type {Total} */ row) => row.load, digits: 2 },
  { title: 'from 30 s, at most', cell: (/** @type {Total} */ row) => row.lateLoad, digits: 2 },
  { title: 'worst second after', cell: (/** @type {Total} */ row) => row.peak, digits: 2 },
  { title: 'dead, %', cell: (/** @type {Total} */ row) => row.deadPct },
  { title: 'not back', cell: (/** @type {Total} */ row) => `${row.unrecovered} of ${row.n}` },
  { title: 'wasted, %', cell: (/** @type {Total} */ row) => row.wastedPct },
  { title: 'too early', cell: (/** @type {Total} */ row) => row.violations, digits: 0 },
];

const MINUTE = [
  { title: 'policy', cell: (/** @type {Row} */ row) => row.policy },
  { title: 'load', cell: (/** @type {Row} */ row) => row.outageLoad, digits: 2 },
  { title: 'from 30 s', cell: (/** @type {Row} */ row) => row.lateLoad, digits: 2 },
  { title: 'worst second after', cell: (/** @type {Row} */ row) => row.peak, digits: 2 },
  { title: '95 % after s', cell: (/** @type {Row} */ row) => row.recover95S },
  { title: '99 % after s', cell: (/** @type {Row} */ row) => row.recover99S },
  { title: 'stall, s', cell: (/** @type {Row} */ row) => row.stallPerViewerS },
  { title: 'dead, %', cell: (/** @type {Row} */ row) => row.deadPct },
  { title: 'wasted, %', cell: (/** @type {Row} */ row) => row.wastedPct },
];

const REFERENCES = [
  { title: 'figure', cell: (/** @type {Row} */ row) => row.name },
  { title: 'published', cell: (/** @type {Row} */ row) => row.expected, digits: 3 },
  { title: 'here', cell: (/** @type {Row} */ row) => row.measured, digits: 3 },
];

const MODES = {
  error: '503 at once',
  busy: '503 at once, with `Retry-After: 5`, also where the queue is full',
  blackhole: 'nothing is answered',
  brownout: 'a fifth of the capacity is left',
};

/**
 * @param {readonly Row[]} rows
 * @returns {import('../report.mjs').Page}
 */
export function report(rows) {
  const runs = rows.filter(({ part }) => part === 'sweep');
  const all = totals(runs).sort((a, b) => a.stallS - b.stallS);
  /** @type {Record<string, string>} */
  const plots = {};
  const sections = [
    barsSection(rows),
    gridSection(runs, all, plots),
    minuteSection(runs, rows, plots),
    phaseSection(rows, plots),
    millionSection(rows),
    memorySection(rows),
    referencesSection(rows),
    MODEL,
  ];
  return {
    title: 'Fleets',
    body: sections.filter(Boolean).join('\n\n'),
    plots,
    headline: headline(rows, runs, all),
  };
}

/** @param {readonly Row[]} rows */
function barsSection(rows) {
  const said = barsOf(rows).map(({ name, sentence, met }) => {
    return `| ${name} | ${sentence} | ${met === null ? '–' : met ? 'met' : '**missed**'} |`;
  });
  return `One origin, thousands of viewers, an outage. What does it get to bear from them, and how long do they stand still?
Ours is the very core that ships, one engine for each viewer; the peers are their retry policies, checked against
request logs of the real players and libraries.

| bar | | |
| --- | --- | --- |
${said.join('\n')}`;
}

/**
 * @param {readonly Row[]} runs
 * @param {readonly Total[]} all
 * @param {Record<string, string>} plots
 */
function gridSection(runs, all, plots) {
  if (runs.length === 0) return '';
  plots['fleet-pareto.svg'] = paretoPlot(all);
  const over = runs.filter((run) => run.policy === OURS && run.peak > allowedPeak(run));
  const dominated = cellsLost(runs);
  return `## The whole grid

Means over all runs of a policy: ${all[0].n} combinations of fault, length, head-room and phase. *Load* is what reaches the origin in the
outage, as a multiple of what the same viewers ask for without one. A policy under which players die has little load: nobody is
left to ask. *Not back* counts runs in which fewer than 95 % played again within two minutes.

${markdownTable(TOTALS, all)}

Better than ${OURS} on both mean stall and load: ${
    better(all)
      .map(({ policy }) => policy)
      .join(', ') || 'nobody'
  }. Run by run, somebody is better on both in ${dominated} of ${all[0].n}. The worst second after the outage is above
what is allowed in ${over.length} of ${OURS}'s runs.

![Mean stall and load by policy](fleet-pareto.svg)

Nearer to the lower left corner is better, as long as nobody dies. The scale of the load is logarithmic.`;
}

/**
 * In how many combinations somebody is better than ours on both.
 * @param {readonly Row[]} runs
 */
function cellsLost(runs) {
  const ours = runs.filter(({ policy }) => policy === OURS);
  const lost = ours.filter((own) =>
    runs.some(
      (run) =>
        run.mode === own.mode &&
        run.phase === own.phase &&
        run.outageS === own.outageS &&
        run.headroom === own.headroom &&
        run.stallPerViewerS < own.stallPerViewerS &&
        run.outageLoad < own.outageLoad,
    ),
  );
  return lost.length;
}

/**
 * @param {readonly Row[]} runs
 * @param {readonly Row[]} rows
 * @param {Record<string, string>} plots
 */
function minuteSection(runs, rows, plots) {
  const tables = Object.entries(MODES).flatMap(([mode, says]) =>
    ['uniform', 'edge', 'join'].map((phase) => {
      const own = runs.filter(
        (run) =>
          run.mode === mode && run.phase === phase && run.outageS === 60 && run.headroom === 1.3,
      );
      if (own.length === 0) return '';
      const sorted = own.sort((a, b) => a.stallPerViewerS - b.stallPerViewerS);
      return `### ${mode}, ${phase}: ${says}\n\n${markdownTable(MINUTE, sorted)}`;
    }),
  );
  const series = rows.filter(({ part }) => part === 'load');
  const drawn = ['uniform', 'edge'].flatMap((phase) =>
    ['error', 'blackhole', 'brownout'].flatMap((mode) => {
      const own = series.filter((row) => row.mode === mode && row.phase === phase);
      if (own.length === 0) return [];
      const name = `fleet-load-${mode}-${phase}.svg`;
      plots[name] = loadPlot(own);
      return [`![Load by second, ${mode}, ${phase}](${name})`];
    }),
  );
  if (tables.every((table) => table === '') && drawn.length === 0) return '';
  return `## A minute, at a head-room of 1.3

${drawn.join('\n\n')}

Requests in each second, to steady play. The fault is between the dotted lines.

${tables.filter(Boolean).join('\n\n')}`;
}

/**
 * @param {readonly Row[]} rows
 * @param {Record<string, string>} plots
 */
function phaseSection(rows, plots) {
  const runs = rows.filter(({ part }) => part === 'phase');
  const modes = [...new Set(runs.map(({ mode }) => mode))];
  const drawn = modes.map((mode) => {
    const own = runs.filter((run) => run.mode === mode);
    const name = `fleet-phase-${mode}.svg`;
    plots[name] = phasePlot(own);
    return `![When 95 % play again, by head-room and length, ${mode}](${name})`;
  });
  if (drawn.length === 0) return '';
  const policies = [...new Set(runs.map(({ policy }) => policy))];
  const counts = policies.map((policy) => {
    const own = runs.filter((run) => run.policy === policy);
    const stuck = own.filter(({ recover95S }) => recover95S === null).length;
    return { policy, stuck, n: own.length };
  });
  const columns = [
    { title: 'policy', cell: (/** @type {typeof counts[number]} */ row) => row.policy },
    {
      title: 'not back',
      cell: (/** @type {typeof counts[number]} */ row) => `${row.stuck} of ${row.n}`,
    },
  ];
  return `## Where a fleet keeps its origin down

A long queue (30 s of work) and little head-room: the origin is busy with what nobody waits for any more, so that more of
what it does is for nobody. Dark cells are runs in which fewer than 95 % played within two minutes after the fault was gone.

${drawn.join('\n\n')}

${markdownTable(
  columns,
  counts.sort((a, b) => a.stuck - b.stuck),
)}`;
}

/** @param {readonly Row[]} rows */
function millionSection(rows) {
  const run = rows.find(({ part }) => part === 'million');
  if (!run) return '';
  return `## ${run.viewers.toLocaleString('en')} viewers

An outage of ${run.outageS} s (503) at a head-room of ${run.headroom} took ${run.wallS.toFixed(0)} s of one core and ${(run.peakRssMB / 1024).toFixed(1)} GiB to simulate. Load in the
outage ${run.outageLoad.toFixed(2)}, from 30 s ${run.lateLoad?.toFixed(2)}, worst second after ${run.peak.toFixed(2)}; 95 % play again after ${run.recover95S} s.`;
}

/** @param {readonly Row[]} rows */
function memorySection(rows) {
  const engines = rows.filter(({ part }) => part === 'memory');
  if (engines.length === 0) return '';
  const columns = [
    { title: 'decisions in the log', cell: (/** @type {Row} */ row) => row.log },
    { title: 'phase', cell: (/** @type {Row} */ row) => row.phase },
    { title: 'bytes, at most', cell: (/** @type {Row} */ row) => row.engineBytes, digits: 0 },
    { title: 'bytes, mean', cell: (/** @type {Row} */ row) => row.meanEngineBytes, digits: 0 },
  ];
  return `## Memory of an engine

By a counting allocator, over a minute of 503, natively on 64 bits. All share one configuration, of ${engines[0].sharedConfigBytes} bytes,
which is not counted; an engine that is alone has it to itself.

${markdownTable(columns, engines)}`;
}

/** @param {readonly Row[]} rows */
function referencesSection(rows) {
  const figures = rows.filter(({ part }) => part === 'references');
  if (figures.length === 0) return '';
  return `## What the simulation reproduces

Published results, and closed forms: by the parts that the fleet runs on where they have them, and by a
model of the source's own where they do not (clients with a share of failures, contenders for a row). The
sources stand in \`tests/fleet/src/references.rs\`.

${markdownTable(REFERENCES, figures)}`;
}

const MODEL = `## The model

- A viewer has a playhead, a goal of 12 s, segments of 4 s, one request for media at a time, and at the live edge another for
  its playlist each segment. Media comes within 0.4 s after its headers; the round trip is 40 ms. Live players are three segments
  behind and skip ahead where the window of six has passed them by.
- The origin serves requests one after the other, each for the same time; its capacity is head-room times the steady load. Its queue
  holds 2 s of work (4 s at the live edge, 30 s in the phase diagram); beyond that it refuses with 503, which costs a twentieth of a service.
  It works on for clients who have gone.
- A player that stops with an error plays what it has; 2 to 8 s after its picture froze, 9 of 10 users load the page again, which
  costs five requests before the first segment. The tenth does not come back, and stands still to the end of the run.
- Where a library gives up, so does its player. Back-end policies without an end (full jitter, token bucket, adaptive throttling)
  ask again a segment later instead, which is the best that can be done with them. Attempts without a time-out of their own get ten seconds.
- Not modelled: several renditions, caches between origin and viewer, the time that a link takes under load, users who leave.
- The same seed gives the same result to the digit. The grid stands in \`tests/fleet/src/grid.rs\`.`;

/** @param {readonly Total[]} all */
function paretoPlot(all) {
  return svg({
    grid: { left: 70, right: 150, top: 30, bottom: 60 },
    xAxis: { type: 'log', name: 'load in the outage', nameLocation: 'middle', nameGap: 35 },
    yAxis: { type: 'value', name: 'mean stall, s', scale: true },
    series: [
      {
        type: 'scatter',
        symbolSize: 10,
        data: all.map(({ policy, load, stallS }) => ({
          name: policy,
          value: [Number(load.toFixed(3)), Number(stallS.toFixed(2))],
          itemStyle: { color: policy === OURS ? COLORS[0] : COLORS[6] },
        })),
        label: { show: true, position: 'right', formatter: '{b}', fontSize: 11 },
        labelLayout: { moveOverlap: 'shiftY' },
      },
    ],
  });
}

/** Who is drawn: the others would hide them. */
const DRAWN = [OURS, 'hls.js', 'hls.js tuned', 'Shaka live', 'dash.js', 'p-retry', 'full jitter'];

/** @param {readonly Row[]} rows of one fault and one phase */
function loadPlot(rows) {
  const shown = DRAWN.flatMap((name) => rows.filter(({ policy }) => policy === name));
  const { onsetS, outageS } = rows[0];
  return svg({
    legend: { top: 0 },
    grid: { left: 50, right: 20, top: 40, bottom: 40 },
    xAxis: { type: 'value', name: 's', max: rows[0].series.length },
    yAxis: { type: 'value', name: 'load', max: 6 },
    series: shown.map(({ policy, series }, index) => ({
      name: policy,
      type: 'line',
      symbol: 'none',
      lineStyle: { width: policy === OURS ? 2.5 : 1 },
      z: policy === OURS ? 3 : 2,
      data: series.map((/** @type {number} */ value, /** @type {number} */ at) => [at, value]),
      ...(index === 0 && {
        markLine: {
          symbol: 'none',
          label: { show: false },
          lineStyle: { type: 'dotted', color: '#777777' },
          data: [{ xAxis: onsetS }, { xAxis: onsetS + outageS }],
        },
      }),
    })),
  });
}

/**
 * @param {readonly Row[]} rows
 * @param {readonly Row[]} runs
 * @param {readonly Total[]} all
 */
function headline(rows, runs, all) {
  const said = barsOf(rows)
    .filter(({ met }) => met !== null)
    .map(({ sentence, met }) => `- ${sentence} (${met ? 'met' : 'missed'})`);
  const ours = all.find(({ policy }) => policy === OURS);
  const first = ours
    ? `Over ${ours.n} combinations of fault, length, head-room and phase, a viewer with Holdfast stands still for ${ours.stallS.toFixed(1)} s and asks ${ours.load.toFixed(2)} times as much of the origin in the outage; of the peers under which nobody dies, the best stands still for ${bestPeer(all)}.\n\n`
    : '';
  const others = all
    .filter(({ load, deadPct }) => ours && deadPct === 0 && load < ours.load)
    .map(({ policy, load, stallS }) => `${policy} ${load.toFixed(2)} (${stallS.toFixed(1)} s)`);
  const peers =
    others.length > 0
      ? `\n- fewer requests in the outage though nobody dies, with the stall: ${others.join('; ')}`
      : '';
  const single = ours
    ? `\n- in ${cellsLost(runs)} of ${ours.n} combinations, each for itself, some policy is better on both`
    : '';
  return `${first}${said.join('\n')}${peers}${single}`;
}

/** @param {readonly Total[]} all by stall, ascending */
function bestPeer(all) {
  const alive = all.find(({ policy, deadPct }) => policy !== OURS && deadPct === 0);
  return alive ? `${alive.stallS.toFixed(1)} s at ${alive.load.toFixed(2)} (${alive.policy})` : '–';
}
