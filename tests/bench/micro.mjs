// @ts-check
/** npm run bench:micro: what the decisions alone cost, natively, by criterion. */
import { runBench } from './command.mjs';
import { measure } from './micro/criterion.mjs';

const PARTS = {
  decision: 'one request, one chunk, in an engine that has nothing else to do',
  live: 'one fact, in an engine with up to 100 000 requests under way',
};

runBench({
  name: 'micro',
  about:
    'Times of the core, compiled natively as small as the module is (opt-level z). 3 minutes,\nand one more the first time.',
  parts: PARTS,
  key: ['case'],
  packages: [],
  needs: ['rust'],
  columns: [
    { title: 'case', cell: (row) => row.case },
    { title: 'median ns', cell: (row) => row.medianNs, digits: 0 },
    { title: 'low', cell: (row) => row.lowNs, digits: 0 },
    { title: 'high', cell: (row) => row.highNs, digits: 0 },
    { title: 'samples', cell: (row) => row.n, digits: 0 },
  ],
  async run({ only, smoke, emit, progress }) {
    for (const name of only) {
      progress(`cargo bench: ${name}`);
      for (const row of await measure(name, smoke)) emit(row);
    }
  },
});
