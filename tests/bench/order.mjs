// @ts-check
/** In which order things are measured: by a seed, so that no side always goes first. */
import { random } from '../node/random.mjs';

export { random };

/**
 * A shuffled copy.
 * @template T
 * @param {readonly T[]} items
 * @param {() => number} next in [0, 1)
 * @returns {T[]}
 */
export function shuffled(items, next) {
  const copy = [...items];
  for (let index = copy.length - 1; index > 0; index -= 1) {
    const other = Math.floor(next() * (index + 1));
    [copy[index], copy[other]] = [copy[other], copy[index]];
  }
  return copy;
}

/**
 * Rounds of the same sides, each round in an order of its own.
 * @template T
 * @param {readonly T[]} sides
 * @param {number} rounds
 * @param {() => number} next in [0, 1)
 * @returns {T[]}
 */
export function alternating(sides, rounds, next) {
  return Array.from({ length: rounds }, () => shuffled(sides, next)).flat();
}
