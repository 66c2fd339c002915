// @ts-check
/**
 * Measures playback from samples of the media element, with no knowledge of the
 * player: what a viewer would notice, and nothing else.
 *
 * - Start: the first sample with a position 0.05 s beyond where playback begins, which in a live
 *   stream is wherever the player jumps to.
 * - Waiting: time between samples in which the position did not move, after the
 *   start and before the end. A wait that has not ended yet counts in `stallS`
 *   too, so for a run that never resumed `stallS` is a lower bound; the pause
 *   right before the `ended` event is not a wait.
 * - Skipped: media jumped over, which a player may do instead of waiting.
 */

const STARTED_S = 0.05;

/** Playback moves the position by about the time that passed, or not at all. */
const MOVED_SHARE = 0.1;

/** A step this much longer than the time it took is a jump. */
const JUMP_S = 0.3;

/**
 * @typedef {object} Sample
 * @property {number} at          ms since load
 * @property {number} currentTime
 * @property {number} bufferedEnd end of the buffered range around the position
 * @property {number} readyState
 * @property {boolean} ended
 */

/** @typedef {{ from: number, to: number }} Wait ms since load */

export class PlaybackMeter {
  /** @type {Sample[]} */
  samples = [];
  /** @type {Wait[]} */
  waits = [];
  /** @type {number | null} */
  startMs = null;
  skippedS = 0;
  ended = false;
  /** The position where playback begins, seconds. */
  beginning = 0;

  /** @param {Sample} sample */
  add(sample) {
    const last = this.samples.at(-1);
    this.samples.push(sample);
    if (this.ended) return;
    const elapsed = (sample.at - (last?.at ?? 0)) / 1000;
    const moved = sample.currentTime - (last?.currentTime ?? 0);
    if (this.startMs === null) {
      if (moved > elapsed + JUMP_S) this.beginning = sample.currentTime;
      if (sample.currentTime > this.beginning + STARTED_S) this.startMs = sample.at;
      return;
    }
    if (!last) return;
    if (moved > elapsed + JUMP_S) this.skippedS += moved - elapsed;
    if (sample.ended) {
      this.ended = true;
      if (this.waits.at(-1)?.to === last.at) this.waits.pop();
      return;
    }
    if (moved < elapsed * MOVED_SHARE) {
      const wait = this.waits.at(-1);
      if (wait && wait.to === last.at) wait.to = sample.at;
      else this.waits.push({ from: last.at, to: sample.at });
    }
  }

  /** Is the viewer waiting right now? */
  get waiting() {
    const wait = this.waits.at(-1);
    return wait !== undefined && wait.to === this.samples.at(-1)?.at;
  }

  get stallS() {
    return this.waits.reduce((total, { from, to }) => total + (to - from) / 1000, 0);
  }

  get startS() {
    return this.startMs === null ? null : this.startMs / 1000;
  }

  /** Seconds buffered ahead of the position. */
  get ahead() {
    const sample = this.samples.at(-1);
    return sample ? Math.max(0, sample.bufferedEnd - sample.currentTime) : 0;
  }
}

/**
 * End of the buffered range that contains the position, or the position itself.
 * @param {HTMLMediaElement} media
 */
export function bufferedEnd(media) {
  const { buffered, currentTime } = media;
  for (let i = 0; i < buffered.length; i += 1) {
    // A player may start a little before the first buffered frame.
    if (buffered.start(i) <= currentTime + 0.25 && currentTime <= buffered.end(i))
      return buffered.end(i);
  }
  return currentTime;
}
