// @ts-check
// Compiles tests/types/*.ts against the package as TypeScript users see it, strictly, in both
// ways that packages are resolved today. The files import `holdfast` by name, and mark what must
// not compile with @ts-expect-error.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runAsProgram } from './main.mjs';
import { log, runStreaming } from './processes.mjs';
import { ROOT, ensureReady, toolEnvironment } from './setup.mjs';

const FOLDER = join('tests', 'types');
const RESOLUTIONS = [
  ['--module', 'nodenext', '--moduleResolution', 'nodenext'],
  ['--module', 'esnext', '--moduleResolution', 'bundler'],
];
const STRICT = [
  ...[
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
  ],
  ...['--target', 'es2022', '--lib', 'es2023,dom,dom.iterable', '--types', ''],
];

runAsProgram(import.meta.url, async () => {
  await ensureReady(['npm']);
  const all = existsSync(join(ROOT, FOLDER)) ? readdirSync(join(ROOT, FOLDER)) : [];
  const names = all.filter((name) => name.endsWith('.ts'));
  const files = names.map((name) => join(FOLDER, name));
  if (files.length === 0) throw new Error(`no type tests in ${FOLDER}`);
  for (const resolution of RESOLUTIONS) {
    const { code } = await runStreaming('tsc', [...STRICT, ...resolution, ...files], {
      cwd: ROOT,
      env: toolEnvironment(),
      limitMs: 120_000,
    });
    if (code !== 0) throw new Error(`the type tests do not compile with ${resolution.join(' ')}`);
  }
  log(`holdfast: ${files.length} type tests compile`);
});
