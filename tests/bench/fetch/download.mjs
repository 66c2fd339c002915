// @ts-check
/** One after another, in a page and in Node alike. */

/**
 * Gives a whole body, or rejects.
 * @typedef {(url: string, signal: AbortSignal) => Promise<ArrayBuffer>} Client
 */

/**
 * @typedef {object} Downloads
 * @property {number} seconds for all of them
 * @property {(string | null)[]} hashes SHA-256 of each; null where it has failed
 * @property {(string | null)[]} reasons why
 */

/**
 * @param {Client} client
 * @param {readonly string[]} urls
 * @param {{ segmentMs: number, runMs: number }} limits
 * @returns {Promise<Downloads>}
 */
export async function downloadAll(client, urls, { segmentMs, runMs }) {
  const started = performance.now();
  /** @type {Downloads} */
  const { hashes, reasons } = { seconds: 0, hashes: [], reasons: [] };
  for (const url of urls) {
    const left = Math.min(segmentMs, started + runMs - performance.now());
    const bytes = await within(left, (signal) => client(url, signal)).catch((error) => error);
    const isWhole = bytes instanceof ArrayBuffer;
    hashes.push(isWhole ? await hashOf(bytes) : null);
    reasons.push(isWhole ? null : String(bytes));
  }
  return { seconds: (performance.now() - started) / 1000, hashes, reasons };
}

/**
 * Some clients do not heed their signal; they are not waited for.
 *
 * @param {number} ms
 * @param {(signal: AbortSignal) => Promise<ArrayBuffer>} run
 * @returns {Promise<ArrayBuffer>}
 */
async function within(ms, run) {
  const late = new Error('it took too long');
  if (ms <= 0) throw late;
  const limit = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const end = new Promise((_, reject) => {
    timer = setTimeout(() => {
      limit.abort(late);
      reject(late);
    }, ms);
  });
  try {
    return await Promise.race([run(limit.signal), /** @type {Promise<never>} */ (end)]);
  } finally {
    clearTimeout(timer);
  }
}

/** @param {ArrayBuffer} bytes */
async function hashOf(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
