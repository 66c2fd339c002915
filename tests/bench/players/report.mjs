// @ts-check
/** The page of npm run lab:players. */
import { markdownTable } from '../table.mjs';

/** @typedef {import('../../lab/runner.mjs').Row} Row */

/** @type {Record<string, string>} */
const FAULTS = {
  'stall-body': 'a segment stops after half its bytes, and stays silent',
  'burst-503': '503 for every segment from second 6 to second 16',
  'manifest-hang': 'the first manifest request is never answered',
  clean: 'nothing goes wrong',
};

const seconds = (/** @type {number} */ value) => `${value.toFixed(1)} s`;

/** @param {Row | undefined} row */
function told(row) {
  if (!row) return 'not measured';
  if (row.startS === null) return `**${row.outcome}** before it began`;
  const stall = row.outcome === 'ended' ? seconds(row.stallS) : `**${row.outcome}**`;
  return row.scenario === 'manifest-hang' && row.outcome === 'ended'
    ? `starts after ${seconds(row.startS)}`
    : stall;
}

/** @type {import('../report.mjs').Report} */
export function report(rows) {
  const all = /** @type {Row[]} */ (rows);
  const players = [...new Set(all.map(({ player }) => player))];
  const faults = Object.keys(FAULTS).filter((name) => all.some((row) => row.scenario === name));
  const parts = faults.map((scenario) => {
    const of = (/** @type {string} */ player, /** @type {string} */ variant) =>
      all.find(
        (row) => row.scenario === scenario && row.player === player && row.variant === variant,
      );
    const oracle = all.find((row) => row.scenario === scenario)?.oracleStallS ?? 0;
    const columns = [
      { title: 'player', cell: (/** @type {string} */ player) => player },
      { title: 'alone', cell: (/** @type {string} */ player) => told(of(player, 'plain')) },
      {
        title: 'with Holdfast',
        cell: (/** @type {string} */ player) => told(of(player, 'holdfast')),
      },
      {
        title: 'requests alone, with',
        cell: (/** @type {string} */ player) =>
          ['plain', 'holdfast'].map((variant) => of(player, variant)?.requests ?? '–').join(', '),
      },
    ];
    return `## ${FAULTS[scenario]}\n\nRebuffering; a client that knows everything has ${seconds(oracle)}.\n\n${markdownTable(columns, players)}`;
  });
  const withHoldfast = all.filter(({ variant }) => variant === 'holdfast');
  const lost = withHoldfast.filter(({ outcome }) => outcome !== 'ended');
  const verdict =
    lost.length === 0
      ? `All ${withHoldfast.length} runs with Holdfast played to their end.`
      : `With Holdfast ${lost.map((row) => `${row.player} is ${row.outcome} in ${row.scenario}`).join('; ')}.`;
  const body = `Every player that there is an adapter for, each with its defaults, alone and with Holdfast, on a
link of 1600 kbit/s. \`dead\` is a fatal error, \`hung\` is not over after three minutes. One run each: tenths
of a second scatter. The perfect client has the buffer of hls.js; a player that buffers less cannot reach
it in an outage.

${verdict}

${parts.join('\n\n')}`;
  return { title: 'Every player through the same three faults', body, plots: {} };
}
