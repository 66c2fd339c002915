// @ts-check
/**
 * What the browser says of the path to the network, as one sample; and samples as numbers.
 *
 * | what         | from                            | who offers it                              |
 * | ------------ | ------------------------------- | ------------------------------------------ |
 * | cost         | `connection.saveData`           | Chromium                                   |
 * | reachability | `onLine`; `connection.type`     | all; Chromium on Android and ChromeOS      |
 * | interface    | `connection.type`               | Chromium on Android and ChromeOS           |
 * | power        |                                 | nobody; `getBattery` sees no low-power mode |
 * | thermal      |                                 | nobody; the load of a processor is no heat |
 * | execution    | `visibilityState`               | all windows; no browser names a deadline   |
 *
 * What is missing, refused or broken is `unknown`, and never an error. A caller that knows more
 * (an app around the page does) reports samples of its own.
 */
import { OptionsError } from './errors.js';

/**
 * @typedef {object} PathSample
 * @property {'unknown' | 'unmetered' | 'metered' | 'constrained'} cost
 * @property {'unknown' | 'none' | 'reachable'} reachability
 * @property {'unknown' | 'wired' | 'wifi' | 'cellular' | 'other'} interface
 * @property {'unknown' | 'external' | 'battery' | 'low-power'} power
 * @property {'unknown' | 'nominal' | 'fair' | 'serious' | 'critical'} thermal
 * @property {'unknown' | 'foreground' | 'background' | { deadline: number }} execution
 *   `deadline`: in the background, and for so many milliseconds from now
 */

/** The words of a sample, by code; in the order in which they cross (`src/core/path.rs`). */
export const PATH = /** @type {const} */ ({
  cost: ['unknown', 'unmetered', 'metered', 'constrained'],
  reachability: ['unknown', 'none', 'reachable'],
  interface: ['unknown', 'wired', 'wifi', 'cellular', 'other'],
  power: ['unknown', 'external', 'battery', 'low-power'],
  thermal: ['unknown', 'nominal', 'fair', 'serious', 'critical'],
});

const EXECUTIONS = ['unknown', 'foreground', 'background'];
/** What a page's visibility says of its execution. @type {Record<string, PathSample['execution']>} */
const VISIBILITIES = { hidden: 'background', visible: 'foreground' };

/**
 * Reports the path as the browser sees it: at once, and after each change.
 *
 * @param {(sample: Readonly<PathSample>) => void} report
 * @returns {() => void} the way out
 */
export function watchPath(report) {
  const scope = /** @type {any} */ (globalThis);
  const controller = new AbortController();
  const { signal } = controller;
  let last = '';

  const update = () => {
    const sample = read();
    const words = Object.values(sample).join();
    if (words === last || signal.aborted) return;
    last = words;
    report(sample);
  };
  /** @param {any} target @param {string} types */
  const listen = (target, types) => {
    for (const type of types.split(' ')) target?.addEventListener?.(type, update, { signal });
  };

  // A page that comes back from the back/forward cache has missed the events of its absence.
  listen(scope, 'online offline pageshow');
  listen(connection(), 'change');
  // Only hidden pages are frozen, so that a freeze tells nothing new.
  listen(scope.document, 'visibilitychange resume');
  update();
  return () => controller.abort();
}

/** @returns {Readonly<PathSample>} */
function read() {
  const { navigator, document } = globalThis;
  const { type, saveData } = connection() ?? {};
  const isOffline = navigator?.onLine === false || type === 'none';
  return Object.freeze({
    // What a cellular link costs is for the core to judge.
    cost: saveData ? 'constrained' : 'unknown',
    // That a browser says "online" proves nothing.
    reachability: isOffline ? 'none' : 'unknown',
    interface: interfaceOf(type),
    power: 'unknown',
    thermal: 'unknown',
    execution: VISIBILITIES[document?.visibilityState] ?? 'unknown',
  });
}

/** @param {unknown} type of a connection @returns {PathSample['interface']} */
function interfaceOf(type) {
  if (type === 'ethernet') return 'wired';
  if (!type || type === 'none') return 'unknown';
  const word = /** @type {any} */ (type);
  return PATH.interface.includes(word) ? word : 'other';
}

/** Chromium's; `lib.dom` does not know it. @returns {any} */
function connection() {
  try {
    return /** @type {any} */ (globalThis.navigator).connection;
  } catch {
    return undefined;
  }
}

/**
 * A sample as the core takes it: the codes of `PATH` in their order, then how much time is left in
 * the background in milliseconds, or -1 where nothing bounds it. What is left out is unknown.
 *
 * @param {Partial<PathSample>} sample
 * @returns {number[]}
 * @throws {OptionsError} that names the field
 */
export function parseSample(sample) {
  if (typeof sample !== 'object' || sample === null) {
    throw new OptionsError('path', 'an object', sample);
  }
  const codes = Object.entries(PATH).map(([name, words]) =>
    codeOf(words, `path.${name}`, /** @type {any} */ (sample)[name]),
  );
  const { execution } = sample;
  const { deadline } = Object(execution);
  if (Number.isFinite(deadline) && deadline >= 0) return [...codes, deadline];
  codeOf(EXECUTIONS, 'path.execution', execution, ' or { deadline: milliseconds }');
  return [...codes, -1];
}

/**
 * @param {readonly string[]} words
 * @param {string} field
 * @param {any} [word]
 * @param {string} [or] what else it may be
 */
function codeOf(words, field, word = 'unknown', or = '') {
  const code = words.indexOf(word);
  if (code < 0) throw new OptionsError(field, `one of ${words.join(', ')}${or}`, word);
  return code;
}
