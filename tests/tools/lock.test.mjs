// @ts-check
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLock } from './lock.mjs';

/** @param {import('node:test').TestContext} t */
function lockIn(t) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-lock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'deep', 'lock');
}

test('work under one lock never overlaps', async (t) => {
  const lock = lockIn(t);
  let inside = 0;
  const work = async () => {
    inside += 1;
    assert.equal(inside, 1);
    await sleep(20);
    inside -= 1;
  };
  await Promise.all([withLock(lock, work), withLock(lock, work), withLock(lock, work)]);
});

test('the lock is gone after work that failed', async (t) => {
  const lock = lockIn(t);
  await assert.rejects(
    withLock(lock, async () => {
      throw new Error('no');
    }),
    /no/,
  );
  assert.equal(existsSync(lock), false);
});

test('the lock of a process that has ended is taken over', async (t) => {
  const lock = lockIn(t);
  const ended = spawnSync(process.execPath, ['-e', '']).pid;
  await withLock(lock, async () => {});
  writeFileSync(lock, String(ended));
  assert.equal(await withLock(lock, async () => 'mine'), 'mine');
});
