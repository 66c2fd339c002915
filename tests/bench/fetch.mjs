// @ts-check
/**
 * npm run bench:fetch: thirty segments one after another, through faults, with Holdfast and with the
 * retry libraries of npm.
 */
import { FAULTS } from './fetch/faults.mjs';
import { misses, rowOf } from './fetch/rows.mjs';
import { namesIn } from '../lab/jobs.mjs';
import { countOf } from './options.mjs';
import { alternating } from './order.mjs';
import { parallel } from './parallel.mjs';
import { runBench } from './command.mjs';

/** Which client runs where. @type {[client: string, runner: import('./fetch/run.mjs').Runner][]} */
const SIDES = [
  ...[
    'holdfast',
    'fetch',
    ...['ky', 'p-retry', 'cockatiel', 'axios-retry', 'fetch-retry'].flatMap((name) => [
      name,
      `${name} best`,
    ]),
  ].map((client) => /** @type {[string, 'browser']} */ ([client, 'browser'])),
  ['holdfast', 'node'],
  ['undici', 'node'],
  ['undici best', 'node'],
];
const SMOKE = ['holdfast', 'ky best', 'axios-retry'];

const RUNS = 3;
const WORKERS = 8;

runBench({
  name: 'fetch',
  about: `Downloads 30 segments one after another in a page, and in Node, through each fault, with
Holdfast, ky, p-retry, cockatiel, axios-retry, fetch-retry and undici: how many came whole, how long
that took, and what it cost the server. About 35 minutes; nearly all of it is waiting.`,
  parts: Object.fromEntries(Object.entries(FAULTS).map(([id, { title }]) => [id, title])),
  options: {
    clients: { type: 'string' },
    runs: { type: 'string', default: String(RUNS) },
    workers: { type: 'string', default: String(WORKERS) },
  },
  optionHelp: `  --clients a  these alone, by name, separated by commas
  --runs n     of each client and fault (default ${RUNS})
  --workers n  runs at a time, each on a link of its own (default ${WORKERS})
`,
  key: ['fault', 'client', 'runner'],
  packages: [...['ky', 'p-retry', 'cockatiel', 'axios', 'axios-retry', 'fetch-retry', 'undici']],
  needs: ['npm', 'media', 'browser', 'build'],
  columns: [
    { title: 'fault', cell: ({ fault }) => fault },
    { title: 'client', cell: ({ client }) => client },
    { title: 'in', cell: ({ runner }) => runner },
    { title: 'n', cell: ({ n }) => n, digits: 0 },
    { title: 'ok', cell: ({ ok }) => ok, digits: 0 },
    { title: 'failed', cell: ({ failed }) => failed, digits: 0 },
    { title: 's', cell: ({ seconds }) => seconds },
    { title: 'requests', cell: ({ requests }) => requests, digits: 0 },
    { title: 'wasted kB', cell: ({ wastedKB }) => wastedKB, digits: 0 },
    { title: 'too early', cell: ({ retryAfterViolations }) => retryAfterViolations, digits: 0 },
  ],
  misses,
  async run({ only, smoke, random, values, emit, progress }) {
    const { openRuns } = await import('./fetch/run.mjs');
    const named = namesIn(
      /** @type {string | undefined} */ (values.clients),
      SIDES.map(([client]) => client),
      'client',
    );
    const wanted = named ?? (smoke ? SMOKE : undefined);
    const sides = SIDES.filter(
      ([client, runner]) => (wanted?.includes(client) ?? true) && !(smoke && runner === 'node'),
    );
    const faults = smoke && only.size === Object.keys(FAULTS).length ? ['F02', 'F10'] : [...only];
    const n = smoke ? 1 : countOf(values, 'runs');
    const runs = await openRuns();
    try {
      /** @type {Map<string, import('./fetch/run.mjs').Run[]>} */
      const done = new Map();
      const jobs = faults.flatMap((fault) =>
        alternating(sides, n, random).map(([client, runner]) => ({ fault, client, runner })),
      );
      await parallel(jobs, countOf(values, 'workers'), async ({ fault, client, runner }) => {
        const key = `${fault} ${client} ${runner}`;
        const all = done.get(key) ?? [];
        done.set(key, all);
        const { reasons, ...run } = await runs.run(fault, client, runner);
        all.push(run);
        const [why] = reasons.filter(Boolean);
        progress(
          `${key}: ${run.ok} of 30 in ${run.seconds.toFixed(1)} s${why ? `, e.g. ${why}` : ''}`,
        );
        if (all.length === n) emit(rowOf({ fault, client, runner }, all));
      });
    } finally {
      await runs.close();
    }
  },
});
