// @ts-check
// The same against the oldest version that is supported.
process.env.HLS = 'hls.js-1.5';
await import('./hls-config.test.mjs');
await import('./hls-quirks.test.mjs');
await import('./hls-reports.test.mjs');
await import('./hls-requests.test.mjs');
