// @ts-check
/** The lab server's API, seen from the page. */

/**
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<any>}
 */
async function call(path, init) {
  const response = await fetch(path, init);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `${path}: ${response.status}`);
  return answer;
}

export function fetchScenarios() {
  return call('/api/scenarios');
}

/** @param {string} scenario */
export function createSession(scenario) {
  return call('/api/sessions', { method: 'POST', body: JSON.stringify({ scenario }) });
}

/** @param {string} id */
export function fetchSession(id) {
  return call(`/api/sessions/${id}`);
}

/**
 * What the server saw: the session's clock and its requests.
 * @param {string} id
 */
export function fetchRequests(id) {
  return call(`/api/sessions/${id}/log`);
}
