// @ts-check
import { readAll } from './read-all.js';

export const create = () => ({
  read: async (/** @type {string} */ url) => readAll(await fetch(url)),
});
