// Tabs that share: the engine as it is, and a hook that is one.
import { createEngine } from 'holdfast';
import { shareAcrossTabs, singleFlightAcrossTabs } from 'holdfast/cross-tab';
import type { CrossTab, SharedRefresh } from 'holdfast/cross-tab';

const refreshPlaybackToken: SharedRefresh = singleFlightAcrossTabs(
  async (url, { status, evidence }) => `${url}&${status}&${evidence}`,
  { name: 'player', keyOf: (url) => new URL(url).pathname.split('/')[1] },
);
const engine = createEngine({ refreshPlaybackToken });
const tabs: CrossTab = shareAcrossTabs(engine);
shareAcrossTabs(engine, { name: 'player' }).close();
tabs.close();
refreshPlaybackToken.close();
createEngine({ sites: { segment: { refreshPlaybackToken } } });

// @ts-expect-error a hook gives a string
singleFlightAcrossTabs(() => 5);
// @ts-expect-error there is no such option
shareAcrossTabs(engine, { channel: 'player' });
// @ts-expect-error it says yes or no, later
engine.electProbes(() => true);
engine.electProbes(async (host: string) => host !== '');
engine.electProbes(undefined);
engine.adoptHealth('https://cdn.example', { openUntil: 5, trips: 1, blockedUntil: 5, rate: 1 });
