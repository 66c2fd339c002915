// @ts-check
/** The credentials of an engine: their numbers, and which URL has which of them by now. */
import { credentialOf, rewrite } from './credential.js';

/** Exchanges are kept for so many refreshes of one credential; older URLs are asked for anew. */
const EXCHANGES = 32;
/** So many credentials are told apart; beyond, each has the number of the last. */
const MOST = 10_000;

/**
 * @typedef {object} Credential
 * @property {number} number
 * @property {string} url the last URL that was seen with it
 * @property {Array<[from: string, to: string]>} exchanges the hook's answers, oldest first
 * @property {number | undefined} expiresAt wall-clock time
 * @property {{ driver: object, at: number }} [told] what the core knows of that, in its own time
 * @property {unknown} [error] why the last refresh came to nothing, or will
 */

export class Credentials {
  /** @type {Map<string, Credential>} */
  #byKey = new Map();
  /** @type {Credential[]} */
  #all = [];
  #isPerUrl;
  /** How far the servers' clocks are ahead of this page's, in milliseconds. */
  skew = 0;

  /** @param {'credential' | 'url'} [scope] what one refresh is for */
  constructor(scope) {
    this.#isPerUrl = scope === 'url';
  }

  /** Wall-clock time by the servers' clocks. */
  get now() {
    return Date.now() + this.skew;
  }

  /** @param {number} number */
  get(number) {
    return this.#all[number - 1];
  }

  /**
   * Which credential an URL has, and the URL with what has replaced it since.
   *
   * @param {string} url
   */
  place(url) {
    const found = credentialOf(url);
    const isShared = found && !this.#isPerUrl;
    const own = this.#byKey.get(`url ${url}`);
    const shared = isShared ? this.#byKey.get(found.key) : undefined;
    const credential =
      own ?? shared ?? this.#add(isShared ? found.key : `url ${url}`, url, found?.expiresAt);
    const current = this.#current(credential, url);
    if (current !== undefined) credential.url = current;
    // What the exchanges do not cover is asked for by itself.
    else if (!own) return { credential: this.alone(url), url };
    return { credential, url: current ?? url };
  }

  /** @param {string} key @param {string} url @param {number} [expiresAt] */
  #add(key, url, expiresAt) {
    const full = this.#all[MOST - 1];
    if (full) return full;
    /** @type {Credential} */
    const credential = { number: this.#all.length + 1, url, exchanges: [], expiresAt };
    this.#all.push(credential);
    this.#byKey.set(key, credential);
    return credential;
  }

  /**
   * An URL with the exchanges of a credential, or undefined where they do not apply to it.
   *
   * @param {Credential} credential
   * @param {string} url
   */
  #current({ exchanges }, url) {
    let isFresh = exchanges.length === 0;
    for (const [from, to] of exchanges) {
      // One that came with a later credential skips the exchanges before it.
      const next = rewrite(url, from, to);
      if (next !== undefined) {
        url = next;
        isFresh = true;
      }
    }
    const last = exchanges.at(-1);
    const isLast = last && credentialOf(url)?.key === credentialOf(last[1])?.key;
    return isFresh || isLast ? url : undefined;
  }

  /**
   * The hook has answered: the credential is exchanged.
   *
   * @param {Credential} credential
   * @param {string} from
   * @param {string} to
   */
  exchange(credential, from, to) {
    credential.exchanges = [...credential.exchanges.slice(1 - EXCHANGES), [from, to]];
    credential.url = to;
    credential.error = undefined;
    credential.told = undefined;
    const found = credentialOf(to);
    credential.expiresAt = found?.expiresAt;
    if (found && !this.#isPerUrl) this.#byKey.set(found.key, credential);
    else this.#byKey.set(`url ${to}`, credential);
  }

  /**
   * The URL of a request that waits for an exchange, or undefined where that does not cover it:
   * it gets a credential of its own then.
   *
   * @param {Credential} credential
   * @param {string} url
   */
  exchanged(credential, url) {
    const last = credential.exchanges.at(-1);
    return last && rewrite(url, last[0], last[1]);
  }

  /** A credential for this URL alone. @param {string} url */
  alone(url) {
    return this.#add(`url ${url}`, url);
  }

  /** The server's clock was seen. @param {Response} response */
  see({ headers }) {
    const date = Date.parse(headers.get('date') ?? '');
    const skew = date - Date.now();
    // A cached response tells the time of long ago.
    if (!headers.get('age') && Math.abs(skew) < 864e5) this.skew = skew;
  }
}
