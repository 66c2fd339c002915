// @ts-check
/** A worker of a site's own, which has Holdfast answer for what it says. */
import { serve } from '../../../js/service-worker.js';

serve({
  match: ({ url }) => {
    const { pathname } = new URL(url);
    if (pathname.startsWith('/media/')) return 'segment';
    return pathname.startsWith('/once/');
  },
  shouldRetry: ({ status }) => status === 404,
  sites: { segment: { attempts: 2, onExhausted: 'reject' } },
});

// The rest is the site's.
addEventListener('fetch', (event) => {
  const { request, respondWith } = /** @type {any} */ (event);
  if (request.url.endsWith('/own')) respondWith.call(event, new Response('of its own'));
});
