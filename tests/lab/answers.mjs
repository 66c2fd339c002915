// @ts-check
/**
 * What the media origin says when nothing is wrong: status, headers and body.
 *
 * @typedef {import('node:http').IncomingMessage} Request
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {Record<string, string | number>} headers
 * @property {Uint8Array} body
 * @property {number | null} from first byte of the file in the body; null when it is not the file's
 */
import { contentType } from './files.mjs';
import { parseRange } from './range.mjs';

/**
 * @param {number} status
 * @param {string} text
 * @param {Record<string, string>} [headers]
 * @returns {Answer}
 */
export function plainAnswer(status, text, headers = {}) {
  const body = Buffer.from(text);
  return {
    status,
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Length': body.length,
      ...headers,
    },
    body,
    from: null,
  };
}

/**
 * @param {Request} request
 * @returns {Answer}
 */
export function preflightAnswer(request) {
  return {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
      'Access-Control-Allow-Headers': request.headers['access-control-request-headers'] ?? '*',
    },
    body: new Uint8Array(),
    from: null,
  };
}

/**
 * What a healthy origin answers.
 * @param {import('./session.mjs').Session} session
 * @param {string} name
 * @param {import('node:http').IncomingHttpHeaders} asked the headers of the request
 * @param {import('./files.mjs').StoredFile | null} file
 * @returns {Answer}
 */
export function fileAnswer(session, name, asked, file) {
  if (!file) return plainAnswer(404, 'no such file');
  const { data, etag, modified, encoding, changes } = file;
  const noStore = changes || session.cache === 'no-store';
  const headers = {
    'Content-Type': contentType(name),
    'Cache-Control': noStore ? 'no-store' : 'public, max-age=3600',
    'Accept-Ranges': 'bytes',
    ETag: etag,
    'Last-Modified': modified,
    ...(encoding && { 'Content-Encoding': encoding }),
  };
  if (asked['if-none-match'] === etag) {
    return { status: 304, headers, body: new Uint8Array(), from: null };
  }
  const condition = asked['if-range'];
  const stale = condition !== undefined && condition !== etag && condition !== modified;
  const range = parseRange(stale ? undefined : asked.range, data.length);
  if (range === 'unsatisfiable') {
    return plainAnswer(416, 'no such range', { 'Content-Range': `bytes */${data.length}` });
  }
  const { from, to } = range === 'whole' ? { from: 0, to: data.length } : range;
  return {
    status: range === 'whole' ? 200 : 206,
    headers: {
      ...headers,
      'Content-Length': to - from,
      ...(range === 'whole' ? {} : { 'Content-Range': `bytes ${from}-${to - 1}/${data.length}` }),
    },
    body: data.subarray(from, to),
    from,
  };
}
