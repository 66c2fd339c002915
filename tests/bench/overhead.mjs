// @ts-check
/** npm run bench:overhead: what the engine, and its peers, cost a page on top of plain fetch. */
import { CLIENTS } from './overhead/clients.mjs';
import { misses } from './overhead/bars.mjs';
import { measureAll } from './overhead/run.mjs';
import { runBench } from './command.mjs';

const PARTS = {
  small: 'requests of 1 KiB, one after another, and what the main thread works for each',
  '8MiB': 'bodies of 8 MiB, and what the main thread works for each',
  cold: 'from `import()` to the first request at the server',
  heap: 'what is kept in memory after some requests',
};

runBench({
  name: 'overhead',
  about:
    'All clients in one page of headless Chromium, in blocks that take turns; and all of it again with a\nprocessor that is slowed six-fold. 6 minutes.',
  parts: PARTS,
  key: ['case', 'impl'],
  packages: ['@videojs/spf', 'ky', 'cockatiel'],
  needs: ['npm', 'browser', 'build'],
  options: { cpu: { type: 'string', default: '1,6' } },
  optionHelp: '  --cpu 1,6    how many times the processor is slowed (default 1,6)\n',
  columns: [
    { title: 'case', cell: (row) => row.case },
    { title: 'client', cell: (row) => CLIENTS[row.impl] },
    { title: 'median ms', cell: (row) => row.medianMs, digits: 3 },
    { title: 'p95 ms', cell: (row) => row.p95Ms, digits: 3 },
    { title: 'ratio', cell: (row) => row.ratioToPlain, digits: 3 },
    { title: 'from', cell: (row) => row.minRatio, digits: 3 },
    { title: 'to', cell: (row) => row.maxRatio, digits: 3 },
    { title: 'added ms', cell: (row) => row.addedMs, digits: 3 },
    { title: 'from', cell: (row) => row.minAddedMs, digits: 3 },
    { title: 'to', cell: (row) => row.maxAddedMs, digits: 3 },
    { title: 'kB', cell: (row) => row.medianKB, digits: 0 },
    { title: 'n', cell: (row) => row.n, digits: 0 },
  ],
  run: measureAll,
  misses,
});
