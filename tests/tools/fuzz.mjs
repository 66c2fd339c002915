// @ts-check
// Looks for bytes that break the engine, for a bounded time; what it has seen is kept in
// target/fuzz, and the next run goes on from there.
//
//   npm run fuzz                                a minute
//   npm run fuzz -- --seconds 600               longer

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runAsProgram } from './main.mjs';
import { log, runStreaming } from './processes.mjs';
import { ROOT, ensureReady, toolEnvironment } from './setup.mjs';

export const TARGET = 'engine';
const FOLDER = 'tests/fuzz';
const KEPT = join(ROOT, 'target', 'fuzz');
const USUAL_S = 60;
const BUILD_LIMIT_S = 900;
/** No script needs more bytes; a longer one is only slower. */
const LONGEST_B = 2048;

/** How long, in seconds. @param {string[]} args */
export function parseArguments(args) {
  if (args.length === 0) return USUAL_S;
  const [option, value] = args;
  if (args.length === 2 && option === '--seconds' && Number(value) > 0) return Number(value);
  throw new Error(`unknown arguments ${args.join(' ')}; there is --seconds <n>`);
}

/** @param {number} seconds */
async function fuzz(seconds) {
  const corpus = join(KEPT, 'corpus', TARGET);
  const broken = join(KEPT, 'broken', TARGET);
  for (const folder of [corpus, broken]) mkdirSync(folder, { recursive: true });
  const args = [
    ...['run', '--fuzz-dir', FOLDER, '--sanitizer', 'none', TARGET, corpus, '--'],
    ...[`-max_total_time=${seconds}`, `-max_len=${LONGEST_B}`, `-artifact_prefix=${broken}/`],
    ...['-timeout=10', '-print_final_stats=1'],
  ];
  const env = { CARGO_TARGET_DIR: KEPT, ...toolEnvironment(), RUSTUP_TOOLCHAIN: 'nightly' };
  const limitMs = (BUILD_LIMIT_S + seconds) * 1000;
  const { code, output } = await runStreaming('cargo-fuzz', args, { cwd: ROOT, env, limitMs });
  const runs = /number_of_executed_units: (\d+)/.exec(output)?.[1];
  if (code !== 0 || !runs) throw new Error(`${TARGET} broke, or did not run; see ${broken}`);
  return Number(runs);
}

runAsProgram(import.meta.url, async (args) => {
  const seconds = parseArguments(args);
  await ensureReady(['fuzz']);
  const runs = await fuzz(seconds);
  log(`holdfast: ${TARGET} held ${runs} times in ${seconds} s`);
});
