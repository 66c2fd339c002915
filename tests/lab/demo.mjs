// @ts-check
/**
 * npm run demo: plays one stream over broken networks with hls.js alone and with
 * Holdfast, in a real browser, and prints what a viewer would have noticed.
 */
import { parseArgs } from 'node:util';
import { missedBars } from './bars.mjs';
import { COMMON_OPTIONS, commonOptions, log, namesIn, runCommand, runJobs } from './jobs.mjs';
import { variantName } from './report.mjs';
import { demoScenarios, scenarios } from './scenarios.mjs';

const names = scenarios.map(({ name }) => name);

const help = `Usage: npm run demo -- [options]

Plays each scenario with hls.js alone and with hls.js with Holdfast in a headless
Chromium and prints one table. Takes about four minutes; one run of hls.js alone
waits for two of them.

  --only a,b      scenarios: ${names.join(', ')}
  --variant v     plain or holdfast only
  --workers n     runs at a time, 1 or 2 (default 2)
  --json          one JSON object a run on stdout, progress on stderr
  --verbose       also the player's errors and the engine's decisions, on stderr
  --help          this text

start        from load to the picture moving
rebuffering  time the viewer waits after that; with + it was never over
oracle       rebuffering of a perfect client, from a simulation of the same link
outcome      ended, dead (fatal error) or hung (not over after three minutes)
requests     as the server counts them
wasted kB    bytes sent more than once or for nothing

Exit status 1: a run could not be measured, or one with Holdfast missed its bar.`;

/** @returns {Promise<number>} exit status */
async function main() {
  const { values } = parseArgs({ options: COMMON_OPTIONS });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const { variants, ...options } = commonOptions(values);
  const chosen = namesIn(values.only, names, 'scenario') ?? demoScenarios;
  const jobs = chosen.flatMap((scenario) =>
    variants.map((variant) => ({ player: 'hls', scenario, variant })),
  );
  const { rows, failures } = await runJobs({ ...options, jobs });
  const missed = rows.flatMap((row) => {
    const scenario = scenarios.find(({ name }) => name === row.scenario);
    return row.variant === 'holdfast' && scenario ? missedBars(row, scenario) : [];
  });
  for (const failure of failures) log(`Error: ${failure}`);
  for (const sentence of missed) log(`Bar missed: ${sentence}`);
  if (failures.length > 0 || missed.length > 0) return 1;
  if (variants.includes('holdfast')) log(`Every run ${variantName('holdfast')} reached its bar.`);
  return 0;
}

runCommand(main);
