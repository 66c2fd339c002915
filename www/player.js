// @ts-check
/** One run of one player, alone or with Holdfast, measured from load to its end. */
import { PlaybackMeter, bufferedEnd } from './meter.js';

const SAMPLE_MS = 100;

/** How long to watch a player after it has given up: it may still play its buffer. */
const AFTER_FATAL_MS = 12_000;

/** @typedef {import('./players/index.js').Variant} Variant */
/** @typedef {'starting' | 'playing' | 'waiting' | 'ended' | 'dead' | 'hung'} Phase */

/**
 * @typedef {object} Result
 * @property {'ended' | 'dead' | 'hung'} outcome
 * @property {number | null} startS null when playback never began
 * @property {number} stallS
 * @property {number} skippedS
 * @property {number} playedS
 * @property {string[]} errors
 */

export class Player {
  meter = new PlaybackMeter();
  /** @type {string[]} */
  errors = [];
  /** @type {Result | null} */
  result = null;
  /** @type {import('holdfast').Engine | null} */
  engine = null;
  #media;
  #driver;
  #variant;
  /** @type {import('./players/index.js').Running | undefined} */
  #running;
  /** When the run began, on the clock of performance.now(). */
  loadAt = 0;
  /** @type {number | undefined} */
  #fatalAt;
  #capMs;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /**
   * @param {HTMLVideoElement} media
   * @param {import('./players/index.js').Driver} driver
   * @param {Variant} variant
   * @param {{ capS: number }} options a run that is not over by then is `hung`
   */
  constructor(media, driver, variant, { capS }) {
    this.#media = media;
    this.#driver = driver;
    this.#variant = variant;
    this.#capMs = capS * 1000;
  }

  /**
   * @param {string} url
   * @returns {Promise<Result>}
   */
  async run(url) {
    // Libraries are loaded before the clock starts, for both variants alike.
    const begin = await this.#driver.prepare(this.#variant);
    this.#media.muted = true;
    this.#media.autoplay = true;
    this.loadAt = performance.now();
    this.#running = await begin(this.#media, url, (text, fatal) => this.#onError(text, fatal));
    this.engine = this.#running.engine;
    this.#media.play().catch(() => {});

    return new Promise((resolve) => {
      this.#timer = setInterval(() => {
        this.#sample();
        const outcome = this.#outcome();
        if (outcome) resolve(this.#finish(outcome));
      }, SAMPLE_MS);
    });
  }

  /** What the engine says of itself; null without one. */
  async tell() {
    if (this.#running?.tell) return this.#running.tell();
    return this.engine && { mode: this.engine.state.mode, log: this.engine.log() };
  }

  /** ms since load */
  get now() {
    return this.loadAt === 0 ? 0 : performance.now() - this.loadAt;
  }

  /** @returns {Phase} */
  get phase() {
    if (this.result) return this.result.outcome;
    if (this.meter.startMs === null) return 'starting';
    return this.meter.waiting ? 'waiting' : 'playing';
  }

  #sample() {
    const media = this.#media;
    this.meter.add({
      at: this.now,
      currentTime: media.currentTime,
      bufferedEnd: bufferedEnd(media),
      readyState: media.readyState,
      ended: media.ended,
    });
  }

  /** @param {string} text @param {boolean} fatal whether the player has given up */
  #onError(text, fatal) {
    this.errors.push(`${(this.now / 1000).toFixed(1)} s: ${text}${fatal ? ' (fatal)' : ''}`);
    if (fatal) this.#fatalAt ??= this.now;
  }

  /** @returns {Result['outcome'] | undefined} */
  #outcome() {
    if (this.#media.ended) return 'ended';
    const isOver = this.#fatalAt !== undefined && this.now - this.#fatalAt > AFTER_FATAL_MS;
    if (isOver && this.phase !== 'playing') return 'dead';
    return this.now > this.#capMs ? 'hung' : undefined;
  }

  /** @param {Result['outcome']} outcome */
  #finish(outcome) {
    clearInterval(this.#timer);
    this.result = {
      outcome,
      startS: this.meter.startS,
      stallS: this.meter.stallS,
      skippedS: this.meter.skippedS,
      playedS: this.#media.currentTime,
      errors: this.errors,
    };
    // The last picture stays; whatever the player still had in flight is cancelled.
    this.#running?.stop();
    return this.result;
  }
}
