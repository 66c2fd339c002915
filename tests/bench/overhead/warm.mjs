// @ts-check
/** Requests of all clients in one page that has them loaded, in blocks that take turns. */
import { alternating } from '../order.mjs';
import { CLIENTS, addressOf } from './clients.mjs';
import { SIZES } from './origin.mjs';
import { loadClients, openPage, runBlock } from './page.mjs';

/**
 * @typedef {object} Block
 * @property {string} client
 * @property {number[]} times of its requests, in ms
 * @property {number} threadMs  what the main thread worked meanwhile, a request
 */

/**
 * @param {import('./chromium.mjs').Browser} browser
 * @param {string} url of the page
 * @param {object} plan
 * @param {keyof typeof SIZES} plan.path
 * @param {number} plan.blocks   of each client
 * @param {number} plan.count    requests a block
 * @param {number} plan.slowness
 * @param {() => number} random
 * @returns {Promise<Block[]>}
 */
export async function measureWarm(browser, url, { path, blocks, count, slowness }, random) {
  const opened = await openPage(browser, url, slowness);
  const names = Object.keys(CLIENTS);
  await loadClients(
    opened,
    names.map((name) => [name, addressOf(name)]),
  );
  let first = 0;
  const run = async (/** @type {string} */ client) => {
    first += count;
    // Garbage is collected when the browser wants to: to force it throws compiled code away too.
    const before = await opened.threadMs();
    const times = await runBlock(opened, { name: client, path, size: SIZES[path], count, first });
    return { client, times, threadMs: ((await opened.threadMs()) - before) / count };
  };
  // Compiled and warm, whoever comes first.
  for (const name of [...names, ...names]) await run(name);
  const measured = [];
  for (const name of alternating(names, blocks, random)) measured.push(await run(name));
  await opened.close();
  return measured;
}
