// @ts-check
/** What the adapters of several players share. It knows no player, and carries no state. */

/** A gap in the buffer that playback crosses, in seconds. */
const BUFFER_HOLE_S = 0.1;
const MEDIA_EVENTS = ['timeupdate', 'progress', 'waiting', 'seeking', 'seeked'];

/** Says each thing once. */
export function createWarn() {
  const said = new Set();
  /** @param {string} what @param {string[]} fields that it is about; none: nothing is said */
  return (what, fields) => {
    const fresh = fields.filter((field) => !said.has(field));
    if (!fresh.length) return;
    for (const field of fresh) said.add(field);
    console.warn(`[holdfast] ${what}: ${fresh.join(', ')}`);
  };
}

/**
 * Calls `fallBack` once the engine has failed open, which may be now: the player then gets its
 * own transport and retries back. Returns the way out.
 *
 * @param {Pick<import('../index.d.ts').Engine, 'state' | 'subscribe'>} engine
 * @param {() => void} fallBack
 */
export function onPlain(engine, fallBack) {
  let over = false;
  const look = (/** @type {{ mode: string }} */ { mode }) => {
    if (over || mode !== 'plain') return;
    over = true;
    fallBack();
  };
  const off = engine.subscribe(look);
  look(engine.state);
  return () => {
    over = true;
    off();
  };
}

/**
 * Seconds buffered ahead of the playhead, small holes included.
 *
 * @param {Pick<HTMLMediaElement, 'buffered' | 'currentTime'>} media
 */
export function bufferAhead({ buffered, currentTime }) {
  let end = currentTime;
  for (let i = 0; i < buffered.length; i++) {
    if (buffered.start(i) <= end + BUFFER_HOLE_S && buffered.end(i) > end) end = buffered.end(i);
  }
  return end - currentTime;
}

/**
 * Follows one media element at a time: `report` is called with it whenever its buffer or its
 * playhead may have moved. Returns the function that says which element it is now.
 *
 * @param {(media: HTMLMediaElement) => void} report
 */
export function watchMedia(report) {
  /** @type {HTMLMediaElement | null} */
  let media = null;
  const tell = () => media && report(media);
  return (/** @type {HTMLMediaElement | null | undefined} */ next) => {
    for (const event of MEDIA_EVENTS) media?.removeEventListener(event, tell);
    media = next ?? null;
    for (const event of MEDIA_EVENTS) media?.addEventListener(event, tell);
    tell();
  };
}

/** Whether a verdict is one of silence. @param {any} error */
export function isTimeout(error) {
  return error?.class === 'timeout' || error?.class === 'stall';
}

/**
 * Takes parameters out of a query and leaves every other byte of a (perhaps signed) URL as it is.
 *
 * @param {string} url
 * @param {RegExp} pattern
 */
export function withoutParams(url, pattern) {
  const mark = url.indexOf('?');
  if (mark < 0) return url;
  const params = url.slice(mark + 1).split('&');
  const kept = params.filter((param) => !pattern.test(param));
  if (kept.length === params.length) return url;
  return url.slice(0, mark + (kept.length && 1)) + kept.join('&');
}

/** @param {string | undefined} url @returns {string} `host:port`, or nothing where there is none */
export function hostOf(url) {
  try {
    return new URL(/** @type {string} */ (url)).host;
  } catch {
    return '';
  }
}
