// @ts-check
/**
 * Where in each recording a measurement begins, as data. It was chosen by looking at the recording
 * alone: so that what it is there for falls into a minute of media.
 *
 * On a slow link an outage comes 15 s after the beginning; on a fast one 5 s, because a player
 * has the whole minute in its buffer soon after that.
 */
import { readFileSync } from 'node:fs';

/** @typedef {import('../../lab/trace.mjs').TraceStep} TraceStep */

/**
 * @typedef {object} Case
 * @property {string} name   of the file in data/
 * @property {number} beginS where in the recording
 * @property {string} what   happens from there on, for people
 */

/** @type {readonly Case[]} */
export const CASES = [
  {
    name: 'belgium4g-bus',
    beginS: 0,
    what: '4G on a bus, 11 to 66 Mbit/s: never a limit, the control',
  },
  {
    name: 'belgium4g-foot',
    beginS: 316,
    what: '4G on foot, 2 to 30 Mbit/s, nothing for 4 s after 15 s and for 2 s after 23 s',
  },
  {
    name: 'belgium4g-train',
    beginS: 159,
    what: '4G on a train: 14 Mbit/s for 5 s, then hardly anything for a minute',
  },
  {
    name: 'fcc-hd-outage15s',
    beginS: 5,
    what: 'a bad cable line: 0.8 Mbit/s, nothing for 15 s, then 0.5 to 1.1 Mbit/s',
  },
  {
    name: 'fcc-hd-typical',
    beginS: 30,
    what: 'a cable line: 1.4 Mbit/s for 30 s, then above 20',
  },
  {
    name: 'fcc-sd-typical',
    beginS: 30,
    what: 'a DSL line: 0.55 Mbit/s for 30 s, then about 8',
  },
  {
    name: 'norway3g-outage21s',
    beginS: 165,
    what: '3G that fades from 1.3 Mbit/s to nothing for 21 s, then is back with 2.2',
  },
  {
    name: 'norway3g-outage55s',
    beginS: 355,
    what: '3G at the end of minutes without: 30 s of next to nothing, then 1.5 Mbit/s',
  },
  {
    name: 'norway3g-steady-low',
    beginS: 200,
    what: '3G at 0.1 to 1.1 Mbit/s: room for the lowest rendition, hardly for the next',
  },
];

/** @param {string} name of a case */
export function caseOf(name) {
  const found = CASES.find((one) => one.name === name);
  if (!found) throw new Error(`no trace ${name}`);
  return found;
}

/**
 * The link of a measurement: the recording from where it begins, then from its start again.
 * @param {Case} one
 * @returns {TraceStep[]}
 */
export function linkTrace({ name, beginS }) {
  const file = new URL(`data/${name}.json`, import.meta.url);
  /** @type {{ steps: [number, number][], rtt_ms_hint: number }} */
  const { steps, rtt_ms_hint: latencyMs } = JSON.parse(readFileSync(file, 'utf8'));
  return turned(
    steps.map(([ms, kbps]) => ({ ms, kbps, latencyMs })),
    beginS * 1000,
  );
}

/**
 * A trace that begins later and ends with what was left out.
 * @param {readonly TraceStep[]} steps
 * @param {number} beginMs
 * @returns {TraceStep[]}
 */
export function turned(steps, beginMs) {
  let before = 0;
  const index = steps.findIndex(({ ms }) => (before += ms) > beginMs);
  if (index < 0) throw new RangeError('a trace does not begin after its end');
  const step = steps[index];
  const rest = before - beginMs;
  return [
    { ...step, ms: rest },
    ...steps.slice(index + 1),
    ...steps.slice(0, index),
    ...(rest < step.ms ? [{ ...step, ms: step.ms - rest }] : []),
  ];
}
