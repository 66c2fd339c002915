// @ts-check
/** The sibling wrapper (R1): any transport of SPF's shapes or `fetch`'s, under the engine. */
import { chunksOf } from './chunks.js';
import { stitch } from './response.js';

/**
 * Wraps a transport. What it returns has the transport's own shape: text for text, an
 * iterable for bytes, a `Response` for `fetch`.
 *
 * A transport that is no `fetch` shows no status and no headers, so whatever it rejects with
 * counts as a failure of the network.
 *
 * @param {(input: any, init?: any) => Promise<any>} transport
 * @param {import('./engine.js').Engine} engine
 * @param {import('./index.d.ts').Site | undefined} site
 */
export function wrap(transport, engine, site) {
  return async (/** @type {any} */ input, /** @type {any} */ init = {}) => {
    const isResource =
      typeof input === 'object' && !(input instanceof URL || input instanceof Request);
    if (!isResource) return engine.fetch(input, { site, ...init }, transport);

    /** @type {unknown} what the transport resolved with last */
    let result;
    const { transfer } = await engine.beginBytes(
      input,
      { site, ...init },
      {
        // A transport's nothing may be what it has.
        noBody: true,
        // It gives the part that was asked for.
        inOne: true,
        async fetch(/** @type {unknown} */ _, /** @type {RequestInit} */ { signal }) {
          result = await transport(input, { ...init, signal });
          return asResponse(result);
        },
      },
    );
    if (typeof result === 'string') return collect(transfer);
    if (result instanceof Response) return stitch(transfer, await transfer.head);
    return chunksOf(transfer, 0);
  };
}

/** @param {any} result @returns {Response} */
function asResponse(result) {
  if (result instanceof Response) return result;
  if (typeof result === 'string') return new Response(result);
  const iterator = result[Symbol.asyncIterator]();
  return new Response(
    new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await iterator.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        async cancel(reason) {
          await iterator.return?.(reason);
        },
      },
      { highWaterMark: 0 },
    ),
  );
}

/** @param {import('./transfer.js').Transfer} transfer */
async function collect(transfer) {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of chunksOf(transfer, Infinity)) text += decoder.decode(chunk);
  return text;
}
