// @ts-check
/** Runs the simulation, a Rust program of its own in tests/fleet. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { runQuietly } from '../../tools/processes.mjs';
import { ROOT } from '../../tools/setup.mjs';

const FOLDER = join(ROOT, 'tests/fleet');
const PROGRAM = join(FOLDER, 'target/release/holdfast-fleet');

/** Compiles it. */
export async function build() {
  const args = ['build', '--release', '--locked', '--manifest-path', join(FOLDER, 'Cargo.toml')];
  await runQuietly('compiling the simulation', 'a minute the first time', 'cargo', args);
}

/**
 * Runs one part of it; its progress goes to stderr.
 * @param {object} run
 * @param {string} run.part
 * @param {boolean} run.smoke
 * @param {number} run.seed
 * @param {readonly string[]} run.policies all of them where empty
 * @param {number} [run.viewers] in a run of the grid
 * @param {(row: import('../rows.mjs').Row) => void} run.emit
 */
export async function simulate({ part, smoke, seed, policies, viewers, emit }) {
  const args = [
    ...(smoke ? ['--smoke'] : []),
    ...['--seed', String(seed)],
    ...(viewers === undefined ? [] : ['--viewers', String(viewers)]),
    ...policies.flatMap((name) => ['--policy', name]),
    part,
  ];
  // Gigabytes of small objects that are touched at random: large pages save half of the time.
  const env = { ...process.env, GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' };
  const child = spawn(PROGRAM, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const end = () => void child.kill();
  process.once('exit', end);
  for await (const line of createInterface({ input: child.stdout })) emit(JSON.parse(line));
  const [code, signal] = await ended;
  process.removeListener('exit', end);
  if (code !== 0) throw new Error(`the simulation of ${part} ended with ${code ?? signal}`);
}
