// @ts-check
/**
 * One run of one player: hls.js alone or with Holdfast, one rendition pinned,
 * measured from load to its end.
 */
import Hls from 'hls.js';
import { PlaybackMeter, bufferedEnd } from './meter.js';

const SAMPLE_MS = 100;

/** How long to watch a player after it has given up: it may still play its buffer. */
const AFTER_FATAL_MS = 12_000;

/**
 * The same for both variants. Buffer goals, retry policies and everything else
 * stay what the libraries make them.
 */
const sharedConfig = {
  // An error must not move the measurement to another bitrate.
  preserveManualLevelOnError: true,
};

/** @typedef {'plain' | 'holdfast'} Variant */
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
  #variant;
  /** @type {Hls | undefined} */
  #hls;
  /** When the run began, on the clock of performance.now(). */
  loadAt = 0;
  /** @type {number | undefined} */
  #fatalAt;
  #capMs;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  /** @type {() => void} */
  #stopReporting = () => {};

  /**
   * @param {HTMLVideoElement} media
   * @param {Variant} variant
   * @param {{ capS: number }} options a run that is not over by then is `hung`
   */
  constructor(media, variant, { capS }) {
    this.#media = media;
    this.#variant = variant;
    this.#capMs = capS * 1000;
  }

  /**
   * @param {string} url
   * @returns {Promise<Result>}
   */
  async run(url) {
    // Libraries are loaded before the clock starts, for both variants alike.
    const holdfast =
      this.#variant === 'holdfast'
        ? await Promise.all([import('holdfast'), import('holdfast/hls')])
        : undefined;

    this.loadAt = performance.now();
    const hls = holdfast ? this.#withHoldfast(...holdfast) : new Hls({ ...sharedConfig });
    this.#hls = hls;
    pinMiddleLevel(hls);
    hls.on(Hls.Events.ERROR, (_event, data) => this.#onError(data));
    hls.loadSource(url);
    hls.attachMedia(this.#media);
    this.#media.muted = true;
    this.#media.play().catch(() => {});

    return new Promise((resolve) => {
      this.#timer = setInterval(() => {
        this.#sample();
        const outcome = this.#outcome();
        if (outcome) resolve(this.#finish(outcome));
      }, SAMPLE_MS);
    });
  }

  /**
   * All that an application has to do.
   * @param {typeof import('holdfast')} core
   * @param {typeof import('holdfast/hls')} adapter
   */
  #withHoldfast({ createEngine }, { hlsConfig, attachHls }) {
    const engine = createEngine();
    const hls = new Hls(hlsConfig(engine, sharedConfig));
    this.#stopReporting = attachHls(engine, hls);
    this.engine = engine;
    return hls;
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

  /** @param {import('hls.js').ErrorData} data */
  #onError(data) {
    const code = data.response?.code ? ` ${data.response.code}` : '';
    const fatal = data.fatal ? ' (fatal)' : '';
    this.errors.push(`${(this.now / 1000).toFixed(1)} s: ${data.details}${code}${fatal}`);
    if (data.fatal) this.#fatalAt ??= this.now;
  }

  /** @returns {Result['outcome'] | undefined} */
  #outcome() {
    if (this.#media.ended) return 'ended';
    if (this.#fatalAt !== undefined && this.now - this.#fatalAt > AFTER_FATAL_MS) return 'dead';
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
    this.#stopReporting();
    this.#hls?.stopLoad();
    return this.result;
  }
}

/**
 * Levels are sorted by bitrate once the manifest is parsed. A manual level turns
 * the bitrate switching off; the cap says so twice.
 * @param {Hls} hls
 */
function pinMiddleLevel(hls) {
  hls.on(Hls.Events.MANIFEST_PARSED, (_event, { levels }) => {
    const middle = Math.floor(levels.length / 2);
    hls.startLevel = middle;
    hls.loadLevel = middle;
    hls.autoLevelCapping = middle;
  });
}
