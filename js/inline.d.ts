/** The entry that carries the module within. */
export * from './index.js';
