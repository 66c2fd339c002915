// @ts-check
import { setTimeout as sleep } from 'node:timers/promises';

/** Two pages that start to play at the same moment would delay each other's start. */
export const APART_MS = 3000;

/**
 * Works through a list, so many at a time, in its order.
 *
 * @template T
 * @param {readonly T[]} jobs
 * @param {number} workers
 * @param {(job: T) => Promise<void>} run
 * @param {number} [apartMs] how long each worker begins after the one before it
 */
export async function parallel(jobs, workers, run, apartMs = 0) {
  if (!(workers >= 1)) throw new RangeError('there is at least one worker');
  const queue = [...jobs];
  await Promise.all(
    Array.from({ length: workers }, async (_, index) => {
      if (apartMs > 0) await sleep(index * apartMs);
      for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
        await run(job).catch((error) => {
          // The others end with what they have begun.
          queue.length = 0;
          throw error;
        });
      }
    }),
  );
}
