// @ts-check
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { log } from './processes.mjs';

/**
 * Runs `work` if the module at `url` is the program that was started, rather than imported. An
 * error ends as one plain sentence on stderr and exit code 1. Not to be awaited at a module's
 * top: `work` may import, by a detour, the module that starts it.
 * @param {string} url
 * @param {(args: string[]) => Promise<void>} work
 */
export function runAsProgram(url, work) {
  const [, started, ...args] = process.argv;
  if (!started || realpathSync(started) !== fileURLToPath(url)) return;
  work(args).catch((error) => {
    log(`holdfast: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  });
}
