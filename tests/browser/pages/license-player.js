// @ts-check
/** hls.js with what is protected, with an engine or alone, and with the hooks that customers have. */
import Hls from 'hls.js';
import { createEngine } from 'holdfast';
import { attachHls, hlsConfig } from 'holdfast/hls';

/**
 * @typedef {object} Options
 * @property {string} url
 * @property {Record<string, { licenseUrl: string, serverCertificateUrl?: string }>} [drmSystems]
 * @property {keyof typeof LICENSE_HOOKS} [licenses] the customer's hooks
 * @property {keyof typeof XHR_SETUPS} [xhrSetup] the customer's hook
 * @property {boolean} [alone] without an engine
 * @property {import('holdfast').EngineOptions['sites']} [sites]
 * @property {Record<string, string>} [freshHeaders] what `refreshLicenseRequest` gives
 * @property {string} [wasm] where the module is; it is waited for
 * @property {number} [keyRetryDelay] of hls.js, in milliseconds
 */

const video = /** @type {HTMLVideoElement} */ (document.querySelector('video'));
/** What the hooks of the customer saw. @type {any[]} */
const told = [];

/** Binary, as challenges and licenses of Widevine are. */
const PREFIX = Uint8Array.of(8, 4, 255, 0);

/** @type {Record<string, Partial<import('hls.js').HlsConfig>>} */
const LICENSE_HOOKS = {
  /** Opens, sets credentials and headers, and wraps what is sent and what comes. */
  binary: {
    licenseXhrSetup(xhr, url, _context, challenge) {
      told.push('setup');
      xhr.open('POST', url, true);
      xhr.withCredentials = true;
      xhr.setRequestHeader('x-auth', 'old');
      return new Uint8Array([...PREFIX, ...challenge]);
    },
    licenseResponseCallback(xhr) {
      told.push([xhr.readyState, xhr.status, xhr.responseURL, xhr.getResponseHeader('x-license')]);
      return xhr.response.slice(PREFIX.length);
    },
  },
  /** Does not open, so that it is called again by hls.js; then takes its time. */
  unopened: {
    licenseXhrSetup(xhr) {
      told.push('setup');
      xhr.setRequestHeader('x-auth', 'late');
      return /** @type {any} */ (new Promise((resolve) => setTimeout(resolve, 20)));
    },
  },
};

/** @type {Record<string, NonNullable<import('hls.js').HlsConfig['xhrSetup']>>} */
const XHR_SETUPS = {
  /** Another token at each attempt; a promise. */
  async token(xhr, url) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    told.push(url);
    const to = new URL(url);
    to.searchParams.set('token', String(told.length));
    xhr.open('GET', to.href, true);
    xhr.setRequestHeader('x-count', String(told.length));
  },
  /** Sets no header, and so opens nothing. */
  credentials(xhr) {
    xhr.withCredentials = true;
  },
  /** Does not open, so that it is called again. */
  unopened(xhr) {
    told.push(xhr.readyState);
    xhr.setRequestHeader('x-auth', 'late');
  },
  throwing() {
    told.push('setup');
    throw new Error('the hook is broken');
  },
};

/** @type {import('hls.js').default | undefined} */
let hls;
/** @type {import('holdfast').Engine | undefined} */
let engine;
/** @type {any[]} */
const errors = [];

/** @param {Options} options */
async function start(options) {
  const { url, drmSystems, licenses, xhrSetup, alone, sites, freshHeaders, wasm } = options;
  const own = {
    ...(drmSystems && { emeEnabled: true, drmSystems }),
    ...(licenses && LICENSE_HOOKS[licenses]),
    ...(xhrSetup && { xhrSetup: XHR_SETUPS[xhrSetup] }),
  };
  if (!alone) {
    const fresh = freshHeaders && { refreshLicenseRequest: () => ({ headers: freshHeaders }) };
    engine = createEngine({ sites, ...fresh, ...(wasm && { wasm }) });
  }
  if (wasm) await engine?.ready;
  hls = new Hls(engine ? hlsConfig(engine, own) : own);
  const { errorRetry } = hls.config.keyLoadPolicy.default;
  if (errorRetry) errorRetry.retryDelayMs = options.keyRetryDelay ?? errorRetry.retryDelayMs;
  if (engine) attachHls(engine, hls);
  hls.on(Hls.Events.ERROR, (_, data) => {
    const { details, fatal, response, networkDetails, error } = data;
    const body = /** @type {any} */ (networkDetails)?.response;
    errors.push({
      ...{ details, fatal, code: response?.code, message: error?.message },
      body: body instanceof ArrayBuffer ? new TextDecoder().decode(body) : undefined,
    });
  });
  hls.loadSource(url);
  hls.attachMedia(video);
  video.play().catch(() => {});
}

const look = () => ({
  position: video.currentTime,
  ended: video.ended,
  frames: video.getVideoPlaybackQuality().totalVideoFrames,
  isProtected: video.mediaKeys !== null,
  mode: engine?.state.mode,
  attempts: engine?.log().filter(({ event }) => event === 'sent').length,
  errors,
  told,
});

// For the test.
Object.assign(globalThis, { player: { start, look, stop: () => hls?.destroy() } });
