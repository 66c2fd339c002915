// @ts-check
/** One page with both versions of Shaka Player, and functions that run in it. */
import { PAGES } from './fixture.mjs';

/** @typedef {import('./pages/shaka-page.js').ShakaPage} ShakaPage */

/**
 * @param {import('./fixture.mjs').Browser} browser
 * @param {import('./fixture.mjs').PageOptions} [options]
 */
export async function openShaka(browser, options) {
  const opened = await browser.open({ ...options, script: `${PAGES}shaka-page.js` });
  await opened.page.waitForFunction('globalThis.shakaPage');
  const shakaPage = await opened.page.evaluateHandle('globalThis.shakaPage');
  return {
    ...opened,
    /**
     * Runs a function in the page, which is given what `pages/shaka-page.js` has put there.
     *
     * @template Facts, Result
     * @param {(facts: Facts & { shakaPage: ShakaPage }) => Promise<Result>} run
     * @param {Facts} facts
     * @returns {Promise<Result>}
     */
    run: (run, facts) => opened.page.evaluate(/** @type {any} */ (run), { ...facts, shakaPage }),
  };
}
