// @ts-check
/** What some faults need the stream to be: its files, changed on their way out. */
import { gzipSync } from 'node:zlib';

/** @typedef {import('../../lab/session.mjs').Rewrite} Rewrite */
/** @typedef {import('../../lab/files.mjs').StoredFile} StoredFile */

/** @param {StoredFile} file @param {string} text @returns {StoredFile} */
const withText = (file, text) => ({
  ...file,
  data: Buffer.from(text),
  etag: file.etag.replace(/"$/, '-rewritten"'),
});

/**
 * Every segment at several hosts, of which players take the first as long as it is good: as
 * redundant variants in HLS, as several BaseURLs in DASH.
 * @param {...string} hosts
 * @returns {Rewrite}
 */
export const atHosts =
  (...hosts) =>
  (name, file, session) => {
    if (!file || !/^pinned\./.test(name)) return file;
    const text = file.data.toString();
    if (name.endsWith('.mpd')) {
      const bases = hosts.map(
        (host) => `<BaseURL serviceLocation="${host}">${session.url('', host)}</BaseURL>`,
      );
      return withText(file, text.replace(/(<MPD[^>]*>)/, `$1\n  ${bases.join('\n  ')}`));
    }
    const variants = hosts.map((host) =>
      text
        .replace(/^#EXTM3U.*\n|^#EXT-X-VERSION.*\n/gm, '')
        .replaceAll('"group_audio"', `"${host}"`)
        .replace(/URI="([^"]+)"/g, (_, uri) => `URI="${session.url(uri, host)}"`)
        .replace(/^(?!#)(\S+)$/gm, (uri) => session.url(uri, host)),
    );
    return withText(file, `#EXTM3U\n#EXT-X-VERSION:7\n${variants.join('\n')}`);
  };

/** Segments carry a credential in their URL; the file `token` is a fresh one. @type {Rewrite} */
export function withTokens(name, file) {
  if (name === 'token') {
    return { data: Buffer.from('fresh'), etag: '"token"', modified: '', changes: true };
  }
  if (!file || !/\.(m3u8|mpd)$/.test(name)) return file;
  return withText(file, file.data.toString().replaceAll('.m4s', '.m4s?token=first'));
}

/** By validator: compressing takes longer than it should while something is measured. @type {Map<string, Buffer>} */
const encoded = new Map();

/** Segments are encoded with gzip. @type {Rewrite} */
export function encodedSegments(name, file) {
  if (!file || !name.endsWith('.m4s')) return file;
  const data = encoded.get(file.etag) ?? gzipSync(file.data);
  encoded.set(file.etag, data);
  return { ...file, data, encoding: 'gzip' };
}
