// @ts-check
/**
 * npm run bench:faults: the players as they come, tuned, and with Holdfast, through every fault of
 * the taxonomy, in a real browser.
 */
import { runBench } from './command.mjs';
import { MEDIA_S, MODES, PLAYERS, VARIANTS, cellsOf, endOf } from './faults/cells.mjs';
import { faults, scenarios } from './faults/scenarios.mjs';
import { PLAY_OPTIONS, countOf, namesOf, playHelp, playsOf } from './options.mjs';

/** So much of it is played: what begins at second 6 and lasts 10 is over then, and made up for. */
const USUAL_S = 24;

/** The smoke run: one fault and one control, as far as the fault can be seen. */
const SMOKE = { parts: ['F05', 'N1'], untilS: 11 };

/** @typedef {import('./faults/cells.mjs').PlayerName} PlayerName */

const names = /** @type {PlayerName[]} */ (Object.keys(PLAYERS));
const ids = scenarios.map(({ id }) => id);
const further = scenarios.filter(({ extra }) => extra).length;

/** @type {string[]} */
let failures = [];

runBench({
  name: 'faults',
  about: `Plays ${MEDIA_S} s of media through ${faults.length} faults and ${ids.length - faults.length} controls in a headless Chromium: hls.js, Shaka
Player and dash.js, each as it comes, tuned, and with Holdfast. The grid takes about two hours
for each of its three runs; a run that is stopped goes on where it was.`,
  parts: {
    grid: `every fault once, ${ids.length - further} in all, --n times`,
    more: `${further} further forms of them, once`,
    'no-store': 'ten faults and a control with Cache-Control: no-store, once',
    live: 'ten faults and a control in a live stream with a window of six segments, once',
    h2: 'ten faults and a control over HTTP/2, once',
    ...Object.fromEntries(scenarios.map(({ id, title }) => [id, title])),
  },
  key: ['scenario', 'mode', 'player', 'variant', 'run', 'untilS'],
  packages: ['hls.js', 'shaka-player', 'dashjs'],
  needs: ['npm', 'media', 'browser', 'build'],
  options: {
    ...PLAY_OPTIONS,
    variant: { type: 'string' },
    until: { type: 'string', default: String(USUAL_S) },
    fresh: { type: 'boolean', default: false },
  },
  optionHelp: `${playHelp(names)}  --variant v  of ${VARIANTS.join(', ')}
  --until s    end a run once so many seconds of the ${MEDIA_S} have played (default ${USUAL_S})
  --fresh      measure anew what has been measured
`,
  columns: [
    { title: 'fault', cell: (row) => row.scenario },
    { title: 'player', cell: (row) => row.player },
    { title: 'variant', cell: (row) => row.variant },
    { title: 'start s', cell: (row) => row.startS },
    { title: 'stall s', cell: (row) => row.stallS },
    { title: 'oracle s', cell: (row) => row.oracleStallS },
    { title: 'longest s', cell: (row) => row.longestStallS },
    { title: 'outcome', cell: (row) => row.outcome },
    { title: 'skipped s', cell: (row) => row.skippedS },
    { title: 'requests', cell: (row) => row.requests, digits: 0 },
    { title: 'per file', cell: (row) => row.amplification, digits: 2 },
    { title: 'wasted kB', cell: (row) => row.wastedKB },
    { title: 'estimate', cell: (row) => row.estimateKbps, digits: 0 },
    { title: 'truth', cell: (row) => row.truthKbps, digits: 0 },
  ],
  async run(context) {
    const { only, smoke, values, random, has, recall, emit, progress } = context;
    const { n, workers, players } = playsOf(context, names);
    const untilS = smoke ? SMOKE.untilS : countOf(values, 'until', MEDIA_S);
    const variants =
      namesOf(values, 'variant', VARIANTS) ?? (smoke ? ['tuned', 'holdfast'] : VARIANTS);
    const whole = only.has('grid') && only.has('F01');
    const cells = cellsOf({
      // All of it, unless parts were named, is the grid, its further forms and the modes.
      parts: smoke
        ? new Set(SMOKE.parts)
        : whole
          ? new Set(['grid', 'more', ...Object.keys(MODES)])
          : only,
      players: /** @type {PlayerName[]} */ (players),
      variants: /** @type {import('./faults/cells.mjs').Variant[]} */ (variants),
      n,
      random,
    });
    const rowOf = (/** @type {import('./faults/cells.mjs').Cell} */ cell) => ({
      ...cell,
      player: PLAYERS[cell.player].name,
      untilS: endOf(cell, untilS),
    });
    const due = cells.filter((cell) => smoke || values.fresh || !has(rowOf(cell)));
    if (due.length < cells.length) {
      progress(`${cells.length - due.length} of ${cells.length} runs are there already`);
      for (const cell of cells) if (!due.includes(cell)) recall(rowOf(cell));
    }
    const { measure } = await import('./faults/measure.mjs');
    failures = await measure({
      cells: due,
      workers,
      untilS,
      emit,
      progress,
    });
  },
  misses: () => failures,
});
