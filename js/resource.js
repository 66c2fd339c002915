// @ts-check
/** What the browser tells of what it has loaded (Resource Timing). */
import { parse } from './request.js';

/** Smaller bodies are no sample of the bandwidth anyway, in bytes. */
const SAMPLE = 16_000;

/**
 * The last entry of an address. There is none where the browser does not tell, or its list is full.
 *
 * @param {string} url
 */
export const entryOf = (url) =>
  /** @type {PerformanceResourceTiming | undefined} */ (
    performance.getEntriesByName?.(parse(url).href, 'resource').at(-1)
  );

/**
 * Whether a body that has just ended came from the browser's cache, revalidated or not. Of another
 * origin a browser tells that only with `Timing-Allow-Origin`; then nothing is known. Nor is it where
 * the browser tells it later than the body's end.
 *
 * @param {import('./transfer.js').Transfer} transfer
 * @param {number} bytes of the body
 */
export function isCached({ url, startedAt }, bytes) {
  const entry = bytes < SAMPLE ? undefined : entryOf(url);
  return entry && entry.startTime >= startedAt && entry.transferSize < entry.encodedBodySize;
}
