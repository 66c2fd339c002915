// @ts-check
/** npm run bench:size: what a page downloads for Holdfast, and for its peers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../tools/setup.mjs';
import { limitOf, measureEntries } from '../tools/size.mjs';
import { runBench } from './command.mjs';
import { versionOf } from './machine.mjs';
import { PEERS, measurePeer } from './size/peers.mjs';

const PARTS = {
  ours: 'every entry of ours, as `npm run size` measures it',
  peers: 'players, and what adds retries to fetch',
};

runBench({
  name: 'size',
  about:
    'Bytes of minified JavaScript and wasm, as they are, in gzip -9 and in brotli 11. half a minute.',
  parts: PARTS,
  key: ['package', 'entry'],
  packages: [...new Set(PEERS.map((peer) => peer.package))],
  needs: ['npm', 'build'],
  columns: [
    { title: 'package', cell: (row) => row.package },
    { title: 'entry', cell: (row) => row.entry },
    { title: 'bytes', cell: (row) => row.rawB, digits: 0 },
    { title: 'gzip', cell: (row) => row.gzipB, digits: 0 },
    { title: 'brotli', cell: (row) => row.brotliB, digits: 0 },
    { title: 'limit', cell: (row) => row.limitB, digits: 0 },
    { title: 'later', cell: (row) => row.laterB, digits: 0 },
  ],
  async run({ only, smoke, emit, progress }) {
    if (only.has('ours')) {
      const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
      const own = { package: 'holdfast', version, kind: 'ours' };
      for (const measured of await measureEntries()) {
        const { entry, rawB, gzipB, brotliB, lazy } = measured;
        const limitB = limitOf(measured) ?? null;
        // What is loaded only when something needs it.
        const laterB = lazy.hooks?.brotliB ?? null;
        emit({ entry, ...own, rawB, gzipB, brotliB, limitB, laterB });
      }
    }
    if (!only.has('peers')) return;
    // One file and one bundle show that both ways work.
    const some = smoke ? PEERS.filter(({ entry }) => /^(hls.min.js|ky)$/.test(entry)) : PEERS;
    for (const peer of some) {
      progress(peer.entry);
      const { entry, package: name, kind } = peer;
      const size = await measurePeer(peer);
      emit({
        entry,
        package: name,
        version: versionOf(name),
        ...size,
        limitB: null,
        laterB: null,
        kind,
      });
    }
  },
  misses: (rows) =>
    rows
      .filter(({ brotliB, limitB }) => limitB && Number(brotliB) > Number(limitB))
      .map(({ entry, brotliB, limitB }) => `'${entry}' is ${brotliB} bytes; ${limitB} at most`),
});
