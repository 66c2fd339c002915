// @ts-check
// A lock between processes: a file that holds its owner's process id.

import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from './processes.mjs';

/** A lock older than this is abandoned, whatever its owner's number now belongs to. */
const ABANDONED_AFTER_MS = 60 * 60_000;
const LOOK_AGAIN_MS = 200;

/**
 * Runs `work` while no other process holds the lock at `path`.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true });
  let told = false;
  while (!take(path)) {
    if (dropIfAbandoned(path)) continue;
    if (!told) log(`holdfast: waiting for another process that holds ${path}`);
    told = true;
    await sleep(LOOK_AGAIN_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** Creates the lock, or says that it exists. */
function take(/** @type {string} */ path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the lock if its owner is gone. */
function dropIfAbandoned(/** @type {string} */ path) {
  if (!isAbandoned(path)) return false;
  // Moved aside first, so that of two waiters only one removes it; put back if another waiter
  // was quicker and what was moved is already its new lock.
  const aside = `${path}.abandoned.${process.pid}`;
  try {
    renameSync(path, aside);
    if (!isAbandoned(aside)) renameSync(aside, path);
  } catch {
    return true;
  }
  rmSync(aside, { force: true });
  return true;
}

/** @param {string} path */
function isAbandoned(path) {
  try {
    const owner = Number(readFileSync(path, 'utf8'));
    const age = Date.now() - statSync(path).mtimeMs;
    return age > ABANDONED_AFTER_MS || !isAlive(owner);
  } catch {
    return true;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
