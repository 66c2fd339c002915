// @ts-check
/** For the lab's own tests: a lab over one file of known bytes, and a plain client. */
import http from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startLab } from './server.mjs';

export const FILE = 'video-01.m4s';
export const SIZE = 200_000;

/** Bytes that differ from each other nearby, so that a wrong offset shows. */
export const content = Buffer.from(
  Uint8Array.from({ length: SIZE }, (_, i) => (i * 31 + (i >> 8)) & 0xff),
);

export async function startTestLab() {
  const mediaDir = await mkdtemp(path.join(os.tmpdir(), 'holdfast-lab-'));
  await writeFile(path.join(mediaDir, FILE), content);
  await writeFile(path.join(mediaDir, 'main.m3u8'), '#EXTM3U\n');
  const lab = await startLab({ mediaDir });
  return {
    ...lab,
    async close() {
      await lab.close();
      await rm(mediaDir, { recursive: true, force: true });
    },
  };
}

/**
 * @typedef {object} Answer
 * @property {number} status       0 when no headers came
 * @property {http.IncomingHttpHeaders} headers
 * @property {Buffer} body         what arrived
 * @property {boolean} complete    the body ended as its framing promised
 * @property {string | undefined} error code of the socket error
 * @property {number} ms
 */

/**
 * One request on its own connection. Gives up after `patienceMs`.
 * @param {string} url
 * @param {{ method?: string, headers?: Record<string, string>, patienceMs?: number }} [options]
 * @returns {Promise<Answer>}
 */
export function request(url, { method = 'GET', headers = {}, patienceMs = 5000 } = {}) {
  const started = performance.now();
  return new Promise((resolve) => {
    /** @type {Buffer[]} */
    const chunks = [];
    /** @type {http.IncomingMessage | undefined} */
    let response;
    const finish = (/** @type {string | undefined} */ error) => {
      clearTimeout(timer);
      resolve({
        status: response?.statusCode ?? 0,
        headers: response?.headers ?? {},
        body: Buffer.concat(chunks),
        complete: response?.complete ?? false,
        error,
        ms: performance.now() - started,
      });
      outgoing.destroy();
    };
    const outgoing = http.request(url, { method, headers, agent: false }, (incoming) => {
      response = incoming;
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('end', () => finish(undefined));
      incoming.on('error', (error) => finish(/** @type {NodeJS.ErrnoException} */ (error).code));
    });
    const timer = setTimeout(() => finish('GAVE_UP'), patienceMs);
    outgoing.on('error', (error) => finish(/** @type {NodeJS.ErrnoException} */ (error).code));
    outgoing.end();
  });
}
