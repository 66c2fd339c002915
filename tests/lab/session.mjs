// @ts-check
/**
 * One measured run seen from the server: its fault rules, its clock (zero at its
 * first media request), its link and its request log.
 *
 * @typedef {object} LogEntry
 * @property {number} t         session clock when the request arrived, ms
 * @property {number | null} end session clock when it was over; null while open
 * @property {string} file
 * @property {string} [host]    that was asked, where it is not that of `baseUrl`
 * @property {number} attempt   1-based, per file; 0 for a preflight
 * @property {string | null} range the Range header as sent
 * @property {string} act       `normal`, `preflight` or the act of a fault rule
 * @property {number} status    0 until headers were sent
 * @property {number | null} from first byte of the file in the body; null when the body is not the file's
 * @property {number} bytes     body bytes sent
 * @property {'open' | 'sent' | 'reset' | 'cut' | 'client-closed'} how
 *
 * @typedef {object} LinkOptions
 * @property {number} [kbps]     no limit when absent
 * @property {readonly import('./trace.mjs').TraceStep[]} [trace] a rate that changes, instead of kbps
 * @property {number} [delayMs]  before the headers of each response
 * @property {number} [jitterMs] added to the delay, seeded
 * @property {number} [seed]
 *
 * @typedef {object} SessionOptions
 * @property {import('./rules.mjs').Rule[]} [rules]
 * @property {LinkOptions} [link]
 * @property {'default' | 'no-store'} [cache]
 * @property {string[]} [expose] response headers shown to cross-origin scripts
 * @property {string} [scenario] a name, for people
 * @property {import('./files.mjs').FileStore} [files] instead of those of the origin
 * @property {Rewrite} [rewrite] what becomes of a stored file in this session
 * @property {'h1' | 'h2'} [protocol] of the media origin
 *
 * @typedef {import('./files.mjs').StoredFile} StoredFile
 * @typedef {(name: string, file: StoredFile | null, session: Session) => StoredFile | null} Rewrite
 */
import { random } from '../node/random.mjs';
import { Link } from './link.mjs';
import { checkRule, pickRule } from './rules.mjs';

export class Session {
  /** @type {LogEntry[]} */
  log = [];
  /** @type {Map<string, number>} */
  #attempts = new Map();
  /** @type {Set<import('node:http').ServerResponse>} */
  #responses = new Set();
  /** @type {number | undefined} */
  #startedAt;
  #random;
  #rewrite;
  #files;

  /**
   * @param {string} id
   * @param {string} baseUrl absolute, ends with a slash
   * @param {SessionOptions} options
   */
  constructor(
    id,
    baseUrl,
    { rules = [], link = {}, cache = 'default', expose = [], scenario = '', rewrite, files },
  ) {
    rules.forEach(checkRule);
    this.id = id;
    this.baseUrl = baseUrl;
    this.rules = rules;
    this.linkOptions = link;
    this.cache = cache;
    this.expose = expose;
    this.scenario = scenario;
    this.#rewrite = rewrite;
    this.#files = files;
    this.link = new Link(link.trace ?? link.kbps ?? Infinity, () => this.clock());
    this.#random = random(link.seed ?? 1);
  }

  /** @param {string} file @param {string} [host] another name of the media origin */
  url(file, host) {
    const url = new URL(file, this.baseUrl);
    if (host) url.hostname = host;
    return url.href;
  }

  /**
   * @param {string} name
   * @param {import('./files.mjs').FileStore} files where the session has none of its own
   * @returns {Promise<StoredFile | null>} null when there is no such file
   */
  async file(name, files) {
    const stored = await (this.#files ?? files).get(name);
    return this.#rewrite ? this.#rewrite(name, stored, this) : stored;
  }

  /** ms since the first media request; 0 before it. */
  clock() {
    return this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt;
  }

  /** @returns {number} ms to wait before the headers of the next response */
  headerDelay() {
    const { delayMs = 0, jitterMs = 0 } = this.linkOptions;
    return delayMs + this.link.headerDelay() + (jitterMs > 0 ? jitterMs * this.#random() : 0);
  }

  /**
   * Opens a log entry and says which fault, if any, this request meets.
   * @param {string} file
   * @param {string | null} range
   * @param {import('node:http').ServerResponse} response
   * @param {{ preflight?: boolean, host?: string, query?: string }} [options]
   */
  open(file, range, response, { preflight = false, host = '', query = '' } = {}) {
    this.#startedAt ??= performance.now();
    const t = Math.round(this.clock());
    const attempt = preflight ? 0 : (this.#attempts.get(file) ?? 0) + 1;
    if (!preflight) this.#attempts.set(file, attempt);
    const rule = preflight ? undefined : pickRule(this.rules, file, attempt, t, { host, query });
    /** @type {LogEntry} */
    const entry = {
      t,
      end: null,
      file,
      ...(host !== new URL(this.baseUrl).hostname && { host }),
      attempt,
      range,
      act: preflight ? 'preflight' : (rule?.act ?? 'normal'),
      status: 0,
      from: null,
      bytes: 0,
      how: 'open',
    };
    this.log.push(entry);
    this.#responses.add(response);
    response.on('close', () => {
      this.#responses.delete(response);
      this.finish(entry, 'client-closed');
    });
    return { entry, rule };
  }

  /**
   * Only the first reason counts: a reset closes the socket, and that is not the client's doing.
   * @param {LogEntry} entry
   * @param {'sent' | 'reset' | 'cut' | 'client-closed'} how
   */
  finish(entry, how) {
    if (entry.how !== 'open') return;
    entry.how = how;
    entry.end = Math.round(this.clock());
  }

  /** Ends every response still open. */
  close() {
    for (const response of this.#responses) response.destroy();
  }
}
