// @ts-check
/**
 * The scenarios of the demo, as data. `bar` is what playback with Holdfast has to
 * reach; times are seconds.
 *
 * @typedef {object} Bar
 * @property {number} [maxStallS]      rebuffering at most
 * @property {number} [maxOverOracleS] rebuffering beyond the oracle's at most
 * @property {number} [maxStartS]      start-up at most
 *
 * @typedef {object} Scenario
 * @property {string} name
 * @property {string} title
 * @property {string} what  one sentence for people
 * @property {import('./session.mjs').LinkOptions} link
 * @property {import('./rules.mjs').Rule[]} rules
 * @property {Bar} bar
 */

const link = { kbps: 1600, delayMs: 40 };

/** @type {Scenario[]} */
export const scenarios = [
  {
    name: 'stall-body',
    title: 'A segment that stops half way',
    what: 'The fifth video segment sends half of its bytes, then stays silent for ever.',
    link,
    rules: [{ match: '^mid-05\\.m4s$', nth: 1, act: 'stallBody', at: 0.5, ms: 'inf' }],
    bar: { maxStallS: 1 },
  },
  {
    name: 'burst-503',
    title: 'Ten seconds of 503',
    what: 'From second 6 to second 16 every segment answers 503 Service Unavailable.',
    link,
    rules: [{ match: '\\.m4s$', window: [6000, 16000], act: 'status', status: 503 }],
    bar: { maxOverOracleS: 1.5 },
  },
  {
    name: 'manifest-hang',
    title: 'A manifest that never answers',
    what: 'The first request for the manifest is accepted and never answered.',
    link,
    rules: [{ match: '^(main|pinned)\\.(m3u8|mpd)$', nth: 1, act: 'stallHeaders', ms: 'inf' }],
    bar: { maxStartS: 6 },
  },
  {
    name: 'clean',
    title: 'Nothing goes wrong',
    what: 'The control: the same stream and link without a fault.',
    link,
    rules: [],
    bar: { maxStallS: 0.3, maxStartS: 3 },
  },
];

/** What `npm run demo` runs unless told otherwise. */
export const demoScenarios = ['stall-body', 'burst-503', 'manifest-hang'];
