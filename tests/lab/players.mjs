// @ts-check
/**
 * npm run lab:players: every player that Holdfast has an adapter for, alone and with Holdfast,
 * through the same faults.
 */
import { parseArgs } from 'node:util';
import { openRows } from '../bench/rows.mjs';
import { players } from '../../www/players/index.js';
import { ensureReady } from '../tools/setup.mjs';
import { COMMON_OPTIONS, commonOptions, log, namesIn, runCommand, runJobs } from './jobs.mjs';
import { demoScenarios, scenarios } from './scenarios.mjs';

const names = Object.keys(players);
const scenarioNames = scenarios.map(({ name }) => name);

const help = `Usage: npm run lab:players -- [options]

Plays the demo's scenarios with each player alone and with Holdfast in a headless
Chromium and prints one table. Takes about half an hour.

  --only a,b      players: ${names.join(', ')}
  --scenario a,b  scenarios: ${scenarioNames.join(', ')}
  --variant v     plain or holdfast only
  --workers n     runs at a time, 1 or 2 (default 2)
  --json          one JSON object a run on stdout, progress on stderr
  --verbose       also the player's errors and the engine's decisions, on stderr
  --help          this text

The columns are those of npm run demo. The perfect client is one with the buffer of
hls.js: players that buffer less cannot reach it in a long outage.

Rows are left in docs/benchmarks/players.jsonl; npm run bench:report makes a page of them.

Exit status 1: a run could not be measured, or one with Holdfast did not play to its end.`;

/** @returns {Promise<number>} exit status */
async function main() {
  const { values } = parseArgs({ options: { ...COMMON_OPTIONS, scenario: { type: 'string' } } });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const { variants, ...options } = commonOptions(values);
  const chosen = namesIn(values.only, names, 'player') ?? names;
  const faults = namesIn(values.scenario, scenarioNames, 'scenario') ?? demoScenarios;
  const jobs = chosen.flatMap((player) =>
    faults.flatMap((scenario) => variants.map((variant) => ({ player, scenario, variant }))),
  );
  await ensureReady(['browser']); // its version is stamped
  const stored = openRows('players', ['scenario', 'player', 'variant'], []);
  const { rows, failures } = await runJobs({ ...options, jobs, emit: stored.add });
  const lost = rows.filter(({ variant, outcome }) => variant === 'holdfast' && outcome !== 'ended');
  for (const failure of failures) log(`Error: ${failure}`);
  for (const { player, scenario, outcome } of lost) {
    log(`Not played to its end: ${player} with Holdfast is ${outcome} in ${scenario}.`);
  }
  if (failures.length > 0 || lost.length > 0) return 1;
  if (variants.includes('holdfast')) log('Every run with Holdfast played to its end.');
  return 0;
}

runCommand(main);
