// @ts-check
/** One run over a recorded link: what the viewer had of it. */
import { players } from '../../../www/players/index.js';
import { ABR_SECONDS } from '../../lab/abr-media.mjs';
import { caseOf, linkTrace } from './cases.mjs';
import { accountPlayed } from './played.mjs';

/** How much longer than the media a run may take; a run that is not over then is `hung`. */
const PATIENCE_S = 120;

/** @typedef {{ trace: string, player: string, variant: 'plain' | 'holdfast' }} Job */

/**
 * @param {Awaited<ReturnType<typeof import('../../lab/runner.mjs').createRunner>>} runner
 * @param {{ dir: string, sizes: import('./played.mjs').Sizes, untilS?: number }} media untilS: how
 *   much of it is played, all of it when absent
 * @param {Job} job
 * @returns {Promise<import('./summary.mjs').Measured>}
 */
export async function measure(runner, { dir, sizes, untilS }, { trace, player, variant }) {
  const run = await runner.run({
    player,
    variant,
    scenario: { name: trace, link: { trace: linkTrace(caseOf(trace)) }, rules: [], media: dir },
    // All renditions.
    manifest: players[player].manifest.replace('pinned', 'main'),
    pinned: false,
    untilS,
    capS: ABR_SECONDS + PATIENCE_S,
  });
  const { result, samples, requests: log } = run;
  const { outcome, startS, stallS, longestStallS, playedS } = result;
  return {
    outcome,
    startS,
    stallS,
    longestStallS,
    playedS,
    ...accountPlayed({ log, sizes, samples, playedS }),
    ahead: everySecond(samples),
  };
}

/** @param {readonly import('../../../www/meter.js').Sample[]} samples */
function everySecond(samples) {
  const last = samples.at(-1)?.at ?? 0;
  return Array.from({ length: Math.ceil(last / 1000) }, (_, second) => {
    const sample = samples.find(({ at }) => at >= second * 1000);
    return sample ? Math.max(0, sample.bufferedEnd - sample.currentTime) : 0;
  });
}
