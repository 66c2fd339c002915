// @ts-check
/** The response that a caller of `engine.fetch` gets: one body out of several attempts. */
import { takingAfter } from './taking-after.js';
import { RESTART } from './transfer.js';

/** The statuses that have no body (Fetch, "null body status"). */
const NULL_BODY = [101, 103, 204, 205, 304];
const READERS = /** @type {const} */ (['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text']);

/**
 * @param {import('./transfer.js').Transfer} transfer
 * @param {Response} response the accepted one
 * @returns {Response}
 */
export function stitch(transfer, response) {
  const { status, statusText, headers } = response;
  // An opaque response is of use only as the browser made it.
  if (status < 200 || status > 599) return response;
  const bodiless = NULL_BODY.includes(status);
  // Chromium gives these a body all the same, and its end is what ends the transfer.
  if (bodiless) void transfer.read(0).catch(() => {});
  const body = bodiless ? null : response.body && streamOf(transfer);
  // To iterate over headers within is slower.
  return like(
    transfer,
    response,
    new Response(body, {
      status,
      statusText,
      headers: Symbol.iterator in headers ? [...headers] : headers,
    }),
  );
}

/**
 * @param {import('./transfer.js').Transfer} transfer
 * @param {Response} model
 * @param {Response} made
 * @returns {Response}
 */
function like(transfer, model, made) {
  takingAfter(model, made);
  for (const name of READERS) {
    const read = made[name];
    if (!read) continue;
    // Chromium puts a TypeError of its own in place of whatever a stream was errored with.
    const value = () =>
      read.call(made).catch((/** @type {unknown} */ error) => {
        throw transfer.failure ? transfer.failure.error : error;
      });
    Object.defineProperty(made, name, { value });
  }
  const { clone } = made;
  const value = () => like(transfer, model, clone.call(made));
  Object.defineProperty(made, 'clone', { value });
  return made;
}

/** @param {import('./transfer.js').Transfer} transfer */
function streamOf(transfer) {
  return new ReadableStream(
    {
      start(controller) {
        transfer.onFailure = (error) => controller.error(error);
      },
      async pull(controller) {
        // Nothing was released before a restart.
        let chunk;
        do chunk = await transfer.read(0);
        while (chunk === RESTART);
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
      cancel: (reason) => transfer.cancel(reason),
    },
    // Nothing is read ahead: what a caller has not asked for can still be fetched again.
    { highWaterMark: 0 },
  );
}
