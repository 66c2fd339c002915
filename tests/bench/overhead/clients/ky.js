// @ts-check
import ky from 'ky';
import { readAll } from './read-all.js';

export const create = () => ({
  read: async (/** @type {string} */ url) => readAll(await ky.get(url)),
});
