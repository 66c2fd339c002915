// @ts-check
/** How refusals are looked at, how hooks are called, and what their answers mean. */
import { evidenceOf } from './credential.js';

/** @typedef {import('./hooks.js').Hooks} Hooks */

/** So much of a refusal's body is looked at, in bytes, and for so long, in milliseconds. */
const LOOK = 8192;
const PATIENCE = 500;

/** Whether a refusal has to be looked at before it is judged. @param {Hooks} hooks */
export const looks = ({ bits, detectRateLimit, detectExpiry }) =>
  bits > 0 || detectRateLimit !== undefined || detectExpiry !== undefined;

/**
 * The beginning of a refusal's body, and the response with all of it still to read. What does not
 * come in time is left out. Not a clone: one that is let go of, and then aborted, is reported by
 * Node as an error that nobody handles.
 *
 * @param {Response} response
 * @returns {Promise<{ text: string, response: Response }>}
 */
export async function beginning(response) {
  let text = '';
  const { body, bodyUsed, status, statusText, headers } = response;
  if (!body || bodyUsed || body.locked) return { text, response };
  const reader = body.getReader();
  /** @type {Array<ReturnType<typeof reader.read>>} */
  const reads = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve({ done: true }), PATIENCE);
  });
  const decoder = new TextDecoder();
  try {
    for (let size = 0; size < LOOK;) {
      const read = reader.read();
      reads.push(read);
      const { done, value } = await Promise.race([read, late]);
      if (done) break;
      size += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // A refusal that breaks off is a refusal all the same.
  } finally {
    clearTimeout(timer);
  }
  const whole = new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await (reads.shift() ?? reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const again = new Response(whole, { status, statusText, headers });
  for (const name of /** @type {const} */ (['url', 'redirected', 'type'])) {
    Object.defineProperty(again, name, { value: response[name] });
  }
  return { text: text.slice(0, LOOK), response: again };
}

/**
 * What the detectors say of a refusal. One that throws says nothing.
 *
 * @param {Hooks} hooks
 * @param {import('./index.d.ts').ResponseFacts} facts
 * @param {number} now wall-clock time in milliseconds
 * @param {typeof import('./attempt.js').attempt} attempt handed in, as all that is shared with the entry
 * @returns {{ limit: { scope: string, wait: number } | undefined, expiry: number }}
 */
export function judge(hooks, facts, now, attempt) {
  const { detectRateLimit, detectExpiry } = hooks;
  const found = detectRateLimit && attempt(() => detectRateLimit(facts));
  const { scope, waitMs } = Object(found);
  const limit =
    typeof scope === 'string'
      ? { scope, wait: typeof waitMs === 'number' && waitMs >= 0 ? Math.min(waitMs, 864e5) : -1 }
      : undefined;
  const said = detectExpiry && attempt(() => detectExpiry(facts));
  const own = { expired: 1, denied: 2 }[String(said)];
  const evidence = { expired: 1, 'denied-for-good': 2, none: 0 }[evidenceOf({ ...facts, now })];
  return { limit, expiry: own ?? evidence };
}

/**
 * Calls a hook that may answer later. What it throws, or rejects with, goes where uncaught errors
 * go, and counts as no answer.
 *
 * @template T
 * @param {() => T | PromiseLike<T>} call
 * @param {(answer: T | undefined, error?: unknown) => void} answered told at once where the answer
 *   is there at once
 * @param {boolean} [isTold] whether somebody is told of the error anyway
 */
export function consult(call, answered, isTold = false) {
  /** @param {unknown} error */
  const failed = (error) => {
    if (!isTold) {
      queueMicrotask(() => {
        throw error;
      });
    }
    answered(undefined, error);
  };
  let answer;
  try {
    answer = call();
  } catch (error) {
    return failed(error);
  }
  if (typeof (/** @type {any} */ (answer)?.then) !== 'function') {
    return answered(/** @type {T} */ (answer));
  }
  Promise.resolve(answer).then((value) => answered(value), failed);
}

/**
 * What `shouldRetry` answered, as a code and a delay. Only exact answers count.
 *
 * @param {unknown} answer
 * @returns {[code: number, delay: number]}
 */
export function verdictOf(answer) {
  if (answer === false) return [1, 0];
  if (answer === true) return [2, 0];
  const after = /** @type {any} */ (answer)?.retryAfter;
  return typeof after === 'number' && after >= 0 && after < Infinity ? [3, after] : [0, 0];
}
