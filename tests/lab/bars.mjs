// @ts-check
/** Holds a measured row against the bar of its scenario. */
import { variantName } from './report.mjs';

/**
 * @param {import('./runner.mjs').Row} row
 * @param {import('./scenarios.mjs').Scenario} scenario
 * @returns {string[]} one sentence for each bar missed
 */
export function missedBars(row, { bar }) {
  const who = `${row.scenario}, ${row.player} ${variantName(row.variant)}`;
  const missed = [];
  if (row.outcome !== 'ended')
    missed.push(`${who}: playback is ${row.outcome}, it should have ended.`);
  if (bar.maxStallS !== undefined && row.stallS > bar.maxStallS) {
    missed.push(`${who}: ${row.stallS} s of rebuffering, at most ${bar.maxStallS} s allowed.`);
  }
  if (bar.maxOverOracleS !== undefined && row.stallS > row.oracleStallS + bar.maxOverOracleS) {
    const most = (row.oracleStallS + bar.maxOverOracleS).toFixed(1);
    missed.push(`${who}: ${row.stallS} s of rebuffering, at most ${most} s allowed.`);
  }
  if (bar.maxStartS !== undefined && (row.startS === null || row.startS >= bar.maxStartS)) {
    const start = row.startS === null ? 'playback never started' : `start after ${row.startS} s`;
    missed.push(`${who}: ${start}, less than ${bar.maxStartS} s needed.`);
  }
  return missed;
}
