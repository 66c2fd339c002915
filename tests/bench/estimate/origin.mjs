// @ts-check
/**
 * The lab's media origin with two things more: `Timing-Allow-Origin`, without which a page does not
 * learn whether something came from the cache, and a manifest of the pinned rendition without sound,
 * so that the link is never shared.
 */
import http from 'node:http';
import { FileStore } from '../../lab/files.mjs';
import { mediaHandler } from '../../lab/media-origin.mjs';
import { Session } from '../../lab/session.mjs';

export const SILENT = 'silent.mpd';

class SilentFiles extends FileStore {
  /** @param {string} name @returns {ReturnType<FileStore['get']>} */
  async get(name) {
    if (name !== SILENT) return super.get(name);
    const file = await super.get('pinned.mpd');
    const audio = /\s*<AdaptationSet id="1"[^]*?<\/AdaptationSet>/;
    return file && { ...file, data: Buffer.from(String(file.data).replace(audio, '')) };
  }
}

/** @param {string} dir of the media */
export async function openOrigin(dir) {
  /** @type {Map<string, Session>} */
  const sessions = new Map();
  const handle = mediaHandler((id) => sessions.get(id), new SilentFiles(dir));
  const server = http.createServer((request, response) => {
    response.setHeader('Timing-Allow-Origin', '*');
    void handle(request, response);
  });
  // Longer than any run: an idle connection is not to be closed under one.
  server.keepAliveTimeout = 120_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  let count = 0;
  return {
    /** @param {import('../../lab/session.mjs').SessionOptions} options */
    createSession(options) {
      const id = String((count += 1));
      const session = new Session(id, `http://127.0.0.1:${port}/s/${id}/`, options);
      sessions.set(id, session);
      return session;
    },
    async close() {
      for (const session of sessions.values()) session.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
