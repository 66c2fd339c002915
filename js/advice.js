// @ts-check
/**
 * What a server advises, in two fields of a response (R89); loaded where there is one. The core
 * bounds it. The parser is that of structured fields (RFC 9651 section 4.2), complete: a field that
 * breaks the grammar anywhere says nothing.
 */

/** A longer field is ignored, in characters. */
const LONGEST = 2048;
const OWN = ['chunk', 'sessions', 'ranges', 'ttl'];
/** The lowest cap, in kbit/s: zero would read as none. */
const LOWEST_CAP = 1;

/**
 * Integers and booleans have their value; every other one is as it is written.
 *
 * @typedef {number | boolean | string} Bare
 * @typedef {Map<string, Bare>} Parameters
 * @typedef {{ value: Bare, params: Parameters }} Item
 * @typedef {{ value: Bare | Item[], params: Parameters }} Member
 */

/**
 * What a response advises, in the numbers of `readAdvice`; nothing where it does not count: what a
 * cache kept is not said now, and another origin speaks for itself alone.
 *
 * @param {Pick<Response, 'headers' | 'url'>} response
 * @param {string} url as it was asked for
 * @param {string[]} fields
 */
export function heed({ headers, url: from }, url, [advice, dynamic]) {
  const isOwn = !from || new URL(from).origin === new URL(url, from).origin;
  return isOwn && !(Number(headers.get('age')) > 0) ? readAdvice(advice, dynamic) : undefined;
}

/**
 * The advice of both fields, `''` where there is none: chunk, sessions, ranges, ttl, cap in bit/s,
 * each NaN where it is left open, and 1 for duress. The lowest value counts, and any duress.
 *
 * @param {string} advice a dictionary of integers
 * @param {string} dynamic `CMSD-Dynamic` (CTA-5006): a list with an item for each hop, of which the
 *   parameters are `du`, `mb`, `etp`, and ours under a vendor's prefix, as in `com.example-chunk`
 */
export function readAdvice(advice, dynamic) {
  const members = read(parseDictionary, advice);
  const hops = read(parseList, dynamic);
  if (!members && !hops) return undefined;
  /** @type {Record<string, number>} */
  const lowest = {};
  let duress = 0;
  const lower = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    if (typeof value === 'number') lowest[name] = Math.min(lowest[name] ?? value, value);
  };
  for (const name of OWN) lower(name, members?.get(name)?.value);
  for (const { value: hop, params } of hops ?? []) {
    if (Array.isArray(hop)) continue;
    for (const [key, value] of params) {
      const own = /-(chunk|sessions|ranges|ttl)$/.exec(key);
      if (own) lower(own[1], value);
      else if (key === 'mb' || key === 'etp') lower('cap', decimal(value));
      // As a bare key, which is the standard's form, and as others write it.
      else if (key === 'du' && [true, 'true', 1].includes(value)) duress = 1;
    }
  }
  const cap = Math.max(lowest.cap ?? NaN, LOWEST_CAP) * 1000;
  return [...OWN.map((name) => lowest[name] ?? NaN), cap, duress];
}

/**
 * @template T
 * @param {(field: string) => T} parse
 * @param {string} field
 */
function read(parse, field) {
  if (!field || field.length > LONGEST) return undefined;
  try {
    return parse(field);
  } catch {
    return undefined;
  }
}

/** @param {Bare} value of a number, whether it is an integer or not */
function decimal(value) {
  return typeof value === 'string' && /^[-\d]/.test(value) ? Number(value) : value;
}

/** @param {string} field */
export function parseDictionary(field) {
  const reader = new Reader(field);
  /** @type {Map<string, Member>} */
  const members = new Map();
  while (reader.isInside) {
    const key = reader.take(KEY);
    members.set(key, reader.has('=') ? reader.member() : reader.parametersOf(true));
    reader.take(NEXT);
  }
  return members;
}

/** @param {string} field */
export function parseList(field) {
  const reader = new Reader(field);
  /** @type {Member[]} */
  const members = [];
  while (reader.isInside) {
    members.push(reader.member());
    reader.take(NEXT);
  }
  return members;
}

/** @param {string} field */
export function parseItem(field) {
  const reader = new Reader(field);
  const item = reader.item();
  reader.take(END);
  return item;
}

const KEY = /[a-z*][a-z\d_.*-]*/y;
const SPACES = / */y;
const END = / *$/y;
/** From a member to the next one, or to the end: nothing ends in a comma. */
const NEXT = /[ \t]*(?:$|,[ \t]*(?=[^ \t]))/y;
/** From an item of an inner list to the next one, or to the end of the list. */
const APART = / +|(?=\))/y;
const BARE = new RegExp(
  [
    /-?\d{1,12}\.\d{1,3}/, // Decimal.
    /@?-?\d{1,15}/, // Integer or date.
    /\?[01]/, // Boolean.
    /"(?:[ !#-[\]-~]|\\["\\])*"/, // String.
    /[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/, // Token.
    /:(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}={0,2}|[A-Za-z\d+/]{3}=?)?:/, // Byte sequence.
    /%"(?:[ !#$&-~]|%[\da-f]{2})*"/, // Display string.
  ]
    .map(({ source }) => source)
    .join('|'),
  'y',
);

/** Reads a field from left to right. What is not as the grammar has it throws. */
class Reader {
  #field;
  #at = 0;

  /** @param {string} field */
  constructor(field) {
    this.#field = field;
    this.take(SPACES);
  }

  get isInside() {
    return this.#at < this.#field.length;
  }

  /** @param {RegExp} what a sticky one; no match cannot be taken apart, and throws */
  take(what) {
    what.lastIndex = this.#at;
    const [taken] = /** @type {RegExpExecArray} */ (what.exec(this.#field));
    this.#at += taken.length;
    return taken;
  }

  /** @param {string} character */
  has(character) {
    const is = this.#field[this.#at] === character;
    if (is) this.#at += 1;
    return is;
  }

  /** @returns {Bare} */
  bare() {
    const taken = this.take(BARE);
    if (taken[0] === '?') return taken === '?1';
    // Throws where the bytes are not UTF-8.
    if (taken[0] === '%') decodeURIComponent(taken.slice(1));
    return /^-?\d+$/.test(taken) ? Number(taken) : taken;
  }

  /**
   * @template T
   * @param {T} value that was read
   */
  parametersOf(value) {
    /** @type {Parameters} */
    const params = new Map();
    while (this.has(';')) {
      this.take(SPACES);
      params.set(this.take(KEY), this.has('=') ? this.bare() : true);
    }
    return { value, params };
  }

  /** @returns {Item} */
  item() {
    return this.parametersOf(this.bare());
  }

  /** An item or an inner list. @returns {Member} */
  member() {
    if (!this.has('(')) return this.item();
    this.take(SPACES);
    const items = [];
    while (!this.has(')')) {
      items.push(this.item());
      this.take(APART);
    }
    return this.parametersOf(items);
  }
}
