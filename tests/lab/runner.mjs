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
import { account } from './accounting.mjs';
import { PINNED, ensureMedia } from './media.mjs';
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
];

/**
 * @typedef {object} Row
 * @property {string} scenario
 * @property {string} player
 * @property {'plain' | 'holdfast'} variant
 * @property {number | null} startS null when playback never began
 * @property {number} stallS   a lower bound unless the outcome is `ended`
 * @property {number} oracleStallS
 * @property {'ended' | 'dead' | 'hung'} outcome
 * @property {number} requests
 * @property {number} wastedKB
 *
 * @typedef {object} Live  what is known while a run goes on
 * @property {string} phase
 * @property {number} elapsedS
 * @property {number} position
 * @property {number} ahead
 * @property {number} stallS
 *
 * @typedef {object} Run
 * @property {Row} row
 * @property {string[]} playerErrors
 * @property {import('./session.mjs').LogEntry[]} requests
 * @property {any[] | null} decisions the engine's log; null without an engine
 */

/** @param {number} value @param {number} [digits] */
function rounded(value, digits = 1) {
  return Number(value.toFixed(digits));
}

/** @param {string} name */
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
  return `${name}@${version}`;
}

/**
 * Starts the lab and one browser for any number of runs.
 * @param {{ log?: (line: string) => void }} [options]
 */
export async function createRunner({ log = () => {} } = {}) {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('no Chromium found; the variable CHROMIUM may name one');
  const { dir } = await ensureMedia({ log });
  const stream = await readStream(dir);
  const lab = await startLab({ mediaDir: dir });
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
   * @param {{ player?: string, scenario: string, variant: 'plain' | 'holdfast', onLive?: (live: Live) => void,
   *   screenshot?: string, capS?: number }} options
   * @returns {Promise<Run>} rejects when the run could not be measured
   */
  async function run(options) {
    const { player = 'hls', scenario: name, variant } = options;
    const { onLive = () => {}, screenshot, capS = CAP_S } = options;
    const { rules, link } = scenario(name);
    const session = lab.createSession({ rules, link, scenario: name });
    const context = await browser.newContext({ viewport: { width: 900, height: 1000 } });
    try {
      const page = await context.newPage();
      /** @type {string[]} */
      const pageErrors = [];
      page.on('pageerror', (error) => pageErrors.push(String(error)));
      page.on('crash', () => pageErrors.push('the page crashed'));
      const query = new URLSearchParams({
        player,
        variant,
        scenario: name,
        session: session.id,
        cap: String(capS),
      });
      await page.goto(`${lab.pageOrigin}/?${query}`);
      const result = await watch(page, pageErrors, onLive, capS);
      if (screenshot) {
        await page.waitForTimeout(700);
        await page.screenshot({ path: screenshot, fullPage: true });
      }
      const engine = await page.evaluate('lab.engine()');
      const requests = session.log.map((entry) => ({ ...entry }));
      checkMeasured(variant, result, requests, engine);
      const { requests: count, wastedBytes } = account(requests);
      const oracle = simulateOracle({ stream, link, rules });
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
        },
        playerErrors: result.errors,
        requests,
        decisions: engine?.log ?? null,
      };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${name}, ${player} ${variant}: not measured: ${reason}`, { cause: error });
    } finally {
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
 */
function checkMeasured(variant, result, requests, engine) {
  // An engine that failed open lets the browser load: that would measure something else.
  if (variant === 'holdfast' && engine?.mode !== 'engine') {
    throw new Error(`the engine is not in charge (mode ${engine?.mode ?? 'none'})`);
  }
  const others = requests.filter(
    ({ file }) => /^(low|mid|high)-/.test(file) && !file.startsWith(`${PINNED}-`),
  );
  if (others.length > 0)
    throw new Error(`the player left the pinned rendition (${others[0].file})`);
  if (result.outcome === 'ended' && result.skippedS > MAX_SKIPPED_S) {
    throw new Error(`the player skipped ${result.skippedS.toFixed(1)} s of media`);
  }
}
