// @ts-check
/**
 * The service worker itself: what it listens to. It keeps nothing that it could not do without,
 * for browsers stop and start it as they like.
 */
import { attempt } from './attempt.js';
import * as counsel from './counsel.js';
import { bringCounsel } from './engine.js';
import { hasHooks } from './hooks.js';
import { SITES } from './names.js';
import { parseOptions } from './options.js';
import { answering } from './sw-answer.js';
import { siteFinder } from './sw-sites.js';

/** @typedef {import('./index.d.ts').Engine} Engine */
/** @typedef {import('./index.d.ts').Site} Site */
/** @typedef {import('./service-worker.d.ts').ServeOptions} ServeOptions */

/**
 * What is special about the scope and the events of service workers.
 *
 * @typedef {{ waitUntil(promise: Promise<unknown>): void }} Extendable
 * @typedef {{ request: Request, clientId: string, respondWith(answer: Promise<Response>): void }} Fetching
 * @typedef {{ data: any, ports: readonly MessagePort[] } & Extendable} Message
 * @typedef {object} Scope
 * @property {() => Promise<void>} skipWaiting
 * @property {{ claim(): Promise<void> }} clients
 * @property {ServiceWorkerRegistration} registration
 * @property {(type: string, listener: (event: any) => void) => void} addEventListener
 */

/**
 * The longest slow ladder, in milliseconds. A page that has given up cannot say so, so nobody may
 * be there any more; whoever is asks again, and joins.
 */
const HOLD_LIMIT = 60_000;
/** How long a report of playback counts, in milliseconds: its page may be gone. */
const REPORT_COUNTS = 10_000;
/** A player waits behind a worker; how long its segments are only its page can say. */
const ASSUMED = { targetDuration: 4 };

/** @param {Pick<typeof import('./index.d.ts'), 'createEngine' | 'withRetry'>} holdfast */
export const serving =
  ({ createEngine, withRetry }) =>
  /** @param {ServeOptions} [options] */
  (options = {}) => {
    const { match, claim = true, ...rest } = options;
    const own = { holdLimit: HOLD_LIMIT, ...rest };
    // Now, so that a worker with a wrong option is not installed.
    parseOptions(own);
    if (hasHooks(own)) bringCounsel(counsel);
    const scope = /** @type {Scope} */ (/** @type {unknown} */ (globalThis));
    /** @type {Engine | undefined} */
    let made;
    const engine = () => {
      if (!made) {
        made = createEngine(own);
        made.reportPlayback(ASSUMED);
      }
      return made;
    };
    const answer = answering(engine, withRetry, () => own.fetch ?? fetch);
    const find = siteFinder();
    let isOver = false;

    /** @param {Fetching} event @returns {Site | undefined} */
    function siteOf({ request, clientId }) {
      const { mode, redirect } = request;
      if (isOver || mode === 'navigate' || redirect !== 'follow') return undefined;
      const found = find(request, clientId);
      if (!match) return found;
      const said = attempt(() => match(request));
      return said === true ? (found ?? 'other') : SITES.find((site) => site === said);
    }

    if (claim) {
      scope.addEventListener('install', () => void scope.skipWaiting());
      scope.addEventListener('activate', (/** @type {Extendable} */ event) =>
        event.waitUntil(scope.clients.claim()),
      );
    }

    scope.addEventListener('fetch', (/** @type {Fetching} */ event) => {
      const given = answer(event.request, event.clientId, siteOf(event));
      if (given) event.respondWith(given);
    });

    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    scope.addEventListener('message', (/** @type {Message} */ event) => {
      const { holdfast, ...report } = Object(event.data);
      if (holdfast === 'playback') {
        engine().reportPlayback({ ...ASSUMED, ...report });
        clearTimeout(timer);
        timer = setTimeout(() => engine().reportPlayback(ASSUMED), REPORT_COUNTS);
      } else if (holdfast === 'state') {
        const { state, log } = engine();
        event.ports[0]?.postMessage({ state, log: log() });
      } else if (holdfast === 'unregister') {
        // It goes on for the pages that it has; from now on without a request of theirs.
        isOver = true;
        event.waitUntil(scope.registration.unregister());
      }
    });
  };
