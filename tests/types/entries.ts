// The other entries have the same names and types, and theirs.
import * as main from 'holdfast';
import * as inline from 'holdfast/inline';
import * as slim from 'holdfast/slim';

const same: typeof main = inline;
const more: typeof main = slim;
void [same, more];

const loading: Promise<void> = slim.init('https://example.test/core.wasm');
void loading;
void slim.init(fetch('https://example.test/core.wasm') as unknown as Response);
void slim.init(new Uint8Array(8));
const nothing: void = slim.initSync(new ArrayBuffer(8));
void nothing;
declare const compiled: WebAssembly.Module;
slim.initSync(compiled);
// @ts-expect-error the main entry finds the module itself
main.init;
slim.createEngine({ wasm: compiled }).destroy();

const engine: main.Engine = slim.createEngine();
inline.createTrackedFetch(
  {
    fastEstimate: 0,
    fastTotalWeight: 0,
    slowEstimate: 0,
    slowTotalWeight: 0,
    bytesSampled: 0,
  },
  () => {},
  { engine },
);
