// A local server whose answers are scripted per path.
import { once } from 'node:events';
import http from 'node:http';

/**
 * @typedef {{ path: string, url: string, at: number, headers: import('node:http').IncomingHttpHeaders,
 *   closed: boolean }} Seen
 * @typedef {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse,
 *   nth: number) => void} Route `nth` counts the requests of this path from 1
 */

/** @param {Record<string, Route>} routes by path; `*` for all others */
export async function serve(routes) {
  /** @type {Seen[]} */
  const log = [];
  const counts = new Map();
  const server = http.createServer((request, response) => {
    const { url = '/' } = request;
    const path = url.split('?')[0];
    const nth = (counts.get(path) ?? 0) + 1;
    counts.set(path, nth);
    const seen = {
      path,
      url,
      at: performance.now(),
      headers: request.headers,
      closed: false,
    };
    log.push(seen);
    response.on('close', () => (seen.closed = !response.writableFinished));
    response.setHeader('access-control-allow-origin', '*');
    const route = routes[path] ?? routes['*'];
    if (route) route(request, response, nth);
    else response.writeHead(404).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    base: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    routes,
    log,
    /** @param {string} path */
    count: (path) => log.filter((seen) => seen.path === path).length,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** @param {string | Buffer} body @param {import('node:http').OutgoingHttpHeaders} [headers] @returns {Route} */
export const body = (body, headers) => (_, response) =>
  void response.writeHead(200, headers).end(body);

/** @param {number} code @param {import('node:http').OutgoingHttpHeaders} [headers] @returns {Route} */
export const status = (code, headers) => (_, response) =>
  void response.writeHead(code, headers).end();

/** @returns {Route} no headers, ever */
export const hang = () => () => {};

/** @returns {Route} */
export const reset = () => (request) => void request.socket.destroy();

/** The first answers in turn; the last one from then on.
 * @param {...Route} routes @returns {Route} */
export const inTurn =
  (...routes) =>
  (request, response, nth) =>
    routes[Math.min(nth, routes.length) - 1](request, response, nth);

/** @param {Buffer} bytes @param {number} pieces @param {number} gap ms @returns {Route} */
export const drip =
  (bytes, pieces, gap, headers = {}) =>
  (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length, ...headers });
    const size = Math.ceil(bytes.length / pieces);
    let sent = 0;
    const next = () => {
      if (response.destroyed) return;
      response.write(bytes.subarray(sent, sent + size));
      sent += size;
      if (sent < bytes.length) setTimeout(next, gap);
      else response.end();
    };
    next();
  };

/** Part of the body, then silence (or the end of the connection).
 * @param {Buffer} bytes @param {number} part @param {{ reset?: boolean }} [how] @returns {Route} */
export const cut =
  (bytes, part, how = {}) =>
  (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, part));
    if (how.reset) setTimeout(() => response.destroy(), 20);
  };

/** @param {string[]} uris one variant each */
export const multivariant = (...uris) =>
  '#EXTM3U\n' +
  uris
    .map(
      (uri, i) =>
        `#EXT-X-STREAM-INF:BANDWIDTH=${(i + 1) * 800000},RESOLUTION=${(i + 1) * 320}x${(i + 1) * 180}\n${uri}\n`,
    )
    .join('');

/**
 * @param {{ segments: string[], target?: number, sequence?: number, live?: boolean, tags?: string, perSegment?: string }} options
 */
export function media({
  segments,
  target = 4,
  sequence = 0,
  live = false,
  tags = '',
  perSegment = '',
}) {
  return (
    `#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:${target}\n#EXT-X-MEDIA-SEQUENCE:${sequence}\n${tags}` +
    segments.map((uri) => `${perSegment}#EXTINF:${target}.0,\n${uri}\n`).join('') +
    (live ? '' : '#EXT-X-ENDLIST\n')
  );
}

/** A live playlist that moves on with time. @param {{ target: number, window?: number, tags?: string }} options */
export function live({ target, window = 5, tags = '' }) {
  const began = performance.now();
  return () => {
    const sequence = Math.floor((performance.now() - began) / 1000 / target);
    const segments = Array.from({ length: window }, (_, i) => `live${sequence + i}.ts`);
    return media({ segments, target, sequence, live: true, tags });
  };
}

/** Transport stream packets of nothing. @param {number} [packets] */
export function segment(packets = 100) {
  const bytes = Buffer.alloc(188 * packets, 0xff);
  for (let i = 0; i < bytes.length; i += 188) bytes.set([0x47, 0x1f, 0xff, 0x10], i);
  return bytes;
}
