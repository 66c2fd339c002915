// @ts-check
/** What measurements are summed up with. All functions take unsorted, non-empty lists. */

/**
 * @param {readonly number[]} values
 * @param {number} q 0 to 1; between two values, linearly interpolated
 */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) throw new RangeError('there is no quantile of nothing');
  const place = q * (sorted.length - 1);
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  return below === above ? below : below + (above - below) * (place - Math.floor(place));
}

/** @param {readonly number[]} values */
export const median = (values) => quantile(values, 0.5);

/** @param {readonly number[]} values */
export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The ratio of two medians, with the interval that holds 95 of 100 resampled ratios.
 *
 * Each side is resampled by itself (bootstrap by percentiles). Measure them in interleaved blocks:
 * what disturbs one then disturbs the other.
 *
 * @param {readonly number[]} ours
 * @param {readonly number[]} theirs
 * @param {() => number} random in [0, 1)
 * @param {number} [times]
 * @returns {{ ratio: number, low: number, high: number }}
 */
export function ratioOfMedians(ours, theirs, random, times = 1000) {
  const draw = (/** @type {readonly number[]} */ values) =>
    median(values.map(() => values[Math.floor(random() * values.length)]));
  const ratios = Array.from({ length: times }, () => draw(ours) / draw(theirs));
  return {
    ratio: median(ours) / median(theirs),
    low: quantile(ratios, 0.025),
    high: quantile(ratios, 0.975),
  };
}
