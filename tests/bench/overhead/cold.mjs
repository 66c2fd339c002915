// @ts-check
/**
 * How long it takes from nothing to the first request: in each page, of a context of its own, one
 * module is imported, which at once asks for one body.
 *
 * It is taken at the server, by its one clock: from the request for the module, which is what
 * `import()` does first, to the request for the body. The time in which a page's own modules are fetched,
 * parsed and run is within; starting a page and opening its first connection is not.
 */
import { alternating } from '../order.mjs';
import { MODULES, addressOf } from './clients.mjs';
import { openPage } from './page.mjs';

/** @typedef {{ client: string, firstMs: number, readyMs: number | null }} Start */

const PATH = '/small.m4s';

/**
 * @param {import('./chromium.mjs').Browser} browser
 * @param {Awaited<ReturnType<typeof import('./origin.mjs').serveOrigin>>} origin
 * @param {{ rounds: number, slowness: number }} plan
 * @param {() => number} random
 * @returns {Promise<Start[]>}
 */
export async function measureCold(browser, origin, { rounds, slowness }, random) {
  const starts = [];
  for (const client of alternating(MODULES, rounds, random)) {
    const { evaluate, close } = await openPage(browser, origin.url, slowness);
    const address = addressOf(client);
    const readyMs = await evaluate(
      async ([address, path]) => {
        const begun = performance.now();
        const { create } = await import(address);
        /** @type {import('./clients.mjs').Client} */
        const { read, ready } = create();
        const reading = read(path);
        const ended = ready?.then(() => performance.now() - begun);
        await reading;
        return (await ended) ?? null;
      },
      [address, PATH],
    );
    starts.push({ client, firstMs: origin.arrivedAt(PATH) - origin.arrivedAt(address), readyMs });
    await close();
  }
  return starts;
}
