// @ts-check
/**
 * The page origin: the lab page, the library under test, hls.js, and a small
 * JSON API with which the page makes a session and watches it.
 *
 *   GET  /api/scenarios              all scenarios
 *   POST /api/sessions {scenario}    makes a session
 *   GET  /api/sessions/<id>          what it is
 *   GET  /api/sessions/<id>/log      its clock and its requests so far
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { bundledFile } from './bundles.mjs';
import { contentType } from './files.mjs';
import { scenarios } from './scenarios.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** URL prefix -> folder of the repository. The longest prefix wins. */
const folders = /** @type {const} */ ([
  ['/js/', path.join(root, 'js')],
  ['/vendor/hls.js/', path.join(root, 'node_modules/hls.js/dist')],
  ['/node_modules/', path.join(root, 'node_modules')],
  ['/', path.join(root, 'www')],
]);

/** A worker reaches no further than its own folder. @type {Record<string, string>} */
const ALIASES = { '/holdfast-sw.js': '/js/pkg/service-worker.js' };

/** Where players are that come for bundlers alone. */
const BUNDLES = '/bundles/';

/**
 * @typedef {import('./session.mjs').Session} Session
 * @typedef {object} Sessions
 * @property {(id: string) => Session | undefined} find
 * @property {(options: import('./session.mjs').SessionOptions) => Session} create
 */

/**
 * @param {Sessions} sessions
 * @returns {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => Promise<void>}
 */
export function pageHandler(sessions) {
  return async (request, response) => {
    const { pathname: asked } = new URL(request.url ?? '/', 'http://page.invalid');
    const pathname = ALIASES[asked] ?? asked;
    try {
      if (pathname.startsWith('/api/')) {
        await answerApi(sessions, pathname, request, response);
      } else {
        await answerFile(pathname, response);
      }
    } catch (error) {
      sendJson(response, 500, { error: String(error) });
    }
  };
}

/**
 * @param {string} pathname
 * @param {import('node:http').ServerResponse} response
 */
async function answerFile(pathname, response) {
  const bundled =
    pathname.startsWith(BUNDLES) && (await bundledFile(pathname.slice(BUNDLES.length)));
  if (bundled) return sendFile(response, pathname, Buffer.from(bundled));
  const [prefix, folder] =
    folders.find(([start]) => pathname.startsWith(start)) ?? folders[folders.length - 1];
  const relative = decodeURIComponent(pathname.slice(prefix.length)) || 'index.html';
  const file = path.join(folder, relative);
  const inside = file.startsWith(folder + path.sep);
  const data = inside ? await readFile(file).catch(() => null) : null;
  if (!data) {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not found');
    return;
  }
  sendFile(response, file, data);
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {string} name
 * @param {Buffer} data
 */
function sendFile(response, name, data) {
  response.writeHead(200, {
    'Content-Type': contentType(name),
    'Content-Length': data.length,
    // The page is for people who edit what they see.
    'Cache-Control': 'no-cache',
  });
  response.end(data);
}

/**
 * @param {Sessions} sessions
 * @param {string} pathname
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function answerApi(sessions, pathname, request, response) {
  const [, , kind, id, part] = pathname.split('/');
  if (kind === 'scenarios' && request.method === 'GET') {
    return sendJson(response, 200, scenarios);
  }
  if (kind !== 'sessions') return sendJson(response, 404, { error: 'unknown' });
  if (request.method === 'POST' && !id) {
    const name = (await readJson(request)).scenario;
    const scenario = scenarios.find((candidate) => candidate.name === name);
    if (!scenario) return sendJson(response, 400, { error: `no scenario ${name}` });
    const { rules, link } = scenario;
    return sendJson(response, 201, describe(sessions.create({ rules, link, scenario: name })));
  }
  const session = sessions.find(id);
  if (!session) return sendJson(response, 404, { error: 'no such session' });
  if (part === 'log') {
    return sendJson(response, 200, { clock: Math.round(session.clock()), requests: session.log });
  }
  return sendJson(response, 200, describe(session));
}

/** @param {Session} session */
function describe(session) {
  return {
    id: session.id,
    scenario: session.scenario,
    base: session.baseUrl,
    link: session.linkOptions,
    rules: session.rules,
  };
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @returns {Promise<any>}
 */
async function readJson(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text || '{}');
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {number} status
 * @param {unknown} value
 */
function sendJson(response, status, value) {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
  });
  response.end(body);
}
