// @ts-check
/** The one server: the page, the clients, the bodies. It says when which request came. */
import http from 'node:http';

/** The bodies, by their paths, in bytes. */
export const SIZES = { '/small.m4s': 1024, '/8MiB.m4s': 8 * 2 ** 20 };

/** Clocks are fine-grained where a page is isolated from all others. */
const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};
const PAGE = '<!doctype html><link rel="icon" href="data:," /><title>overhead</title>';

/** @param {Map<string, Buffer>} files modules, by path */
export async function serveOrigin(files) {
  /** @type {Map<string, number>} when the last request for a path came */
  const arrivals = new Map();
  const bodies = new Map(
    Object.entries(SIZES).map(([path, size]) => [path, Buffer.alloc(size, 0x47)]),
  );
  const server = http.createServer((request, response) => {
    const at = performance.now();
    const [path] = (request.url ?? '/').split('?');
    arrivals.set(path, at);
    const body = bodies.get(path) ?? files.get(path) ?? Buffer.from(PAGE);
    response.writeHead(200, {
      ...ISOLATED,
      'content-type': typeOf(path),
      'content-length': body.length,
      'cache-control': 'no-store',
    });
    response.end(body);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/`,
    /** When the last request for this came. @param {string} path */
    arrivedAt(path) {
      const at = arrivals.get(path);
      if (at === undefined) throw new Error(`nobody asked for ${path}`);
      return at;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @param {string} path */
function typeOf(path) {
  if (path.endsWith('.js')) return 'text/javascript';
  if (path.endsWith('.wasm')) return 'application/wasm';
  return path === '/' ? 'text/html; charset=utf-8' : 'video/mp4';
}
