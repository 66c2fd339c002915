// @ts-check
/** The media origin over HTTP/2, as the lab's own code for HTTP/1.1 sees it. */
import { execFileSync } from 'node:child_process';
import http2 from 'node:http2';

/**
 * @typedef {import('node:http').IncomingMessage} Request
 * @typedef {import('node:http').ServerResponse} Response
 */

/**
 * A server with a certificate of its own, which browsers are told to ignore. Needs openssl.
 * @param {(request: Request, response: Response) => Promise<void>} handle
 */
export function createHttp2Server(handle) {
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=127.0.0.1'];
  const both = [...args, '-keyout', '-', '-out', '-'];
  const pem = execFileSync('openssl', both, { stdio: ['ignore', 'pipe', 'ignore'] });
  const server = http2.createSecureServer({ key: pem, cert: pem }, (request, response) => {
    // The compatibility layer has all of a response but this.
    Object.defineProperty(response, 'destroyed', { get: () => response.stream?.destroyed ?? true });
    const [asked, answer] = /** @type {[any, any]} */ ([request, response]);
    handle(asked, answer).catch(() =>
      response.stream?.close(http2.constants.NGHTTP2_INTERNAL_ERROR),
    );
  });
  /** @type {Set<import('node:http2').Http2Session>} */
  const connections = new Set();
  server.on('session', (connection) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
    // A client that leaves in the middle is nothing to end a lab for.
    connection.on('error', () => {});
  });
  return {
    server,
    close() {
      for (const connection of connections) connection.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @param {Response} response @returns {import('node:http2').ServerHttp2Stream | undefined} */
const streamOf = (response) => /** @type {any} */ (response).stream;

/** Loses an answer at once: its connection, or in HTTP/2 its stream alone. @param {Response} response */
export function reset(response) {
  const stream = streamOf(response);
  if (stream) stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
  else response.socket?.resetAndDestroy();
}

/** Ends an answer before its length is reached, as if that were all. @param {Response} response */
export function cut(response) {
  const stream = streamOf(response);
  if (stream) stream.end();
  else response.socket?.end();
}
