// @ts-check
/**
 * Byte accounting from a session's log.
 *
 * Browsers resume aborted downloads on their own with range requests, so "bytes
 * sent minus file sizes" would be wrong: what counts as wasted is every byte
 * beyond the union of the byte ranges that were sent of each file, and every
 * byte of a body that was not the file's at all.
 */

/**
 * @param {readonly [number, number][]} ranges half open
 * @returns {number} how many different bytes they cover
 */
export function unionLength(ranges) {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  let covered = 0;
  let reach = 0;
  for (const [from, to] of sorted) {
    const start = Math.max(from, reach);
    if (to > start) {
      covered += to - start;
      reach = to;
    }
  }
  return covered;
}

/**
 * @param {readonly import('./session.mjs').LogEntry[]} log
 * @returns {{ requests: number, preflights: number, files: number, bytes: number,
 *   wastedBytes: number }}
 *   requests: everything the server was asked, preflights included
 */
export function account(log) {
  /** @type {Map<string, [number, number][]>} */
  const ranges = new Map();
  let bytes = 0;
  for (const entry of log) {
    bytes += entry.bytes;
    if (entry.from === null || entry.bytes === 0) continue;
    const list = ranges.get(entry.file) ?? [];
    list.push([entry.from, entry.from + entry.bytes]);
    ranges.set(entry.file, list);
  }
  let useful = 0;
  for (const list of ranges.values()) useful += unionLength(list);
  return {
    requests: log.length,
    preflights: log.filter((entry) => entry.act === 'preflight').length,
    files: new Set(log.map(({ file }) => file)).size,
    bytes,
    wastedBytes: bytes - useful,
  };
}

/**
 * What a link let through while anything was sent: the truth that an estimate is held against.
 * @param {{ capacity: (from: number, to: number) => number }} link
 * @param {readonly import('./session.mjs').LogEntry[]} log
 * @returns {number | null} null where nothing was sent, or the link has no limit
 */
export function truthKbps(link, log) {
  const spans = log.flatMap(({ t, end, bytes }) =>
    bytes > 0 && end !== null && end > t ? [/** @type {[number, number]} */ ([t, end])] : [],
  );
  const ms = unionLength(spans);
  if (ms === 0) return null;
  let bytes = 0;
  let reach = 0;
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    const start = Math.max(from, reach);
    if (to > start) bytes += link.capacity(start, to);
    reach = Math.max(reach, to);
  }
  const kbps = (bytes * 8) / ms;
  return kbps < 1e6 ? kbps : null;
}
