// @ts-check
/**
 * A real server that fails by script: each path has a list of answers, one for each request;
 * the last one answers all that follow. It writes down every request.
 */
import http from 'node:http';
// Not the globals, which tests replace.
import { setTimeout } from 'node:timers';

/** @typedef {(request: http.IncomingMessage, response: http.ServerResponse) => void} Answer */

/**
 * @typedef {object} Seen One request, as the server saw it.
 * @property {string} method
 * @property {string} url as it stood in the request line
 * @property {string[]} rawHeaders
 * @property {http.IncomingHttpHeaders} headers
 * @property {number} at when it came
 * @property {Promise<Buffer>} body
 * @property {number} [closedAt] when the client closed the connection before the answer's end
 * @property {number} [endedAt] when the answer had been sent to its end
 */

export async function serve() {
  /** @type {Map<string, Answer[]>} */
  const script = new Map();
  /** @type {Seen[]} */
  const all = [];
  /** @param {string} path @param {Seen[]} [among] */
  const seen = (path, among = all) => among.filter(({ url }) => url.split('?')[0] === path);

  const server = http.createServer((request, response) => {
    const { method = '', url = '', rawHeaders, headers } = request;
    const path = url.split('?')[0];
    const answers = script.get(path) ?? [answer(404, 'no such path')];
    const nth = seen(path).length;
    /** @type {Seen} */
    const entry = {
      method,
      url,
      rawHeaders,
      headers,
      at: performance.now(),
      body: bodyOf(request),
    };
    all.push(entry);
    response.on('finish', () => (entry.endedAt = performance.now()));
    response.on('close', () => {
      if (!response.writableFinished) entry.closedAt = performance.now();
    });
    answers[Math.min(nth, answers.length - 1)](request, response);
  });
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());

  return {
    origin: `http://127.0.0.1:${port}`,
    all,
    seen,
    /**
     * Puts answers on a path.
     *
     * @param {string} path @param {...Answer} answers
     * @returns {string} its URL
     */
    on(path, ...answers) {
      script.set(path, answers);
      return `http://127.0.0.1:${port}${path}`;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @param {http.IncomingMessage} request @returns {Promise<Buffer>} */
function bodyOf(request) {
  return new Promise((resolve) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('close', () => resolve(Buffer.concat(chunks)));
    request.on('error', () => {});
  });
}

// Answers.

/** Bytes that differ nearby, so that a wrong offset shows. @param {number} size */
export const content = (size) =>
  Buffer.from(Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8)) & 0xff));

/**
 * @param {number} status
 * @param {string | Uint8Array} [body]
 * @param {http.OutgoingHttpHeaders} [headers]
 * @returns {Answer}
 */
export const answer = (status, body, headers) => (_, response) => {
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { ...length, ...headers }).end(body);
};

/** @param {string | Uint8Array} body @param {http.OutgoingHttpHeaders} [headers] */
export const ok = (body, headers) => answer(200, body, headers);

/** A captive portal. @param {http.OutgoingHttpHeaders} [headers] */
export const page = (headers = { 'content-type': 'text/html' }) =>
  ok('<!DOCTYPE html>\n<title>Please log in</title>', headers);

/** @param {string} location */
export const redirect = (location) => answer(302, '', { location });

/** No headers, ever. @returns {Answer} */
export const hang = () => () => {};

/** @param {number} ms @param {Answer} then @returns {Answer} */
export const after = (ms, then) => (request, response) =>
  void setTimeout(() => response.destroyed || then(request, response), ms).unref();

/** The connection is reset before any header. @returns {Answer} */
export const reset = () => (request) => void request.socket.resetAndDestroy();

/**
 * Announces a body, sends the first part of it, and then falls silent.
 *
 * @param {Uint8Array} body @param {number} part @param {http.OutgoingHttpHeaders} [headers]
 * @returns {Answer}
 */
export const stall = (body, part, headers) => (_, response) => {
  response.writeHead(200, { 'content-length': body.byteLength, ...headers });
  response.flushHeaders();
  if (part > 0) response.write(body.subarray(0, part));
};

/**
 * The same, and the connection is reset.
 *
 * @param {Uint8Array} body @param {number} part
 * @returns {Answer}
 */
export const breakOff = (body, part) => (request, response) => {
  stall(body, part)(request, response);
  // Later, so that what was written has arrived.
  setTimeout(() => request.socket.resetAndDestroy(), 40);
};

/**
 * Ends the connection properly, before what was announced has been sent.
 *
 * @param {Uint8Array} body @param {number} part
 * @returns {Answer}
 */
export const truncate = (body, part) => (request, response) => {
  stall(body, part)(request, response);
  setTimeout(() => request.socket.end(), 40);
};

/**
 * One piece every `gap` milliseconds.
 *
 * @param {Uint8Array} body @param {number} pieces @param {number} gap
 * @param {http.OutgoingHttpHeaders} [headers]
 * @returns {Answer}
 */
export const drip = (body, pieces, gap, headers) => (_, response) => {
  response.writeHead(200, { 'content-length': body.byteLength, ...headers });
  const size = Math.ceil(body.byteLength / pieces);
  let sent = 0;
  const next = () => {
    if (response.destroyed) return;
    response.write(body.subarray(sent, (sent += size)));
    if (sent < body.byteLength) setTimeout(next, gap);
    else response.end();
  };
  next();
};

/**
 * Where an answer breaks off: behind so many of its bytes, and not before the client has them
 * all, which `has` is told.
 *
 * @param {number} at
 */
export function breakAt(at) {
  /** @type {(value?: unknown) => void} */
  let open = () => {};
  const when = new Promise((resolve) => (open = resolve));
  return {
    at,
    when,
    /** @param {number} bytes */
    has(bytes) {
      if (bytes >= at) open();
    },
  };
}

/**
 * A file, as servers of files answer: whole, or the part that is asked for, unless `If-Range`
 * names another one (RFC 9110, 13.1.5 and 14). The connection may break within.
 *
 * @param {Uint8Array} body
 * @param {http.OutgoingHttpHeaders} [headers]
 * @param {{ at: number, when: Promise<unknown> }} [fault]
 * @returns {Answer}
 */
export const file = (body, headers, fault) => (request, response) => {
  const { range, 'if-range': condition } = request.headers;
  const isSame = condition === undefined || condition === headers?.etag;
  const asked = isSame ? /^bytes=(\d+)-(\d*)$/.exec(range ?? '') : null;
  const first = Number(asked?.[1] ?? 0);
  const last = Math.min(Number(asked?.[2] || Infinity), body.byteLength - 1);
  if (first > last) {
    response.writeHead(416, { 'content-range': `bytes */${body.byteLength}`, ...headers }).end();
    return;
  }
  const place = asked && { 'content-range': `bytes ${first}-${last}/${body.byteLength}` };
  const length = { 'content-length': last - first + 1 };
  response.writeHead(asked ? 206 : 200, { ...length, ...place, ...headers });
  const part = body.subarray(first, last + 1);
  if (!fault || fault.at > part.byteLength) {
    response.end(part);
    return;
  }
  response.flushHeaders();
  if (fault.at > 0) response.write(part.subarray(0, fault.at));
  void fault.when.then(() => request.socket.destroy());
};
