// @ts-check
/** What has to hold, and what does not. It concerns a processor at full speed. */

/** @typedef {Record<string, any>} Row */

export const BARS = {
  /** Added to a small request, in ms. */
  addedMs: 0.3,
  /** Of plain throughput. */
  throughput: 0.95,
  /** From `import()` to the first request at the server, in ms. */
  coldMs: 15,
};

/**
 * @typedef {object} Bar
 * @property {string} case
 * @property {string} says  what has to hold
 * @property {(row: Row) => number} value
 * @property {number} most
 * @property {string} unit
 */

/** @type {readonly Bar[]} */
const CHECKED = [
  {
    case: 'small',
    says: 'added to a small request',
    value: (row) => row.addedMs,
    most: BARS.addedMs,
    unit: 'ms',
  },
  {
    case: '8MiB',
    says: 'time for 8 MiB, of plain',
    value: (row) => row.ratioToPlain,
    most: 1 / BARS.throughput,
    unit: '×',
  },
  {
    case: 'cold',
    says: 'to the first request on the wire',
    value: (row) => row.medianMs,
    most: BARS.coldMs,
    unit: 'ms',
  },
];

/**
 * Each bar that these rows can be held to, and what the others come to.
 * @param {readonly Row[]} rows
 */
export function held(rows) {
  return CHECKED.flatMap((bar) => {
    const of = (/** @type {string} */ impl) => {
      const row = rows.find((row) => row.case === bar.case && row.impl === impl);
      return row && bar.value(row);
    };
    const value = of('holdfast');
    return value === undefined ? [] : { ...bar, of, value, met: value <= bar.most };
  });
}

/** A smoke run measures too little to miss anything. @param {readonly Row[]} rows */
export const misses = (rows) =>
  held(rows.filter(({ smoke }) => !smoke))
    .filter(({ met }) => !met)
    .map(({ says, value, most, unit }) => {
      const digits = 3;
      return `${says}: ${value.toFixed(digits)} ${unit}; ${most.toFixed(digits)} at most`;
    });
