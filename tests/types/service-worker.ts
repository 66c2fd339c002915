// The service worker, and the pages that register it.
import { register, reportPlayback, serve, unregister, workerState } from 'holdfast/service-worker';
import type { ServeOptions, WorkerState } from 'holdfast/service-worker';

serve();
const options: ServeOptions = {
  claim: false,
  match: ({ url, destination }) => (destination === 'video' ? 'segment' : url.endsWith('.bin')),
  sites: { segment: { attempts: 6 } },
  holdLimit: 30_000,
  shouldRetry: (error) => error.status !== 404,
};
serve(options);
serve({ match: () => undefined });
// @ts-expect-error there is no such site
serve({ match: () => 'media' });
// @ts-expect-error it must answer at once
serve({ match: async () => true });

const registered: Promise<ServiceWorkerRegistration | undefined> = register('/holdfast-sw.js', {
  scope: '/watch/',
});
const was: Promise<boolean> = unregister('/watch/');
reportPlayback({ bufferAhead: 12, targetDuration: 6, live: true });
const known: Promise<WorkerState | undefined> = workerState();
void known.then((worker) => [worker?.state.mode, worker?.log.at(-1)?.event]);
void [registered, was];
