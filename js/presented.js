// @ts-check
/** The head that a caller expects, where the engine asked for another part than the caller did. */

/**
 * @param {Response} response
 * @param {Pick<import('./transfer.js').Request, 'range' | 'last'>} request
 * @returns {Response}
 */
export function presented(response, { range, last }) {
  const { body, status, url, redirected, type } = response;
  const headers = new Headers(response.headers);
  const place = /^bytes (\d+)-\d+\/(\d+)$/i.exec(headers.get('content-range') ?? '');
  if (status !== 206 || !place) return response;
  const [, first, total] = place.map(Number);
  const end = Math.min(last, total - 1);
  headers.set('content-length', String(end - first + 1));
  if (range === null) headers.delete('content-range');
  else headers.set('content-range', `bytes ${first}-${end}/${total}`);
  const statusText = range === null ? 'OK' : response.statusText;
  const head = new Response(body, { status: range === null ? 200 : 206, statusText, headers });
  return Object.defineProperties(head, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
  });
}
