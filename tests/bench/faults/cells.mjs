// @ts-check
/** Which runs there are, and in which order. */
import { alternating, shuffled } from '../order.mjs';
import { live, published } from './live.mjs';
import { scenarioOf, scenarios } from './scenarios.mjs';

/** By the name that the lab has for it: the npm package, and the buffer goal it comes with. */
export const PLAYERS = {
  hls: { name: 'hls.js', manifest: 'pinned.m3u8', goalS: undefined },
  shaka: { name: 'shaka-player', manifest: 'pinned.mpd', goalS: 10 },
  dash: { name: 'dashjs', manifest: 'pinned.mpd', goalS: 30 },
};

/** All that there is to play. */
export const MEDIA_S = 40;

/** @typedef {keyof typeof PLAYERS} PlayerName */
/** @typedef {import('../../../www/players/index.js').Variant} Variant */

/** @type {readonly Variant[]} */
export const VARIANTS = ['plain', 'tuned', 'holdfast'];

/**
 * Further ways to deliver the same, for the faults that they may change.
 * @type {Record<string, { ids: string[], play: Partial<import('../../lab/runner.mjs').Play> }>}
 */
export const MODES = {
  'no-store': {
    ids: ['N1', 'F02', 'F04', 'F05', 'F06', 'F07', 'F08', 'F23', 'F24', 'F25', 'F28'],
    play: { cache: 'no-store' },
  },
  live: {
    ids: ['N1', 'F03', 'F04', 'F05', 'F09', 'F10', 'F14', 'F17', 'F18', 'F27-5', 'F28'],
    play: { rewrite: live, publish: published },
  },
  h2: {
    ids: ['N1', 'F01', 'F02', 'F03', 'F04', 'F05', 'F06', 'F07', 'F08', 'F09', 'F28'],
    play: { protocol: 'h2' },
  },
};

/**
 * @typedef {object} Cell
 * @property {string} scenario
 * @property {string} mode    `vod`, or one of MODES
 * @property {PlayerName} player
 * @property {Variant} variant
 * @property {number} run     1-based
 */

/**
 * @param {object} asked
 * @param {ReadonlySet<string>} asked.parts `grid`, `more`, modes or ids of faults
 * @param {readonly PlayerName[]} asked.players
 * @param {readonly Variant[]} asked.variants
 * @param {number} asked.n   runs of each cell of the grid
 * @param {() => number} asked.random
 * @returns {Cell[]} the first run of everything before the second one; the sides of a comparison
 *   one after the other, so that what disturbs one disturbs the others
 */
export function cellsOf({ parts, players, variants, n, random }) {
  const named = scenarios.filter(({ id }) => parts.has(id)).map(({ id }) => id);
  const groups = [
    ...scenarios.flatMap(({ id, extra }) => {
      const wanted = parts.has(extra ? 'more' : 'grid') || named.includes(id);
      return wanted ? [{ scenario: id, mode: 'vod', runs: extra ? 1 : n }] : [];
    }),
    ...Object.entries(MODES).flatMap(([mode, { ids }]) =>
      parts.has(mode) ? ids.map((scenario) => ({ scenario, mode, runs: 1 })) : [],
    ),
  ];
  const most = Math.max(0, ...groups.map(({ runs }) => runs));
  return Array.from({ length: most }, (_, i) => i + 1).flatMap((run) => {
    const due = groups.filter(({ runs }) => run <= runs);
    const pairs = due.flatMap(({ scenario, mode }) =>
      players.map((player) => ({ scenario, mode, player })),
    );
    return shuffled(pairs, random).flatMap((pair) =>
      alternating(variants, 1, random).map((variant) => ({ ...pair, variant, run })),
    );
  });
}

/** Whether a run jumps within the media. @param {Pick<Cell, 'scenario'>} cell */
export const seeksIn = ({ scenario }) =>
  scenarioOf(scenario).play.page?.some(({ seek }) => seek !== undefined) ?? false;

/**
 * Where a run ends: whoever seeks has not played so far, and goes on to the end.
 *
 * @param {Pick<Cell, 'scenario'>} cell
 * @param {number} untilS seconds of media that were asked for
 */
export const endOf = (cell, untilS) => (seeksIn(cell) ? MEDIA_S : untilS);

/** @param {Cell} cell @returns {import('../../lab/runner.mjs').Play} */
export function playOf({ scenario, mode }) {
  return { name: scenario, ...scenarioOf(scenario).play, ...MODES[mode]?.play };
}
