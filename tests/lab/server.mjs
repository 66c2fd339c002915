// @ts-check
/**
 * The lab: a page origin and a media origin on the loopback interface. Two
 * origins, because a real player also loads its media cross-origin.
 */
import http from 'node:http';
import { randomBytes } from 'node:crypto';
import { FileStore } from './files.mjs';
import { mediaHandler } from './media-origin.mjs';
import { pageHandler } from './page-origin.mjs';
import { Session } from './session.mjs';

/** A lab that serves people for days should not keep every session it ever made. */
const MAX_SESSIONS = 64;

/**
 * @typedef {object} Lab
 * @property {string} pageOrigin
 * @property {string} mediaOrigin
 * @property {(options?: import('./session.mjs').SessionOptions) => Session} createSession
 * @property {() => Promise<void>} close
 */

/**
 * @param {{ mediaDir: string, port?: number, mediaPort?: number }} options port 0: any free one
 * @returns {Promise<Lab>}
 */
export async function startLab({ mediaDir, port = 0, mediaPort = 0 }) {
  /** @type {Map<string, Session>} */
  const sessions = new Map();
  let mediaOrigin = '';

  /** @param {import('./session.mjs').SessionOptions} [options] */
  function createSession(options = {}) {
    const id = randomBytes(4).toString('hex');
    const session = new Session(id, `${mediaOrigin}/s/${id}/`, options);
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
  const media = http.createServer(mediaHandler(find, new FileStore(mediaDir)));
  const page = http.createServer(pageHandler({ find, create: createSession }));
  mediaOrigin = await listen(media, mediaPort);
  const pageOrigin = await listen(page, port);

  return {
    pageOrigin,
    mediaOrigin,
    createSession,
    async close() {
      for (const session of sessions.values()) session.close();
      await Promise.all([shut(media), shut(page)]);
    },
  };
}

/**
 * @param {http.Server} server
 * @param {number} port
 * @returns {Promise<string>} the origin
 */
function listen(server, port) {
  // A server that drops idle connections after Node's 5 s would add resets nobody asked for.
  server.keepAliveTimeout = 120_000;
  server.requestTimeout = 0;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = /** @type {import('node:net').AddressInfo} */ (server.address());
      resolve(`http://127.0.0.1:${address.port}`);
    });
  });
}

/** @param {http.Server} server */
function shut(server) {
  return new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
}
