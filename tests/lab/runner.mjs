// @ts-check
/**
 * Runs one scenario with one variant in a headless Chromium and measures it.
 *
 * Needs node_modules, Chromium and, for the `holdfast` variant, the built
 * package: call `ensureReady` of ../tools/setup.mjs before importing this.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { findChromium } from '../tools/setup.mjs';
import { account, truthKbps } from './accounting.mjs';
import { FRAMES_PER_SECOND, PINNED, ensureMedia } from './media.mjs';
import { simulateOracle } from './oracle.mjs';
import { readStream } from './playlist.mjs';
import { scenarios } from './scenarios.mjs';
import { startLab } from './server.mjs';

/** A run not over by then is `hung`. hls.js alone needs about 160 s for the slowest scenario. */
const CAP_S = 180;

/** How much longer than its own cap the page may take before the run counts as broken. */
const GRACE_S = 20;

/** Media a player may jump over at the seams of segments; more is not playing to the end. */
const MAX_SKIPPED_S = 0.5;

const browserArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--autoplay-policy=no-user-gesture-required',
  // The certificate of the lab's HTTP/2 server is its own.
  '--ignore-certificate-errors',
  // Names of the media origin, and one of nothing.
  '--host-resolver-rules=MAP a.test 127.0.0.1, MAP b.test 127.0.0.1, MAP gone.test ~NOTFOUND',
];

/**
 * @typedef {import('../../www/players/index.js').Variant} Variant
 *
 * @typedef {object} Row
 * @property {string} scenario
 * @property {string} player
 * @property {Variant} variant
 * @property {number | null} startS null when playback never began
 * @property {number} stallS   a lower bound unless the outcome is `ended`
 * @property {number} oracleStallS
 * @property {'ended' | 'dead' | 'hung'} outcome
 * @property {number} requests
 * @property {number} wastedKB
 *
 * @typedef {object} Extra     what else is known of a run
 * @property {number} longestStallS
 * @property {number} skippedS media jumped over
 * @property {number} unseenS  media that was passed without a picture, or so much that was not decoded
 * @property {number} playedS  the position at the end
 * @property {number | null} fatalS when the player gave up, from load
 * @property {number | null} estimateKbps what the player takes the link for, in the end
 * @property {number | null} truthKbps what it really let through while something was sent
 * @property {number} bytes    sent by the server
 * @property {number} amplification requests for each file that was asked for
 *
 * @typedef {object} PageAction something that happens to the page, on the session's clock
 * @property {number} at ms
 * @property {boolean} [offline] whether there is no network from then on
 * @property {number} [seek] to which position, seconds
 *
 * @typedef {object} Play what is played: a scenario of the lab, or one of somebody's own
 * @property {string} name
 * @property {import('./rules.mjs').Rule[]} rules
 * @property {import('./session.mjs').LinkOptions} link
 * @property {'default' | 'no-store'} [cache]
 * @property {string[]} [expose]
 * @property {'h1' | 'h2'} [protocol]
 * @property {import('./session.mjs').Rewrite} [rewrite]
 * @property {string} [media] where the stream is; the lab's own when absent
 * @property {(stream: import('./playlist.mjs').Stream) => import('./playlist.mjs').Stream} [publish]
 *   what the oracle can have of it, and when
 * @property {PageAction[]} [page]
 * @property {boolean} [alternatives] whether the stream is at several hosts
 * @property {boolean} [token] whether URLs carry a credential, and `token` answers with a fresh one
 *
 * @typedef {object} Live  what is known while a run goes on
 * @property {string} phase
 * @property {number} elapsedS
 * @property {number} position
 * @property {number} ahead
 * @property {number} stallS
 *
 * @typedef {object} Run
 * @property {Row & Extra} row
 * @property {import('./oracle.mjs').OracleResult} oracle
 * @property {import('../../www/player.js').Result} result
 * @property {import('../../www/meter.js').Sample[]} samples
 * @property {string[]} playerErrors
 * @property {import('./session.mjs').LogEntry[]} requests
 * @property {any[] | null} decisions the engine's log; null without an engine
 */

/** @param {number} value @param {number} [digits] */
function rounded(value, digits = 1) {
  return Number(value.toFixed(digits));
}

/** @param {string} name @returns {Play} */
function scenario(name) {
  const found = scenarios.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no scenario ${name}`);
  return found;
}

/** The npm package of each player of the lab. @type {Record<string, string>} */
const PACKAGES = {
  hls: 'hls.js',
  'hls-1.5': 'hls.js-1.5',
  shaka: 'shaka-player',
  'shaka-4': 'shaka-player-4',
  dash: 'dashjs',
  vhs: '@videojs/http-streaming',
  'rx-player': 'rx-player',
  spf: '@videojs/spf',
  'service-worker': 'hls.js',
};

/** Its real name and version. @param {string} player @returns {Promise<string>} */
async function playerName(player) {
  const url = new URL(`../../node_modules/${PACKAGES[player]}/package.json`, import.meta.url);
  const { name, version } = JSON.parse(await readFile(url, 'utf8'));
  const means = player === 'service-worker' ? ' (service worker)' : '';
  return `${name}@${version}${means}`;
}

/**
 * Starts the lab and one browser for any number of runs.
 * @param {{ log?: (line: string) => void, h2?: boolean }} [options] h2: for plays over HTTP/2
 */
export async function createRunner({ log = () => {}, h2 = false } = {}) {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('no Chromium found; the variable CHROMIUM may name one');
  const { dir } = await ensureMedia({ log });
  const lab = await startLab({ mediaDir: dir, h2 });
  const browser = await chromium
    .launch({ executablePath, args: browserArguments })
    .catch(async (error) => {
      await lab.close();
      throw error;
    });
  const close = async () => {
    await browser.close();
    await lab.close();
  };

  // The first page of a browser pays for what no later page pays for, such as starting
  // the media decoders; no measurement should.
  async function warmUp() {
    const { link } = scenario('clean');
    const session = lab.createSession({ link });
    const context = await browser.newContext();
    const page = await context.newPage();
    const query = new URLSearchParams({ variant: 'plain', scenario: 'clean', session: session.id });
    await page.goto(`${lab.pageOrigin}/?${query}`);
    await page.waitForFunction("lab.snapshot().phase === 'playing'", null, { timeout: 20_000 });
    await context.close();
    session.close();
  }

  /**
   * @param {object} options
   * @param {string} [options.player]
   * @param {string | Play} options.scenario
   * @param {Variant} options.variant
   * @param {string} [options.manifest] the player's own when absent
   * @param {boolean} [options.pinned] whether the player is kept to one rendition, as is the oracle
   * @param {(live: Live) => void} [options.onLive]
   * @param {string} [options.screenshot]
   * @param {number} [options.capS]
   * @param {number} [options.untilS] a run that has played so far is over, and counts as ended
   * @param {number} [options.goalS] the buffer goal of the perfect client
   * @returns {Promise<Run>} rejects when the run could not be measured
   */
  async function run(options) {
    const { player = 'hls', variant, manifest, pinned = true, goalS, untilS } = options;
    const { onLive = () => {}, screenshot, capS = CAP_S } = options;
    const own = typeof options.scenario !== 'string';
    const play =
      typeof options.scenario === 'string' ? scenario(options.scenario) : options.scenario;
    const { name, rules, link, page: actions = [] } = play;
    const session = lab.createSession({ ...play, scenario: name, mediaDir: play.media });
    const context = await browser.newContext({ viewport: { width: 900, height: 1000 } });
    const over = new AbortController();
    try {
      const page = await context.newPage();
      /** @type {string[]} */
      const pageErrors = [];
      /** @type {string[]} */
      const strayErrors = [];
      // What a player alone leaves uncaught, such as a rejected play(), is its own way of dying.
      const uncaught = variant === 'holdfast' ? pageErrors : strayErrors;
      page.on('pageerror', (error) => uncaught.push(String(error)));
      page.on('crash', () => pageErrors.push('the page crashed'));
      const query = new URLSearchParams({
        player,
        variant,
        scenario: name,
        session: session.id,
        cap: String(capS),
        ...(manifest !== undefined && { manifest }),
        ...(untilS !== undefined && { until: String(untilS) }),
        ...(play.token && { token: 'token' }),
        ...(play.alternatives && { alternatives: '1' }),
        ...(!pinned && { pinned: '0' }),
      });
      await page.goto(`${lab.pageOrigin}/?${query}`);
      const acting = act(actions, { session, context, page, signal: over.signal });
      const result = await Promise.race([
        watch(page, pageErrors, onLive, capS),
        acting.then(() => new Promise(() => {})),
      ]);
      if (screenshot) {
        await page.waitForTimeout(700);
        await page.screenshot({ path: screenshot, fullPage: true });
      }
      const engine = await page.evaluate('lab.engine()');
      const requests = session.log.map((entry) => ({ ...entry }));
      checkMeasured(variant, result, requests, engine, { maySkip: own, pinned });
      const { requests: count, files, bytes, wastedBytes } = account(requests);
      const outages = outagesOf(actions);
      const stored = await readStream(play.media ?? dir);
      const stream = play.publish?.(stored) ?? stored;
      const oracle = simulateOracle({ stream, link, rules, outages, goalS, untilS });
      const { estimateKbps } = result;
      const truth = truthKbps(session.link, requests);
      return {
        row: {
          scenario: name,
          player: await playerName(player),
          variant,
          startS: result.startS === null ? null : rounded(result.startS),
          stallS: rounded(result.stallS),
          oracleStallS: rounded(oracle.stallS),
          outcome: result.outcome,
          requests: count,
          wastedKB: rounded(wastedBytes / 1000),
          longestStallS: rounded(result.longestStallS),
          skippedS: rounded(result.skippedS),
          unseenS: rounded(unseen(result)),
          playedS: rounded(result.playedS),
          fatalS: result.fatalS === null ? null : rounded(result.fatalS),
          estimateKbps: estimateKbps === null ? null : Math.round(estimateKbps),
          truthKbps: truth === null ? null : Math.round(truth),
          bytes,
          amplification: rounded(count / Math.max(1, files), 2),
        },
        oracle,
        result,
        samples: await page.evaluate('lab.players[0].meter.samples'),
        playerErrors: [...result.errors, ...strayErrors],
        requests,
        decisions: engine?.log ?? null,
      };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${name}, ${player} ${variant}: not measured: ${reason}`, { cause: error });
    } finally {
      over.abort();
      await context.close();
      session.close();
    }
  }

  await warmUp().catch(async (error) => {
    await close();
    throw error;
  });
  return { run, close };
}

/**
 * Lets happen to the page what is to happen, each at its time.
 * @param {readonly PageAction[]} actions in order
 * @param {{ session: import('./session.mjs').Session, signal: AbortSignal,
 *   context: import('playwright-core').BrowserContext, page: import('playwright-core').Page }} where
 */
async function act(actions, { session, context, page, signal }) {
  for (const { at, offline, seek } of actions) {
    while (session.clock() < at && !signal.aborted) await sleep(10);
    if (signal.aborted) return;
    if (offline !== undefined) await context.setOffline(offline);
    if (seek !== undefined) await page.evaluate(`lab.seek(${seek})`);
  }
}

/** @param {import('../../www/player.js').Result} result @returns {number} seconds without a picture */
function unseen({ passedS, pictures }) {
  return Math.max(0, passedS - pictures / FRAMES_PER_SECOND);
}

/** @param {readonly PageAction[]} actions @returns {[number, number][]} windows without a network */
function outagesOf(actions) {
  const changes = actions.filter(({ offline }) => offline !== undefined);
  return changes.flatMap(({ at, offline }, i) =>
    offline ? [/** @type {[number, number]} */ ([at, changes[i + 1]?.at ?? Infinity])] : [],
  );
}

/**
 * Follows the page until its run is over.
 * @param {import('playwright-core').Page} page
 * @param {string[]} pageErrors
 * @param {(live: Live) => void} onLive
 * @param {number} capS
 * @returns {Promise<import('../../www/player.js').Result>}
 */
async function watch(page, pageErrors, onLive, capS) {
  const started = performance.now();
  for (;;) {
    const elapsedS = (performance.now() - started) / 1000;
    const state = await page.evaluate('globalThis.lab?.snapshot() ?? {}');
    const error = state.error ?? pageErrors[0];
    if (error) throw new Error(error);
    if (state.result) return state.result;
    if (elapsedS > capS + GRACE_S)
      throw new Error(`the page did not finish within ${capS + GRACE_S} s`);
    const { phase = 'loading', position = 0, ahead = 0, stallS = 0 } = state;
    onLive({ phase, elapsedS, position, ahead, stallS });
    await sleep(500);
  }
}

/**
 * A run that did not measure what it says is an error, not a row.
 * @param {string} variant
 * @param {import('../../www/player.js').Result} result
 * @param {import('./session.mjs').LogEntry[]} requests
 * @param {{ mode: string } | null} engine
 * @param {{ maySkip: boolean, pinned: boolean }} allowed media that is jumped over, which is in the
 *   row; other renditions
 */
function checkMeasured(variant, result, requests, engine, { maySkip, pinned }) {
  // An engine that failed open lets the browser load: that would measure something else.
  if (variant === 'holdfast' && engine?.mode !== 'engine') {
    throw new Error(`the engine is not in charge (mode ${engine?.mode ?? 'none'})`);
  }
  const others = requests.filter(
    ({ file }) => /^(low|mid|high)-/.test(file) && !file.startsWith(`${PINNED}-`),
  );
  if (pinned && others.length > 0)
    throw new Error(`the player left the pinned rendition (${others[0].file})`);
  if (!maySkip && result.outcome === 'ended' && result.skippedS > MAX_SKIPPED_S) {
    throw new Error(`the player skipped ${result.skippedS.toFixed(1)} s of media`);
  }
}
