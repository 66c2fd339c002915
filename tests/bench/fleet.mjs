// @ts-check
/** npm run bench:fleet: every viewer of a large stream under one policy, and what their origin gets. */
import { runBench } from './command.mjs';
import { barsOf } from './fleet/bars.mjs';
import { build, simulate } from './fleet/simulate.mjs';
import { countOf } from './options.mjs';

const PARTS = {
  references: 'published results that the simulation reproduces',
  sweep: 'the grid: 4 faults, 4 lengths, 4 head-rooms, 3 phases, 10 000 viewers (12 minutes)',
  phase: 'where a fleet keeps its origin down after the fault: a queue of 30 s (4 minutes)',
  load: 'the load second by second in an outage of a minute',
  million: 'a million viewers through a minute, ours alone (5 minutes, 8 GB)',
  memory: "what one viewer's engine takes",
};

runBench({
  name: 'fleet',
  about:
    'A seeded simulation of fleets, each viewer with the very core that ships or with the policy of a\npeer, against an origin with finite capacity and a bounded queue. 25 minutes.',
  parts: PARTS,
  key: ['part', 'name', 'policy', 'mode', 'phase', 'outageS', 'headroom', 'queueS', 'log'],
  packages: ['hls.js', 'shaka-player', 'dashjs', 'p-retry', 'ky', 'cockatiel'],
  needs: ['rust'],
  options: { policy: { type: 'string' }, viewers: { type: 'string' } },
  optionHelp: `  --policy a,b only these policies, by their names in the table
  --viewers n  so many in each run of the grid, not 10 000
`,
  columns: [
    { title: 'part', cell: (row) => row.part },
    { title: 'policy', cell: (row) => row.policy ?? row.name },
    { title: 'mode', cell: (row) => row.mode },
    { title: 'phase', cell: (row) => row.phase ?? row.log },
    { title: 'outage s', cell: (row) => row.outageS, digits: 0 },
    { title: 'head-room', cell: (row) => row.headroom, digits: 2 },
    { title: 'outage load', cell: (row) => row.outageLoad ?? row.measured, digits: 2 },
    { title: 'from 30 s', cell: (row) => row.lateLoad ?? row.expected, digits: 2 },
    { title: 'peak', cell: (row) => row.peak, digits: 2 },
    { title: '95 % after s', cell: (row) => row.recover95S },
    { title: 'stall s', cell: (row) => row.stallPerViewerS },
    { title: 'dead %', cell: (row) => row.deadPct },
    { title: 'wasted %', cell: (row) => row.wastedPct },
    { title: 'too early', cell: (row) => row.retryAfterViolations, digits: 0 },
    { title: 'engine bytes', cell: (row) => row.engineBytes, digits: 0 },
  ],
  async run({ only, smoke, seed, values, emit, progress }) {
    await build();
    const viewers = values.viewers === undefined ? undefined : countOf(values, 'viewers');
    const policies = typeof values.policy === 'string' ? values.policy.split(',') : [];
    for (const part of only) {
      progress(part);
      await simulate({ part, smoke, seed, policies, viewers, emit });
    }
  },
  misses: (rows) =>
    barsOf(/** @type {any} */ (rows))
      .filter(({ met }) => met === false)
      .map(({ sentence }) => sentence),
});
