// @ts-check
/** Shows what the Holdfast engine knows, what it is retrying and what it decided. */

/** @typedef {import('holdfast').LogEntry} LogEntry */
/** @typedef {import('holdfast').RetryState} RetryState */

const SHOWN_DECISIONS = 80;

/** Events that every request goes through when nothing is wrong. */
const routine = new Set(['started', 'accepted']);
const routineOfFirstAttempt = new Set(['sent', 'succeeded']);

/** @type {Record<string, string>} unit of an event's value */
const units = { waiting: 'ms', 'stall-suspect': 'ms', hurried: 'ms', succeeded: 'bytes' };

/** @type {Record<string, string>} */
const healths = { open: 'is down', 'half-open': 'is tried', closed: 'is well again' };
/** @type {Record<string, string>} */
const scopes = { session: 'to any host', host: 'to this host', prefix: 'under this prefix' };
/** @type {Record<string, string>} */
const questions = {
  'should-retry': 'whether to repeat it',
  'refresh-license': 'for a fresh license request',
  probe: 'the other tabs who probes the host',
};
/** @type {Record<string, string>} */
const answers = { default: 'no opinion', no: 'no', yes: 'yes' };

/**
 * Events whose numbers mean something else each time, in words.
 *
 * @type {Record<string, (entry: LogEntry) => string>}
 */
const words = {
  asked: ({ detail }) => questions[detail],
  answered: ({ detail, value }) => answers[detail] ?? `yes, after ${Math.round(value)} ms`,
  'refresh-asked': ({ detail }) => `for a fresh credential ${detail}`,
  refreshed: ({ detail, value }) => `credential ${detail} is ${value ? '' : 'not '}renewed`,
  health: ({ detail, value }) => `host ${value} ${healths[detail]}`,
  throttled: ({ detail, value }) => `nothing ${scopes[detail]} for ${Math.round(value)} ms`,
  plain: ({ detail }) =>
    `reload without directives, ${detail ? `after a ${detail}` : 'as they went unanswered'}`,
};

/**
 * @param {Element} target
 * @param {import('holdfast').Engine} engine
 * @param {number} loadAt when the run began, on the clock of performance.now()
 */
export function drawEngine(target, engine, loadAt) {
  const { mode, bandwidth, excludedBytes, retryState, retryExhausted, hostHealth, throttle } =
    engine.state;
  const unwell = Object.entries(hostHealth).filter(([, { state }]) => state !== 'closed');
  const retries = Object.values(retryState);
  const facts = [
    ['mode', mode],
    [
      'bandwidth',
      bandwidth === undefined ? 'not known yet' : `${Math.round(bandwidth / 1000)} kbit/s`,
    ],
    ['retrying', retries.length === 0 ? 'nothing' : retries.map(describeRetry).join('; ')],
    ['ladders spent', String(retryExhausted.length)],
    ['bytes of retries', String(excludedBytes)],
    ['hosts down', unwell.map(([host]) => host).join('; ') || 'none'],
    ['rate limits', Object.keys(throttle).join('; ') || 'none'],
  ];
  const decisions = engine.log().filter(isDecision).slice(-SHOWN_DECISIONS).reverse();
  target.replaceChildren(
    element(
      'dl',
      'state',
      facts.flatMap(([name, value]) => [element('dt', '', name), element('dd', '', value)]),
    ),
    decisions.length === 0
      ? element('p', 'decisions', 'Nothing to decide so far.')
      : element(
          'ol',
          'decisions',
          decisions.map((record) => decisionRow(record, loadAt)),
        ),
  );
}

/** @param {LogEntry} record */
function isDecision({ event, attempt }) {
  return !routine.has(event) && !(routineOfFirstAttempt.has(event) && attempt === 1);
}

/** @param {RetryState} retry */
function describeRetry({ url, attempt, waitReason, class: failure }) {
  const file = url.slice(url.lastIndexOf('/') + 1);
  return `${file}, attempt ${attempt} (${[failure, waitReason].filter(Boolean).join(', ')})`;
}

/**
 * @param {LogEntry} record
 * @param {number} loadAt
 */
function decisionRow(record, loadAt) {
  const { at, request, attempt, event, detail, value } = record;
  const unit = units[event] ?? '';
  const told = words[event]?.(record);
  const cells = [
    `${((at - loadAt) / 1000).toFixed(2)} s`,
    request === 0 ? '' : `#${request}.${attempt}`,
    event,
    told ?? (detail === 0 ? '' : String(detail)),
    told !== undefined || value === 0 ? '' : `${Math.round(value)} ${unit}`,
  ];
  return element(
    'li',
    event,
    cells.map((text) => element('span', '', text)),
  );
}

/**
 * @param {string} tag
 * @param {string} css
 * @param {string | Element[]} content
 */
function element(tag, css, content) {
  const node = document.createElement(tag);
  if (css) node.className = css;
  node.replaceChildren(...[content].flat());
  return node;
}
