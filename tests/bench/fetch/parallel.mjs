// @ts-check

/**
 * Works through a list, so many at a time, in its order.
 *
 * @template T
 * @param {readonly T[]} jobs
 * @param {number} workers
 * @param {(job: T) => Promise<void>} run
 */
export async function parallel(jobs, workers, run) {
  if (!(workers >= 1)) throw new RangeError('there is at least one worker');
  const queue = [...jobs];
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let job = queue.shift(); job !== undefined; job = queue.shift()) await run(job);
    }),
  );
}
