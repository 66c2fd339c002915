// @ts-check
/** What an engine shows of itself: slots that are replaced, never changed, and who is told. */

import { attempt } from './attempt.js';

/** @typedef {import('./index.d.ts').EngineState} EngineState */

export class Slots {
  /** @type {Set<(state: EngineState) => void>} */
  #listeners = new Set();
  #queued = false;
  /** Whether the slots are to be read before they are shown. */
  #isStale = false;
  #read;
  #changed;
  /** @type {Array<() => void>} */
  #afterwards = [];
  /** @type {EngineState} */
  #state;
  /** What was told last. @type {EngineState} */
  #told;

  /**
   * @param {EngineState} initial
   * @param {() => Partial<EngineState>} read what may have changed
   * @param {((before: EngineState, after: EngineState) => void) | undefined} changed told before
   *   all others
   */
  constructor(initial, read, changed) {
    this.#state = this.#told = Object.freeze(initial);
    this.#read = read;
    this.#changed = changed;
  }

  /** Read not before somebody looks: most changes nobody does. */
  get state() {
    if (this.#isStale) {
      this.#isStale = false;
      this.#state = Object.freeze({ ...this.#state, ...this.#read() });
    }
    return this.#state;
  }

  /** @param {(state: EngineState) => void} listener @returns {() => void} */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Replaces slots at once, and tells of it as `touch` does.
   *
   * @param {Partial<EngineState>} slots
   * @param {() => void} [afterwards]
   */
  set(slots, afterwards) {
    this.#state = Object.freeze({ ...this.#state, ...slots });
    this.touch(afterwards);
  }

  /**
   * Something has changed: once all that happens now has happened, the listeners are told, then
   * `afterwards` runs.
   *
   * @param {() => void} [afterwards]
   */
  touch(afterwards) {
    if (afterwards) this.#afterwards.push(afterwards);
    this.#isStale = true;
    const isAwaited = this.#changed || this.#listeners.size > 0 || this.#afterwards.length > 0;
    if (this.#queued || !isAwaited) return;
    this.#queued = true;
    queueMicrotask(() => this.#flush());
  }

  #flush() {
    this.#queued = false;
    const { state } = this;
    this.#changed?.(this.#told, state);
    this.#told = state;
    for (const listener of [...this.#listeners]) attempt(() => listener(this.state));
    for (const afterwards of this.#afterwards.splice(0)) attempt(afterwards);
  }
}
