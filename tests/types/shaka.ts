// What installShaka takes: both versions of Shaka, with their own types.
import { createEngine } from 'holdfast';
import { installShaka } from 'holdfast/shaka';

declare const shaka: typeof import('shaka-player', {
  with: { 'resolution-mode': 'require' },
}).default;
declare const shaka4: typeof import('shaka-player-4', {
  with: { 'resolution-mode': 'require' },
}).default;

const engine = createEngine();
const uninstall: () => void = installShaka(engine, shaka, new shaka.Player());
uninstall();
installShaka(engine, shaka);
installShaka(engine, shaka, null, { transport: shaka.net.HttpFetchPlugin.parse });
installShaka(engine, shaka4, new shaka4.Player());

// @ts-expect-error it is no engine
installShaka({}, shaka);
// @ts-expect-error the player comes third
installShaka(engine, new shaka.Player());
