// @ts-check
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deferred } from '../../js/deferred.js';

test('what is settled stays as it is', async () => {
  const failed = new Deferred();
  failed.reject(new Error('lost'));
  failed.resolve('late');
  assert.equal(failed.value, undefined);
  await assert.rejects(failed.promise, /lost/);

  const done = new Deferred();
  done.resolve('first');
  done.resolve('second');
  done.reject(new Error('late'));
  assert.equal(done.value, 'first');
  assert.equal(await done.promise, 'first');
});
