// @ts-check
/** A worker that fetches the URL it is told, and tells what came. */
import { createEngine } from '../../../js/index.js';

const engine = createEngine();

addEventListener('message', async ({ data: url }) => {
  const ready = await engine.ready;
  const response = await engine.fetch(url, { site: 'segment' });
  const text = await response.text();
  postMessage({ ready, mode: engine.state.mode, status: response.status, text });
});
