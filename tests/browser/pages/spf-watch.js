// @ts-check
/** What the tests see of a player of SPF. */

/**
 * @param {import('@videojs/spf/hls').HlsVideoEngineSignals} signals
 * @param {HTMLVideoElement} video
 */
export function watch({ state, context }, video) {
  return {
    /**
     * @param {string} url
     * @param {boolean} [autoplay] without, it loads its thirty seconds, and then rests
     */
    play(url, autoplay = true) {
      video.autoplay = autoplay;
      context.mediaElement.set(video);
      state.loadActivated.set(true);
      state.presentation.set({ url });
    },
    look() {
      const { buffered } = video;
      return {
        position: video.currentTime,
        // Gaps between segments would show.
        buffered: Array.from({ length: buffered.length }, (_, i) => [
          buffered.start(i),
          buffered.end(i),
        ]),
        failed: video.error !== null,
        errors: (state.errors.get() ?? []).map(({ code }) => code),
        failedCdns: state.failedCdns.get() ?? [],
      };
    },
  };
}
