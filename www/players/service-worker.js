// @ts-check
/** hls.js as it is, and the worker between it and the network: nothing but a registration. */
import { register, workerState } from 'holdfast/service-worker';
import { prepare as prepareHls } from './hls.js';

/** @type {import('./index.js').Driver['prepare']} */
export async function prepare(variant, setup) {
  const begin = await prepareHls('plain', setup);
  if (variant === 'plain') return begin;
  await register('/holdfast-sw.js');
  return async (...args) => {
    const running = await begin(...args);
    const tell = async () => {
      const { state, log } = (await workerState()) ?? {};
      return { mode: state?.mode ?? 'none', log: log ?? [] };
    };
    return { ...running, tell };
  };
}
