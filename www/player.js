// @ts-check
/** One run of one player, alone or with Holdfast, measured from load to its end. */
import { PlaybackMeter, bufferedEnd } from './meter.js';

const SAMPLE_MS = 100;

/** How long to watch a player after it has given up: it may still play its buffer. */
const AFTER_FATAL_MS = 12_000;

/** A player that plays on after its error is not dead because it waits for a moment. */
const STANDS_MS = 3000;

/** @typedef {import('./players/index.js').Variant} Variant */
/** @typedef {'starting' | 'playing' | 'waiting' | 'ended' | 'dead' | 'hung'} Phase */

/**
 * @typedef {object} Result
 * @property {'ended' | 'dead' | 'hung'} outcome
 * @property {number | null} startS null when playback never began
 * @property {number} stallS
 * @property {number} skippedS
 * @property {import('./meter.js').Wait[]} waits
 * @property {number} longestStallS
 * @property {number} playedS
 * @property {number} pictures frames of video that were decoded
 * @property {number} passedS  media that playback has passed through, jumps left out
 * @property {number | null} fatalS when the player gave up
 * @property {number | null} estimateKbps what it takes the link for, where it says so
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
  #untilS;
  #setup;
  /** Frames so far; a player that sets up the element anew makes it count from zero again. */
  #pictures = { before: 0, now: 0 };
  /** Media that was jumped over because somebody sought. */
  #soughtS = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /**
   * @param {HTMLVideoElement} media
   * @param {import('./players/index.js').Driver} driver
   * @param {Variant} variant
   * @param {object} options
   * @param {number} options.capS a run that is not over by then is `hung`
   * @param {number} [options.untilS] a run that has played so far is over, and counts as ended
   * @param {import('./players/index.js').Setup} [options.setup]
   */
  constructor(media, driver, variant, { capS, untilS = Infinity, setup = {} }) {
    this.#media = media;
    this.#driver = driver;
    this.#variant = variant;
    this.#capMs = capS * 1000;
    this.#untilS = untilS;
    this.#setup = setup;
  }

  /**
   * @param {string} url
   * @returns {Promise<Result>}
   */
  async run(url) {
    // Libraries are loaded before the clock starts, for both variants alike.
    const begin = await this.#driver.prepare(this.#variant, this.#setup);
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

  /** @param {number} position seconds */
  seek(position) {
    this.#soughtS += Math.max(0, position - this.#media.currentTime);
    this.#media.currentTime = position;
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
    const { totalVideoFrames } = media.getVideoPlaybackQuality();
    if (totalVideoFrames < this.#pictures.now) this.#pictures.before += this.#pictures.now;
    this.#pictures.now = totalVideoFrames;
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
    if (this.#media.ended || this.#media.currentTime >= this.#untilS) return 'ended';
    const isOver = this.#fatalAt !== undefined && this.now - this.#fatalAt > AFTER_FATAL_MS;
    const { startMs, waiting, waits } = this.meter;
    const wait = waiting ? waits.at(-1) : undefined;
    const stands = startMs === null || (wait && wait.to - wait.from > STANDS_MS);
    if (isOver && stands) return 'dead';
    return this.now > this.#capMs ? 'hung' : undefined;
  }

  /** @param {Result['outcome']} outcome */
  #finish(outcome) {
    clearInterval(this.#timer);
    const { waits } = this.meter;
    const estimate = this.#running?.estimateKbps?.();
    this.result = {
      outcome,
      startS: this.meter.startS,
      stallS: this.meter.stallS,
      waits,
      longestStallS: Math.max(0, ...waits.map(({ from, to }) => (to - from) / 1000)),
      skippedS: Math.max(0, this.meter.skippedS - this.#soughtS),
      playedS: this.#media.currentTime,
      pictures: this.#pictures.before + this.#pictures.now,
      passedS: this.#media.currentTime - this.meter.beginning - this.meter.skippedS,
      fatalS: this.#fatalAt === undefined ? null : this.#fatalAt / 1000,
      estimateKbps: estimate !== undefined && Number.isFinite(estimate) ? estimate : null,
      errors: this.errors,
    };
    // The last picture stays; whatever the player still had in flight is cancelled.
    this.#running?.stop();
    return this.result;
  }
}
