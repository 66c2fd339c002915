// @ts-check
/**
 * The fault vocabulary. A rule names files by a regular expression, may be
 * limited to some attempts of a file (`nth`, 1-based) and to a window of the
 * session clock, and says what happens to the requests it selects. Faults are
 * chosen by file, attempt and session clock only, never by what a player does,
 * so that every client meets the same script.
 *
 * @typedef {'status' | 'resetHeaders' | 'resetBody' | 'truncate' | 'truncateSilent'
 *   | 'stallHeaders' | 'stallBody' | 'drip' | 'html200' | 'redirect' | 'noCors' | 'ignoreRange'
 *   | 'wrongRange' | 'newVersion' | 'endless'} Act
 *
 * `noCors` hides a whole answer from scripts; `ignoreRange` answers a range with everything;
 * `wrongRange` answers it with other bytes than asked for; `newVersion` answers with another
 * validator; `endless` sends the file, and filler at the pace of the link for ever.
 *
 * @typedef {object} Rule
 * @property {string} match         RegExp source, tested against the file name
 * @property {number | number[]} [nth]   which attempts of the file, 1-based; all when absent
 * @property {[number, number]} [window] session clock in ms: from (inclusive) and to (exclusive)
 * @property {string} [host]        RegExp source, tested against the host that was asked
 * @property {string} [unless]      a query that contains this is spared
 * @property {Act} act
 * @property {number} [at]          where the body fails: a fraction when below 1, else bytes
 * @property {number | 'inf'} [ms]  how long a stall lasts; for ever when absent
 * @property {number} [rate]        bytes per second of a drip
 * @property {number} [status]      of `status` and `redirect`
 * @property {Record<string, string>} [headers] extra headers of `status`
 * @property {number} [retryAfterDate] of `status`: Retry-After as the date so many seconds from then
 * @property {string} [body]        of `status`
 * @property {string} [to]          target of `redirect`: a file of the session or an absolute URL;
 *   the file itself when absent
 */

/** What spares a request from a rule about credentials. */
export const FRESH_TOKEN = 'token=fresh';

/** @type {ReadonlySet<string>} */
const acts = new Set([
  'status',
  'resetHeaders',
  'resetBody',
  'truncate',
  'truncateSilent',
  'stallHeaders',
  'stallBody',
  'drip',
  'html200',
  'redirect',
  'noCors',
  'ignoreRange',
  'wrongRange',
  'newVersion',
  'endless',
]);

/**
 * Refuses a rule that could never do what it says.
 * @param {Rule} rule
 */
export function checkRule(rule) {
  if (typeof rule.match !== 'string') throw new TypeError('a rule needs `match`');
  new RegExp(rule.match);
  if (!acts.has(rule.act)) throw new TypeError(`unknown act: ${rule.act}`);
  if (rule.act === 'status' && !Number.isInteger(rule.status)) {
    throw new TypeError('act `status` needs a status');
  }
  if (rule.act === 'drip' && !((rule.rate ?? 0) > 0))
    throw new TypeError('act `drip` needs a rate');
}

/**
 * @param {readonly Rule[]} rules
 * @param {string} file
 * @param {number} attempt 1-based
 * @param {number} clock ms since the session began
 * @param {{ host?: string, query?: string }} [asked]
 * @returns {Rule | undefined} the first rule that selects this request
 */
export function pickRule(rules, file, attempt, clock, { host = '', query = '' } = {}) {
  return rules.find((rule) => {
    if (!new RegExp(rule.match).test(file)) return false;
    if (rule.nth !== undefined && ![rule.nth].flat().includes(attempt)) return false;
    if (rule.host !== undefined && !new RegExp(rule.host).test(host)) return false;
    if (rule.unless !== undefined && query.includes(rule.unless)) return false;
    if (rule.window && (clock < rule.window[0] || clock >= rule.window[1])) return false;
    return true;
  });
}

/**
 * @param {number | undefined} at fraction or bytes
 * @param {number} length of the body
 * @returns {number} bytes before the fault
 */
export function faultOffset(at, length) {
  if (at === undefined) return 0;
  return Math.min(length, at < 1 ? Math.floor(at * length) : Math.floor(at));
}
