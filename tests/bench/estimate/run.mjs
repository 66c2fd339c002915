// @ts-check
/** One run: an estimator through one case, and the truth beside it. */
import { readFile } from 'node:fs/promises';
import { launchChromium, servePage } from '../../browser/fixture.mjs';
import { ensureMedia } from '../../lab/media.mjs';
import { CASES, FILES, linkOf, truths } from './cases.mjs';
import { openOrigin } from './origin.mjs';

const SCRIPT = '/estimate.js';
/** A run whose player has given up, ms. */
const PATIENCE = 60_000;

/** What gives an estimate, and whether it has Holdfast underneath. @type {Record<string, [string, boolean]>} */
export const ESTIMATORS = {
  Holdfast: ['engine', true],
  'hls.js': ['hls', false],
  'hls.js on Holdfast': ['hls', true],
  Shaka: ['shaka', false],
  'Shaka on Holdfast': ['shaka', true],
  'dash.js': ['dash', false],
  'dash.js on Holdfast': ['dash', true],
};

/**
 * @typedef {object} Sample
 * @property {string} file
 * @property {number | null} kbps  null where nothing was measured yet
 * @property {number | null} truth null where the link was just changing
 */

/** Browser, servers and media, until `close`. */
export async function openRuns() {
  const { dir } = await ensureMedia({ log: console.error });
  const origin = await openOrigin(dir);
  const script = await readFile(new URL('page.mjs', import.meta.url));
  const page = await servePage({
    answers: {
      [SCRIPT]: (_, response) => {
        response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
      },
    },
    script: SCRIPT,
  });
  const browser = await launchChromium();

  /** @param {string} player @param {object} setup */
  async function measure(player, setup) {
    const context = await browser.newContext();
    try {
      const tab = await context.newPage();
      await tab.goto(page.origin);
      await tab.waitForFunction('globalThis.measure');
      /** @type {Omit<Sample, 'truth'>[]} */
      const estimates = await tab.evaluate(
        ([player, setup]) => /** @type {any} */ (globalThis).measure(player, setup),
        /** @type {const} */ ([player, setup]),
      );
      return estimates;
    } finally {
      await context.close();
    }
  }

  return {
    /**
     * @param {string} name of the case
     * @param {string} estimator
     * @returns {Promise<Sample[]>}
     */
    async run(name, estimator) {
      const { rules, warm = 0, hedges = false } = CASES[name];
      const link = linkOf(name);
      const session = origin.createSession({ link, rules, expose: ['*'] });
      const [player, hasHoldfast] = ESTIMATORS[estimator];
      const setup = {
        base: session.baseUrl,
        files: FILES,
        ...{ hasHoldfast, hedges, warm, patience: PATIENCE },
      };
      const estimates = await measure(player, setup);
      session.close();
      const sent = session.log.filter(({ how, bytes }) => how === 'sent' && bytes > 1);
      const again = FILES.slice(0, warm).filter(
        (file) => sent.filter((entry) => entry.file === file).length > 1,
      );
      if (again.length > 0) throw new Error(`${estimator} did not take ${again} from the cache`);
      const endOf = (/** @type {string} */ file) =>
        sent.findLast((entry) => entry.file === file)?.end ?? session.clock();
      const truth = truths(
        link,
        estimates.map(({ file }) => endOf(file)),
      );
      return estimates.map((estimate, index) => ({ ...estimate, truth: truth[index] }));
    },
    async close() {
      await browser.close();
      await page.close();
      await origin.close();
    },
  };
}
