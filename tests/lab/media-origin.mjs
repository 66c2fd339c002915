// @ts-check
/**
 * The media origin: serves `/s/<session>/<file>` cross-origin, with the faults
 * and the link of the session.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileAnswer, plainAnswer, preflightAnswer } from './answers.mjs';
import { cut, reset } from './http2.mjs';
import { faultOffset } from './rules.mjs';

/**
 * @typedef {import('node:http').IncomingMessage} Request
 * @typedef {import('node:http').ServerResponse} Response
 * @typedef {import('./session.mjs').Session} Session
 * @typedef {import('./session.mjs').LogEntry} LogEntry
 * @typedef {import('./rules.mjs').Rule} Rule
 * @typedef {{ session: Session, entry: LogEntry, request: Request, response: Response,
 *   file: import('./files.mjs').StoredFile | null }} Exchange
 * @typedef {import('./answers.mjs').Answer} Answer
 */

const portalPage =
  '<!doctype html><html><head><title>Sign in</title></head><body><h1>Welcome to the network</h1>' +
  '<p>Please sign in to continue.</p></body></html>';

/** How many bytes before what was asked for `wrongRange` begins. */
const WRONG_BY = 1000;

/** Of an endless body, at a time: comments, which no playlist minds. */
const FILLER = Buffer.from(`${'#'.repeat(1023)}\n`.repeat(16));

/**
 * @param {(id: string) => Session | undefined} findSession
 * @param {import('./files.mjs').FileStore} files
 * @returns {(request: Request, response: Response) => Promise<void>}
 */
export function mediaHandler(findSession, files) {
  return async (request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    const host = request.headers.host ?? request.headers[':authority'] ?? 'media.invalid';
    const url = new URL(request.url ?? '/', `http://${host}`);
    const [, marker, id, name, ...rest] = url.pathname.split('/');
    const session = marker === 's' && rest.length === 0 ? findSession(id) : undefined;
    if (!session || !name) {
      response.writeHead(404).end('no such session');
      return;
    }
    const preflight = request.method === 'OPTIONS';
    const range = request.headers.range ?? null;
    const asked = { preflight, host: url.hostname, query: url.search };
    const { entry, rule } = session.open(name, range, response, asked);
    const file = await session.file(name, files);
    const exchange = { session, entry, request, response, file };
    await wait(session.headerDelay(), response);
    if (response.destroyed) return;
    if (session.expose.length > 0) {
      response.setHeader('Access-Control-Expose-Headers', session.expose.join(', '));
    }
    if (preflight) {
      await deliver(exchange, preflightAnswer(request));
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      await deliver(exchange, plainAnswer(405, 'only GET'));
    } else {
      const answer = fileAnswer(session, name, request.headers, file);
      await (rule ? deliverFault(exchange, rule, answer) : deliver(exchange, answer));
    }
  };
}

/**
 * Waits, but no longer than the client does.
 * @param {number} ms Infinity waits until the client goes away
 * @param {Response} response
 */
async function wait(ms, response) {
  if (ms <= 0 || response.destroyed) return;
  const gone = new AbortController();
  const closed = () => gone.abort();
  response.once('close', closed);
  const forever = new Promise((resolve) => gone.signal.addEventListener('abort', resolve));
  await (ms === Infinity ? forever : sleep(ms, undefined, { signal: gone.signal }).catch(() => {}));
  response.off('close', closed);
}

/** @param {Rule} rule */
function stallTime(rule) {
  return rule.ms === undefined || rule.ms === 'inf' ? Infinity : rule.ms;
}

/**
 * Sends the headers now, so that they travel even if no body byte follows.
 * @param {Exchange} exchange
 * @param {Answer} answer
 */
function sendHeaders({ entry, response }, answer) {
  response.writeHead(answer.status, answer.headers);
  response.flushHeaders();
  entry.status = answer.status;
  entry.from = answer.from;
}

/**
 * @param {Exchange} exchange
 * @param {Uint8Array} data
 * @param {number} [rate] bytes per second
 */
function sendBody({ session, entry, request, response }, data, rate) {
  if (request.method === 'HEAD') return Promise.resolve(true);
  return session.link.send(response, data, { rate, onBytes: (count) => (entry.bytes += count) });
}

/**
 * @param {Exchange} exchange
 * @param {Answer} answer
 * @param {{ rate?: number }} [options]
 */
async function deliver(exchange, answer, { rate } = {}) {
  sendHeaders(exchange, answer);
  if (await sendBody(exchange, answer.body, rate)) finishWhole(exchange);
}

/**
 * The file, and then filler until the client goes away.
 * @param {Exchange} exchange
 * @param {Answer} answer
 */
async function deliverEndless(exchange, answer) {
  const { 'Content-Length': _length, ...headers } = answer.headers;
  sendHeaders(exchange, { ...answer, headers });
  exchange.entry.from = null;
  let goes = await sendBody(exchange, answer.body);
  while (goes) goes = await sendBody(exchange, FILLER);
}

/** @param {Exchange} exchange */
function finishWhole({ session, entry, response }) {
  session.finish(entry, 'sent');
  response.end();
}

/**
 * @param {Exchange} exchange
 * @param {Rule} rule
 * @param {Answer} answer what a healthy origin would have said
 */
async function deliverFault(exchange, rule, answer) {
  const { session, entry, request, response } = exchange;
  const offset = faultOffset(rule.at, answer.body.length);
  const head = answer.body.subarray(0, offset);
  const rest = answer.body.subarray(offset);
  switch (rule.act) {
    case 'status': {
      const headers = { ...rule.headers };
      if (rule.retryAfterDate !== undefined) {
        headers['Retry-After'] = new Date(Date.now() + rule.retryAfterDate * 1000).toUTCString();
      }
      return deliver(exchange, plainAnswer(rule.status ?? 500, rule.body ?? '', headers));
    }
    case 'noCors':
      response.removeHeader('Access-Control-Allow-Origin');
      return deliver(exchange, answer);
    case 'ignoreRange':
      return deliver(exchange, fileAnswer(session, entry.file, {}, exchange.file));
    case 'wrongRange': {
      const range = `bytes=${Math.max(0, (answer.from ?? 0) - WRONG_BY)}-`;
      const wrong = entry.range === null ? {} : { range };
      return deliver(exchange, fileAnswer(session, entry.file, wrong, exchange.file));
    }
    case 'newVersion': {
      const file = exchange.file && { ...exchange.file, etag: `"version-${entry.attempt}"` };
      return deliver(exchange, fileAnswer(session, entry.file, request.headers, file));
    }
    case 'endless':
      return deliverEndless(exchange, answer);
    case 'html200':
      return deliver(exchange, plainAnswer(200, portalPage, { 'Content-Type': 'text/html' }));
    case 'redirect': {
      const location = session.url(rule.to ?? entry.file);
      return deliver(exchange, plainAnswer(rule.status ?? 302, '', { Location: location }));
    }
    case 'drip':
      sendHeaders(exchange, answer);
      if (!(await sendBody(exchange, head))) return undefined;
      if (await sendBody(exchange, rest, rule.rate)) finishWhole(exchange);
      return undefined;
    case 'stallHeaders':
      await wait(stallTime(rule), response);
      return response.destroyed ? undefined : deliver(exchange, answer);
    case 'stallBody':
      sendHeaders(exchange, answer);
      if (!(await sendBody(exchange, head))) return undefined;
      await wait(stallTime(rule), response);
      if (await sendBody(exchange, rest)) finishWhole(exchange);
      return undefined;
    case 'resetHeaders':
      session.finish(entry, 'reset');
      reset(response);
      return undefined;
    case 'resetBody':
      sendHeaders(exchange, answer);
      if (!(await sendBody(exchange, head))) return undefined;
      // A reset throws away what the peer has not read yet; let the bytes arrive first.
      await sleep(50);
      session.finish(entry, 'reset');
      reset(response);
      return undefined;
    case 'truncate':
      sendHeaders(exchange, answer);
      if (!(await sendBody(exchange, head))) return undefined;
      session.finish(entry, 'cut');
      cut(response);
      return undefined;
    case 'truncateSilent': {
      // Without a length Node sends chunks, and the last chunk says "complete".
      const { 'Content-Length': _length, ...headers } = answer.headers;
      sendHeaders(exchange, { ...answer, headers });
      if (!(await sendBody(exchange, head))) return undefined;
      session.finish(entry, 'cut');
      response.end();
      return undefined;
    }
    default:
      throw new Error(`unknown act: ${rule.act}`);
  }
}
