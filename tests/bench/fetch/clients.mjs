// @ts-check
/**
 * The clients that run in the page: each library as it comes, and as its documentation makes the
 * best of it. `esbuild` bundles this; Holdfast is loaded beside it, as it ships.
 *
 * "Best" is the same everywhere: twelve retries, from 0.5 s doubling to 4 s with some jitter, 10 s for
 * an attempt, and what a server says in `Retry-After`, wherever a library lets one say so. Lost
 * connections, time-outs, 408, 429 and 5xx are retried, and no other refusal. A library that wraps a
 * function has the body read inside it, so that a lost body is retried too.
 */
import axios from 'axios';
import axiosRetry from 'axios-retry';
import * as cockatiel from 'cockatiel';
import fetchRetry from 'fetch-retry';
import ky from 'ky';
import pRetry, { AbortError } from 'p-retry';
import { createEngine } from 'holdfast';

/** @typedef {import('./download.mjs').Client} Client */

const RETRIES = 12;
const FIRST = 500;
const LONGEST = 4000;
const ATTEMPT = 10_000;

class Refusal extends Error {
  /** @param {Response} response */
  constructor(response) {
    super(`status ${response.status}`);
    this.status = response.status;
    this.isPassing = isPassing(response.status);
    this.waitMs = waitOf(response);
  }
}

/** @param {number} status */
const isPassing = (status) => status === 408 || status === 429 || status >= 500;

/** What a response asks to wait, in milliseconds. @param {Response | null} [response] */
const waitOf = (response) => Number(response?.headers.get('retry-after') ?? 0) * 1000;

/** A fifth more or less, as ky's documentation has it. @param {number} delay */
const jittered = (delay) => delay * (0.8 + Math.random() * 0.4);

/** @param {number} retry from 1 */
const delayOf = (retry) => jittered(Math.min(LONGEST, FIRST * 2 ** (retry - 1)));

/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {AbortSignal} signal */
const orLate = (signal) => AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT)]);

/** A whole body, or an error. @param {string} url @param {AbortSignal} signal */
async function get(url, signal) {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Refusal(response);
  return response.arrayBuffer();
}

/** A body of a `fetch` that resolves whatever the status. @param {Response} response */
function bodyOf(response) {
  if (!response.ok) throw new Refusal(response);
  return response.arrayBuffer();
}

/** @returns {Client} */
function kyBest() {
  const api = ky.create({
    timeout: ATTEMPT,
    retry: {
      limit: RETRIES,
      delay: (attempt) => FIRST * 2 ** (attempt - 1),
      backoffLimit: LONGEST,
      jitter: jittered,
      retryOnTimeout: true,
      maxRetryAfter: 600_000,
    },
  });
  return (url, signal) => api(url, { signal }).arrayBuffer();
}

/** @type {Client} */
const pRetryDefault = (url, signal) =>
  pRetry(() => get(url, signal).catch(endAt((error) => error.status === 404)), { signal });

/** Ends the retries of p-retry. @param {(error: Refusal) => boolean} isFinal */
const endAt = (isFinal) => (/** @type {unknown} */ error) => {
  throw error instanceof Refusal && isFinal(error) ? new AbortError(error) : error;
};

/** @type {Client} */
const pRetryBest = (url, signal) =>
  pRetry(() => get(url, orLate(signal)).catch(endAt((error) => !error.isPassing)), {
    retries: RETRIES,
    minTimeout: FIRST,
    maxTimeout: LONGEST,
    randomize: true,
    signal,
    onFailedAttempt: ({ error }) => (error instanceof Refusal ? sleep(error.waitMs) : undefined),
  });

/** The policy of the first page of its documentation. @returns {Client} */
function cockatielDefault() {
  const retry = cockatiel.retry(cockatiel.handleAll, {
    maxAttempts: 3,
    backoff: new cockatiel.ExponentialBackoff(),
  });
  const breaker = cockatiel.circuitBreaker(cockatiel.handleAll, {
    halfOpenAfter: 10_000,
    breaker: new cockatiel.ConsecutiveBreaker(5),
  });
  const policy = cockatiel.wrap(retry, breaker);
  return (url, signal) => policy.execute((context) => get(url, context.signal), signal);
}

/** @returns {Client} */
function cockatielBest() {
  const passing = cockatiel.handleWhen((error) => !(error instanceof Refusal) || error.isPassing);
  /** @type {cockatiel.DelegateBackoff<cockatiel.IRetryBackoffContext<unknown>>} */
  const backoff = new cockatiel.DelegateBackoff(({ attempt, result }) => {
    const error = 'error' in result ? result.error : undefined;
    return Math.max(error instanceof Refusal ? error.waitMs : 0, delayOf(attempt));
  });
  const retry = cockatiel.retry(passing, { maxAttempts: RETRIES, backoff });
  const timeout = cockatiel.timeout(ATTEMPT, cockatiel.TimeoutStrategy.Aggressive);
  const breaker = cockatiel.circuitBreaker(passing, {
    halfOpenAfter: 2000,
    breaker: new cockatiel.ConsecutiveBreaker(5),
  });
  const policy = cockatiel.wrap(retry, breaker, timeout);
  return (url, signal) => policy.execute((context) => get(url, context.signal), signal);
}

/** @param {import('axios-retry').IAxiosRetryConfig} [options] @param {number} [timeout] @returns {Client} */
function axiosClient(options, timeout) {
  const api = axios.create({ responseType: 'arraybuffer', timeout });
  axiosRetry(api, options);
  return async (url, signal) => (await api.get(url, { signal })).data;
}

const axiosBest = () =>
  axiosClient(
    {
      retries: RETRIES,
      shouldResetTimeout: true,
      // 250 ms doubled once for the first retry; the plugin adds jitter and heeds Retry-After.
      retryDelay: (retry, error) =>
        axiosRetry.exponentialDelay(Math.min(retry, 4), error, FIRST / 2),
      retryCondition: (error) =>
        axiosRetry.isNetworkOrIdempotentRequestError(error) ||
        error.code === 'ECONNABORTED' ||
        isPassing(error.response?.status ?? 0),
    },
    ATTEMPT,
  );

/** @returns {Client} */
function fetchRetryBest() {
  /** @type {typeof fetch} */
  const fetchInTime = (input, init) =>
    fetch(input, { ...init, signal: orLate(/** @type {AbortSignal} */ (init?.signal)) });
  const retrying = fetchRetry(fetchInTime);
  return async (url, signal) =>
    bodyOf(
      await retrying(url, {
        signal,
        retryOn: (attempt, error, response) =>
          attempt < RETRIES && !signal.aborted && (!!error || isPassing(response?.status ?? 0)),
        retryDelay: (attempt, _, response) => Math.max(waitOf(response), delayOf(attempt + 1)),
      }),
    );
}

/** @param {import('holdfast').EngineOptions} [options] @returns {Promise<Client>} */
async function holdfast(options) {
  const engine = createEngine(options);
  await engine.ready;
  return async (url, signal) => bodyOf(await engine.fetch(url, { signal }));
}

/** By name. Each makes a client that has seen nothing yet. @type {Record<string, () => Client | Promise<Client>>} */
export const clients = {
  fetch: () => get,
  ky: () => (url, signal) => ky(url, { signal }).arrayBuffer(),
  'ky best': kyBest,
  'p-retry': () => pRetryDefault,
  'p-retry best': () => pRetryBest,
  cockatiel: cockatielDefault,
  'cockatiel best': cockatielBest,
  'axios-retry': () => axiosClient(),
  'axios-retry best': axiosBest,
  'fetch-retry': () => {
    const retrying = fetchRetry(fetch);
    return async (url, signal) => bodyOf(await retrying(url, { signal }));
  },
  'fetch-retry best': fetchRetryBest,
  holdfast,
};
