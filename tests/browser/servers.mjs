// @ts-check
/** Servers of one function, by the version of HTTP that they speak. */
import { execFileSync } from 'node:child_process';
import http from 'node:http';
import http2 from 'node:http2';

/**
 * Answers a request of either version.
 *
 * @typedef {(
 *   request: http.IncomingMessage | http2.Http2ServerRequest,
 *   response: http.ServerResponse | http2.Http2ServerResponse,
 * ) => void} Handler
 */
/** @typedef {'http/1.1' | 'h2'} Version as `nextHopProtocol` names it */

/**
 * HTTP/1.1 in the clear, or HTTP/2 alone over TLS.
 *
 * @param {Version} version
 * @param {Handler} handler
 */
export async function serveOver(version, handler) {
  const server = version === 'h2' ? secure(handler) : http.createServer(handler);
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  // Of TLS too: what it is wrapped in ends with it.
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    origin: `${version === 'h2' ? 'https' : 'http'}://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** @param {Handler} handler */
function secure(handler) {
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=127.0.0.1'];
  const both = [...args, '-keyout', '-', '-out', '-'];
  const pem = execFileSync('openssl', both, { stdio: ['ignore', 'pipe', 'ignore'] });
  return http2.createSecureServer({ key: pem, cert: pem }, handler);
}
