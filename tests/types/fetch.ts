// `engine.fetch` where libraries and plain code ask for a `fetch`.
import axios from 'axios';
import { createEngine } from 'holdfast';
import ky from 'ky';

const engine = createEngine();

const assigned: typeof fetch = engine.fetch;
const bound: typeof globalThis.fetch = createEngine().fetch;
const { fetch: detached } = engine;
const again: typeof fetch = detached;
void [assigned, bound, again];

/** What a library's option looks like. */
function client(options: { fetch?: typeof fetch }): Promise<Response> | undefined {
  return options.fetch?.(new Request('https://example.test/'), { method: 'POST', body: 'a' });
}
void client({ fetch: engine.fetch });
void client(engine);

ky.create({ fetch: engine.fetch, retry: 0 });
ky.extend({ fetch: detached });
// Its type of `Response` is not quite that of TypeScript's own library.
axios.create({ adapter: 'fetch', env: { fetch: engine.fetch, Request } });

// Everything that `fetch` takes.
const signal = AbortSignal.timeout(1000);
void detached('/api', { keepalive: true, signal, credentials: 'include', integrity: 'sha256-a' });
void detached(new URL('https://example.test/'), { body: new FormData(), method: 'PUT' });
void detached('data:,a').then((response) => response.clone().text());

// A fetch of someone else can be under the engine.
createEngine({ fetch: createEngine().fetch });

// @ts-expect-error what is no URL and no request
void detached(5);
// @ts-expect-error a site that does not exist
void detached('/api', { site: 'api' });
