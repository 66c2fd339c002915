// @ts-check
// Looks for bytes that break what reads `Retry-After`, and the engine. Each target runs for a
// bounded time; what it has seen is kept in target/fuzz, and the next run goes on from there.
//
//   npm run fuzz                                a minute each
//   npm run fuzz -- --seconds 600               longer
//   npm run fuzz -- --only engine               one of them

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runAsProgram } from './main.mjs';
import { log, runStreaming } from './processes.mjs';
import { ROOT, ensureReady, toolEnvironment } from './setup.mjs';

export const TARGETS = ['retry_after', 'engine'];
const FOLDER = 'tests/fuzz';
const KEPT = join(ROOT, 'target', 'fuzz');
const USUAL_S = 60;
const BUILD_LIMIT_S = 900;
/** No script needs more bytes; a longer one is only slower. */
const LONGEST = { retry_after: 128, engine: 2048 };

/** @param {string[]} args */
export function parseArguments(args) {
  let seconds = USUAL_S;
  let targets = TARGETS;
  for (let place = 0; place < args.length; place += 2) {
    const [option, value = ''] = args.slice(place);
    if (option === '--seconds' && Number(value) > 0) seconds = Number(value);
    else if (option === '--only' && TARGETS.includes(value)) targets = [value];
    else {
      const known = `--seconds <n> and --only <${TARGETS.join('|')}>`;
      throw new Error(`unknown arguments ${args.join(' ')}; there are ${known}`);
    }
  }
  return { seconds, targets };
}

/** @param {string} target @param {number} seconds */
async function fuzz(target, seconds) {
  const corpus = join(KEPT, 'corpus', target);
  const broken = join(KEPT, 'broken', target);
  for (const folder of [corpus, broken]) mkdirSync(folder, { recursive: true });
  const longest = LONGEST[/** @type {keyof typeof LONGEST} */ (target)];
  const args = [
    ...['run', '--fuzz-dir', FOLDER, '--sanitizer', 'none', target, corpus, '--'],
    ...[`-max_total_time=${seconds}`, `-max_len=${longest}`, `-artifact_prefix=${broken}/`],
    ...['-timeout=10', '-print_final_stats=1'],
  ];
  const env = { CARGO_TARGET_DIR: KEPT, ...toolEnvironment(), RUSTUP_TOOLCHAIN: 'nightly' };
  const limitMs = (BUILD_LIMIT_S + seconds) * 1000;
  const { code, output } = await runStreaming('cargo-fuzz', args, { cwd: ROOT, env, limitMs });
  const runs = /number_of_executed_units: (\d+)/.exec(output)?.[1];
  if (code !== 0 || !runs) throw new Error(`${target} broke, or did not run; see ${broken}`);
  return Number(runs);
}

runAsProgram(import.meta.url, async (args) => {
  const { seconds, targets } = parseArguments(args);
  await ensureReady(['fuzz']);
  for (const target of targets) {
    const runs = await fuzz(target, seconds);
    log(`holdfast: ${target} held ${runs} times in ${seconds} s`);
  }
});
