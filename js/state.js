// @ts-check
/** What an engine shows of itself: slots that are replaced, never changed, and who is told. */

import { attempt } from './attempt.js';

/** @typedef {import('./index.d.ts').EngineState} EngineState */

export class Slots {
  /** @type {Set<(state: EngineState) => void>} */
  #listeners = new Set();
  #queued = false;
  #read;
  #changed;
  /** @type {Array<() => void>} */
  #afterwards = [];
  /** @type {EngineState} */
  state;

  /**
   * @param {EngineState} initial
   * @param {() => Partial<EngineState>} read what may have changed
   * @param {(before: EngineState, after: EngineState) => void} changed told before all others
   */
  constructor(initial, read, changed) {
    this.state = Object.freeze(initial);
    this.#read = read;
    this.#changed = changed;
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
    this.state = Object.freeze({ ...this.state, ...slots });
    this.touch(afterwards);
  }

  /**
   * Something has changed: the slots are read once all that happens now has happened, then
   * the listeners are told, then `afterwards` runs.
   *
   * @param {() => void} [afterwards]
   */
  touch(afterwards) {
    if (afterwards) this.#afterwards.push(afterwards);
    if (this.#queued) return;
    this.#queued = true;
    queueMicrotask(() => this.#flush());
  }

  #flush() {
    this.#queued = false;
    const before = this.state;
    this.state = Object.freeze({ ...before, ...this.#read() });
    this.#changed(before, this.state);
    for (const listener of [...this.#listeners]) attempt(() => listener(this.state));
    for (const afterwards of this.#afterwards.splice(0)) attempt(afterwards);
  }
}
