// @ts-check
/**
 * Three browsers behind one small interface: Chromium by Playwright, Firefox by WebDriver BiDi,
 * WebKitGTK's MiniBrowser by WebDriver. Playwright drives builds of its own of the last two.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureReady } from '../tools/setup.mjs';
import { findOnPath } from '../tools/find.mjs';
import { eventually, launchChromium } from './fixture.mjs';

/**
 * @typedef {object} Page
 * @property {<Given extends unknown[], Result>(
 *   run: (...given: Given) => Result, ...given: Given
 * ) => Promise<Awaited<Result>>} evaluate runs a function in the page, which sees nothing from
 *   outside but what it is given; this and the result travel as JSON
 * @property {() => Promise<void>} close
 */
/** @typedef {{ open(url: string): Promise<Page>, close(): Promise<void> }} Driver */

// Programs that were started end with this process, also where it is ended.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

/** Starts each of the browsers, by name. @type {Record<string, () => Promise<Driver>>} */
export const BROWSERS = {
  Chromium: () => started(startChromium),
  Firefox: () => started(startFirefox),
  WebKit: () => started(startWebKit),
};

/** @param {() => Promise<Driver>} start */
async function started(start) {
  await ensureReady(['npm', 'browsers', 'build']);
  return start();
}

/** @returns {Promise<Driver>} */
async function startChromium() {
  const browser = await launchChromium();
  return {
    async open(url) {
      const page = await browser.newPage();
      await page.goto(url);
      return pageOf(
        (expression) => page.evaluate(expression),
        () => page.close(),
      );
    },
    close: () => browser.close(),
  };
}

/** https://www.w3.org/TR/webdriver-bidi/ @returns {Promise<Driver>} */
async function startFirefox() {
  const { WebSocket } = await import('ws');
  const profile = await mkdtemp(join(tmpdir(), 'holdfast-firefox-'));
  const program = findOnPath(['firefox-esr', 'firefox']) ?? '';
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const firefox = start(program, args);
  const address = await firefox.says(2, /WebDriver BiDi listening on (ws:\S+)/);
  const socket = new WebSocket(`${address}/session`);
  await once(socket, 'open');

  /** @type {Map<number, (answer: any) => void>} */
  const asked = new Map();
  socket.on('message', (data) => {
    const answer = JSON.parse(String(data));
    asked.get(answer.id)?.(answer);
    asked.delete(answer.id);
  });
  let id = 0;
  /** @param {string} method @param {object} params @returns {Promise<any>} */
  const command = async (method, params) => {
    socket.send(JSON.stringify({ id: (id += 1), method, params }));
    const answer = await new Promise((resolve) => asked.set(id, resolve));
    if (answer.type === 'error') throw new Error(`${method}: ${answer.message}`);
    return answer.result;
  };

  await command('session.new', { capabilities: {} });
  return {
    async open(url) {
      const { context } = await command('browsingContext.create', { type: 'tab' });
      await command('browsingContext.navigate', { context, url, wait: 'complete' });
      const target = { context };
      return pageOf(
        async (expression) => {
          const params = { expression, target, awaitPromise: true };
          const { result, exceptionDetails } = await command('script.evaluate', params);
          if (exceptionDetails) throw new Error(exceptionDetails.text);
          return result.value;
        },
        () => command('browsingContext.close', { context }),
      );
    },
    async close() {
      socket.close();
      await firefox.end();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** https://www.w3.org/TR/webdriver2/ @returns {Promise<Driver>} */
async function startWebKit() {
  const screen = start('Xvfb', ['-displayfd', '3', '-screen', '0', '800x600x24']);
  const display = await screen.says(3, /^(\d+)$/);
  const port = await freePort();
  const driver = start('WebKitWebDriver', [`--port=${port}`, '--host=127.0.0.1'], {
    DISPLAY: `:${display}`,
    // A container has no namespaces for it, and all that is shown is our own.
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
  });
  /** @param {string} method @param {string} path @param {object} [params] @returns {Promise<any>} */
  const command = async (method, path, params) => {
    const body = params && JSON.stringify(params);
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, body });
    const { value } = /** @type {any} */ (await response.json());
    if (!response.ok) throw new Error(`${method} ${path}: ${value.message}`);
    return value;
  };
  await eventually(() => command('GET', '/status').catch(() => false), 'WebKitWebDriver answers');
  return {
    async open(url) {
      const capabilities = { alwaysMatch: { timeouts: { script: 300_000 } } };
      const { sessionId } = await command('POST', '/session', { capabilities });
      const session = `/session/${sessionId}`;
      await command('POST', `${session}/url`, { url });
      return pageOf(
        async (expression) => {
          const script = `${expression}.then(
            (value) => arguments[0]({ value }), (error) => arguments[0]({ error: String(error) }))`;
          const { value, error } = await command('POST', `${session}/execute/async`, {
            script,
            args: [],
          });
          if (error) throw new Error(error);
          return value;
        },
        () => command('DELETE', session),
      );
    },
    async close() {
      await driver.end();
      await screen.end();
    },
  };
}

/**
 * @param {(expression: string) => Promise<string>} evaluate gives what the promise of this
 *   expression resolves with
 * @param {() => Promise<void>} close
 * @returns {Page}
 */
const pageOf = (evaluate, close) => ({
  async evaluate(run, ...given) {
    const call = `(${run})(...${JSON.stringify(given)})`;
    return JSON.parse(await evaluate(`(async () => JSON.stringify(await ${call}) ?? 'null')()`));
  },
  close,
});

/**
 * Starts a program that does not outlive this process.
 *
 * @param {string} program @param {string[]} args @param {Record<string, string>} [environment]
 */
function start(program, args, environment) {
  const env = { ...process.env, ...environment };
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  child.stderr?.resume();
  return {
    /** What it says of this kind. @param {2 | 3} stream @param {RegExp} kind */
    says(stream, kind) {
      const input = /** @type {import('node:stream').Readable} */ (child.stdio[stream]);
      // Goes on for ever: a program whose output nobody reads comes to a halt.
      const lines = createInterface({ input });
      return new Promise((resolve, reject) => {
        const fail = () => reject(new Error(`${program} ended without a word of ${kind}`));
        child.once('error', reject).once('exit', fail);
        lines.on('line', (line) => {
          const found = kind.exec(line);
          if (found) resolve(found[1]);
        });
      });
    },
    async end() {
      if (child.exitCode !== null || child.signalCode) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** A port that was free just now. */
async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}
