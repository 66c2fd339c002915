// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { documentOf, measuresOf, parseArguments, selectFiles } from './mutants.mjs';

const EXISTING = ['backoff.rs', 'engine.rs', 'engine/plan.rs', 'log.rs', 'throttle_pace.rs'];

test('the list names files, and all that begins like one with a star', () => {
  assert.deepEqual(selectFiles(EXISTING), [
    'backoff.rs',
    'engine.rs',
    'engine/plan.rs',
    'throttle_pace.rs',
  ]);
});

test('some of them are chosen by name, with or without their folder', () => {
  const { only } = parseArguments(['--only', 'backoff.rs,src/core/engine/plan.rs']);
  assert.deepEqual(selectFiles(EXISTING, only), ['backoff.rs', 'engine/plan.rs']);
  assert.throws(() => selectFiles(EXISTING, ['log.rs']), /log\.rs is not measured; files: backoff/);
  assert.throws(() => parseArguments(['--all']), /unknown arguments --all/);
  assert.deepEqual(parseArguments([]), { every: 1 });
  assert.deepEqual(parseArguments(['--every', '3']), { every: 3 });
  assert.throws(() => parseArguments(['--every', '0']), /unknown arguments --every 0/);
});

/** @type {(summary: string, file: string, name: string) => object} */
const outcome = (summary, file, name) => ({ scenario: { Mutant: { file, name } }, summary });

const OUTCOMES = JSON.stringify({
  outcomes: [
    { scenario: 'Baseline', summary: 'Success' },
    outcome('CaughtMutant', 'src/core/a.rs', 'a.rs:1:1: one'),
    outcome('Timeout', 'src/core/a.rs', 'a.rs:2:1: two'),
    outcome('MissedMutant', 'src/core/a.rs', 'a.rs:3:1: three'),
    outcome('Unviable', 'src/core/a.rs', 'a.rs:4:1: four'),
    outcome('CaughtMutant', 'src/core/b.rs', 'b.rs:1:1: five'),
  ],
});

test('outcomes are counted by file, without what does not compile', () => {
  assert.deepEqual(measuresOf(OUTCOMES), {
    'src/core/a.rs': { caught: 1, timedOut: 1, survivors: ['a.rs:3:1: three'] },
    'src/core/b.rs': { caught: 1, timedOut: 0, survivors: [] },
  });
});

test('the page begins with the share, has a line a file, and names the survivors', () => {
  const page = documentOf(measuresOf(OUTCOMES));
  assert.match(page, /^# Mutants\n\n\*\*75\.0 %\*\* of .*\(4\)/);
  assert.match(page, /^\| `src\/core\/a\.rs` \| {2}\| 3 \| 1 \| 1 \| 1 \| 66\.6 % \|$/m);
  assert.match(page, /^\| `src\/core\/b\.rs` \| {2}\| 1 \| 1 \| 0 \| 0 \| 100\.0 % \|$/m);
  assert.match(page, /^\| all \| {2}\| 4 \| 2 \| 1 \| 1 \| 75\.0 % \|$/m);
  assert.match(page, /\n## Survivors\n\n- `a\.rs:3:1: three`\n$/);
});

test('one that was tried in place of three counts for three', () => {
  const [few, many] = [1, 3].map((every) => ({ caught: 1, timedOut: 0, survivors: [], every }));
  const page = documentOf({ 'a.rs': { ...few, survivors: ['a'] }, 'b.rs': many });
  assert.match(page, /\*\*80\.0 %\*\* of .*\(3\)/);
  assert.match(page, /^\| `b\.rs` \| 3 \| 1 \| 1 \| 0 \| 0 \| 100\.0 % \|$/m);
});
