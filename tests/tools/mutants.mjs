// @ts-check
// How much of the core its tests would miss: each mutant is one small change to the code, and a
// test has to fail for it. Writes docs/mutants.md. Takes seconds a mutant, so an hour for all.
//
//   npm run mutants                         all of FILES
//   npm run mutants -- --only backoff.rs    some, separated by commas; the others stay as measured
//   npm run mutants -- --every 3            every third mutant, for when there is less time

import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAsProgram } from './main.mjs';
import { log, runStreaming } from './processes.mjs';
import { ROOT, ensureReady, toolEnvironment } from './setup.mjs';

/** What decides, below src/core; a star stands for what follows. */
export const FILES = [
  'advice.rs',
  'backoff.rs',
  'breaker*',
  'budget*',
  'classify.rs',
  'credential*',
  'engine*',
  'guard.rs',
  'hook*',
  'lateness.rs',
  'opaque.rs',
  'path*',
  'recovery*',
  'resume.rs',
  'retry.rs',
  'throttle*',
];

/**
 * Tests that take most of the time of all, and hold what quicker ones hold as well: left out, so
 * that a mutant takes some seconds. They can only raise the share.
 */
const SLOW = [
  'r36_a_hundred_segments_on_a_dead_host',
  'r36_ten_first_successes_pay',
  'r36_what_the_budget_does_not_cover_is_probed',
  'r36_retries_cost_no_more_than_the_bucket',
  'r36_the_server_of_a_hundred',
  'r35_many_held_requests',
  'an_hour_of_live',
  'r46_a_server_with_a_grudge',
  'r10_ten_thousand_aborted',
  'field_a35',
  'plan_table',
  'advice_differential',
  'r88_a_device',
  'fuzz',
];

const CORE = 'src/core';
const DOCUMENT = 'docs/mutants.md';
/** Beside the results of cargo-mutants: those of each file when it was measured last. */
const FOLDER = join(ROOT, 'target', 'mutants');
const KEPT = join(FOLDER, 'files.json');
const JOBS = 2;
/** The tests take some seconds; a mutant that runs for ever is caught as well. */
const TEST_LIMIT_S = 60;
const BUILD_LIMIT_S = 180;
const LIMIT_MS = 6 * 3_600_000;
const PROGRESS_EVERY_MS = 30_000;
/** Of cargo-mutants: all caught, some missed, some timed out. */
const MEASURED = [0, 2, 3];

/**
 * What became of the mutants of one file. Unviable ones, which do not compile, are not counted.
 * `every`: only each so many-th was tried.
 * @typedef {{ caught: number, timedOut: number, survivors: string[], every?: number }} Measure
 */

/** @param {string[]} args @returns {{ only?: string[], every: number }} */
export function parseArguments(args) {
  const { only, every, ...unknown } = Object.fromEntries(
    Array.from({ length: Math.ceil(args.length / 2) }, (_, i) => [
      args[2 * i].replace(/^--/, ''),
      args[2 * i + 1],
    ]),
  );
  const step = every === undefined ? 1 : Number(every);
  if (Object.keys(unknown).length || args.length % 2 || !(Number.isInteger(step) && step > 0)) {
    throw new Error(
      `unknown arguments ${args.join(' ')}; there are --only <file,...> and --every <number>`,
    );
  }
  return { ...(only && { only: only.split(',') }), every: step };
}

/**
 * The files of the list that exist, or those of them that were asked for.
 * @param {string[]} existing below src/core
 * @param {string[]} [only]
 */
export function selectFiles(existing, only) {
  const fits = (/** @type {string} */ file) => (/** @type {string} */ pattern) =>
    pattern.endsWith('*') ? file.startsWith(pattern.slice(0, -1)) : file === pattern;
  const listed = existing.filter((file) => FILES.some(fits(file))).sort();
  if (!only) return listed;
  const names = only.map((name) => name.replace(/^src\/core\//, ''));
  const unknown = names.find((name) => !listed.includes(name));
  if (unknown) throw new Error(`${unknown} is not measured; files: ${listed.join(', ')}`);
  return names;
}

/**
 * The measures of each file, from the outcomes.json of cargo-mutants.
 * @param {string} json
 * @returns {Record<string, Measure>}
 */
export function measuresOf(json) {
  /** @type {Record<string, Measure>} */
  const measures = {};
  for (const { scenario, summary } of JSON.parse(json).outcomes) {
    const mutant = scenario.Mutant;
    if (!mutant || !['CaughtMutant', 'Timeout', 'MissedMutant'].includes(summary)) continue;
    const measure = (measures[mutant.file] ??= { caught: 0, timedOut: 0, survivors: [] });
    if (summary === 'CaughtMutant') measure.caught += 1;
    else if (summary === 'Timeout') measure.timedOut += 1;
    else measure.survivors.push(mutant.name);
  }
  return measures;
}

/** The page. @param {Record<string, Measure>} measures */
export function documentOf(measures) {
  const files = Object.keys(measures).sort();
  const all = files.map((file) => measures[file]);
  const survivors = all.flatMap((measure) => measure.survivors);
  /** @param {(measure: Measure) => number} of */
  const total = (of) => all.reduce((sum, each) => sum + of(each), 0);
  const sum = {
    caught: total(({ caught }) => caught),
    timedOut: total(({ timedOut }) => timedOut),
    survivors,
  };
  // Where one of so many was tried, it stands for so many.
  const weight = (/** @type {Measure} */ { every = 1 }) => every;
  const tried = total((each) => weight(each) * count(each));
  const missed = total((each) => weight(each) * each.survivors.length);
  const headline = percent(tried - missed, tried);
  const rows = files.map((file) => row(`\`${file}\``, measures[file]));
  return `# Mutants

**${headline}** of the small changes to what decides that were tried (${count(sum)}), each counted as often as the
column "every" says, are noticed by its tests. The last line of the table counts each once.

Written by \`npm run mutants\`: each mutant is one change to the code, such as a comparison turned
round or a result replaced by a constant, and counts as caught when a native test fails for it or
never ends. Mutants that do not compile are not counted. Where a file has many, every so many-th of
its mutants was tried, as the second column says.

| file | every | mutants | caught | timed out | survived | share |
| --- | --: | --: | --: | --: | --: | --: |
${[...rows, row('all', sum)].join('\n')}

## Survivors

${survivors.map((name) => `- \`${name}\``).join('\n') || 'None.'}
`;
}

/** @param {string} name @param {Measure} measure */
function row(name, measure) {
  const { caught, timedOut, survivors } = measure;
  const cells = [
    name,
    measure.every ?? '',
    count(measure),
    caught,
    timedOut,
    survivors.length,
    share(measure),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** @param {Measure} measure */
const count = ({ caught, timedOut, survivors }) => caught + timedOut + survivors.length;

/** @param {Measure} measure */
function share(measure) {
  const all = count(measure);
  return percent(all - measure.survivors.length, all);
}

/** @param {number} part @param {number} all */
function percent(part, all) {
  if (all === 0) return '–';
  // Rounded down, so that 100 % means all of them.
  return `${(Math.floor((part / all) * 1000) / 10).toFixed(1)} %`;
}

/** Runs cargo-mutants over these files. @param {string[]} files below src/core @param {number} every */
async function measure(files, every) {
  mkdirSync(FOLDER, { recursive: true });
  const output = join(FOLDER, 'mutants.out');
  rmSync(output, { recursive: true, force: true });
  const args = [
    ...['mutants', '--output', FOLDER, '--jobs', String(JOBS), '--colors', 'never'],
    ...['--timeout', String(TEST_LIMIT_S), '--build-timeout', String(BUILD_LIMIT_S)],
    ...files.flatMap((file) => ['--file', `${CORE}/${file}`]),
    ...(every > 1 ? ['--shard', `0/${every}`, '--sharding', 'round-robin'] : []),
    ...['--', '--', ...SLOW.flatMap((name) => ['--skip', name])],
  ];
  // Each copy of the crate builds in a folder of its own, without the weight of debug symbols,
  // and random tests draw less often.
  const { CARGO_TARGET_DIR: _, ...inherited } = toolEnvironment();
  const env = {
    ...inherited,
    CARGO_PROFILE_DEV_DEBUG: '0',
    CARGO_PROFILE_TEST_DEBUG: '0',
    CARGO_INCREMENTAL: '1',
    HOLDFAST_QUICK: '1',
    PROPTEST_CASES: '32',
  };
  const started = performance.now();
  const progress = setInterval(() => tell(output, started), PROGRESS_EVERY_MS);
  const { code } = await runStreaming('cargo', args, { cwd: ROOT, env, limitMs: LIMIT_MS }).finally(
    () => clearInterval(progress),
  );
  if (!MEASURED.includes(code)) throw new Error(`cargo mutants ended with ${code}`);
  const seconds = (performance.now() - started) / 1000;
  log(`holdfast: ${doneOf(output)} mutants in ${seconds.toFixed(0)} s`);
  return measuresOf(readFileSync(join(output, 'outcomes.json'), 'utf8'));
}

/** One line on how far it is. @param {string} output @param {number} started */
function tell(output, started) {
  const list = join(output, 'mutants.json');
  if (!existsSync(list)) return;
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  log(
    `holdfast: ${doneOf(output)} of ${JSON.parse(readFileSync(list, 'utf8')).length} mutants, ` +
      `${linesOf(output, 'missed')} survive, ${minutes} min so far`,
  );
}

/** @param {string} output */
function doneOf(output) {
  const kinds = ['caught', 'missed', 'timeout', 'unviable'];
  return kinds.reduce((total, kind) => total + linesOf(output, kind), 0);
}

/** @param {string} output @param {string} kind */
function linesOf(output, kind) {
  const file = join(output, `${kind}.txt`);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).length : 0;
}

runAsProgram(import.meta.url, async (args) => {
  const { only, every } = parseArguments(args);
  const existing = readdirSync(join(ROOT, CORE), { recursive: true })
    .map((name) => String(name).replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.rs'));
  const listed = selectFiles(existing).map((file) => `${CORE}/${file}`);
  const files = selectFiles(existing, only);
  await ensureReady(['mutants']);
  const measured = await measure(files, every);
  /** @type {Record<string, Measure>} */
  const before = only && existsSync(KEPT) ? JSON.parse(readFileSync(KEPT, 'utf8')) : {};
  const none = { caught: 0, timedOut: 0, survivors: [] };
  for (const file of files) {
    before[`${CORE}/${file}`] = { ...(measured[`${CORE}/${file}`] ?? none), every };
  }
  const kept = Object.fromEntries(Object.entries(before).filter(([file]) => listed.includes(file)));
  writeFileSync(KEPT, JSON.stringify(kept));

  const page = documentOf(kept);
  const missing = listed.filter((file) => !kept[file]);
  if (missing.length === 0) writeFileSync(join(ROOT, DOCUMENT), page);
  console.log(`\n${page}`);
  if (missing.length) {
    log(`holdfast: ${DOCUMENT} stays as it is until all are measured: ${missing.join(', ')}`);
  }
});
