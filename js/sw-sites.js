// @ts-check
/** Which requests of a page are for media, and what for. */
import { siteOf } from './sites.js';

/** @typedef {import('./index.d.ts').Site} Site */

/** The destinations of elements (Fetch, "destination"). @type {Record<string, Site | undefined>} */
const ELEMENTS = { video: 'segment', audio: 'segment', track: 'text-segment' };
/** Manifests of DASH and of Smooth Streaming. */
const MANIFEST = /\.mpd$|\.isml?\/manifest/i;
/** So many pages, and playlists of one page, are remembered. */
const REMEMBERED = 64;

/**
 * Gives a function that names the site of a request, or says that it is none of ours: a GET of a
 * media element, or a GET of a script whose URL ends like media or a playlist. What the page is
 * made of, navigations, and all that is not known is left alone.
 *
 * The first playlist that a page asks for is its manifest, and one that it has asked for before is
 * a reload; a worker that was stopped meanwhile has forgotten, and is as patient with a reload as
 * with a manifest.
 *
 * @returns {(request: Request, clientId: string) => Site | undefined}
 */
export function siteFinder() {
  /** Playlists by page. @type {Map<string, Set<string>>} */
  const pages = new Map();

  /** @param {string} clientId @param {URL} url @returns {Site} */
  function playlist(clientId, { origin, pathname }) {
    const known = pages.get(clientId) ?? new Set();
    const place = origin + pathname;
    const site = known.has(place) ? 'playlist-reload' : known.size ? 'playlist' : 'manifest';
    remember(known, place);
    remember(pages, clientId, known);
    return site;
  }

  return ({ method, destination, url }, clientId) => {
    if (method !== 'GET') return undefined;
    const element = ELEMENTS[destination];
    if (element) return element;
    // Not what is run, shown or styled, whatever it ends in.
    if (destination !== '') return undefined;
    const parsed = new URL(url);
    const site = MANIFEST.test(parsed.pathname) ? 'playlist' : siteOf(parsed.pathname);
    if (site === 'playlist') return playlist(clientId, parsed);
    return site === 'other' ? undefined : site;
  };
}

/**
 * Puts a key last, and drops the first ones where there are too many.
 *
 * @param {{ delete(key: any): boolean, keys(): Iterator<any>, size: number, add?(key: any): void,
 *   set?(key: any, value: any): void }} among
 * @param {string} key
 * @param {unknown} [value]
 */
function remember(among, key, value) {
  among.delete(key);
  if (among.set) among.set(key, value);
  else among.add?.(key);
  if (among.size > REMEMBERED) among.delete(among.keys().next().value);
}
