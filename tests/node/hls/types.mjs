// @ts-check
// Compiled by hls-config.test.mjs, never run: how a page uses the adapter must fit hls.js's own types.
import Hls from 'hls.js';
import { createEngine } from 'holdfast';
import { attachHls, hlsConfig } from 'holdfast/hls';

const engine = createEngine();

const hls = new Hls(hlsConfig(engine));
/** @type {() => void} */
const stop = attachHls(engine, hls);
stop();

new Hls(
  hlsConfig(engine, {
    maxBufferLength: 60,
    fragLoadPolicy: { default: { maxLoadTimeMs: 30_000 } },
  }),
);
new Hls({ ...hlsConfig(engine), debug: true });
new Hls({ fLoader: hlsConfig(engine).loader, progressive: true });
new Hls(hlsConfig(engine, { fetchSetup: (context, init) => new Request(context.url, init) }));

/** @type {import('hls.js').Loader<import('hls.js').LoaderContext>} */
const loader = new (hlsConfig(engine).loader)(hls.config);
loader.abort();

new Hls(hlsConfig(engine, { loader: Hls.DefaultConfig.loader }, { skipHoles: false }));

// @ts-expect-error not an option of this adapter
hlsConfig(engine, {}, { skipHole: false });
// @ts-expect-error not an option of hls.js
hlsConfig(engine, { maxBufferLenght: 60 });
// @ts-expect-error not an engine
hlsConfig({});
// @ts-expect-error not a player
attachHls(engine, {});
