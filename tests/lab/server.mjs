// @ts-check
/**
 * The lab: a page origin and a media origin on the loopback interface. Two
 * origins, because a real player also loads its media cross-origin.
 */
import http from 'node:http';
import { randomBytes } from 'node:crypto';
import { FileStore } from './files.mjs';
import { createHttp2Server } from './http2.mjs';
import { mediaHandler } from './media-origin.mjs';
import { pageHandler } from './page-origin.mjs';
import { Session } from './session.mjs';

/** A lab that serves people for days should not keep every session it ever made. */
const MAX_SESSIONS = 64;

/** @typedef {import('./session.mjs').SessionOptions & { mediaDir?: string }} SessionOptions */

/**
 * @typedef {object} Lab
 * @property {string} pageOrigin
 * @property {string} mediaOrigin
 * @property {string} mediaDir where the stream is
 * @property {(options?: SessionOptions) => Session} createSession
 * @property {() => Promise<void>} close
 */

/**
 * @param {{ mediaDir: string, port?: number, mediaPort?: number, h2?: boolean }} options port 0: any
 *   free one; h2: whether sessions may ask for HTTP/2, which needs openssl
 * @returns {Promise<Lab>}
 */
export async function startLab({ mediaDir, port = 0, mediaPort = 0, h2 = false }) {
  /** @type {Map<string, Session>} */
  const sessions = new Map();
  /** By folder. @type {Map<string, FileStore>} */
  const stores = new Map();
  const origins = { h1: '', h2: '' };

  /** @param {SessionOptions} [options] */
  function createSession({ mediaDir: own, protocol = 'h1', ...options } = {}) {
    const id = randomBytes(4).toString('hex');
    if (own !== undefined && !stores.has(own)) stores.set(own, new FileStore(own));
    const files = own === undefined ? undefined : stores.get(own);
    const session = new Session(id, `${origins[protocol]}/s/${id}/`, { files, ...options });
    sessions.set(id, session);
    if (sessions.size > MAX_SESSIONS) {
      const [oldest] = sessions.values();
      oldest.close();
      sessions.delete(oldest.id);
    }
    return session;
  }

  /** @param {string} id */
  const find = (id) => sessions.get(id);
  const handle = mediaHandler(find, new FileStore(mediaDir));
  const media = createServer(handle);
  const media2 = h2 ? createHttp2Server(handle) : undefined;
  const page = createServer(pageHandler({ find, create: createSession }));
  origins.h1 = await listen(media, mediaPort);
  if (media2) origins.h2 = await listen(media2.server, 0, 'https');
  const pageOrigin = await listen(page, port);

  return {
    pageOrigin,
    mediaOrigin: origins.h1,
    mediaDir,
    createSession,
    async close() {
      for (const session of sessions.values()) session.close();
      await Promise.all([shut(media), shut(page), media2?.close()]);
    },
  };
}

/**
 * @param {import('node:net').Server} server
 * @param {number} port
 * @param {'http' | 'https'} [scheme]
 * @returns {Promise<string>} the origin
 */
function listen(server, port, scheme = 'http') {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = /** @type {import('node:net').AddressInfo} */ (server.address());
      resolve(`${scheme}://127.0.0.1:${address.port}`);
    });
  });
}

/** @param {http.RequestListener} handle */
function createServer(handle) {
  // A server that drops idle connections after Node's 5 s would add resets nobody asked for.
  return http.createServer({ keepAliveTimeout: 120_000, requestTimeout: 0 }, handle);
}

/** @param {http.Server} server */
function shut(server) {
  return new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
}
