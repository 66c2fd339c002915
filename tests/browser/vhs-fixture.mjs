// @ts-check
/** What the tests of the VHS adapter share: pages with video.js, and media from a server that fails. */
import { PAGES, eventually, startBrowser } from './fixture.mjs';

/** @typedef {import('./pages/vhs-player.js').Page} Kit */
/** @typedef {import('holdfast').EngineOptions} EngineOptions */
/** @typedef {import('playwright-core').JSHandle} JSHandle */
/** @typedef {Awaited<ReturnType<typeof startVhs>>} Vhs */

/** Short bounds, and steps of 100 ms: a test is over soon. */
const steps = { backoff: { base: 100, factor: 1, cap: 100 }, headersTimeout: 2500 };

export const SHORT = {
  sites: {
    manifest: { ...steps, firstHeadersTimeout: 1000 },
    playlist: steps,
    'playlist-reload': steps,
    init: steps,
    segment: { ...steps, stallTimeout: 600 },
    key: steps,
  },
};

/** Bodies can be fetched on, by the engine alone: Chrome's cache would do so by itself. */
export const RESUMABLE = { cache: /** @type {const} */ ('no-store'), expose: ['*'] };

export async function startVhs() {
  const browser = await startBrowser();
  const lab = await browser.startLab();

  /** A page with video.js. @param {import('./fixture.mjs').PageOptions} [options] */
  async function open(options) {
    const opened = await browser.open({ script: `${PAGES}vhs-player.js`, ...options });
    await opened.page.addScriptTag({ url: '/node_modules/video.js/dist/video.min.js' });
    await opened.page.waitForFunction('globalThis.page && globalThis.videojs');
    const kit = /** @type {import('playwright-core').JSHandle<Kit>} */ (
      await opened.page.evaluateHandle('page')
    );
    return { ...opened, kit };
  }

  /**
   * One player on a page of its own.
   *
   * @param {object} options
   * @param {string} options.src
   * @param {EngineOptions} [options.engine]
   * @param {'all' | 'player' | 'none'} [options.install] for whom
   * @param {object} [options.player] its options
   * @param {number} [options.rate] of playback
   */
  async function play({ src, engine = SHORT, install = 'player', player: given = {}, rate = 1 }) {
    const opened = await open();
    const { kit } = opened;
    const made = await kit.evaluateHandle(
      async (kit, { engine: options, install, given }) => {
        const engine = await kit.engineOf(/** @type {EngineOptions} */ (options));
        const videojs = kit.library();
        if (install === 'all') kit.installVhs(engine, videojs);
        const player = kit.createPlayer(given);
        if (install === 'player') kit.installVhs(engine, videojs, player);
        return { engine, player, told: kit.listen(player) };
      },
      { engine, install, given },
    );
    await made.evaluate(
      ({ player }, { kit, src, rate }) => {
        player.defaultPlaybackRate(rate);
        kit.play(player, src);
      },
      { kit, src, rate },
    );
    const look = () => made.evaluate(({ player }, kit) => kit.look(player), kit);
    return {
      ...opened,
      made,
      look,
      /** What it told of one matter. @param {string} type */
      told: (type) => made.evaluate(({ told }, type) => told.filter((t) => t.type === type), type),
      /** @param {number} position in seconds */
      reaches: (position) =>
        eventually(
          async () => (await look()).position > position,
          `the player gets to ${position} s`,
          30_000,
        ),
    };
  }

  return {
    browser,
    dir: lab.mediaDir,
    open,
    play,
    createSession: lab.createSession,
    close: browser.close,
  };
}

/**
 * What a player asked for, without the questions of the browser before a resume.
 *
 * @param {import('../lab/session.mjs').Session} session
 * @param {RegExp} [pattern]
 */
export const requested = ({ log }, pattern = /./) =>
  log.filter(({ file, act }) => act !== 'preflight' && pattern.test(file));
