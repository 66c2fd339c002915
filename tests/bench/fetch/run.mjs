// @ts-check
/** One run: a client, a fault, thirty segments. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { launchChromium, servePage } from '../../browser/fixture.mjs';
import { account } from '../../lab/accounting.mjs';
import { ensureMedia } from '../../lab/media.mjs';
import { startLab } from '../../lab/server.mjs';
import { downloadAll } from './download.mjs';
import { FAULTS, LIMITS, LINK, SEGMENTS } from './faults.mjs';
import { nodeClients } from './node-clients.mjs';
import { tooEarly } from './retry-after.mjs';

/** @typedef {'browser' | 'node'} Runner */

/**
 * @typedef {object} Run
 * @property {number} ok segments whose bytes are those of the file
 * @property {number} failed
 * @property {number} seconds
 * @property {number} requests that the server saw
 * @property {number} wastedKB
 * @property {number} retryAfterViolations
 */

const SCRIPT = '/clients.js';

/** Browser, servers and media, until `close`. */
export async function openRuns() {
  const { dir } = await ensureMedia({ log: console.error });
  const lab = await startLab({ mediaDir: dir });
  const page = await servePage({
    answers: { [SCRIPT]: await bundled() },
    imports: { holdfast: '/js/index.js' },
    script: SCRIPT,
  });
  const browser = await launchChromium();
  const hashes = await Promise.all(
    SEGMENTS.map(async (file) => {
      const bytes = await readFile(join(dir, file));
      return createHash('sha256').update(bytes).digest('hex');
    }),
  );

  /** @param {string} client @param {string[]} urls */
  async function inPage(client, urls) {
    // A context of its own: no cache and no connection is shared with another run.
    const context = await browser.newContext();
    try {
      const tab = await context.newPage();
      await tab.goto(page.origin);
      await tab.waitForFunction('globalThis.download');
      /** @type {import('./download.mjs').Downloads} */
      const downloads = await tab.evaluate(
        ([client, urls, limits]) => /** @type {any} */ (globalThis).download(client, urls, limits),
        /** @type {const} */ ([client, urls, LIMITS]),
      );
      return downloads;
    } finally {
      await context.close();
    }
  }

  /** @param {string} name @param {string[]} urls */
  async function inNode(name, urls) {
    const client = await nodeClients[name]();
    try {
      return await downloadAll(client.get, urls, LIMITS);
    } finally {
      client.close();
    }
  }

  return {
    /**
     * @param {string} fault
     * @param {string} client
     * @param {Runner} runner
     * @returns {Promise<Run & { reasons: (string | null)[] }>}
     */
    async run(fault, client, runner) {
      const { rules } = FAULTS[fault];
      const session = lab.createSession({ link: LINK, rules, expose: ['*'] });
      const urls = SEGMENTS.map((file) => session.url(file));
      const downloads = await (runner === 'node' ? inNode : inPage)(client, urls);
      session.close();
      const ok = downloads.hashes.filter((hash, index) => hash === hashes[index]).length;
      const { requests, wastedBytes } = account(session.log);
      return {
        ok,
        failed: SEGMENTS.length - ok,
        seconds: downloads.seconds,
        requests,
        wastedKB: wastedBytes / 1000,
        retryAfterViolations: tooEarly(session.log, rules),
        reasons: downloads.reasons,
      };
    },
    async close() {
      await browser.close();
      await page.close();
      await lab.close();
    },
  };
}

/** The clients in one file. @returns {Promise<import('../../node/server.mjs').Answer>} */
async function bundled() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.mjs', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    external: ['holdfast'],
  });
  const [{ contents }] = outputFiles;
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(contents);
  };
}
