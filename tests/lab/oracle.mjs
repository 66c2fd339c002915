// @ts-check
/**
 * What a perfect client would have reached: the yardstick for every measured
 * rebuffering time.
 *
 * The model, a deterministic simulation over the real file sizes:
 * - Requests: the multivariant playlist first; then each track on its own loads
 *   its playlist, its init section and its segments, one after another, and no
 *   track asks for a segment while it is ahead of another one. hls.js does the
 *   same, within one segment.
 * - Link: an idealised fluid form of the server's link. Every response waits
 *   `delayMs` for its headers, then all responses in flight share the rate equally.
 * - Faults: the client detects a fault the moment it happens and asks again at
 *   once; each failed attempt costs one header delay. Bytes that arrived before a
 *   fault in the body are kept (the rest is asked for by range). For a fault with
 *   a window the client knows its end: it does not ask inside the window, and
 *   its request arrives exactly when the window is over.
 * - Start-up: playback begins `setupS` after every track has its first segment,
 *   the time a real browser and player need besides the network. `startS` counts
 *   from the first request.
 * - Buffer goal: a track asks for its next segment while less than `goalS` is
 *   buffered ahead. The default is what hls.js's defaults come to for this stream:
 *   60 MB, bounded by 600 s.
 * - Playback stops when any track has run dry and goes on the moment each has
 *   data again.
 *
 * @typedef {import('./rules.mjs').Rule} Rule
 * @typedef {{ startS: number, stallS: number, endS: number }} OracleResult
 */
import { faultOffset, pickRule } from './rules.mjs';

/**
 * Chromium and hls.js on an idle machine, clean run: about this much of the
 * start-up is not network.
 */
const SETUP_S = 0.3;

/** What remains of a file or a wait below this is floating point noise. */
const EPSILON = 1e-6;

/** Audio segments end at audio frames, so tracks count as level within this many seconds. */
const LEVEL_S = 0.1;

/**
 * @typedef {object} Piece  a part of a file sent by one response
 * @property {number} delay ms before its first byte
 * @property {number} bytes
 *
 * @typedef {object} TrackState
 * @property {{ file: string, bytes: number, seconds: number }[]} queue
 * @property {Piece[]} pieces  still to come of the file being loaded
 * @property {number} seconds  of the file being loaded
 * @property {number} buffered seconds of media
 * @property {boolean} needsMain
 */

/**
 * The pieces in which a perfect client gets a file it asks for at `clock`.
 * @param {readonly Rule[]} rules
 * @param {string} file
 * @param {number} bytes
 * @param {number} clock ms
 * @param {number} delayMs
 * @returns {Piece[]}
 */
function plan(rules, file, bytes, clock, delayMs) {
  /** @type {Piece[]} */
  const pieces = [];
  let delay = 0;
  let arrival = clock;
  let left = bytes;
  for (let attempt = 1; ;) {
    const rule = pickRule(rules, file, attempt, arrival + EPSILON);
    if (rule?.window) {
      delay += rule.window[1] - arrival;
      arrival = rule.window[1];
      continue;
    }
    delay += delayMs;
    if (!rule) return [...pieces, { delay, bytes: left }];
    if (rule.nth === undefined) throw new Error(`no client can load ${file}: the fault never ends`);
    const kept = keepsBytes(rule) ? faultOffset(rule.at, left) : 0;
    if (kept > 0) {
      pieces.push({ delay, bytes: kept });
      delay = 0;
      left -= kept;
    }
    arrival += delayMs;
    attempt += 1;
  }
}

/** @param {Rule} rule */
function keepsBytes(rule) {
  return ['resetBody', 'truncate', 'truncateSilent', 'stallBody', 'drip'].includes(rule.act);
}

/**
 * @param {object} input
 * @param {import('./playlist.mjs').Stream} input.stream
 * @param {{ kbps?: number, delayMs?: number }} input.link
 * @param {readonly Rule[]} input.rules
 * @param {number} [input.setupS]
 * @param {number} [input.goalS]
 * @returns {OracleResult}
 */
export function simulateOracle({ stream, link, rules, setupS = SETUP_S, goalS }) {
  const rate = Math.min((link.kbps ?? Infinity) / 8, 1e6);
  const delayMs = link.delayMs ?? 0;
  const goal = goalS ?? hlsBufferGoal(stream);
  const durations = stream.tracks.map((track) => sum(track.segments.map((s) => s.seconds)));
  const duration = Math.min(...durations);

  /** @type {TrackState[]} */
  const tracks = stream.tracks.map((track) => ({
    queue: [{ ...track.playlist, seconds: 0 }, { ...track.init, seconds: 0 }, ...track.segments],
    pieces: [],
    seconds: 0,
    buffered: 0,
    needsMain: true,
  }));
  // The multivariant playlist is a track of its own that the others wait for.
  /** @type {TrackState} */
  const main = {
    queue: [{ ...stream.main, seconds: 0 }],
    pieces: [],
    seconds: 0,
    buffered: 0,
    needsMain: false,
  };
  const loaders = [main, ...tracks];

  let clock = 0;
  let position = 0;
  let stalled = 0;
  let startAt = Infinity;

  /** Playing time until a track asks again. @param {TrackState} track */
  const overGoalMs = (track) => (track.buffered - position - goal) * 1000;

  while (position < duration - EPSILON) {
    const mainDone = main.queue.length === 0 && main.pieces.length === 0;
    for (const loader of loaders) {
      if (loader.pieces.length > 0 || loader.queue.length === 0) continue;
      if (loader.needsMain && !mainDone) continue;
      if (overGoalMs(loader) > EPSILON) continue;
      if (loader !== main && tracks.some((track) => track.buffered < loader.buffered - LEVEL_S))
        continue;
      const { file, bytes, seconds } =
        /** @type {{ file: string, bytes: number, seconds: number }} */ (loader.queue.shift());
      loader.pieces = plan(rules, file, bytes, clock, delayMs);
      loader.seconds = seconds;
    }
    if (startAt === Infinity && tracks.every((track) => track.buffered > 0)) {
      startAt = clock + setupS * 1000;
    }

    // Nothing changes before the next event: a first byte, a last byte, the
    // start, or a track falling below its buffer goal.
    const flowing = loaders.filter(
      (loader) => loader.pieces.length > 0 && loader.pieces[0].delay <= EPSILON,
    );
    const share = rate / Math.max(1, flowing.length);
    const playing = clock >= startAt - EPSILON;
    const buffered = Math.min(...tracks.map((track) => track.buffered), duration);
    const step = Math.min(
      ...loaders.flatMap((loader) => {
        if (loader.pieces.length === 0) return [];
        const [{ delay, bytes }] = loader.pieces;
        return [delay > EPSILON ? delay : bytes / share];
      }),
      ...(playing ? [] : [startAt - clock]),
      ...(playing && buffered > position + EPSILON ? [(buffered - position) * 1000] : []),
      ...(playing ? tracks.map(overGoalMs).filter((ms) => ms > EPSILON) : []),
    );
    if (!Number.isFinite(step)) throw new Error('the oracle came to a standstill');

    for (const loader of loaders) {
      const [piece] = loader.pieces;
      if (!piece) continue;
      if (piece.delay > EPSILON) piece.delay -= step;
      else piece.bytes -= share * step;
      if (piece.delay > EPSILON || piece.bytes > EPSILON) continue;
      loader.pieces.shift();
      if (loader.pieces.length === 0) loader.buffered += loader.seconds;
    }
    if (playing) {
      const advance = Math.min(step / 1000, buffered - position);
      position += advance;
      if (position < duration - EPSILON) stalled += step / 1000 - advance;
    }
    clock += step;
  }
  return { startS: startAt / 1000, stallS: stalled, endS: clock / 1000 };
}

/**
 * hls.js fills up to `maxBufferSize` bytes at the rendition's bitrate, at least
 * `maxBufferLength` and at most `maxMaxBufferLength` seconds.
 * @param {import('./playlist.mjs').Stream} stream
 */
function hlsBufferGoal({ tracks: [video] }) {
  const bytesPerSecond =
    sum(video.segments.map((s) => s.bytes)) / sum(video.segments.map((s) => s.seconds));
  return Math.min(600, Math.max(30, 60e6 / bytesPerSecond));
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
