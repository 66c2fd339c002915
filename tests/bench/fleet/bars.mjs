// @ts-check
/** What the fleet has to come to, and whether it does. */
import { mean } from '../stats.mjs';

/**
 * A run of the simulation (parts sweep, phase and million).
 * @typedef {object} Run
 * @property {string} part
 * @property {string} policy
 * @property {'error' | 'busy' | 'blackhole' | 'brownout'} mode
 * @property {'uniform' | 'edge' | 'join'} phase
 * @property {number} outageS
 * @property {number} headroom    capacity to steady load
 * @property {number} queueS      what the origin's queue holds
 * @property {number} viewers
 * @property {number} outageLoad  requests in the outage, to those without a fault
 * @property {number | null} lateLoad the same from 30 s after its onset
 * @property {number} load        requests from the onset to the end of the run, likewise
 * @property {number} peak        the worst second after the outage, to steady play
 * @property {number} healthyPeak the worst second without a fault, to steady play
 * @property {number} endLoad     the last ten seconds, to steady play
 * @property {number | null} recover95S until 95 % play again; null where they never do
 * @property {number | null} recover99S
 * @property {number} stallPerViewerS
 * @property {number} deadPct     sessions that ended with an error
 * @property {number} gonePct     viewers who did not come back
 * @property {number} wastedPct   of the work, for clients who had gone
 * @property {number} retryAfterViolations
 * @property {number} wallS
 */

/** @typedef {Run & Record<string, any>} FleetRow of any part; other parts lack most fields */

/** @typedef {{ name: string, sentence: string, met: boolean | null }} Bar null: not measured */

export const OURS = 'Holdfast';

/** What the load may be from half a minute after the onset. */
const LATE_LOAD = 1.1;

/** What the worst second after the outage may be above what the origin can bear. */
const ABOVE = 1.1;

/** When 95 of 100 play again after a minute, at a head-room of 1.3. */
const RECOVERED_S = 10;

/** What one viewer's engine may take. */
const ENGINE_BYTES = 4096;

/**
 * @param {readonly Run[]} runs of one grid
 * @returns {{ policy: string, stallS: number, load: number, lateLoad: number, peak: number,
 *   deadPct: number, unrecovered: number, violations: number, wastedPct: number, n: number }[]}
 */
export function totals(runs) {
  const policies = [...new Set(runs.map(({ policy }) => policy))];
  return policies.map((policy) => {
    const own = runs.filter((run) => run.policy === policy);
    const late = own.flatMap(({ lateLoad }) => (lateLoad === null ? [] : [lateLoad]));
    return {
      policy,
      stallS: mean(own.map(({ stallPerViewerS }) => stallPerViewerS)),
      load: mean(own.map(({ outageLoad }) => outageLoad)),
      lateLoad: late.length > 0 ? Math.max(...late) : 0,
      peak: Math.max(...own.map(({ peak }) => peak)),
      deadPct: mean(own.map(({ deadPct }) => deadPct)),
      unrecovered: own.filter(({ recover95S }) => recover95S === null).length,
      violations: own.reduce((sum, run) => sum + run.retryAfterViolations, 0),
      wastedPct: mean(own.map(({ wastedPct }) => wastedPct)),
      n: own.length,
    };
  });
}

/** Which of them are better than ours on both. @param {readonly ReturnType<typeof totals>[number][]} all */
export function better(all) {
  const ours = all.find(({ policy }) => policy === OURS);
  if (!ours) return [];
  return all.filter(({ stallS, load }) => stallS < ours.stallS && load < ours.load);
}

/** What the worst second after the outage may be. @param {Run} run */
export function allowedPeak({ phase, headroom, healthyPeak }) {
  // Viewers who come while it is down are a surge of their own.
  const bearable = phase === 'edge' ? healthyPeak : Math.max(headroom, healthyPeak);
  return bearable * ABOVE;
}

/** @param {readonly FleetRow[]} rows @returns {Bar[]} */
export function barsOf(rows) {
  const runs = rows.filter(({ part }) => part === 'sweep');
  const ours = runs.filter(({ policy }) => policy === OURS);
  const memory = rows.filter(({ part }) => part === 'memory');
  const [engines, usual] = [false, true].map((isUsual) =>
    memory.filter(({ log }) => (log === 'default') === isUsual),
  );
  const references = rows.filter(({ part }) => part === 'references');
  const all = totals(runs);
  const beaten = better(all).map(({ policy }) => policy);
  const late = Math.max(...ours.map(({ lateLoad }) => lateLoad ?? 0));
  const over = ours.filter((run) => run.peak > allowedPeak(run));
  const worst = Math.max(...ours.map((run) => run.peak / allowedPeak(run)));
  const minutes = ours.filter(({ outageS, headroom }) => outageS === 60 && headroom === 1.3);
  const back = Math.max(...minutes.map(({ recover95S }) => recover95S ?? Infinity));
  const early = ours.reduce((sum, run) => sum + run.retryAfterViolations, 0);
  const dead = Math.max(...ours.map(({ deadPct }) => deadPct));
  const [bytes, usualBytes] = [engines, usual].map((of) =>
    Math.max(...of.map(({ engineBytes }) => engineBytes)),
  );
  const off = references.filter(({ ok }) => !ok).map(({ name }) => name);
  const measured = ours.length > 0;
  const peers = all.length > 1;
  return [
    bar(
      'Pareto',
      measured && peers,
      beaten.length === 0,
      beaten.length === 0
        ? 'no policy is better on both mean stall and load'
        : `better on both mean stall and load: ${beaten.join(', ')}`,
    ),
    bar(
      'load from 30 s',
      measured,
      late <= LATE_LOAD,
      `the load from 30 s after the onset is ${late.toFixed(2)} of the fault-free one at most; the bar is ${LATE_LOAD.toFixed(2)}`,
    ),
    bar(
      'peak',
      measured,
      over.length === 0,
      `the worst second after the outage is above what is allowed in ${over.length} of ${ours.length} runs, ${worst.toFixed(2)} times that at most`,
    ),
    bar(
      'back after a minute',
      minutes.length > 0,
      back <= RECOVERED_S,
      `95 % play again ${back.toFixed(1)} s after an outage of 60 s at a head-room of 1.3 at the latest; the bar is ${RECOVERED_S} s`,
    ),
    bar('Retry-After', measured, early === 0, `retries before their time: ${early}`),
    bar('dead', measured, dead === 0, `sessions that ended with an error: ${dead.toFixed(1)} %`),
    bar(
      'memory',
      engines.length > 0,
      bytes <= ENGINE_BYTES,
      `an engine takes ${bytes} bytes at most with a log of 32 decisions; the bar is ${ENGINE_BYTES}${usual.length > 0 ? `; with the usual log ${usualBytes}` : ''}`,
    ),
    bar(
      'references',
      references.length > 0,
      off.length === 0,
      off.length === 0
        ? `all ${references.length} published figures come out`
        : `published figures that do not come out: ${off.join('; ')}`,
    ),
  ];
}

/**
 * @param {string} name
 * @param {boolean} measured
 * @param {boolean} met
 * @param {string} sentence
 * @returns {Bar}
 */
function bar(name, measured, met, sentence) {
  return measured ? { name, sentence, met } : { name, sentence: 'not measured', met: null };
}
