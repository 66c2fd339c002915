// @ts-check
/** What a page does with SPF's signals, with Holdfast and without. */

/** How often its errors are looked at. */
const LOOK_MS = 200;

/**
 * @param {import('@videojs/spf/hls').HlsVideoEngineSignals} signals
 * @param {HTMLVideoElement} media
 * @param {string} url
 * @param {(text: string, fatal: boolean) => void} onError
 */
export function play({ state, context }, media, url, onError) {
  context.mediaElement.set(media);
  state.loadActivated.set(true);
  state.presentation.set({ url });
  let told = 0;
  setInterval(() => {
    const errors = state.errors.get() ?? [];
    // SPF's own adapter for pages takes 2011 and 2012 for fatal.
    for (const { code } of errors.slice(told)) onError(String(code), [2011, 2012].includes(code));
    told = errors.length;
  }, LOOK_MS);
}
