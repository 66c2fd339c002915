// @ts-check
/** The options that several benchmarks have, checked in one place. */
import { namesIn } from '../lab/jobs.mjs';

/** @typedef {import('./command.mjs').Context} Context */

/**
 * @param {Context['values']} values
 * @param {string} name of the option
 * @param {number} [most]
 * @returns {number} a whole number above 0
 */
export function countOf(values, name, most = Infinity) {
  const count = Number(values[name]);
  if (Number.isInteger(count) && count > 0 && count <= most) return count;
  throw new Error(
    `--${name} is a whole number ${most === Infinity ? 'above 0' : `from 1 to ${most}`}`,
  );
}

/**
 * @param {Context['values']} values
 * @param {string} name of the option, which is also what its names are of
 * @param {readonly string[]} known
 * @returns {string[] | undefined} undefined when it was not given
 */
export const namesOf = (values, name, known) =>
  namesIn(/** @type {string | undefined} */ (values[name]), known, name);

/** One takes about a quarter of a core, and a start more for a second. */
const MOST_WORKERS = 4;

/** Of the benchmarks that play media, as `node:util` takes them. */
export const PLAY_OPTIONS = /** @type {const} */ ({
  n: { type: 'string', default: '3' },
  player: { type: 'string' },
  workers: { type: 'string', default: String(MOST_WORKERS) },
});

/** A line for each of them. @param {readonly string[]} known @param {readonly string[]} [usual] */
export const playHelp = (known, usual = known) => `\
  --n n        runs of each (default ${PLAY_OPTIONS.n.default})
  --player a,b of ${known.join(', ')}
               (default ${usual.join(', ')})
  --workers n  runs at a time, at most ${MOST_WORKERS} (default ${PLAY_OPTIONS.workers.default})
`;

/**
 * What they ask for; of a smoke run one play of hls.js.
 * @param {Pick<Context, 'values' | 'smoke'>} context
 * @param {readonly string[]} known players
 * @param {readonly string[]} [usual] those that are played when none is named
 */
export function playsOf({ values, smoke }, known, usual = known) {
  const n = countOf(values, 'n');
  const workers = countOf(values, 'workers', MOST_WORKERS);
  const players = namesOf(values, 'player', known) ?? (smoke ? ['hls'] : usual);
  return { n: smoke ? 1 : n, workers, players };
}
