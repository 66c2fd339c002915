// @ts-check
/**
 * The adapter of SPF (`@videojs/spf`): its network functions over an engine, which
 * `holdfast/bundler` puts into a bundle, and a bridge between the engine and SPF's signals. SPF
 * itself is never imported.
 */
import { bufferAhead, onPlain, watchMedia } from './shared.js';

export { useEngine } from './spf-engine.js';
export * from './spf-network.js';

/** @typedef {import('./spf.d.ts').SpfEngine} SpfEngine */
/** @typedef {import('./spf.d.ts').SpfSignals} SpfSignals */
/** @typedef {import('./spf.d.ts').BridgeOptions} BridgeOptions */
/** @typedef {(url: string) => string} GetCdnId */
/** @typedef {ReturnType<SpfSignals['state']['presentation']['get']>} Presentation */
/** @typedef {{ id: string, url: string, metadata?: Record<string, unknown> }} Track */

const SLOTS = /** @type {const} */ (['retryState', 'retryExhausted', 'hostHealth']);
/** What SPF asks of a CDN. The multivariant playlist is in one place only. */
const CDN_SITES = /** @type {const} */ (['playlist', 'playlist-reload', 'init', 'segment']);

/** So often it is looked whether playback stands still though there is media, in milliseconds. */
const LOOK_MS = 1000;
/** Media ahead that a decoder that stands still should have played, in seconds. */
const PLENTY_S = 1;

/** @type {typeof import('./spf.d.ts').bridgeSpf} */
export function bridgeSpf(engine, { state, context }, { effect, signal, getCdnId = originOf }) {
  const release = keepOneCdn(state, getCdnId);
  const ways = [
    release,
    onPlain(engine, release),
    publish(engine, state, signal),
    reportVerdicts(engine, state, getCdnId),
    declareCdns(engine, state, getCdnId, effect),
    reportPlayback(engine, state, context, effect),
    keepMoving(context),
  ];
  return () => ways.splice(0).forEach((out) => out());
}

/**
 * The engine's slots, as signals of the player.
 *
 * @param {SpfEngine} engine @param {SpfSignals['state']} state @param {BridgeOptions['signal']} signal
 */
function publish(engine, state, signal) {
  const all = /** @type {Record<string, any>} */ (state);
  const own = SLOTS.filter((name) => !all[name]);
  for (const name of own) all[name] = signal(engine.state[name]);
  const off = engine.subscribe((next) => SLOTS.forEach((name) => all[name].set(next[name])));
  return () => {
    off();
    for (const name of own) delete all[name];
  };
}

/**
 * A verdict becomes errors, and its CDN a failed one. A request that is held is neither.
 *
 * @param {SpfEngine} engine @param {SpfSignals['state']} state @param {GetCdnId} getCdnId
 */
function reportVerdicts(engine, { errors, failedCdns, ...state }, getCdnId) {
  let seen = engine.state.retryExhausted;
  return engine.subscribe(({ retryExhausted }) => {
    const fresh = retryExhausted.filter((event) => !event.holding && !seen.includes(event));
    seen = retryExhausted;
    for (const event of fresh) {
      errors?.set([...(errors.get() ?? []), ...event.errors]);
      const isOfCdn = CDN_SITES.some((site) => site === event.site);
      const track = isOfCdn && selectedTrack(state, event.url);
      const cdn = track && getCdnId(track.url);
      // After SPF, which lays a failure to whatever track is selected by then.
      if (cdn && failedCdns) setTimeout(add, 0, failedCdns, cdn);
    }
  });
}

/** @param {import('@videojs/spf').Signal<string[] | undefined>} slot @param {string} cdn */
function add(slot, cdn) {
  const cdns = slot.get() ?? [];
  if (!cdns.includes(cdn)) slot.set([...cdns, cdn]);
}

/**
 * Lets no CDN fail without which there is no track to play: SPF would end with an error that is
 * fatal, though the CDN may be back at any moment.
 *
 * @param {SpfSignals['state']} state @param {GetCdnId} getCdnId
 */
function keepOneCdn({ failedCdns, presentation }, getCdnId) {
  if (!failedCdns) return () => {};
  const { set } = failedCdns;
  failedCdns.set = (next) => {
    if (!next?.length || spareCdns(presentation.get(), next, getCdnId) >= 0) {
      set.call(failedCdns, next);
    }
  };
  // The signal's class has it.
  return () => void Reflect.deleteProperty(failedCdns, 'set');
}

/**
 * @param {SpfEngine} engine @param {SpfSignals['state']} state @param {GetCdnId} getCdnId
 * @param {BridgeOptions['effect']} effect
 */
function declareCdns(engine, { failedCdns, presentation }, getCdnId, effect) {
  /** @param {number | undefined} count */
  const declare = (count) => {
    for (const site of CDN_SITES) engine.declareAlternatives(site, count);
  };
  engine.declareAlternatives('manifest', 0);
  const off = effect(() => {
    const count = spareCdns(presentation.get(), failedCdns?.get() ?? [], getCdnId);
    declare(count === Infinity ? undefined : Math.max(count, 0));
  });
  return () => {
    off();
    declare(undefined);
    engine.declareAlternatives('manifest', undefined);
  };
}

/**
 * @param {SpfEngine} engine @param {SpfSignals['state']} state @param {SpfSignals['context']} context
 * @param {BridgeOptions['effect']} effect
 */
function reportPlayback(engine, state, { mediaElement }, effect) {
  const follow = watchMedia((media) => {
    const playlist = /** @type {import('@videojs/spf/hls').MediaPlaylistMetadata | undefined} */ (
      selectedTrack(state)?.metadata?.mediaPlaylist
    );
    engine.reportPlayback({
      bufferAhead: bufferAhead(media),
      ...(playlist && { targetDuration: playlist.targetDuration, live: !playlist.endList }),
    });
  });
  const off = effect(() => follow(mediaElement.get()));
  return () => {
    off();
    follow(null);
  };
}

/**
 * Chromium plays sound on for up to 3 s where the picture is missing, and SPF meanwhile throws away
 * what is behind the playhead. When the picture comes, the decoder waits for a part that is gone:
 * for good, though all that is ahead is buffered. A seek to where it stands makes it go on.
 *
 * @param {SpfSignals['context']} context
 */
function keepMoving({ mediaElement }) {
  let stoodAt = NaN;
  const look = () => {
    const media = mediaElement.get();
    const isStuck = media && !media.paused && !media.seeking && media.readyState < 3;
    const at = isStuck && bufferAhead(media) > PLENTY_S ? media.currentTime : NaN;
    // Twice in the same place: a moment's wait is no standstill.
    if (media && at === stoodAt) media.currentTime = at;
    stoodAt = at;
  };
  const timer = setInterval(look, LOOK_MS);
  return () => clearInterval(timer);
}

/**
 * How many more CDNs can fail before there is no video or no audio; negative: too many have.
 *
 * @param {Presentation | undefined} presentation @param {string[]} failed @param {GetCdnId} getCdnId
 */
function spareCdns(presentation, failed, getCdnId) {
  const left = (presentation?.selectionSets ?? [])
    .filter((set) => set.type !== 'text' && tracksOf(set).length > 0)
    .map((set) => new Set(tracksOf(set).map(({ url }) => url && getCdnId(url))))
    .map((cdns) => [...cdns].filter((cdn) => !failed.includes(cdn)));
  // Audio that comes with the video has no URL, and is on no CDN.
  return Math.min(...left.map((cdns) => (cdns.includes('') ? Infinity : cdns.length))) - 1;
}

/**
 * The selected track; where URLs of video and audio tell, the one that a request is for.
 *
 * @param {SpfSignals['state']} state @param {string} [url]
 */
function selectedTrack({ presentation, selectedVideoTrackId, selectedAudioTrackId }, url = '') {
  const ids = [selectedVideoTrackId?.get(), selectedAudioTrackId?.get()];
  const tracks = (presentation.get()?.selectionSets ?? []).flatMap(tracksOf);
  const selected = tracks.filter(({ id }) => ids.includes(id));
  return selected.find((track) => originOf(track.url) === originOf(url)) ?? selected[0];
}

/** @param {NonNullable<NonNullable<Presentation>['selectionSets']>[number]} set */
function tracksOf({ switchingSets }) {
  return switchingSets.flatMap(({ tracks }) => /** @type {Track[]} */ (tracks));
}

/** SPF's own name of a CDN. @param {string} url */
function originOf(url) {
  try {
    return new URL(url).origin;
  } catch {
    return url;
  }
}
