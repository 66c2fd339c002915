// @ts-check
/**
 * A Chromium that nobody watches: only what is asked for here is switched on. A driver for tests
 * listens to the network, and then the browser reports each request and each chunk to it.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { findChromium } from '../../tools/setup.mjs';

/** @typedef {Awaited<ReturnType<typeof launchUnwatched>>} Browser */
/** @typedef {(method: string, params?: object) => Promise<any>} Send */

const ARGS = [
  '--headless',
  '--remote-debugging-port=0',
  '--no-sandbox',
  '--no-first-run',
  '--disable-gpu',
  '--disable-quic',
  '--disable-extensions',
  '--disable-component-update',
  '--disable-background-networking',
  '--disable-background-timer-throttling',
  '--disable-renderer-backgrounding',
];
const PATIENCE_MS = 30_000;

export async function launchUnwatched() {
  const program = findChromium();
  if (!program) throw new Error('there is no Chromium');
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-overhead-'));
  const child = spawn(program, [...ARGS, `--user-data-dir=${folder}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // With its children, so that all of them can be ended.
    detached: true,
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const end = () => {
    try {
      process.kill(-Number(child.pid), 'SIGKILL');
    } catch {
      // It has ended already.
    }
  };
  process.once('exit', end);
  const line = await connect(await addressOf(child));
  return {
    /** A page in a context of its own: what it is told, and its end. */
    async newPage() {
      const { browserContextId } = await line('Target.createBrowserContext');
      const target = { url: 'about:blank', browserContextId };
      const { targetId } = await line('Target.createTarget', target);
      const { sessionId } = await line('Target.attachToTarget', { targetId, flatten: true });
      return {
        send: /** @type {Send} */ ((method, params) => line(method, params, sessionId)),
        close: () => line('Target.disposeBrowserContext', { browserContextId }),
      };
    },
    async close() {
      process.off('exit', end);
      end();
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/**
 * Where it listens, as it says itself.
 * @param {import('node:child_process').ChildProcessByStdio<null, null, import('node:stream').Readable>} child
 * @returns {Promise<string>}
 */
function addressOf(child) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('Chromium does not listen')), PATIENCE_MS);
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      const address = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
      if (!address) return;
      clearTimeout(timer);
      resolve(address);
    });
    child.once('close', () => reject(new Error(`Chromium has ended: ${text.trim()}`)));
  });
}

/** @param {string} address */
async function connect(address) {
  const socket = new WebSocket(address, { perMessageDeflate: false });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  const open = new Map();
  socket.on('message', (data) => {
    const { id, result, error } = JSON.parse(String(data));
    const asked = open.get(id);
    open.delete(id);
    if (error) asked?.reject(new Error(error.message));
    else asked?.resolve(result);
  });
  socket.on('close', () => {
    for (const { reject } of open.values()) reject(new Error('Chromium has gone'));
  });
  let last = 0;
  /** @param {string} method @param {object} [params] @param {string} [sessionId] @returns {Promise<any>} */
  return (method, params = {}, sessionId) => {
    const id = (last += 1);
    socket.send(JSON.stringify({ id, method, params, sessionId }));
    return new Promise((resolve, reject) => open.set(id, { resolve, reject }));
  };
}
