// @ts-check
/** Its modules name each other in Node's way, which no browser understands. */
export { default } from 'rx-player';
