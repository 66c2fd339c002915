// @ts-check
/** An exhaustion as the SVTA's error codes (SVTA-2070): the causes, and then the verdict (R67). */

const DENIED = 3010;
const EXHAUSTED = 3008;

/**
 * The codes of 401, 403 and 451 come after "resource denied". Which of them is fatal is for the
 * adapter to say, and so is every message.
 *
 * @param {{ svta: number, site: string, host: string, url: string, attempts: number,
 *   status: number, elapsed: number }} event
 * @returns {readonly import('./index.d.ts').SvtaError[]}
 */
export function svtaErrors({ svta, site, host, url, attempts, status, elapsed }) {
  const data = Object.freeze({ site, host, url, attempts, lastStatus: status, elapsedMs: elapsed });
  const causes = [401, 403, 451].includes(status) ? [DENIED, svta] : [svta];
  return Object.freeze([...causes, EXHAUSTED].map((code) => Object.freeze({ code, data })));
}
