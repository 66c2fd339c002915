// @ts-check
/** Files of the media origin, kept in memory once read, with their validators. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

/** @type {Record<string, string>} */
const types = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
  '.m3u8': 'application/vnd.apple.mpegurl',
  '.mpd': 'application/dash+xml',
  '.m4s': 'video/iso.segment',
  '.ts': 'video/mp2t',
  '.vtt': 'text/vtt; charset=utf-8',
  '.mp4': 'video/mp4',
};

/** @param {string} file */
export function contentType(file) {
  return types[path.extname(file).toLowerCase()] ?? 'application/octet-stream';
}

/**
 * @typedef {object} StoredFile
 * @property {Buffer} data
 * @property {string} etag
 * @property {string} modified
 * @property {string} [encoding]  of `data`
 * @property {boolean} [changes]  from request to request, as a live playlist does
 */

export class FileStore {
  /** @type {Map<string, Promise<StoredFile | null>>} */
  #files = new Map();
  #dir;

  /** @param {string} dir */
  constructor(dir) {
    this.#dir = dir;
  }

  /**
   * @param {string} name a plain file name
   * @returns {Promise<StoredFile | null>} null when there is no such file
   */
  get(name) {
    let file = this.#files.get(name);
    if (!file) {
      file = this.#read(name);
      this.#files.set(name, file);
    }
    return file;
  }

  /** @param {string} name */
  async #read(name) {
    if (!/^[\w-][\w.-]*$/.test(name)) return null;
    const full = path.join(this.#dir, name);
    try {
      const [data, info] = await Promise.all([readFile(full), stat(full)]);
      const etag = `"${createHash('sha256').update(data).digest('hex').slice(0, 16)}"`;
      return { data, etag, modified: info.mtime.toUTCString() };
    } catch {
      return null;
    }
  }
}
