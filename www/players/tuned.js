// @ts-check
/**
 * The players alone, with the best that their documented options and the usual recovery of an
 * application can do against the faults of the lab. Buffer goals stay what they are.
 *
 * Committed before Holdfast was tuned by what it measures; trial runs of both came before, and what they
 * corrected was in the players' favour. Whoever knows better is welcome.
 */
import { createTokens } from './token.js';

/** An application waits this long before it takes up again what has failed for good. */
const RECOVER_MS = 2000;

/** A stream that breaks decoding again at once is not helped by a third decoder. */
const MEDIA_RECOVERY_GAP_MS = 3000;

/** How often a player that lost more than the network is loaded again. */
const RELOADS = 3;

/** How often what failed is asked for again, without and with another host to go to. */
const MANY = 12;
const FEW = 1;

/** @typedef {import('./index.js').Setup} Setup */

/**
 * Headers within 4 s, all of it within 10 s; then again at once, or after 0.5 s to 4 s.
 * @param {number} repetitions
 */
const hlsPolicy = (repetitions) => ({
  default: {
    // Default 10 s: a request that hangs costs more than the buffer at start-up.
    maxTimeToFirstByteMs: 4000,
    // Default 120 s for segments: the only timer that ends a body that fell silent.
    maxLoadTimeMs: 10_000,
    // Default 4, and 2 for playlists.
    timeoutRetry: { maxNumRetry: repetitions, retryDelayMs: 0, maxRetryDelayMs: 0 },
    // Default 6 from 1 s to 8 s, 1 for the manifest and 2 for playlists: an outage outlasts them.
    errorRetry: { maxNumRetry: repetitions, retryDelayMs: 500, maxRetryDelayMs: 4000 },
  },
});

/**
 * @param {Setup} setup
 * @returns {{ config: object, attach: (Hls: any, hls: any, url: string) => (data: any) => boolean }}
 *   `attach` gives what is told of each error, and says whether the error is recovered from
 */
export function tunedHls({ tokenUrl, alternatives }) {
  const tokens = createTokens(tokenUrl);
  const config = {
    manifestLoadPolicy: hlsPolicy(MANY),
    // With redundant streams to go to, each repetition keeps it from going there.
    playlistLoadPolicy: hlsPolicy(alternatives ? FEW : MANY),
    fragLoadPolicy: hlsPolicy(alternatives ? FEW : MANY),
    ...(tokenUrl && {
      xhrSetup: (/** @type {XMLHttpRequest} */ xhr, /** @type {string} */ url) =>
        xhr.open('GET', tokens.apply(url), true),
    }),
  };
  return {
    config,
    attach(Hls, hls, url) {
      let lastRecovery = -Infinity;
      return ({ fatal, type, details, response }) => {
        if (tokenUrl && response?.code === 403) {
          // hls.js repeats no 403 by itself.
          const again = () => hls.startLoad();
          tokens.refused(403).then(again, () => setTimeout(again, RECOVER_MS));
          return true;
        }
        if (!fatal) return true;
        const { ErrorTypes } = Hls;
        if (type === ErrorTypes.NETWORK_ERROR) {
          const again = () => (/^manifest/.test(details) ? hls.loadSource(url) : hls.startLoad());
          setTimeout(again, RECOVER_MS);
          return true;
        }
        if (type !== ErrorTypes.MEDIA_ERROR) return false;
        if (performance.now() - lastRecovery < MEDIA_RECOVERY_GAP_MS) return false;
        lastRecovery = performance.now();
        hls.recoverMediaError();
        return true;
      };
    },
  };
}

/** About 10 s of attempts, never more than 2.2 s apart. */
const shakaRetries = {
  maxAttempts: 10, // default 2
  baseDelay: 500, // default 1000
  backoffFactor: 1.2, // default 2, without a cap
  fuzzFactor: 0.5,
  connectionTimeout: 4000, // until the headers; default 10 s
  stallTimeout: 4000, // default 5 s
  timeout: 10_000, // default 30 s
};

/**
 * @param {any} shaka
 * @param {any} player
 * @param {Setup} setup
 * @returns {{ onError: (error: any, url: string) => boolean }} whether the error is recovered from
 */
export function tuneShaka(shaka, player, { tokenUrl }) {
  const tokens = createTokens(tokenUrl);
  const { NETWORK } = shaka.util.Error.Category;
  player.configure({
    manifest: { retryParameters: shakaRetries },
    streaming: {
      retryParameters: shakaRetries,
      // Its own retries live streams alone; a recording ends with the first failure.
      failureCallback(/** @type {any} */ error) {
        if (error.category !== NETWORK) return;
        const again = () => player.retryStreaming(RECOVER_MS / 1000);
        tokens.refused(error.data?.[1]).then(again, again);
      },
    },
  });
  if (tokenUrl) {
    const network = player.getNetworkingEngine();
    network.registerRequestFilter((/** @type {any} */ _, /** @type {any} */ request) => {
      request.uris = request.uris.map(tokens.apply);
    });
  }
  let reloads = 0;
  return {
    onError(error, url) {
      const { category } = error;
      // What failed while it played is taken up by the callback.
      if (category === NETWORK && player.getManifest()) return true;
      if (category !== NETWORK && ++reloads > RELOADS) return false;
      const at = player.getMediaElement()?.currentTime || undefined;
      setTimeout(
        () => player.load(url, at).catch((/** @type {any} */ e) => this.onError(e, url)),
        RECOVER_MS,
      );
      return true;
    },
  };
}

/** dash.js's codes of what could not be had: MPD, index, segment, initialisation segment. */
const DOWNLOAD_ERRORS = new Set([25, 26, 27, 28]);

/** By type of request. @param {number} count */
const each = (count) =>
  Object.fromEntries(
    ['MPD', 'MediaSegment', 'InitializationSegment', 'IndexSegment', 'other'].map((type) => [
      type,
      count,
    ]),
  );

/**
 * @param {any} player
 * @param {Setup} setup
 * @returns {{ onError: (error: any, url: string) => boolean, stop: () => void }} whether the error is
 *   recovered from
 */
export function tuneDash(player, { tokenUrl, alternatives }) {
  player.updateSettings({
    streaming: {
      // Default 3. With another BaseURL to go to, each repetition keeps it from going there.
      retryAttempts: each(alternatives ? FEW : 30),
      retryIntervals: each(1000), // default 1000, and 500 for the MPD; it does not grow
      // The only bound of a request without an answer, for the whole of it; default 20 s.
      fragmentRequestTimeout: 6000,
      // Ends a body that fell silent; off by default.
      fragmentRequestProgressTimeout: 4000,
      manifestRequestTimeout: 4000, // default 10 s
    },
  });
  if (tokenUrl) {
    const tokens = createTokens(tokenUrl);
    player.addRequestInterceptor(async (/** @type {any} */ request) => {
      request.url = tokens.apply(request.url);
      return request;
    });
    player.addResponseInterceptor(async (/** @type {any} */ response) => {
      await tokens.refused(response.status).catch(() => {});
      return response;
    });
  }
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let watch;
  return {
    onError(error, url) {
      if (!DOWNLOAD_ERRORS.has(error?.code)) return false;
      // dash.js may have another BaseURL, or enough in the buffer; what stands still is loaded anew.
      const media = player.getVideoElement();
      let at = media.currentTime;
      clearInterval(watch);
      watch = setInterval(() => {
        if (media.currentTime !== at) {
          at = media.currentTime;
          return;
        }
        clearInterval(watch);
        if (!media.ended) player.attachSource(url, at || undefined);
      }, RECOVER_MS);
      return true;
    },
    stop: () => clearInterval(watch),
  };
}
