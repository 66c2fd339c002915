// @ts-check
// Three ways to run another program: to read its answer, to run it quietly unless it fails,
// and to stream its output while keeping a copy.

import { spawn } from 'node:child_process';

/** Writes one line to the log, which is stderr: stdout belongs to results. */
export function log(/** @type {string} */ line) {
  process.stderr.write(`${line}\n`);
}

/** Runs a program and gives its stdout, or undefined if it is missing or fails. */
export async function readOutput(/** @type {string} */ program, /** @type {string[]} */ args) {
  const result = await collect(program, args, { stdout: () => {}, stderr: () => {} }).catch(
    () => null,
  );
  return result?.code === 0 ? result.stdout : undefined;
}

/**
 * Runs a slow program, saying what for and how long it takes. Its output is shown only if it
 * fails; a line every half minute shows that it is alive.
 * @param {string} what
 * @param {string} estimate
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 */
export async function runQuietly(what, estimate, program, args, options = {}) {
  log(`holdfast: ${what} (${estimate}) …`);
  const started = performance.now();
  const elapsed = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
  const alive = setInterval(() => log(`holdfast: still ${what}, ${elapsed()} so far`), 30_000);
  try {
    const quiet = { ...options, stdout: () => {}, stderr: () => {} };
    const { code, stdout, stderr } = await collect(program, args, quiet);
    if (code !== 0) {
      log(stdout.trimEnd());
      log(stderr.trimEnd());
      throw new Error(`${what} failed: \`${[program, ...args].join(' ')}\` ended with ${code}.`);
    }
  } finally {
    clearInterval(alive);
  }
  log(`holdfast: ${what} took ${elapsed()}`);
}

/**
 * Runs a program with its output passed on as it comes, and gives that output and the exit
 * code. The program gets no stdin and is ended, with its children, after `limitMs`.
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, limitMs: number }} options
 */
export async function runStreaming(program, args, options) {
  const { code, stdout, stderr, timedOut } = await collect(program, args, {
    ...options,
    stdout: (chunk) => process.stdout.write(chunk),
    stderr: (chunk) => process.stderr.write(chunk),
  });
  return { code, output: stdout + stderr, timedOut };
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {{
 *   cwd?: string, env?: NodeJS.ProcessEnv, limitMs?: number,
 *   stdout: (chunk: string) => void, stderr: (chunk: string) => void,
 * }} options
 * @returns {Promise<{ code: number, stdout: string, stderr: string, timedOut: boolean }>}
 */
function collect(program, args, { cwd, env, limitMs, stdout, stderr }) {
  return new Promise((resolve, reject) => {
    // With a limit, the program leads a process group of its own, so that a browser it started
    // can be ended with it.
    const detached = limitMs !== undefined;
    const child = spawn(program, args, { cwd, env, detached, stdio: ['ignore', 'pipe', 'pipe'] });
    const kept = { stdout: '', stderr: '' };
    let timedOut = false;

    const end = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(detached ? -child.pid : child.pid, 'SIGKILL');
      } catch {
        // It has already ended.
      }
    };
    const timer = limitMs === undefined ? undefined : setTimeout(onLimit, limitMs);
    process.once('SIGINT', onInterrupt);
    process.once('SIGTERM', onInterrupt);

    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      kept.stdout += chunk;
      stdout(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      kept.stderr += chunk;
      stderr(chunk);
    });
    child.on('error', (error) => {
      release();
      reject(error);
    });
    child.on('close', (code, signal) => {
      release();
      resolve({ code: code ?? (signal ? 128 : 1), ...kept, timedOut });
    });

    function onLimit() {
      timedOut = true;
      end();
    }
    function onInterrupt() {
      end();
      process.exit(130);
    }
    function release() {
      clearTimeout(timer);
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onInterrupt);
    }
  });
}
