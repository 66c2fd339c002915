// The engine as TypeScript code uses it.
import { createEngine, DEFAULT_BREAKER, DEFAULT_BUDGET, DEFAULT_SITES, isReady } from 'holdfast';
import type {
  Allowed,
  ConnectionClass,
  Diagnostic,
  Engine,
  EngineOptions,
  EngineState,
  FailureClass,
  Health,
  HostHealthEvent,
  Loaded,
  LogEntry,
  PathSample,
  PathState,
  Purpose,
  RetryState,
  Site,
  SitePolicy,
  SourceOptions,
  SvtaError,
  WaitReason,
} from 'holdfast';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const yes = <T extends true>(): T | undefined => undefined;

const engine: Engine = createEngine();

// `fetch` can stand wherever the global one does.
const asFetch: typeof fetch = engine.fetch;
createEngine({ fetch: engine.fetch });
createEngine({ fetch });
yes<Equal<ReturnType<Engine['fetch']>, Promise<Response>>>();
void asFetch('https://example.test/', { method: 'POST', body: 'a' });
void engine.fetch(new URL('https://example.test/'), { site: 'license', idempotent: true });
void engine.fetch(new Request('https://example.test/'));
// @ts-expect-error there is no such site
void engine.fetch('https://example.test/', { site: 'licence' });

// Loads.
const loading: Promise<Loaded<unknown>> = engine.load({
  url: 'https://example.test/',
  site: 'segment',
  responseType: 'json',
  signal: new AbortController().signal,
  onAttempt: ({ attempt, at }) => void (attempt + at),
  onResponse: ({ response }) => void response.headers,
  onProgress: ({ loaded, total, at }) => void (loaded + total + at),
  onChunk: (chunk) => void chunk.byteLength,
});
void loading.then(({ data, timing, headers }) => {
  const text: string | undefined = typeof data === 'string' ? data : undefined;
  return [text, timing.end - timing.start, headers.get('etag')];
});
const whole: Promise<Loaded<ArrayBuffer>> = engine.load({ url: 'https://example.test/' });
const text: Promise<Loaded<string>> = engine.load({ url: '', responseType: 'text' });
void [whole, text];
// @ts-expect-error an URL is needed
void engine.load({ site: 'segment' });
// @ts-expect-error there is no such type
void engine.load({ url: '', responseType: 'blob' });

// Options.
const options: EngineOptions = {
  sites: { segment: { attempts: 4, backoff: { cap: 2000 } }, 'playlist-reload': {} },
  onExhausted: (event) => void (event.site satisfies Site),
  getCdnId: (url) => new URL(url).hostname,
  bandwidth: { fastHalfLife: 3 },
  holdLimit: 0,
  logCapacity: 10,
  wasm: new URL('https://example.test/core.wasm'),
};
createEngine(options);
createEngine({ onExhausted: 'hold', sites: DEFAULT_SITES });
createEngine({ wasm: new Uint8Array(8) });
createEngine({ wasm: fetch('https://example.test/core.wasm') as never });
// @ts-expect-error a misspelt site
createEngine({ sites: { segments: {} } });
// @ts-expect-error a misspelt field
createEngine({ sites: { segment: { retries: 3 } } });
// @ts-expect-error a misspelt field, one level deeper
createEngine({ sites: { segment: { backoff: { max: 3 } } } });
// @ts-expect-error a mode that does not exist
createEngine({ onExhausted: 'wait' });
// @ts-expect-error a number of milliseconds
createEngine({ holdLimit: '5 min' });
createEngine({
  preset: 'naive',
  refreshScope: 'url',
  getSite: (url) => (url ? 'segment' : undefined),
});
createEngine({ budget: DEFAULT_BUDGET, breaker: { ...DEFAULT_BREAKER, consecutive: 3 } });
createEngine({ recovery: { 404: 'grace', denied: 'fail' }, sites: { key: { rotateAfter: 1 } } });
// @ts-expect-error an action that does not exist
createEngine({ recovery: { 404: 'again' } });
// @ts-expect-error a class that does not exist
createEngine({ recovery: { notFound: 'retry' } });
// @ts-expect-error a misspelt number
createEngine({ breaker: { threshold: 3 } });

createEngine({ adviceHeader: 'x-advice', cmsd: true });
createEngine({ adviceHeader: false, onDiagnostic: (event: Diagnostic) => void event.missing[0] });
// @ts-expect-error false, or a name
createEngine({ adviceHeader: true });
// @ts-expect-error a diagnostic cannot be changed
createEngine({ onDiagnostic: (event) => void event.missing.push('etag') });
createEngine({
  sites: {
    segment: {
      ...{ resume: true, assumeIdentity: true, trustUnexposedRange: true, rangeFirst: false },
      container: 'mp4',
      validate: ({ site, url, status, headers }) => {
        if (site !== 'segment' || status !== 200 || url === '' || headers.has('etag')) return;
        return (chunk) => chunk === null || chunk.byteLength > 0;
      },
    },
    playlist: { container: 'hls', validate: () => () => {} },
  },
});
// @ts-expect-error a container that nobody knows
createEngine({ sites: { segment: { container: 'mkv' } } });
// @ts-expect-error the body is told a chunk at a time
createEngine({ sites: { segment: { validate: (facts) => () => facts.body === '' } } });
// @ts-expect-error the answer must come at once
createEngine({ sites: { segment: { validate: () => async () => true } } });

// Hooks.
createEngine({
  shouldRetry: (error, attempt, history) =>
    error.class === 'denied' && attempt < 3 ? { retryAfter: 500 * history.length } : undefined,
  refreshPlaybackToken: async (url, { status, body, evidence, signal }) =>
    `${url}&${status}${body}${evidence}${signal?.aborted}`,
  refreshLicenseRequest: ({ url, headers, body }) => ({ url, headers, body }),
  detectRateLimit: ({ status, body }) =>
    status === 403 && body.includes('busy') ? { scope: 'host', waitMs: 5000 } : null,
  detectExpiry: ({ headers }) => (headers.has('x-expired') ? 'expired' : undefined),
  onAttemptFailed: ({ attempt, class: kind, bytes, host }) => void [attempt, kind, bytes, host],
  onHostHealth: (event: HostHealthEvent) => void [event.was, event.state, event.retryAt],
  sites: { license: { singleUse: true, refreshBeforeRetry: true, shouldRetry: () => false } },
});
// @ts-expect-error a hook gives a string
createEngine({ refreshPlaybackToken: () => 5 });
// @ts-expect-error the history cannot be changed
createEngine({ shouldRetry: (_, __, history) => history.pop() !== undefined });
// @ts-expect-error what is told is the engine's alone
createEngine({ sites: { segment: { onHostHealth: () => {} } } });

// @ts-expect-error the defaults are read only
DEFAULT_BUDGET.host = 5;
// @ts-expect-error the defaults are read only
DEFAULT_SITES.segment.attempts = 5;
const policy: Readonly<SitePolicy> = DEFAULT_SITES['text-segment'];
void policy.backoff.factor;

// The state.
const { state } = engine;
const mode: 'starting' | 'engine' | 'plain' = state.mode;
const bandwidth: number | undefined = state.bandwidth;
const entry: Readonly<RetryState> | undefined = state.retryState['1'];
const kind: FailureClass | undefined = entry?.class;
const reason: WaitReason | undefined = entry?.waitReason;
const last = state.retryExhausted.at(-1);
const facts: [boolean, boolean, number | undefined] | undefined = last && [
  last.holding,
  last.terminal,
  last.retryAt,
];
void [mode, bandwidth, kind, reason, facts];
const errors: readonly SvtaError[] | undefined = last?.errors;
const health: Health | undefined = state.hostHealth['https://example.test']?.state;
const pace: number | undefined = state.throttle['session']?.rate;
void [errors, health, pace];
// @ts-expect-error the slots are read only
state.hostHealth['https://example.test'].state = 'open';
// @ts-expect-error the slots are read only
state.mode = 'plain';
// @ts-expect-error and what is in them
state.retryState['1'] = entry;
// @ts-expect-error and what is in those
state.retryExhausted[0].attempts = 1;
// @ts-expect-error the state is replaced by the engine only
engine.state = state;
const leave: () => void = engine.subscribe((next: EngineState) => void next.retryState);
leave();

const path: PathState | undefined = state.path;
const connection: ConnectionClass | undefined = path?.class;
const allowed: Allowed | undefined = path?.allowed;
const hints: Array<number | undefined> = [
  ...[path?.generation, path?.maxInFlight, path?.rangeWindow],
  ...[path?.abrCapHint, path?.maxBufferAheadHint],
];
const diagnostic: Diagnostic | undefined = state.diagnostics[0];
const told: string | undefined = diagnostic && diagnostic.origin + diagnostic.message;
void [connection, allowed, hints, told, diagnostic?.missing[0]];
// @ts-expect-error the slots are read only
state.path = undefined;
// @ts-expect-error and what is in them
state.diagnostics.pop();
if (path) {
  // @ts-expect-error and what is in those
  path.allowed = 'all';
}

// The path.
const sample: Partial<PathSample> = { cost: 'metered', execution: { deadline: 5000 } };
engine.reportPath(sample);
engine.reportPath({ reachability: 'none', interface: 'wifi', power: 'battery', thermal: 'fair' });
engine.reportPath({});
engine.setUserConsent(true);
// @ts-expect-error a word that does not exist
engine.reportPath({ cost: 'cheap' });
// @ts-expect-error a field that does not exist
engine.reportPath({ downlink: 10 });
// @ts-expect-error a number of milliseconds
engine.reportPath({ execution: { deadline: '5 s' } });
// @ts-expect-error yes or no
engine.setUserConsent();
const purpose: Purpose = 'ahead';
void engine.fetch('https://example.test/', { purpose, priority: 'low' });
void engine.load({ url: '', purpose: 'needed' });
void engine.load({ url: '' }).then(({ protocol }) => protocol satisfies string);
// @ts-expect-error a purpose that does not exist
void engine.fetch('https://example.test/', { purpose: 'prefetch' });
// @ts-expect-error a purpose that does not exist
void engine.load({ url: '', purpose: 'bulk' });

// All else.
const log: LogEntry[] = engine.log();
void log[0]?.detail;
const ready: Promise<boolean> = engine.ready;
void ready;
const isLoaded: boolean = isReady();
void isLoaded;
engine.retryNow();
engine.enabled = false;
engine.reportPlayback({ bufferAhead: 4, targetDuration: 6, live: true });
engine.reportPlayback({});
engine.declareAlternatives('segment', 1);
engine.declareAlternatives('https://example.test/a.m3u8', undefined);
// @ts-expect-error a count must be said, if only to take it back
engine.declareAlternatives('segment');
const source: SourceOptions = {
  sites: { segment: { attempts: 2 } },
  hooks: { shouldRetry: () => true },
  recovery: { 503: 'once' },
};
const started: Promise<void> = engine.startSource(source);
void started;
void engine.startSource();
// @ts-expect-error the budget is the engine's
void engine.startSource({ budget: { host: 5 } });
engine.resetHealth();
engine.resetHealth('https://example.test');
engine.rotate('https://example.test');
engine.setPathways({ a: 'https://example.test' });
void engine.load({ url: '', optional: true });
engine.destroy();
