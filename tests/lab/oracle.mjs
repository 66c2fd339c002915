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
 *   its request arrives exactly when the window is over. A fault of one host costs
 *   nothing, as it knows the other; one of a credential costs one header delay.
 * - Holes: a file that is gone for good (404, 410) is left out, and playback jumps
 *   over it. Any other fault that never ends ends playback: `dead`.
 * - While the network is away (`outages`, or a link whose trace is at zero) nothing
 *   moves, and nothing is lost.
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
 *
 * @typedef {object} OracleResult
 * @property {'ended' | 'dead'} outcome
 * @property {number} startS   Infinity when playback never begins
 * @property {number} stallS
 * @property {number} skippedS
 * @property {number} endS
 */
import { FRESH_TOKEN, faultOffset, pickRule } from './rules.mjs';

/**
 * Chromium and hls.js on an idle machine, clean run: about this much of the
 * start-up is not network.
 */
const SETUP_S = 0.3;

/** What remains of a file or a wait below this is floating point noise. */
const EPSILON = 1e-6;

/** Audio segments end at audio frames, so tracks count as level within this many seconds. */
const LEVEL_S = 0.1;

/** Faults after which bytes that came can be kept. @type {ReadonlySet<string>} */
const KEEPS_BYTES = new Set(['resetBody', 'truncate', 'truncateSilent', 'stallBody', 'drip']);

/** Answers that are no fault, but begin anew. @type {ReadonlySet<string>} */
const WHOLE = new Set(['newVersion', 'ignoreRange']);

/**
 * @typedef {object} Piece  a part of a file sent by one response
 * @property {number} delay ms before its first byte
 * @property {number} bytes
 *
 * @typedef {object} TrackState
 * @property {{ file: string, bytes: number, seconds: number, availableMs?: number }[]} queue
 * @property {Piece[]} pieces  still to come of the file being loaded
 * @property {number} seconds  of the file being loaded
 * @property {'hole' | 'dead'} [fate] of the file being loaded
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
 * @returns {{ pieces: Piece[], fate?: 'hole' | 'dead' }}
 */
function plan(rules, file, bytes, clock, delayMs) {
  /** @type {Piece[]} */
  const pieces = [];
  let delay = 0;
  let arrival = clock;
  let left = bytes;
  let fresh = false;
  for (let attempt = 1; ;) {
    const query = fresh ? FRESH_TOKEN : '';
    const rule = pickRule(rules, file, attempt, arrival + EPSILON, { query });
    const end = rule?.window?.[1] ?? Infinity;
    if (rule && rule.unless === undefined && Number.isFinite(end)) {
      delay += end - arrival;
      arrival = end;
      continue;
    }
    delay += delayMs;
    if (!rule) return { pieces: [...pieces, { delay, bytes: left }] };
    // It is the whole file again.
    if (WHOLE.has(rule.act)) return { pieces: [...pieces, { delay, bytes }] };
    if (rule.unless === FRESH_TOKEN && !fresh) {
      fresh = true;
    } else if (rule.nth === undefined) {
      const gone = rule.act === 'status' && [404, 410].includes(rule.status ?? 0);
      return { pieces: [{ delay, bytes: 0 }], fate: gone ? 'hole' : 'dead' };
    }
    const kept = KEEPS_BYTES.has(rule.act) ? faultOffset(rule.at, left) : 0;
    if (kept > 0) {
      pieces.push({ delay, bytes: kept });
      delay = 0;
      left -= kept;
    }
    arrival += delayMs;
    attempt += 1;
  }
}

/**
 * The rate of a link at each time, which changes from step to step.
 * @param {Link} link
 * @param {readonly [number, number][]} outages
 */
function weather({ kbps = Infinity, trace }, outages) {
  const period = trace?.reduce((total, { ms }) => total + ms, 0) ?? Infinity;
  /** The step that is on, and how much of it is left. @param {number} clock */
  const stepAt = (clock) => {
    let rest = trace ? clock % period : 0;
    for (const { ms, kbps } of trace ?? []) {
      if (rest < ms - EPSILON) return { kbps, left: ms - rest };
      rest -= ms;
    }
    return { kbps: trace?.[0].kbps ?? kbps, left: trace?.[0].ms ?? Infinity };
  };
  return {
    /** @param {number} clock ms @returns {number} bytes per ms */
    rate(clock) {
      const away = outages.some(([from, to]) => clock > from - EPSILON && clock < to - EPSILON);
      return away ? 0 : Math.min(stepAt(clock).kbps / 8, 1e6);
    },
    /** @param {number} clock ms @returns {number} ms until the rate may be another */
    steady(clock) {
      const bounds = outages.flat().filter((bound) => bound > clock + EPSILON);
      return Math.min(stepAt(clock).left, ...bounds.map((bound) => bound - clock));
    },
  };
}

/**
 * @typedef {object} Link
 * @property {number} [kbps]
 * @property {readonly import('./trace.mjs').TraceStep[]} [trace]
 * @property {number} [delayMs]
 */

/**
 * @param {object} input
 * @param {import('./playlist.mjs').Stream} input.stream
 * @param {Link} input.link
 * @param {readonly Rule[]} input.rules
 * @param {number} [input.setupS]
 * @param {number} [input.goalS]
 * @param {number} [input.untilS] of media, after which it is over
 * @param {readonly [number, number][]} [input.outages] when there is no network, ms
 * @returns {OracleResult}
 */
export function simulateOracle({
  stream,
  link,
  rules,
  setupS = SETUP_S,
  goalS,
  untilS = Infinity,
  outages = [],
}) {
  const { rate, steady } = weather(link, outages);
  const delayMs = (link.delayMs ?? 0) + (link.trace?.[0].latencyMs ?? 0);
  const goal = goalS ?? hlsBufferGoal(stream);
  const durations = stream.tracks.map((track) => sum(track.segments.map((s) => s.seconds)));
  const duration = Math.min(untilS, ...durations);

  /** @type {TrackState[]} */
  const tracks = stream.tracks.map((track) => ({
    queue: [{ ...track.playlist, seconds: 0 }, { ...track.init, seconds: 0 }, ...track.segments],
    pieces: [],
    seconds: 0,
    fate: undefined,
    buffered: 0,
    needsMain: true,
  }));
  // The multivariant playlist is a track of its own that the others wait for.
  /** @type {TrackState} */
  const main = {
    queue: [{ ...stream.main, seconds: 0 }],
    pieces: [],
    seconds: 0,
    fate: undefined,
    buffered: 0,
    needsMain: false,
  };
  const loaders = [main, ...tracks];

  let clock = 0;
  let position = 0;
  let stalled = 0;
  let skipped = 0;
  let startAt = Infinity;
  /** Media that is not there. @type {{ from: number, to: number }[]} */
  const holes = [];
  const hasEnded = () => position >= duration - EPSILON;
  const isDead = () => loaders.some(({ fate }) => fate === 'dead');

  /** Time until the next segment of a live stream is there. @param {TrackState} track */
  const availableIn = ({ queue }) => (queue[0]?.availableMs ?? 0) - clock;

  /** Playing time until a track asks again. @param {TrackState} track */
  const overGoalMs = (track) => (track.buffered - position - goal) * 1000;

  while (!hasEnded()) {
    const mainDone = main.queue.length === 0 && main.pieces.length === 0 && !main.fate;
    for (const loader of loaders) {
      if (loader.pieces.length > 0 || loader.queue.length === 0) continue;
      if (loader.fate === 'dead') continue;
      if (loader.needsMain && !mainDone) continue;
      if (overGoalMs(loader) > EPSILON) continue;
      if (availableIn(loader) > EPSILON) continue;
      if (loader !== main && tracks.some((track) => track.buffered < loader.buffered - LEVEL_S))
        continue;
      const { file, bytes, seconds } =
        /** @type {{ file: string, bytes: number, seconds: number }} */ (loader.queue.shift());
      const { pieces, fate } = plan(rules, file, bytes, clock, delayMs);
      Object.assign(loader, { pieces, fate, seconds });
    }
    if (startAt === Infinity && tracks.every((track) => track.buffered > 0)) {
      startAt = clock + setupS * 1000;
    }

    // Nothing changes before the next event: a first byte, a last byte, the start, a hole, a track
    // falling below its buffer goal, or another rate.
    const flowing = loaders.filter(
      (loader) => loader.pieces.length > 0 && loader.pieces[0].delay <= EPSILON,
    );
    const speed = rate(clock);
    const moves = speed > 0;
    const share = speed / Math.max(1, flowing.length);
    const playing = clock >= startAt - EPSILON;
    const buffered = Math.min(...tracks.map((track) => track.buffered), duration);
    const next = Math.min(
      ...loaders.flatMap((loader) => {
        if (loader.pieces.length === 0 || !moves) return [];
        const [{ delay, bytes }] = loader.pieces;
        return [delay > EPSILON ? delay : bytes / share];
      }),
      ...loaders.map(availableIn).filter((ms) => ms > EPSILON),
      ...(playing ? [] : [startAt - clock]),
      ...(playing && buffered > position + EPSILON ? [(buffered - position) * 1000] : []),
      ...(playing ? tracks.map(overGoalMs).filter((ms) => ms > EPSILON) : []),
      ...(playing
        ? holes.map(({ from }) => (from - position) * 1000).filter((ms) => ms > EPSILON)
        : []),
    );
    if (!Number.isFinite(next) && isDead()) break;
    const step = Math.min(next, steady(clock));
    if (!Number.isFinite(step)) throw new Error('the oracle came to a standstill');

    for (const loader of moves ? loaders : []) {
      const [piece] = loader.pieces;
      if (!piece) continue;
      if (piece.delay > EPSILON) piece.delay -= step;
      else piece.bytes -= share * step;
      if (piece.delay > EPSILON || piece.bytes > EPSILON) continue;
      loader.pieces.shift();
      if (loader.pieces.length > 0 || loader.fate === 'dead') continue;
      if (loader.fate === 'hole') {
        holes.push({ from: loader.buffered, to: loader.buffered + loader.seconds });
      }
      loader.buffered += loader.seconds;
    }
    if (playing) {
      const advance = Math.min(step / 1000, buffered - position);
      position += advance;
      if (!hasEnded() && !isDead()) stalled += step / 1000 - advance;
      const hole = holes.find(
        ({ from, to }) => position > from - EPSILON && position < to - EPSILON,
      );
      if (hole) {
        skipped += hole.to - position;
        position = hole.to;
      }
    }
    clock += step;
  }
  return {
    outcome: hasEnded() ? 'ended' : 'dead',
    startS: startAt / 1000,
    stallS: stalled,
    skippedS: skipped,
    endS: clock / 1000,
  };
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
