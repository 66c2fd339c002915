// What SPF's call sites expect, and what is handed to them.
import { createEngine, createTrackedFetch, withRetry } from 'holdfast';
import type { BandwidthState, FetchBytes, FetchText } from 'holdfast';

// SPF's contracts, as its sources state them.
interface SpfResource {
  url: string;
  byteRange?: { start: number; end: number };
}
type SpfFetchText = (resource: SpfResource, options?: RequestInit) => Promise<string>;
type SpfFetchBytes = (
  resource: SpfResource,
  options?: RequestInit & { minChunkSize?: number },
) => Promise<AsyncIterable<Uint8Array>>;
interface SpfBandwidthState {
  fastEstimate: number;
  fastTotalWeight: number;
  slowEstimate: number;
  slowTotalWeight: number;
  bytesSampled: number;
}
type SpfCreateTrackedFetch = (
  initial: SpfBandwidthState,
  onSample: (next: SpfBandwidthState) => void,
) => SpfFetchBytes;

const engine = createEngine();

const text: SpfFetchText = engine.fetchText;
const bytes: SpfFetchBytes = engine.fetchBytes;
const create: SpfCreateTrackedFetch = createTrackedFetch;
void [text, bytes, create];

declare const zero: BandwidthState;
const tracked: SpfFetchBytes = createTrackedFetch(zero, (next) => void next.bytesSampled, {
  engine,
  site: 'segment',
});
const own: FetchBytes = createTrackedFetch(zero, () => {});
void [tracked, own];
// @ts-expect-error SPF calls the callback with the whole state
createTrackedFetch(zero, (next: { bandwidth: number }) => void next.bandwidth);
// @ts-expect-error there is no such site
createTrackedFetch(zero, () => {}, { site: 'video' });

// The other way round: SPF's own functions are transports of ours.
declare const spfText: SpfFetchText;
declare const spfBytes: SpfFetchBytes;
const retriedText: SpfFetchText = withRetry(spfText, { engine, site: 'playlist' });
const retriedBytes: SpfFetchBytes = withRetry(spfBytes, { engine });
const retriedFetch: typeof fetch = withRetry(fetch);
const ownText: FetchText = withRetry(engine.fetchText);
void [retriedText, retriedBytes, retriedFetch, ownText];
// The shape is kept: text stays text.
const isText: Promise<string> = withRetry(spfText)({ url: '' });
const isBytes: Promise<AsyncIterable<Uint8Array>> = withRetry(spfBytes)({ url: '' });
const isResponse: Promise<Response> = withRetry(fetch)('');
void [isText, isBytes, isResponse];
// @ts-expect-error text is no iterable
const wrong: SpfFetchBytes = withRetry(spfText);
void wrong;
// @ts-expect-error not a transport
withRetry((a: number) => a);

async function read() {
  for await (const chunk of await engine.fetchBytes({ url: '' }, { minChunkSize: Infinity })) {
    void (chunk satisfies Uint8Array);
  }
  void (await engine.fetchText({ url: '' }, { site: 'playlist-reload', cache: 'no-store' }));
  // @ts-expect-error a range has both ends
  void (await engine.fetchText({ url: '', byteRange: { start: 0 } }));
}
void read;
