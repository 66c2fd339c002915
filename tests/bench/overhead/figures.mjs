// @ts-check
/** From samples to rows. */
import { median, quantile, ratioOfMedians } from '../stats.mjs';

/** The samples of each client, in blocks. @typedef {Map<string, number[][]>} Samples */

/** Digits that are worth keeping of a time in ms. @param {number} value */
const rounded = (value) => Number(value.toFixed(4));

/**
 * The difference of two medians, with the interval that holds 95 of 100 resampled differences.
 *
 * @param {readonly number[]} ours
 * @param {readonly number[]} theirs
 * @param {() => number} random in [0, 1)
 * @param {number} [times]
 */
export function differenceOfMedians(ours, theirs, random, times = 1000) {
  const draw = (/** @type {readonly number[]} */ values) =>
    median(values.map(() => values[Math.floor(random() * values.length)]));
  const all = Array.from({ length: times }, () => draw(ours) - draw(theirs));
  return {
    difference: median(ours) - median(theirs),
    low: quantile(all, 0.025),
    high: quantile(all, 0.975),
  };
}

/**
 * A row for each client. Medians and p95 are those of all samples; what is compared are the
 * medians of the blocks.
 *
 * @param {string} name of the case
 * @param {Samples} samples
 * @param {() => number} random
 */
export function timeRows(name, samples, random) {
  const medians = (/** @type {number[][]} */ blocks) => blocks.map(median);
  const plain = medians(/** @type {number[][]} */ (samples.get('plain')));
  return [...samples].map(([impl, blocks]) => {
    const own = medians(blocks);
    const all = blocks.flat();
    const ratio = ratioOfMedians(own, plain, random);
    const added = differenceOfMedians(own, plain, random);
    return {
      case: name,
      impl,
      medianMs: rounded(median(all)),
      p95Ms: rounded(quantile(all, 0.95)),
      ratioToPlain: rounded(ratio.ratio),
      minRatio: rounded(ratio.low),
      maxRatio: rounded(ratio.high),
      addedMs: rounded(added.difference),
      minAddedMs: rounded(added.low),
      maxAddedMs: rounded(added.high),
      blocks: blocks.length,
      n: all.length,
    };
  });
}

/**
 * The blocks of each client, in the order of `clients`.
 *
 * @template {{ client: string }} T
 * @param {readonly string[]} clients
 * @param {readonly T[]} items
 * @param {(item: T) => number[]} timesOf
 * @returns {Samples}
 */
export function samplesOf(clients, items, timesOf) {
  const own = (/** @type {string} */ name) => items.filter(({ client }) => client === name);
  return new Map(clients.map((name) => [name, own(name).map(timesOf)]));
}

/** @param {readonly number[]} [values] perhaps none */
export const medianOf = (values = []) => (values.length > 0 ? rounded(median(values)) : null);

/**
 * A row for each client, of what its pages keep in all, and of that in wasm memory; in kB.
 *
 * @param {Samples} totals
 * @param {Samples} wasm
 */
export function heapRows(totals, wasm) {
  const kB = (/** @type {Samples} */ samples, /** @type {string} */ impl) =>
    samples.get(impl)?.flat() ?? [];
  const plain = median(kB(totals, 'plain'));
  return [...totals.keys()].map((impl) => {
    const all = kB(totals, impl);
    return {
      ...{ case: 'heap', impl, medianKB: median(all), minKB: Math.min(...all) },
      ...{ maxKB: Math.max(...all), wasmKB: median(kB(wasm, impl)) },
      ...{ addedKB: rounded(median(all) - plain), n: all.length },
    };
  });
}
