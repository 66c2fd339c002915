// @ts-check
/** What all that tabs tell each other goes over. */

/** Messages of another version are not for this one. */
const VERSION = 1;
/** What a tab said counts for so long, in milliseconds. */
export const LIFE = 60_000;

/** A channel that is closed, as locks are given back, while the page is in the back/forward cache. */
export class Line {
  #name;
  #hear;
  #opened;
  #closed;
  /** @type {BroadcastChannel | undefined} */
  #channel;
  isOpen = false;

  /**
   * @param {string} name
   * @param {(message: any) => void} hear
   * @param {() => void} closed
   * @param {() => void} [opened]
   */
  constructor(name, hear, closed, opened) {
    this.#name = name;
    this.#hear = hear;
    this.#closed = closed;
    this.#opened = opened;
    for (const type of ['pagehide', 'pageshow']) globalThis.addEventListener?.(type, this.#onPage);
  }

  /** @param {any} event */
  #onPage = ({ type, persisted }) => {
    if (type === 'pagehide') this.#shut();
    else if (persisted) this.open();
  };

  open() {
    if (this.isOpen) return;
    this.isOpen = true;
    try {
      this.#channel = new BroadcastChannel(this.#name);
      this.#channel.onmessage = ({ data }) => {
        if (data?.v === VERSION) this.#hear(data);
      };
    } catch {
      // There is none, or not for this page: a tab alone.
    }
    this.#opened?.();
  }

  /** @param {object} message */
  say(message) {
    this.#channel?.postMessage({ v: VERSION, at: Date.now(), ...message });
  }

  #shut() {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#channel?.close();
    this.#channel = undefined;
    this.#closed();
  }

  close = () => {
    for (const type of ['pagehide', 'pageshow']) {
      globalThis.removeEventListener?.(type, this.#onPage);
    }
    this.#shut();
  };
}

/** When what was said then is forgotten, in wall-clock time; NaN of what is no time. @param {any} at */
export const endOf = (at) => Math.min(at, Date.now()) + LIFE;

/** Absent where the page is not secure. @returns {LockManager | undefined} */
export const lockManager = () => globalThis.navigator?.locks;
