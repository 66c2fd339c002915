// @ts-check
/**
 * What peers cost a page: the file that they ship for pages where people load that, or a bundle,
 * made with the same flags as ours.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FLAGS, measure } from '../../tools/size.mjs';
import { ROOT } from '../../tools/setup.mjs';

/**
 * @typedef {object} Peer
 * @property {string} entry     as it is named in tables
 * @property {string} package   by which it is installed
 * @property {'player' | 'retries'} kind
 * @property {string} [file]    the file that pages load, from the package's folder
 * @property {string} [source]  else what is bundled
 */

/** @type {readonly Peer[]} */
export const PEERS = [
  ...files('hls.js', ['hls.min.js', 'hls.light.min.js', 'hls.min.mjs', 'hls.light.min.mjs']),
  ...files('shaka-player', [
    'shaka-player.compiled.js',
    'shaka-player.compiled-es2021.js',
    'shaka-player.hls-es2021.js',
    'shaka-player.dash-es2021.js',
  ]),
  ...files('dashjs', ['modern/umd/dash.all.min.js', 'modern/umd/dash.mediaplayer.min.js']),
  ...files('video.js', ['video.min.js', 'alt/video.core.min.js']),
  ...files('@videojs/http-streaming', ['videojs-http-streaming.min.js']),
  bundled('player', 'rx-player', 'everything', `export { default } from 'rx-player';`),
  bundled(
    'player',
    'rx-player',
    'minimal, with DASH',
    `import Player from 'rx-player/minimal';
     import { DASH } from 'rx-player/features';
     Player.addFeatures([DASH]);
     export default Player;`,
  ),
  bundled('player', '@videojs/spf', 'its HLS player', `export * from '@videojs/spf/hls';`),
  bundled(
    'retries',
    '@videojs/spf',
    'its network functions',
    `export * from './node_modules/@videojs/spf/dist/default/network/fetch.js';`,
  ),
  bundled('retries', 'ky', '', `export { default } from 'ky';`),
  bundled('retries', 'p-retry', '', `export { default } from 'p-retry';`),
  bundled('retries', 'cockatiel', 'everything', `export * from 'cockatiel';`),
  bundled(
    'retries',
    'cockatiel',
    'retry, breaker, time-out',
    `export {
       circuitBreaker, ConsecutiveBreaker, ExponentialBackoff, handleAll, retry, timeout, wrap,
     } from 'cockatiel';`,
  ),
  bundled('retries', 'axios-retry', 'alone', `export { default } from 'axios-retry';`),
  bundled(
    'retries',
    'axios-retry',
    'with axios',
    `export { default } from 'axios-retry'; export { default as axios } from 'axios';`,
  ),
  bundled('retries', 'fetch-retry', '', `export { default } from 'fetch-retry';`),
];

/**
 * Files that a player ships minified, in its `dist`.
 * @param {string} name
 * @param {readonly string[]} names
 * @returns {Peer[]}
 */
function files(name, names) {
  return names.map((file) => {
    const entry = /** @type {string} */ (file.split('/').at(-1));
    return { entry, package: name, kind: 'player', file: `dist/${file}` };
  });
}

/**
 * @param {Peer['kind']} kind
 * @param {string} name
 * @param {string} what
 * @param {string} source
 * @returns {Peer}
 */
function bundled(kind, name, what, source) {
  return { entry: what ? `${name}: ${what}` : name, package: name, kind, source };
}

/** @param {Peer} peer */
export async function measurePeer({ package: name, file, source }) {
  if (file) return measure(await readFile(join(ROOT, 'node_modules', name, file)));
  const esbuild = await import('esbuild');
  const { outputFiles } = await esbuild.build({
    ...FLAGS,
    absWorkingDir: ROOT,
    stdin: { contents: /** @type {string} */ (source), resolveDir: ROOT },
    outdir: 'out',
  });
  return measure(Buffer.concat(outputFiles.map(({ contents }) => contents)));
}
