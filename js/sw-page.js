// @ts-check
/** For pages: the worker's registration, and what it can be told. */

/**
 * How long a page waits for a worker, in milliseconds: to be taken over, which one that was reloaded by
 * force never is, and to be told of its state, of which a worker of somebody else's says nothing.
 */
const PATIENCE = 5000;

const container = () => globalThis.navigator?.serviceWorker;

/**
 * @param {string | URL} url
 * @param {RegistrationOptions} [options]
 */
export async function register(url, options) {
  const workers = container();
  if (!workers) return undefined;
  const registration = await workers.register(url, options);
  if (!workers.controller) {
    await new Promise((resolve) => {
      workers.addEventListener('controllerchange', resolve, { once: true });
      setTimeout(resolve, PATIENCE);
    });
  }
  return registration;
}

/** @param {string | URL} [url] */
export async function unregister(url) {
  const registration = await container()?.getRegistration(url);
  registration?.active?.postMessage({ holdfast: 'unregister' });
  return (await registration?.unregister()) ?? false;
}

/** @param {import('./index.d.ts').PlaybackReport} report */
export function reportPlayback(report) {
  container()?.controller?.postMessage({ ...report, holdfast: 'playback' });
}

/** @returns {Promise<import('./service-worker.d.ts').WorkerState | undefined>} */
export async function workerState() {
  const controller = container()?.controller;
  if (!controller) return undefined;
  const { port1, port2 } = new MessageChannel();
  controller.postMessage({ holdfast: 'state' }, [port2]);
  const told = new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
    setTimeout(resolve, PATIENCE);
  });
  return told.finally(() => port1.close());
}
