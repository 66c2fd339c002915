// @ts-check
import {
  ConsecutiveBreaker,
  ExponentialBackoff,
  TimeoutStrategy,
  circuitBreaker,
  handleAll,
  retry,
  timeout,
  wrap,
} from 'cockatiel';
import { readAll } from './read-all.js';

export function create() {
  const policy = wrap(
    retry(handleAll, { maxAttempts: 3, backoff: new ExponentialBackoff() }),
    circuitBreaker(handleAll, { halfOpenAfter: 10_000, breaker: new ConsecutiveBreaker(5) }),
    timeout(10_000, TimeoutStrategy.Cooperative),
  );
  return {
    // The body is read within: the time-out's signal is aborted once its work is done.
    read: (/** @type {string} */ url) =>
      policy.execute(async ({ signal }) => readAll(await fetch(url, { signal }))),
  };
}
