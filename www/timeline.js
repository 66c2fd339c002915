// @ts-check
/**
 * The timeline of one run as an SVG: what the viewer saw on top, the buffer
 * ahead in the middle, the requests the server got below. The x axis is seconds
 * since load.
 */

const WIDTH = 600;
const LEFT = 60;
const RIGHT = 22;
const BAND = { top: 6, height: 12 };
const CHART = { top: 28, height: 110 };
const LANES = { top: 152, height: 15, gap: 4 };
const lanes = /** @type {const} */ (['playlists', 'audio', 'video']);
/** Also the shortest request has to be seen. */
const NARROWEST = 2.5;
const HEIGHT = LANES.top + lanes.length * (LANES.height + LANES.gap) + 20;

/**
 * @typedef {object} TimelineData
 * @property {import('./meter.js').PlaybackMeter} meter
 * @property {number} nowS
 * @property {import('./player.js').Phase} phase
 * @property {{ t: number, end: number | null, file: string, act: string, status: number, how: string, bytes: number }[]} requests
 * @property {number} offsetMs  session clock zero, in ms since load
 * @property {[number, number][]} windows fault windows on the session clock, ms
 */

/** @param {string} file */
function laneOf(file) {
  if (file.endsWith('.m3u8')) return 0;
  return file.startsWith('audio') ? 1 : 2;
}

/** @param {{ how: string, status: number, act: string }} request */
function requestClass(request) {
  if (request.how === 'open') return request.act === 'normal' ? 'open' : 'open bad';
  return request.how === 'sent' && request.status < 400 ? 'sent' : 'bad';
}

/** @param {string} text */
function escapeText(text) {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/**
 * @param {Element} target an svg element
 * @param {TimelineData} data
 */
export function drawTimeline(target, data) {
  const { meter, nowS, phase, requests, offsetMs, windows } = data;
  const span = niceSpan(nowS);
  const x = (/** @type {number} */ seconds) => LEFT + (seconds / span) * (WIDTH - LEFT - RIGHT);
  const rect = (
    /** @type {string} */ css,
    /** @type {number} */ from,
    /** @type {number} */ to,
    /** @type {number} */ y,
    /** @type {number} */ height,
    title = '',
  ) =>
    `<rect class="${css}" x="${x(from).toFixed(1)}" width="${Math.max(NARROWEST, x(to) - x(from)).toFixed(1)}" y="${y}" height="${height}" rx="2">` +
    `${title ? `<title>${escapeText(title)}</title>` : ''}</rect>`;

  const parts = [];
  for (const [from, to] of windows) {
    const [a, b] = [from, to].map((ms) => Math.min(span, (ms + offsetMs) / 1000));
    parts.push(rect('window', a, b, BAND.top, HEIGHT - 22 - BAND.top));
  }
  parts.push(axis(span, x));

  // What the viewer saw.
  const startS = meter.startS ?? nowS;
  parts.push(
    label('viewer', BAND.top + 10),
    rect('starting', 0, startS, BAND.top, BAND.height, `start ${startS.toFixed(1)} s`),
  );
  if (meter.startS !== null) parts.push(rect('playing', startS, nowS, BAND.top, BAND.height));
  for (const { from, to } of meter.waits) {
    const title = `waited ${((to - from) / 1000).toFixed(1)} s`;
    parts.push(rect('waiting', from / 1000, to / 1000, BAND.top, BAND.height, title));
  }
  if (phase === 'dead' || phase === 'hung')
    parts.push(rect('waiting', nowS - 0.3, nowS, BAND.top, BAND.height, phase));

  parts.push(bufferChart(meter, x));

  lanes.forEach((name, i) => parts.push(label(name, laneTop(i) + 11)));
  for (const request of requests) {
    const from = Math.max(0, (request.t + offsetMs) / 1000);
    const to = request.end === null ? nowS : (request.end + offsetMs) / 1000;
    const title = `${request.file}: ${request.status || 'no answer'}, ${request.bytes} bytes, ${request.how}${request.act === 'normal' ? '' : ` (${request.act})`}`;
    parts.push(
      rect(
        `request ${requestClass(request)}`,
        from,
        Math.min(span, to),
        laneTop(laneOf(request.file)),
        LANES.height,
        title,
      ),
    );
  }
  target.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  target.innerHTML = parts.join('');
}

/** @param {number} i */
function laneTop(i) {
  return LANES.top + i * (LANES.height + LANES.gap);
}

/** The axis grows in steps, so that it does not crawl while a run goes on. @param {number} nowS */
function niceSpan(nowS) {
  return [45, 60, 90, 120, 150].find((span) => nowS <= span) ?? 200;
}

/** @param {string} text @param {number} y */
function label(text, y) {
  return `<text class="label" x="${LEFT - 8}" y="${y}" text-anchor="end">${text}</text>`;
}

/** @param {number} span @param {(seconds: number) => number} x */
function axis(span, x) {
  const step = span > 60 ? 10 : 5;
  let parts = '';
  for (let s = 0; s <= span; s += step) {
    parts += `<line class="grid" x1="${x(s)}" x2="${x(s)}" y1="${BAND.top}" y2="${HEIGHT - 18}"/>`;
    if (s % (2 * step) === 0)
      parts += `<text class="label" x="${x(s)}" y="${HEIGHT - 4}" text-anchor="middle">${s} s</text>`;
  }
  return parts;
}

/**
 * @param {import('./meter.js').PlaybackMeter} meter
 * @param {(seconds: number) => number} x
 */
function bufferChart(meter, x) {
  const { samples } = meter;
  // A point every half second is all a screen can show.
  const points = samples.filter((_, i) => i % 5 === 0 || i === samples.length - 1);
  const ahead = points.map((s) => Math.max(0, s.bufferedEnd - s.currentTime));
  const top = Math.max(10, Math.ceil(Math.max(0, ...ahead) / 10) * 10);
  const base = CHART.top + CHART.height;
  const y = (/** @type {number} */ value) => base - (value / top) * CHART.height;
  let parts = '';
  for (const value of [0, top / 2, top]) {
    parts += `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}"/>`;
    parts += label(`${value} s`, y(value) + 4);
  }
  if (points.length > 1) {
    const line = points.map((s, i) => `${x(s.at / 1000).toFixed(1)},${y(ahead[i]).toFixed(1)}`);
    const [first, last] = [x(points[0].at / 1000), x(points[points.length - 1].at / 1000)];
    parts += `<polygon class="buffer-area" points="${first},${base} ${line.join(' ')} ${last},${base}"/>`;
    parts += `<polyline class="buffer-line" points="${line.join(' ')}"/>`;
  }
  return parts;
}
