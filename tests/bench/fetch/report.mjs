// @ts-check
/** docs/benchmarks/fetch.md. */
import { svg } from '../chart.mjs';
import { markdownTable } from '../table.mjs';
import { FAULTS, LIMITS, LINK, SEGMENTS } from './faults.mjs';
import { OURS, bestLibrary, compare, isFault, misses, singles, sums } from './rows.mjs';

/** @typedef {import('./rows.mjs').Row} Row */
/** @typedef {import('./rows.mjs').Sum} Sum */
/** @typedef {import('./run.mjs').Runner} Runner */

const WHERE = /** @type {const} */ ({ browser: 'In Chromium', node: 'In Node' });

/** @type {import('../table.mjs').Column<Sum>[]} */
const SUMS = [
  { title: 'client', cell: ({ client }) => client },
  { title: 'whole', cell: ({ ok }) => ok, digits: 0 },
  { title: 'failed', cell: ({ failed }) => failed, digits: 0 },
  { title: 'requests', cell: ({ requests }) => requests, digits: 0 },
  { title: 'seconds', cell: ({ seconds }) => seconds, digits: 0 },
  { title: 'wasted kB', cell: ({ wastedKB }) => wastedKB, digits: 0 },
  { title: 'too early', cell: ({ retryAfterViolations }) => retryAfterViolations, digits: 0 },
];

/** @param {Sum[]} of */
const ranked = (of) => [...of].sort((a, b) => b.ok - a.ok || a.requests - b.requests);

/** @param {number} low @param {number} high @param {number} mid */
const spread = (low, mid, high) => (low === high ? String(mid) : `${mid} (${low}–${high})`);

/** @param {readonly Row[]} rows @param {Runner} runner */
function byFault(rows, runner) {
  const mine = rows.filter((row) => row.runner === runner);
  /** @type {import('../table.mjs').Column<{ fault: string, ours: Row, best: Row, isMet: boolean }>[]} */
  const columns = [
    { title: 'fault', cell: ({ fault }) => `${fault} ${FAULTS[fault]?.title ?? ''}` },
    { title: 'best library', cell: ({ best }) => best.client },
    { title: 'its whole', cell: ({ best }) => spread(best.minOk, best.ok, best.maxOk) },
    { title: 'ours', cell: ({ ours }) => spread(ours.minOk, ours.ok, ours.maxOk) },
    {
      title: 'its requests',
      cell: ({ best }) => spread(best.minRequests, best.requests, best.maxRequests),
    },
    {
      title: 'ours',
      cell: ({ ours }) => spread(ours.minRequests, ours.requests, ours.maxRequests),
    },
    {
      title: 'its seconds',
      cell: ({ best }) => spread(best.minSeconds, best.seconds, best.maxSeconds),
    },
    {
      title: 'ours',
      cell: ({ ours }) => spread(ours.minSeconds, ours.seconds, ours.maxSeconds),
    },
    { title: 'bar', cell: ({ isMet }) => (isMet ? 'met' : 'missed') },
  ];
  const lines = Object.keys(FAULTS).flatMap((fault) => {
    const of = mine.filter((row) => row.fault === fault);
    const ours = of.find(({ client }) => client === OURS);
    const best = bestLibrary(of);
    const verdict = compare(of);
    return ours && best && verdict ? [{ fault, ours, best, isMet: verdict.isMet }] : [];
  });
  return markdownTable(columns, lines);
}

/** How many came whole, of each client through each fault. @param {readonly Row[]} rows @param {Runner} runner */
function matrix(rows, runner) {
  const mine = rows.filter((row) => row.runner === runner);
  const clients = ranked(sums(rows, runner)).map(({ client }) => client);
  const faults = Object.keys(FAULTS).filter((fault) => mine.some((row) => row.fault === fault));
  /** @type {import('../table.mjs').Column<string>[]} */
  const columns = [
    { title: 'client', cell: (client) => client },
    ...faults.map((fault) => ({
      title: fault,
      cell: (/** @type {string} */ client) => {
        const row = mine.find((other) => other.client === client && other.fault === fault);
        return row && `${row.ok}/${row.requests}`;
      },
    })),
  ];
  return markdownTable(columns, clients);
}

/** Failures, which are what a viewer sees. @param {readonly Row[]} rows */
function failures(rows) {
  const all = ranked(sums(rows, 'browser')).reverse();
  return svg(
    {
      grid: { left: 150, right: 60, top: 40, bottom: 60 },
      title: { text: 'Segments that failed, over all faults', left: 'center' },
      xAxis: { type: 'value', name: 'fewer is better', nameLocation: 'middle', nameGap: 30 },
      yAxis: { type: 'category', data: all.map(({ client }) => client) },
      series: [
        {
          type: 'bar',
          label: { show: true, position: 'right' },
          data: all.map(({ client, failed }) => ({
            value: Math.round(failed),
            itemStyle: { color: client === OURS ? '#0072b2' : '#777777' },
          })),
        },
      ],
    },
    { height: 60 + 34 * all.length },
  );
}

/** A line for each runner where both sides were measured. @param {readonly Row[]} rows */
const verdicts = (rows) =>
  /** @type {Runner[]} */ (Object.keys(WHERE))
    .map((runner) => verdictOf(rows, runner))
    .filter(Boolean)
    .join('\n');

/** @param {readonly Row[]} rows @param {Runner} runner */
function verdictOf(rows, runner) {
  const verdict = compare(sums(rows.filter(isFault), runner));
  if (!verdict) return '';
  const { ours, best, isMet } = verdict;
  const asked = ours.requests > best.requests ? ' if a segment more may cost a request more' : '';
  return (
    `- ${WHERE[runner]}: Holdfast ${ours.ok} whole segments with ${ours.requests} requests; the best ` +
    `library, ${best.client}, ${best.ok} with ${best.requests}. ` +
    `The bar is **${isMet ? 'met' : 'not met'}**${isMet ? asked : ''}.${controlsOf(rows, runner, best.client)}`
  );
}

/** The controls, beside the library that is best through the faults. @param {readonly Row[]} rows @param {Runner} runner @param {string} best */
function controlsOf(rows, runner, best) {
  const controls = sums(
    rows.filter((row) => !isFault(row)),
    runner,
  );
  const [ours, theirs] = [OURS, best].map((name) => controls.find(({ client }) => client === name));
  if (!ours || !theirs) return '';
  const says = (/** @type {Sum} */ { ok, requests, retryAfterViolations }) =>
    `${ok} with ${requests}, ${retryAfterViolations} of them before the time that the server had named`;
  return ` In the controls: Holdfast ${says(ours)}; ${best} ${says(theirs)}.`;
}

/** @param {readonly Row[]} rows */
function eachFault(rows) {
  const all = singles(rows);
  const missed = all.filter(({ verdict }) => !verdict.isMet).length;
  return `- Beside the best library of each single fault or control, which is another one each time, the bar is missed in ${missed} of ${all.length}; [the page](docs/benchmarks/fetch.md) lists them.`;
}

/** @type {import('../report.mjs').Report} */
export function report(rows) {
  const runners = /** @type {Runner[]} */ (Object.keys(WHERE)).filter((runner) =>
    rows.some((row) => row.runner === runner),
  );
  const short = misses(rows);
  const sections = runners.flatMap((runner) => [
    `## ${WHERE[runner]}`,
    markdownTable(SUMS, ranked(sums(rows, runner))),
    '### Beside the best library of each fault',
    byFault(rows, runner),
    '### Whole segments / requests, of each client through each fault',
    matrix(rows, runner),
  ]);
  const hasBrowser = runners.includes('browser');
  const body = [
    `A page downloads ${SEGMENTS.length} segments one after another from another origin, over a link of ${LINK.kbps / 1000} Mbit/s whose answers begin after ${LINK.delayMs} ms. There is no player and no buffer: what counts is which segments come whole, compared by hash, and what that costs the server. Every run has a session, a link and a browser context of its own.`,
    `A segment that takes longer than ${LIMITS.segmentMs / 1000} s has failed, and so has one that was not begun when the run had lasted ${LIMITS.runMs / 1000} s. Windows open 2 s after the first request. Faults that strike once strike the first request for one segment of video.`,
    'Each library runs as it comes, and once more, as *best*, with what its documentation offers: twelve retries, from 0.5 s doubling to 4 s with jitter, 10 s for an attempt, `Retry-After` where a library lets one say so, and no retry of a refusal that is final. Libraries that wrap a function have the body read inside it. ky and fetch-retry resolve at the headers; what happens to a body after that is not theirs to see. `fetch` is the browser alone, and no library. Holdfast has its defaults everywhere. All of it is in `tests/bench/fetch/clients.mjs` and `node-clients.mjs`.',
    'Requests are those the server saw, also those that the browser sends again by itself. *Too early* are requests that came before the time that a `Retry-After` had named. *Wasted* are bytes sent twice, or that are not the file’s. Figures are medians; what is in brackets is the lowest and the highest run.',
    ...(hasBrowser ? ['![Segments that failed](fetch-failures.svg)'] : []),
    '## The bar',
    'At least the success of the best library, with at most the requests of that library, and one more for each segment that it has lost and Holdfast has not, as no segment comes without a request. The best library is the one with the most whole segments, and among equals the one with the fewest requests; over all faults it is one library, and in the tables of single faults it is the best one of each. The controls (N) are told apart: there, who asks although the server has said when to come back may get more, and should not. N4b cannot be told from N4 without asking: a `Retry-After` speaks of the service (RFC 9110, 10.2.3), so Holdfast waits with the whole host.',
    verdicts(rows),
    short.length > 0 && `Where Holdfast falls short:\n\n${short.map((s) => `- ${s}`).join('\n')}`,
    ...sections,
  ];
  return {
    title: 'Downloads through faults, at the level of fetch',
    body: body.filter(Boolean).join('\n\n'),
    plots: hasBrowser
      ? { 'fetch-failures.svg': failures(/** @type {Row[]} */ (/** @type {unknown} */ (rows))) }
      : {},
    headline: [verdicts(rows), eachFault(rows)].join('\n'),
  };
}
