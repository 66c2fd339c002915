// @ts-check
/**
 * npm run bench:estimate: how far bandwidth estimates are from the rate of the link, in seven cases,
 * Holdfast's own and those of hls.js, Shaka Player and dash.js, alone and on Holdfast.
 */
import { runBench } from './command.mjs';
import { CASES, FILES } from './estimate/cases.mjs';
import { movedPct, misses, rowOf } from './estimate/rows.mjs';
import { namesIn } from '../lab/jobs.mjs';
import { countOf } from './options.mjs';
import { alternating } from './order.mjs';
import { parallel } from './parallel.mjs';

/** @typedef {import('./estimate/rows.mjs').Row} Row */

const RUNS = 5;
const WORKERS = 2;
const SMOKE = { cases: ['clean', 'retry'], estimators: ['Holdfast', 'hls.js'] };

runBench({
  name: 'estimate',
  about: `Downloads 20 segments over a shaped link and compares the estimate after each with the rate
of the link: ours, those of three players, and those of the same players on Holdfast. About half
an hour.`,
  parts: Object.fromEntries(Object.entries(CASES).map(([name, { title }]) => [name, title])),
  options: {
    of: { type: 'string' },
    runs: { type: 'string', default: String(RUNS) },
    workers: { type: 'string', default: String(WORKERS) },
  },
  optionHelp: `  --of a,b     these estimators alone, as the table names them
  --runs n     of each case and estimator (default ${RUNS})
  --workers n  runs at a time, each on a link of its own (default ${WORKERS})
`,
  key: ['case', 'impl'],
  packages: ['hls.js', 'shaka-player', 'dashjs'],
  needs: ['npm', 'media', 'browser', 'build'],
  columns: [
    { title: 'case', cell: (row) => row.case },
    { title: 'estimate of', cell: ({ impl }) => impl },
    { title: 'n', cell: ({ n }) => n, digits: 0 },
    { title: 'p50 %', cell: ({ p50Pct }) => p50Pct },
    { title: 'p95 %', cell: ({ p95Pct }) => p95Pct },
    { title: 'too high', cell: ({ overEstimates }) => overEstimates, digits: 0 },
    { title: 'samples', cell: ({ samples }) => samples, digits: 0 },
    { title: 'last kbit/s', cell: ({ lastKbps }) => lastKbps, digits: 0 },
  ],
  misses: (rows) => misses(/** @type {Row[]} */ (/** @type {unknown} */ (rows))),
  async run({ only, smoke, random, values, emit, progress }) {
    const { ESTIMATORS, openRuns } = await import('./estimate/run.mjs');
    const isWhole = only.size === Object.keys(CASES).length;
    const cases = smoke && isWhole ? SMOKE.cases : [...only];
    const all = Object.keys(ESTIMATORS);
    const named = namesIn(/** @type {string | undefined} */ (values.of), all, 'estimator');
    const estimators = named ?? (smoke ? SMOKE.estimators : all);
    const n = smoke ? 1 : countOf(values, 'runs');
    const runs = await openRuns();
    try {
      /** @type {Map<string, import('./estimate/run.mjs').Sample[][]>} */
      const done = new Map();
      /** @type {Row[]} */
      const rows = [];
      const jobs = cases.flatMap((name) =>
        alternating(estimators, n, random).map((estimator) => ({ name, estimator })),
      );
      await parallel(jobs, countOf(values, 'workers'), async ({ name, estimator }) => {
        const key = `${name}, ${estimator}`;
        const all = done.get(key) ?? [];
        done.set(key, all);
        const samples = await runs.run(name, estimator);
        all.push(samples);
        progress(`${key}: ${samples.length} segments, ${samples.at(-1)?.kbps?.toFixed(0)} kbit/s`);
        if (all.length < n) return;
        const row = rowOf(name, estimator, all, FILES.length);
        rows.push(row);
        emit({ ...row, movedPct: movedPct(rows, row) ?? null });
      });
    } finally {
      await runs.close();
    }
  },
});
