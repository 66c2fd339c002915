// @ts-check
/** One refresh of a credential for all tabs. All spans in milliseconds. */
import { numberOfUrl } from './hosts.js';
import { endOf, LIFE, Line, lockManager } from './tab-line.js';

/** @typedef {import('./cross-tab.js').RefreshPlaybackToken} RefreshPlaybackToken */

/** How long another tab's refresh is waited for; the engine waits 10 s for the whole hook. */
const PATIENCE = 8000;
/** A refresh that takes longer keeps nobody else from trying. */
const LIMIT = 10_000;
/** How much longer a lock is held than it takes to answer, so that the answer is heard before. */
const GRACE = 200;

/**
 * The hook that asks `refreshPlaybackToken` only if no other tab has the answer.
 *
 * @param {RefreshPlaybackToken} refreshPlaybackToken
 * @param {string} name
 * @param {((url: string) => string | undefined) | undefined} keyOf
 * @returns {import('./cross-tab.js').SharedRefresh}
 */
export function sharedRefresh(refreshPlaybackToken, name, keyOf) {
  /** @type {Map<number, { from: string, to: string, end: number }>} by the old credential */
  const answers = new Map();
  /** @type {Set<() => void>} ends what waits for a lock, or holds one */
  const ends = new Set();
  const line = new Line(
    `${name}:token`,
    ({ key, from, to, at }) => {
      forget();
      if (typeof from === 'string' && typeof to === 'string')
        answers.set(key, { from, to, end: endOf(at) });
    },
    () => {
      for (const end of ends) end();
    },
  );

  function forget() {
    for (const [key, { end }] of answers) if (!(end > Date.now())) answers.delete(key);
  }

  /** Runs `end` after so long, or when it is called, or with the line. @param {() => void} end @param {number} ms */
  function bound(end, ms) {
    const finish = () => {
      clearTimeout(timer);
      ends.delete(finish);
      end();
    };
    const timer = setTimeout(finish, ms);
    ends.add(finish);
    return finish;
  }

  /** @type {RefreshPlaybackToken} */
  const refresh = async (url, context) => {
    const tools = await import('./credential.js').catch(() => undefined);
    if (!tools) return refreshPlaybackToken(url, context);
    const { credentialOf, fresh, rewrite } = tools;
    const key = numberOfUrl(String((keyOf ? keyOf(url) : credentialOf(url)?.key) ?? url), null);
    const adopted = () => {
      forget();
      const answer = answers.get(key);
      return answer && rewrite(url, answer.from, answer.to);
    };
    const call = async () => {
      const said = await refreshPlaybackToken(url, context);
      const { url: to } = fresh(url, said);
      if (to !== undefined && line.isOpen) {
        answers.set(key, { from: url, to, end: Date.now() + LIFE });
        line.say({ key, from: url, to });
      }
      return said;
    };
    const locks = lockManager();
    if (!locks || !line.isOpen) return adopted() ?? call();

    return new Promise((resolve) => {
      const waiting = new AbortController();
      const settle = () => {
        const theirs = adopted();
        const answer = theirs === undefined ? call() : Promise.resolve(theirs);
        resolve(answer);
        return { answer, isTheirs: theirs !== undefined };
      };
      const stop = bound(() => waiting.abort(), PATIENCE);
      locks
        .request(`${name}:token:${key}`, { signal: waiting.signal }, () => {
          stop();
          const { answer, isTheirs } = settle();
          if (isTheirs) return undefined;
          return new Promise((release) => {
            const end = bound(() => release(undefined), LIMIT);
            answer.then(() => (line.isOpen ? bound(end, GRACE) : end()), end);
          });
        })
        .catch(settle);
    });
  };
  line.open();
  return Object.assign(refresh, { close: line.close });
}
