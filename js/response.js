// @ts-check
/** The response that a caller of `engine.fetch` gets: one body out of several attempts. */
import { RESTART } from './transfer.js';

/** What a response made here cannot be given at its construction. */
const OWN = /** @type {const} */ (['url', 'redirected', 'type']);

/**
 * @param {import('./transfer.js').Transfer} transfer
 * @param {Response} response the accepted one
 * @returns {Response}
 */
export function stitch(transfer, response) {
  const { status, statusText, headers } = response;
  const body = response.body && streamOf(transfer);
  return like(response, new Response(body, { status, statusText, headers }));
}

/** @param {Response} model @param {Response} made @returns {Response} */
function like(model, made) {
  for (const name of OWN) Object.defineProperty(made, name, { value: model[name] });
  const { clone } = made;
  Object.defineProperty(made, 'clone', { value: () => like(model, clone.call(made)) });
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
        const chunk = await readOn(transfer, false);
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
      cancel: (reason) => transfer.cancel(reason),
    },
    // Nothing is read ahead: what a caller has not asked for can still be fetched again.
    { highWaterMark: 0 },
  );
}

/**
 * The next chunk, or `null`, where a restart does not matter: nothing was released before it.
 *
 * @param {import('./transfer.js').Transfer} transfer
 * @param {boolean} more
 * @returns {Promise<Uint8Array | null>}
 */
export async function readOn(transfer, more) {
  for (;;) {
    const chunk = await transfer.read(more);
    if (chunk !== RESTART) return chunk;
  }
}
