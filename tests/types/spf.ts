// What SPF's call sites expect, and what is handed to them.
import { createEngine, createTrackedFetch, withRetry } from 'holdfast';
import type { BandwidthState, Chunks, FetchBytes, FetchText } from 'holdfast';
import { effect, signal } from '@videojs/spf';
import { createHlsAudioEngine, createHlsVideoEngine } from '@videojs/spf/hls';
import { HlsVideoAdapterCore } from '@videojs/spf/hls-video';
import holdfast from 'holdfast/bundler';
import * as network from 'holdfast/spf';
import { bridgeSpf, useEngine } from 'holdfast/spf';
import type { SpfSlots } from 'holdfast/spf';

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

// The chunks of an engine tell whether they are worth a sample.
const chunks: Promise<Chunks> = engine.fetchBytes({ url: '' });
void chunks.then((body) => body.isRepeat() satisfies boolean);

// What takes the place of SPF's network module.
const swapped: {
  createTrackedFetch: SpfCreateTrackedFetch;
  fetchResolvable(resource: SpfResource, options?: RequestInit): Promise<Response>;
  fetchResolvableText: SpfFetchText;
  fetchStream: SpfFetchBytes;
  getResponseText(response: { text(): Promise<string> }): Promise<string>;
} = network;
void swapped;

// The bridge takes the signals of each of SPF's engines, and those of an adapter.
const takeBack: () => void = useEngine(engine);
void takeBack;
// @ts-expect-error an engine is no option
useEngine({ engine });
createHlsVideoEngine({
  onSignalsReady(signals) {
    const stop: () => void = bridgeSpf(engine, signals, { effect, signal });
    void stop;
    // @ts-expect-error SPF has no such slot of its own
    void signals.state.retryState;
    const state = signals.state as typeof signals.state & SpfSlots;
    void (state.retryState.get()['1']?.waitReason satisfies string | undefined);
    void (state.retryExhausted.get().length satisfies number);
    void (state.hostHealth.get()['https://a.example']?.state satisfies string | undefined);
    // @ts-expect-error without SPF's functions it cannot follow signals
    bridgeSpf(engine, signals);
  },
});
createHlsAudioEngine({
  onSignalsReady: (signals) =>
    void bridgeSpf(engine, signals, { effect, signal, getCdnId: (url) => url }),
});
bridgeSpf(engine, new HlsVideoAdapterCore().engine, { effect, signal });

// The plugin.
holdfast({ spf: /spf\/dist/ }).enforce satisfies 'pre';
// @ts-expect-error a pattern, not a path
holdfast({ spf: 'packages/spf' });
