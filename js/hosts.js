// @ts-check
/** Hosts, URLs and prefixes as numbers, and what is known of the hosts by their names. */
import { hostOf } from './records.js';
import { attempt } from './attempt.js';

/** @typedef {import('./index.d.ts').HostHealth} HostHealth */
/** @typedef {import('./index.d.ts').ThrottleState} ThrottleState */

/** What differs between requests of one resource. */
const FLEETING = /([?&])(?:_HLS_\w+|CMCD)=[^&#]*/g;
/** The throttle of all that the engine sends, among those of hosts. */
const SESSION = 'session';

export class Hosts {
  #getCdnId;
  /** @type {Map<string, number>} */
  #numbers = new Map();
  /** @type {string[]} */
  #names = [];
  /** @type {string[]} */
  #prefixes = [];
  /** @type {Record<string, string>} names of hosts by pathway */
  pathways = {};

  /** @param {((url: string) => string | undefined) | undefined} getCdnId */
  constructor(getCdnId) {
    this.#getCdnId = getCdnId;
  }

  /** The name of what answers for an URL. @param {string} url @param {string} origin */
  nameOf(url, origin) {
    const getCdnId = this.#getCdnId;
    return String((getCdnId && attempt(() => getCdnId(url))) || origin);
  }

  /** @param {string} name of a host, or of a pathway that was mapped to one */
  numberOf(name) {
    const own = this.pathways[name] ?? name;
    let number = this.#numbers.get(own);
    if (number === undefined) {
      number = this.#names.push(own) - 1;
      this.#numbers.set(own, number);
    }
    return number;
  }

  /** Whether anything was asked of this host yet. @param {string} name */
  has(name) {
    return this.#numbers.has(this.pathways[name] ?? name);
  }

  /** @param {number} number */
  name(number) {
    return this.#names[number];
  }

  /** The number of the longest prefix of an URL that is limited by itself, 0 if none. @param {string} url */
  prefixOf(url) {
    let longest = 0;
    for (const [at, prefix] of this.#prefixes.entries()) {
      const isLonger = prefix.length > (this.#prefixes[longest - 1]?.length ?? 0);
      if (isLonger && url.startsWith(prefix)) longest = at + 1;
    }
    return longest;
  }

  /** @param {string} prefix that is limited by itself from now on */
  addPrefix(prefix) {
    if (!this.#prefixes.includes(prefix) && this.#prefixes.length < 64) this.#prefixes.push(prefix);
  }

  /**
   * The slots, from the core's records.
   *
   * @param {number[][]} rows
   */
  read(rows) {
    /** @type {Record<string, Readonly<HostHealth>>} */
    const hostHealth = {};
    /** @type {Record<string, Readonly<ThrottleState>>} */
    const throttle = {};
    for (const { host, health, throttle: limit } of rows.map((row) => hostOf(row))) {
      const name = host < 0 ? SESSION : this.#names[host];
      if (host >= 0) hostHealth[name] = Object.freeze(health);
      if (limit) throttle[name] = Object.freeze(limit);
    }
    return { hostHealth: Object.freeze(hostHealth), throttle: Object.freeze(throttle) };
  }
}

/** FNV-1a, in 32 bits. @param {string} text */
export function hash(text) {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  }
  return sum >>> 0;
}

/**
 * A number that tells URLs apart. What a player puts anew into each request of one
 * resource does not count; a range does.
 *
 * @param {string} url
 * @param {string | null} range
 */
export const numberOfUrl = (url, range) => hash(url.replace(FLEETING, '$1') + (range ?? ''));

/** An URL without the directives of a playlist reload (RFC 8216bis 6.2.5). @param {string} url */
export const plain = (url) =>
  url
    .replace(/([?&])_HLS_\w+=[^&#]*/g, '$1')
    .replace(/&+(?=[&#]|$)/g, '')
    .replace(/\?&*(?=#|$)/, '')
    .replace(/\?&+/, '?');
