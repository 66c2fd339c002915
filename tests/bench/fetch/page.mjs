// @ts-check
/** What the page runs. */
import { clients } from './clients.mjs';
import { downloadAll } from './download.mjs';

Object.assign(globalThis, {
  /** @param {string} name @param {string[]} urls @param {Parameters<typeof downloadAll>[2]} limits */
  async download(name, urls, limits) {
    return downloadAll(await clients[name](), urls, limits);
  },
});
