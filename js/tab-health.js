// @ts-check
/** What tabs tell each other of hosts, and which of them probes one. All spans in milliseconds. */
import { endOf, LIFE, Line, lockManager } from './tab-line.js';

/** @typedef {import('./cross-tab.js').News} News */

/** News go out once in so long at most. */
const PAUSE = 250;
/** Times that differ by less are the same: clocks are read twice on the way. */
const SLACK = 100;
/** So many hosts are told and heard of. */
const MOST = 100;
/** The cool-down is at its longest after fewer trips. */
const TRIPS = 10;
/** A probe that is not sent by then is none: its request was cancelled. */
const SENT = 1000;
/** A probe is over after so long, whatever came of it. */
const PROBE = 15_000;
/** Who probes for longer without news is stuck, and not waited for. */
const STUCK = 20_000;

export class Gossip {
  #engine;
  #name;
  #line;
  #unsubscribe;
  /** @type {Map<string, { openUntil: number, blockedUntil: number, end: number }>} what all tabs know by now, this one included */
  #known = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {Map<string, { due: number, release: () => void }>} by host; when its probe is sent at the latest */
  #held = new Map();
  /** @type {Map<string, number>} since when another tab probes a host */
  #refused = new Map();

  /**
   * @param {import('./cross-tab.js').CrossTabEngine} engine
   * @param {string} name
   */
  constructor(engine, name) {
    this.#engine = engine;
    this.#name = name;
    this.#line = new Line(
      name,
      (message) => this.#hear(message),
      () => this.#rest(),
      () => void this.#begin(),
    );
    this.#unsubscribe = engine.subscribe(() => this.#changed());
    this.#line.open();
  }

  async #begin() {
    if (lockManager()) this.#engine.electProbes(this.#elect);
    await this.#engine.ready;
    this.#changed();
    this.#line.say({ asks: true });
  }

  #rest() {
    this.#engine.electProbes(undefined);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { release } of this.#held.values()) release();
  }

  close() {
    this.#unsubscribe();
    this.#line.close();
  }

  // News.

  /** @param {any} message */
  #hear({ at, asks, hosts }) {
    // What comes before the module would be lost; it is asked for again then.
    if (this.#engine.state.mode !== 'engine') return;
    if (asks) this.#tell(true);
    const end = endOf(at);
    if (!Array.isArray(hosts) || !(end > Date.now())) return;
    const shift = performance.now() - Date.now();
    for (const item of hosts.slice(0, MOST)) {
      const news = newsOf(item, end);
      if (!news || !this.#learn(news)) continue;
      const { host, openUntil, trips, blockedUntil, rate } = news;
      // What is not said, 0, comes out long before this page: that says nothing.
      this.#engine.adoptHealth(host, {
        trips,
        rate,
        openUntil: openUntil + shift,
        blockedUntil: blockedUntil + shift,
      });
    }
  }

  /** Whether this is more than the tabs knew; then they do. @param {News} news */
  #learn({ host, openUntil, blockedUntil }) {
    const now = Date.now();
    let known = this.#known.get(host);
    if (!known && this.#known.size >= MOST) return false;
    if (!known || known.end < now) known = { openUntil: 0, blockedUntil: 0, end: 0 };
    const isMore = openUntil > known.openUntil + SLACK || blockedUntil > known.blockedUntil + SLACK;
    if (isMore) {
      this.#known.set(host, {
        openUntil: Math.max(openUntil, known.openUntil),
        blockedUntil: Math.max(blockedUntil, known.blockedUntil),
        end: now + LIFE,
      });
    }
    return isMore;
  }

  /** Tells what the other tabs do not know, or all. @param {boolean} [all] */
  #tell(all = false) {
    // Without a network, nothing that fails is the host's fault, and cool-downs stand still.
    if (globalThis.navigator?.onLine === false) return false;
    const { hostHealth, throttle } = this.#engine.state;
    const now = performance.now();
    const wall = (at = 0) => (at > now ? at - now + Date.now() : 0);
    const hosts = Object.entries(hostHealth)
      .map(([host, { state, retryAt, trips }]) => {
        const openUntil = state === 'open' ? wall(retryAt) : 0;
        const blockedUntil = wall(throttle[host]?.blockedUntil);
        const rate = blockedUntil ? throttle[host].rate : Infinity;
        return { host, openUntil, trips, blockedUntil, rate };
      })
      .filter((news) => this.#learn(news) || (all && news.openUntil + news.blockedUntil > 0));
    if (hosts.length) this.#line.say({ hosts });
    return hosts.length > 0;
  }

  #changed() {
    if (this.#timer !== undefined || !this.#line.isOpen) return;
    if (this.#tell()) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#changed();
      }, PAUSE);
      return;
    }
    // Only now: who gets the lock next has heard what came of the probe.
    const { hostHealth } = this.#engine.state;
    for (const [host, hold] of this.#held) {
      const { state, retryAt } = hostHealth[host] ?? {};
      const isOnItsWay = retryAt !== undefined;
      if (state !== 'half-open' || !(isOnItsWay || performance.now() < hold.due)) hold.release();
      if (isOnItsWay) hold.due = 0;
    }
    for (const host of this.#refused.keys()) {
      if (hostHealth[host]?.state !== 'half-open') this.#refused.delete(host);
    }
  }

  // Probes.

  /** Whether a request of this tab may probe a host now. @param {string} host @returns {Promise<boolean>} */
  #elect = (host) =>
    new Promise((resolve) => {
      const lockName = `${this.#name}:probe:${host}`;
      lockManager()
        ?.request(lockName, { ifAvailable: true }, (lock) => {
          resolve(lock !== null || this.#isStuck(host));
          return lock && this.#line.isOpen ? this.#hold(host) : undefined;
        })
        // What the lock manager cannot decide the engine decides alone.
        .catch(() => resolve(true));
    });

  /** Resolves when the probe is over. @param {string} host @returns {Promise<void>} */
  #hold(host) {
    return new Promise((resolve) => {
      const release = () => {
        clearTimeout(timer);
        this.#held.delete(host);
        resolve();
      };
      const timer = setTimeout(release, PROBE);
      this.#held.set(host, { due: performance.now() + SENT, release });
    });
  }

  /** @param {string} host */
  #isStuck(host) {
    const now = performance.now();
    const since = this.#refused.get(host) ?? now;
    this.#refused.set(host, since);
    return now - since > STUCK;
  }
}

/** A time that is still to come, and no later than `end`; 0 of all else. @param {any} at @param {number} end */
const timeOf = (at, end) => (typeof at === 'number' && at > Date.now() ? Math.min(at, end) : 0);

/**
 * News out of a message, or undefined of what is none.
 *
 * @param {any} item
 * @param {number} end when they are forgotten
 * @returns {News | undefined}
 */
function newsOf(item, end) {
  const { host, openUntil, trips, blockedUntil, rate } = Object(item);
  if (typeof host !== 'string' || !host) return undefined;
  const blocked = rate > 0 && rate < Infinity ? timeOf(blockedUntil, end) : 0;
  return {
    host,
    openUntil: timeOf(openUntil, end),
    trips: trips > 0 ? Math.min(Math.floor(trips), TRIPS) : 0,
    blockedUntil: blocked,
    rate: blocked ? Number(rate) : Infinity,
  };
}
