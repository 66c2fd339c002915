// @ts-check
/**
 * What was shown, from what the server sent: the rendition of each video segment, and what that
 * comes to.
 */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { account, unionLength } from '../../lab/accounting.mjs';
import { RENDITIONS } from '../../lab/abr-media.mjs';
import { SEGMENT_SECONDS } from '../../lab/media.mjs';

/** @typedef {import('../../lab/session.mjs').LogEntry} LogEntry */
/** @typedef {import('../../../www/meter.js').Sample} Sample */
/** @typedef {Map<string, number>} Sizes bytes by file */

const NAMES = RENDITIONS.map(({ name }) => name);
const VIDEO = new RegExp(`^(${NAMES.join('|')})-(\\d+)\\.m4s$`);

/** A player may stop this much before the end of the last segment that it played. */
const EDGE_S = 0.2;

/** @param {string} dir of the stream @returns {Promise<Sizes>} */
export async function readSizes(dir) {
  const files = await readdir(dir);
  const sized = files.map(
    async (file) => /** @type {const} */ ([file, (await stat(path.join(dir, file))).size]),
  );
  return new Map(await Promise.all(sized));
}

/**
 * When each file was whole, in order; more than once if it was fetched anew.
 * @param {readonly LogEntry[]} log
 * @param {Sizes} sizes
 * @returns {{ file: string, at: number }[]}
 */
function arrivals(log, sizes) {
  /** @type {Map<string, [number, number][]>} */
  const parts = new Map();
  /** @type {{ file: string, at: number }[]} */
  const whole = [];
  const ended = log.filter(({ end, from, bytes }) => end !== null && from !== null && bytes > 0);
  for (const { file, end, from, bytes } of ended.sort((a, b) => Number(a.end) - Number(b.end))) {
    const start = Number(from);
    const ranges = parts.get(file) ?? [];
    ranges.push([start, start + bytes]);
    const isWhole = unionLength(ranges) >= (sizes.get(file) ?? Infinity);
    parts.set(file, isWhole ? [] : ranges);
    if (isWhole) whole.push({ file, at: Number(end) });
  }
  return whole;
}

/**
 * The rendition in which each played segment was shown: the one that was whole last before the
 * playhead came to it (a player may replace what it has buffered), else the first one after that.
 *
 * @param {object} run
 * @param {readonly LogEntry[]} run.log
 * @param {Sizes} run.sizes
 * @param {readonly Sample[]} run.samples
 * @param {number} run.playedS
 * @returns {(string | undefined)[]} undefined where nothing was sent whole: it was jumped over
 */
export function playedRenditions({ log, sizes, samples, playedS }) {
  const count = Math.ceil((playedS - EDGE_S) / SEGMENT_SECONDS);
  const whole = arrivals(log, sizes).flatMap(({ file, at }) => {
    const [, rendition, number] = VIDEO.exec(file) ?? [];
    return rendition ? [{ rendition, index: Number(number) - 1, at }] : [];
  });
  return Array.from({ length: Math.max(0, count) }, (_, index) => {
    const mine = whole.filter((one) => one.index === index);
    const reached = samples.find(({ currentTime }) => currentTime >= index * SEGMENT_SECONDS);
    const before = mine.filter(({ at }) => at <= (reached?.at ?? Infinity));
    return (before.at(-1) ?? mine[0])?.rendition;
  });
}

/** @param {string} rendition @param {number} index */
function segmentFile(rendition, index) {
  return `${rendition}-${String(index + 1).padStart(2, '0')}.m4s`;
}

/**
 * @param {Parameters<typeof playedRenditions>[0]} run
 * @returns {{ meanKbps: number | null, switches: number, requests: number, wastedKB: number }}
 *   meanKbps: of the video, weighted by duration; null when nothing was played.
 *   wastedKB: sent twice, or of a rendition in which the segment was not shown
 */
export function accountPlayed(run) {
  const { log, sizes } = run;
  const renditions = playedRenditions(run);
  const shown = renditions.flatMap((rendition, index) =>
    rendition ? [segmentFile(rendition, index)] : [],
  );
  const bytes = shown.reduce((sum, file) => sum + (sizes.get(file) ?? 0), 0);
  const named = renditions.filter((rendition) => rendition !== undefined);
  const { requests, wastedBytes } = account(log);
  const kept = new Set(shown);
  const unseen = log.filter(({ file }) => {
    const number = VIDEO.exec(file)?.[2];
    return number && Number(number) <= renditions.length && !kept.has(file);
  });
  const wasted = wastedBytes + account(unseen).bytes - account(unseen).wastedBytes;
  return {
    meanKbps: shown.length === 0 ? null : (bytes * 8) / (shown.length * SEGMENT_SECONDS) / 1000,
    switches: named.filter((rendition, i) => i > 0 && rendition !== named[i - 1]).length,
    requests,
    wastedKB: wasted / 1000,
  };
}
