// @ts-check
/** A page of its own, slowed or not. */

/** @typedef {Awaited<ReturnType<typeof openPage>>} Opened */

/**
 * @param {import('./chromium.mjs').Browser} browser
 * @param {string} url
 * @param {number} slowness by which the processor is slowed
 */
export async function openPage(browser, url, slowness) {
  const { send, close } = await browser.newPage();
  /**
   * Calls a function in the page, which knows nothing of this file.
   *
   * @template Value, Argument
   * @param {(argument: Argument) => Value} call
   * @param {Argument} argument
   * @returns {Promise<Awaited<Value>>}
   */
  const evaluate = async (call, argument) => {
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      expression: `(${call})(${JSON.stringify(argument)})`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (!exceptionDetails) return result.value;
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  };
  await send('Page.navigate', { url });
  // What is evaluated before the page is there is told to the one before it.
  for (let isThere = false; !isThere;) {
    isThere = await evaluate(
      (url) => location.href === url && document.readyState === 'complete',
      url,
    );
  }
  await send('Performance.enable');
  await send('Emulation.setCPUThrottlingRate', { rate: slowness });
  if (!(await evaluate(() => crossOriginIsolated, null)))
    throw new Error('its clock is too coarse');
  return {
    send,
    evaluate,
    /** Processor time of the page's main thread so far, in ms. */
    async threadMs() {
      const { metrics } = await send('Performance.getMetrics');
      const thread = metrics.find((/** @type {any} */ { name }) => name === 'ThreadTime');
      if (!thread) throw new Error('the browser does not know its ThreadTime');
      return thread.value * 1000;
    },
    collectGarbage: () => send('HeapProfiler.collectGarbage'),
    close,
  };
}

/**
 * Loads the modules of these clients into the page, and waits until they have all they need.
 *
 * @param {Opened} opened
 * @param {readonly (readonly [string, string])[]} modules names and addresses
 */
export async function loadClients({ evaluate }, modules) {
  await evaluate(async (modules) => {
    /** @type {Record<string, import('./clients.mjs').Client>} */
    const clients = {};
    Object.assign(globalThis, { clients });
    for (const [name, address] of modules) {
      const { create } = await import(address);
      clients[name] = create();
      if ((await clients[name].ready) === false) throw new Error(`${name} is not ready`);
    }
  }, modules);
}

/**
 * Requests one after another, each for a URL that nobody has asked for before.
 *
 * @param {Opened} opened
 * @param {{ name: string, path: string, size: number, count: number, first: number }} what
 * @returns {Promise<number[]>} how long each took, in ms
 */
export function runBlock({ evaluate }, what) {
  return evaluate(async ({ name, path, size, count, first }) => {
    const { read } = /** @type {any} */ (globalThis).clients[name];
    const times = [];
    for (let number = first; number < first + count; number += 1) {
      const at = performance.now();
      const bytes = await read(`${path}?n=${number}`);
      times.push(performance.now() - at);
      if (bytes !== size) throw new Error(`${name} gave ${bytes} bytes of ${size}`);
    }
    return times;
  }, what);
}
