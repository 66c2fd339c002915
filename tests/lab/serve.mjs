// @ts-check
/** npm run lab: the lab page for a person with a browser. */
import { parseArgs } from 'node:util';
import { ensureReady } from '../tools/setup.mjs';
import { ensureMedia } from './media.mjs';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8100' },
    'media-port': { type: 'string', default: '8101' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log('Usage: npm run lab -- [--port 8100] [--media-port 8101]');
} else {
  await ensureReady(['npm', 'media', 'build']);
  const { startLab } = await import('./server.mjs');
  const { dir } = await ensureMedia({ log: console.error });
  const lab = await startLab({
    mediaDir: dir,
    port: Number(values.port),
    mediaPort: Number(values['media-port']),
  }).catch((error) => {
    if (error.code !== 'EADDRINUSE') throw error;
    console.error(`lab: port ${error.port} is taken; try npm run lab -- --port 0 --media-port 0`);
    process.exit(1);
  });
  console.log(`The lab is at ${lab.pageOrigin}/  (stop it with Ctrl-C)`);
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.once(signal, () => lab.close());
  }
}
