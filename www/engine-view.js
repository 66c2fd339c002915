// @ts-check
/** Shows what the Holdfast engine knows, what it is retrying and what it decided. */

/** @typedef {import('holdfast').LogEntry} LogEntry */
/** @typedef {import('holdfast').RetryState} RetryState */

const SHOWN_DECISIONS = 80;

/** Events that every request goes through when nothing is wrong. */
const routine = new Set(['started', 'accepted']);
const routineOfFirstAttempt = new Set(['sent', 'succeeded']);

/** @type {Record<string, string>} unit of an event's value */
const units = { waiting: 'ms', 'stall-suspect': 'ms', succeeded: 'bytes' };

/**
 * @param {Element} target
 * @param {import('holdfast').Engine} engine
 * @param {number} loadAt when the run began, on the clock of performance.now()
 */
export function drawEngine(target, engine, loadAt) {
  const { mode, bandwidth, excludedBytes, retryState, retryExhausted } = engine.state;
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
  return `${file}, attempt ${attempt} (${failure}${waitReason ? `, ${waitReason}` : ''})`;
}

/**
 * @param {LogEntry} record
 * @param {number} loadAt
 */
function decisionRow({ at, request, attempt, event, detail, value }, loadAt) {
  const unit = units[event] ?? '';
  const cells = [
    `${((at - loadAt) / 1000).toFixed(2)} s`,
    request === 0 ? '' : `#${request}.${attempt}`,
    event,
    typeof detail === 'number' && detail === 0 ? '' : String(detail),
    value === 0 ? '' : `${Math.round(value)} ${unit}`,
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
