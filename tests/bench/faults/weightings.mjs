// @ts-check
/**
 * Aggregates. No public source says how often which fault happens, so there are three declared
 * mixes, and they are assumptions; a ranking counts only where all three agree.
 */
import { mean } from '../stats.mjs';

/** @typedef {import('./scenarios.mjs').Kind} Kind */
/** @typedef {import('./summary.mjs').Cell} Cell */

/**
 * Classes of faults with their weights; within a class every fault counts the same.
 * @type {Record<string, { kinds: Kind[], weight: number }[]>}
 */
export const WEIGHTINGS = {
  uniform: [
    {
      kinds: ['stall', 'ttfb', 'reset', 'offline', 'slow', '5xx', '429', '4xx', 'corrupt'],
      weight: 1,
    },
  ],
  mobile: [
    { kinds: ['stall', 'ttfb'], weight: 35 },
    { kinds: ['reset', 'offline'], weight: 30 },
    { kinds: ['slow'], weight: 20 },
    { kinds: ['5xx', '429'], weight: 10 },
    { kinds: ['4xx'], weight: 5 },
  ],
  'CDN brown-out': [
    { kinds: ['5xx', '429'], weight: 45 },
    { kinds: ['slow', 'ttfb'], weight: 25 },
    { kinds: ['stall'], weight: 15 },
    { kinds: ['4xx'], weight: 10 },
    { kinds: ['corrupt'], weight: 5 },
  ],
};

/**
 * @param {readonly Cell[]} cells of one player and variant
 * @param {string} weighting
 * @param {(cell: Cell) => number} value
 * @returns {number | null} the weighted mean; null where a class has no fault
 */
export function weighted(cells, weighting, value) {
  let total = 0;
  let weights = 0;
  for (const { kinds, weight } of WEIGHTINGS[weighting]) {
    const of = cells.filter(({ fault }) => fault.kind && kinds.includes(fault.kind));
    if (of.length === 0) return null;
    total += weight * mean(of.map(value));
    weights += weight;
  }
  return total / weights;
}
