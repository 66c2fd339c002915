// @ts-check
/**
 * The taxonomy of faults, as data: what the server, the link or the page does, by the clock of
 * the session and by files alone, never by what a player does.
 *
 * Single faults are on the fifth video segment, which every player asks for while it plays.
 * Faults that last begin at second 6, with 5 s to 7 s of media in the buffer.
 */
import { FRESH_TOKEN } from '../../lab/rules.mjs';
import { caseOf, linkTrace } from '../traces/cases.mjs';
import { atHosts, encodedSegments, withTokens } from './streams.mjs';

/**
 * What a fault is, for the weightings.
 * @typedef {'stall' | 'ttfb' | 'reset' | 'offline' | 'slow' | '5xx' | '429' | '4xx' | 'corrupt'} Kind
 *
 * @typedef {object} Fault
 * @property {string} id
 * @property {string} title
 * @property {Kind} [kind]       a control has none
 * @property {boolean} [lasts]   a window of time instead of one request
 * @property {boolean} [startup] it delays the start, not the playback
 * @property {number} [retryAfterS] what the server says it wants
 * @property {number} [capS]     a run that is not over by then is `hung`
 * @property {boolean} [extra]   a further form of a fault, measured once
 * @property {Omit<import('../../lab/runner.mjs').Play, 'name'>} play
 */

/** @typedef {import('../../lab/rules.mjs').Rule} Rule */
/** @typedef {Omit<Rule, 'match'>} What */

const link = { kbps: 1600, delayMs: 40 };
export const CAP_S = 75;
const LONG_CAP_S = 130;

/** One request of the fifth video segment. @param {What} what @returns {{ link: typeof link, rules: Rule[] }} */
const once = (what) => ({ link, rules: [{ match: '^mid-05\\.m4s$', nth: 1, ...what }] });

/** Every request of it. @param {What[]} what */
const always = (...what) => ({ link, rules: what.map((w) => ({ match: '^mid-05\\.m4s$', ...w })) });

/** All segments, from second 6 on. @param {number} seconds @param {What} what */
const during = (seconds, what) => ({
  link,
  rules: [{ match: '\\.m4s$', window: window(seconds), ...what }],
});

/** The first requests of a file. @param {string} match @param {number} count @param {What} what */
const first = (match, count, what) => ({
  link,
  rules: [{ match, nth: Array.from({ length: count }, (_, i) => i + 1), ...what }],
});

/** @param {number} seconds @returns {[number, number]} */
const window = (seconds) => [6000, 6000 + seconds * 1000];

/** @param {number} seconds */
const offline = (seconds) => ({
  link,
  rules: [],
  page: [
    { at: 6000, offline: true },
    { at: 6000 + seconds * 1000, offline: false },
  ],
});

/** @param {string} name of a recording */
const recorded = (name) => ({ link: { trace: linkTrace(caseOf(name)) }, rules: [] });

/** Shown to scripts, or no player could know. @param {string | number} value @param {number} [status] */
const refusal = (value, status = 503) => ({
  act: /** @type {const} */ ('status'),
  status,
  headers: { 'Retry-After': String(value) },
});
const expose = ['Retry-After'];
const manifest = '^pinned\\.(m3u8|mpd)$';
const busy = { act: /** @type {const} */ ('status'), status: 503 };
const hang = { act: /** @type {const} */ ('stallHeaders'), ms: /** @type {const} */ ('inf') };

/** @type {Fault[]} */
export const faults = [
  {
    id: 'F01',
    title: 'a connection is reset before the headers',
    kind: 'reset',
    play: once({ act: 'resetHeaders' }),
  },
  {
    id: 'F02',
    title: 'a connection is reset in the middle of a body',
    kind: 'reset',
    play: once({ act: 'resetBody', at: 0.5 }),
  },
  {
    id: 'F03',
    title: 'every connection is reset for 10 s',
    kind: 'reset',
    lasts: true,
    play: during(10, { act: 'resetHeaders' }),
  },
  {
    id: 'F04',
    title: 'a request is never answered',
    kind: 'ttfb',
    play: once(hang),
  },
  {
    id: 'F05',
    title: 'a body falls silent half way',
    kind: 'stall',
    play: once({ act: 'stallBody', at: 0.5, ms: 'inf' }),
  },
  {
    id: 'F06',
    title: 'a body goes on at 2 kB/s from half way',
    kind: 'slow',
    play: once({ act: 'drip', at: 0.5, rate: 2000 }),
  },
  {
    id: 'F07',
    title: 'a body is cut, its length was promised',
    kind: 'reset',
    play: once({ act: 'truncate', at: 0.5 }),
  },
  {
    id: 'F08',
    title: 'a body is cut, and nothing says so',
    kind: 'corrupt',
    play: once({ act: 'truncateSilent', at: 0.5 }),
  },
  { id: 'F09', title: '503 for 10 s', kind: '5xx', lasts: true, play: during(10, busy) },
  {
    id: 'F10',
    title: '503 with Retry-After: 5 for 10 s',
    kind: '5xx',
    lasts: true,
    retryAfterS: 5,
    play: { ...during(10, refusal(5)), expose },
  },
  {
    id: 'F11',
    title: '503 with Retry-After as a date 5 s ahead, for 10 s',
    kind: '5xx',
    lasts: true,
    // A date has whole seconds.
    retryAfterS: 4,
    play: { ...during(10, { ...busy, retryAfterDate: 5 }), expose },
  },
  {
    id: 'F11-past',
    title: '503 with Retry-After as a date of a minute ago, for 10 s',
    kind: '5xx',
    lasts: true,
    extra: true,
    play: { ...during(10, { ...busy, retryAfterDate: -60 }), expose },
  },
  {
    id: 'F12',
    title: '503 with Retry-After: soon, for 10 s',
    kind: '5xx',
    lasts: true,
    play: { ...during(10, refusal('soon')), expose },
  },
  {
    id: 'F12-negative',
    title: '503 with Retry-After: -5, for 10 s',
    kind: '5xx',
    lasts: true,
    extra: true,
    play: { ...during(10, refusal(-5)), expose },
  },
  {
    id: 'F12-huge',
    title: '503 with Retry-After: 1000000000, for 10 s',
    kind: '5xx',
    lasts: true,
    extra: true,
    play: { ...during(10, refusal(1e9)), expose },
  },
  {
    id: 'F13',
    title: '429 with Retry-After: 10, for 10 s',
    kind: '429',
    lasts: true,
    retryAfterS: 10,
    play: { ...during(10, refusal(10, 429)), expose },
  },
  { id: 'F14', title: '503 for 25 s', kind: '5xx', lasts: true, play: during(25, busy) },
  {
    id: 'F14-60',
    title: '503 for 60 s',
    kind: '5xx',
    lasts: true,
    extra: true,
    capS: LONG_CAP_S,
    play: during(60, busy),
  },
  {
    id: 'F15',
    title: '502 from one of two hosts, from second 6 on',
    kind: '5xx',
    lasts: true,
    play: {
      link,
      rewrite: atHosts('a.test', 'b.test'),
      alternatives: true,
      rules: [
        {
          match: '\\.m4s$',
          host: '^a\\.test$',
          window: [6000, Infinity],
          act: 'status',
          status: 502,
        },
      ],
    },
  },
  {
    id: 'F16',
    title: 'the credential in the URLs ends at second 6, a fresh one can be had',
    kind: '4xx',
    lasts: true,
    play: {
      link,
      rewrite: withTokens,
      token: true,
      rules: [
        {
          match: '\\.m4s$',
          unless: FRESH_TOKEN,
          window: [6000, Infinity],
          act: 'status',
          status: 403,
        },
      ],
    },
  },
  {
    id: 'F16-window',
    title: '403 for 8 s, and nothing to ask for a fresh credential',
    kind: '4xx',
    lasts: true,
    extra: true,
    play: during(8, { act: 'status', status: 403 }),
  },
  {
    id: 'F17',
    title: 'a segment is not there yet: 404, once',
    kind: '4xx',
    play: once({ act: 'status', status: 404 }),
  },
  {
    id: 'F18',
    title: 'a segment is not there: 404, for good',
    kind: '4xx',
    play: always({ act: 'status', status: 404 }),
  },
  { id: 'F19', title: '408, once', kind: '4xx', play: once({ act: 'status', status: 408 }) },
  {
    id: 'F19-425',
    title: '425, once',
    kind: '4xx',
    extra: true,
    play: once({ act: 'status', status: 425 }),
  },
  {
    id: 'F19-410',
    title: 'a segment is gone: 410',
    kind: '4xx',
    extra: true,
    play: always({ act: 'status', status: 410 }),
  },
  {
    id: 'F20',
    title: 'every segment redirects to itself for 10 s',
    kind: '4xx',
    lasts: true,
    play: during(10, { act: 'redirect' }),
  },
  {
    id: 'F20-chain',
    title: 'a segment is behind five redirects (307)',
    kind: '4xx',
    extra: true,
    play: first('^mid-05\\.m4s$', 5, { act: 'redirect', status: 307 }),
  },
  {
    id: 'F21',
    title: 'answers without a CORS header for 10 s',
    kind: 'reset',
    lasts: true,
    play: during(10, { act: 'noCors' }),
  },
  {
    id: 'F22',
    title: 'a portal’s page with status 200 in place of a segment',
    kind: 'corrupt',
    play: once({ act: 'html200' }),
  },
  {
    id: 'F23',
    title: 'a body is reset, and then ranges are answered with the whole file',
    kind: 'corrupt',
    play: always({ nth: 1, act: 'resetBody', at: 0.5 }, { act: 'ignoreRange' }),
  },
  {
    id: 'F23-wrong',
    title: 'a body is reset, and then ranges are answered with another one',
    kind: 'corrupt',
    extra: true,
    play: always({ nth: 1, act: 'resetBody', at: 0.5 }, { nth: [2, 3], act: 'wrongRange' }),
  },
  {
    id: 'F24',
    title: 'a body encoded with gzip is reset half way',
    kind: 'corrupt',
    play: { ...once({ act: 'resetBody', at: 0.5 }), rewrite: encodedSegments },
  },
  {
    id: 'F25',
    title: 'a body is reset, and then its ETag is another one',
    kind: 'corrupt',
    play: always({ nth: 1, act: 'resetBody', at: 0.5 }, { act: 'newVersion' }),
  },
  {
    id: 'F26',
    title: 'the name of the first of two hosts does not resolve',
    kind: 'offline',
    startup: true,
    play: { link, rules: [], rewrite: atHosts('gone.test', 'b.test'), alternatives: true },
  },
  { id: 'F27', title: 'no network for 15 s', kind: 'offline', lasts: true, play: offline(15) },
  {
    id: 'F27-5',
    title: 'no network for 5 s',
    kind: 'offline',
    lasts: true,
    extra: true,
    play: offline(5),
  },
  {
    id: 'F27-60',
    title: 'no network for 60 s',
    kind: 'offline',
    lasts: true,
    extra: true,
    capS: LONG_CAP_S,
    play: offline(60),
  },
  {
    id: 'F28',
    title: 'nothing is answered for 10 s',
    kind: 'ttfb',
    lasts: true,
    play: during(10, hang),
  },
  {
    id: 'F28-60',
    title: 'nothing is answered for 60 s',
    kind: 'ttfb',
    lasts: true,
    extra: true,
    capS: LONG_CAP_S,
    play: during(60, hang),
  },
  {
    id: 'F29',
    title: 'the first manifest never ends',
    kind: 'slow',
    startup: true,
    play: first(manifest, 1, { act: 'endless' }),
  },
  {
    id: 'F31',
    title: 'the manifest answers 503 three times',
    kind: '5xx',
    startup: true,
    play: first(manifest, 3, busy),
  },
  {
    id: 'F32',
    title: 'the first request for the manifest is never answered',
    kind: 'ttfb',
    startup: true,
    play: first(manifest, 1, hang),
  },
  {
    id: 'F33',
    title: 'the first request for the initialisation segment is never answered',
    kind: 'ttfb',
    startup: true,
    play: first('^mid-init\\.mp4$', 1, hang),
  },
  {
    id: 'F34',
    title: 'a recorded 3G link that lets nothing through for 21 s',
    kind: 'slow',
    lasts: true,
    capS: LONG_CAP_S,
    play: recorded('norway3g-outage21s'),
  },
  {
    id: 'F34-cable',
    title: 'a recorded cable line, hardly fast enough, that lets nothing through for 15 s',
    kind: 'slow',
    lasts: true,
    extra: true,
    capS: LONG_CAP_S,
    play: recorded('fcc-hd-outage15s'),
  },
];

/** What must not be won by cheating. @type {Fault[]} */
export const controls = [
  { id: 'N1', title: 'nothing goes wrong', play: { link, rules: [] } },
  ...[401, 403, 451].map(
    (status) =>
      /** @type {Fault} */ ({
        id: status === 403 ? 'N2' : `N2-${status}`,
        title: `${status} for good from second 6 on: to be given up within 5 s`,
        extra: status !== 403,
        play: during(Infinity, { act: 'status', status }),
      }),
  ),
  {
    id: 'N3',
    title: 'a seek while segments answer 503: what was left is asked for no more',
    play: {
      link,
      rules: [{ match: '^mid-0\\d\\.m4s$', window: [6000, 60_000], act: 'status', status: 503 }],
      page: [{ at: 10_000, seek: 30 }],
    },
  },
  {
    id: 'N4',
    title: '503 with Retry-After: 120 from second 6 on: to be obeyed',
    retryAfterS: 120,
    capS: 60,
    play: { ...during(120, refusal(120)), expose },
  },
];

export const scenarios = [...faults, ...controls];

/** @param {string} id */
export function scenarioOf(id) {
  const found = scenarios.find((scenario) => scenario.id === id);
  if (!found) throw new Error(`there is no fault ${id}`);
  return found;
}
