// @ts-check
// Many at once, and functions of the embedder that call back in the middle of a request's beginning.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { createEngine } from 'holdfast';
import { quick } from './fixture.mjs';

/** @param {import('holdfast').EngineOptions} options @param {import('node:test').TestContext} t */
async function engineWith(t, options) {
  const engine = createEngine(quick({}, options));
  t.after(() => engine.destroy());
  await engine.ready;
  return engine;
}

const REFUSAL = () => new Response('token expired', { status: 403 });

test('R51: two hundred refused requests wait for one refresh, and all succeed', async (t) => {
  let asked = 0;
  const engine = await engineWith(t, {
    fetch: async (input) => (String(input).includes('newtok') ? new Response('media') : REFUSAL()),
    async refreshPlaybackToken(url) {
      asked += 1;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return url.replace('oldtok1234', 'newtok1234');
    },
  });
  const all = Array.from({ length: 200 }, (_, i) =>
    engine.load({ url: `http://host.example/${i}.ts?token=oldtok1234`, site: 'segment' }),
  );
  const loaded = await Promise.all(all);
  assert.equal(loaded.length, 200);
  assert.equal(asked, 1);
});

test('R53: a refresh that rejects is told in the verdict, and ends no process', () => {
  const script = `
    import { createEngine } from 'holdfast';
    const engine = createEngine({
      fetch: async () => new Response('no', { status: 403 }),
      async refreshPlaybackToken() { throw new Error('the API is down'); },
    });
    await engine.ready;
    const url = 'http://host.example/1.ts?token=oldtok1234';
    const error = await engine.load({ url, site: 'segment' }).catch((error) => error);
    console.log(error.reason, String(error.refreshError));
    engine.destroy();`;
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { encoding: 'utf8', cwd: new URL('../../', import.meta.url) },
  );
  assert.equal(stdout.trim(), 'refresh Error: the API is down');
  assert.equal(status, 0);
});

for (const answer of ['http://[bad', 'https://user:secret@host.example/1.ts']) {
  test(`R53: a refresh that gives what fetch refuses has failed (${answer})`, async (t) => {
    const engine = await engineWith(t, {
      fetch: async () => REFUSAL(),
      refreshPlaybackToken: () => answer,
    });
    const url = 'http://host.example/1.ts?token=oldtok1234';
    const error = await engine.load({ url, site: 'segment' }).catch((error) => error);
    assert.equal(error.reason, 'refresh');
    assert.match(String(error.refreshError), /no absolute http\(s\) URL/);
  });
}

test('R40: a getCdnId that begins a request of its own leaves both their own numbers', async (t) => {
  /** @type {Promise<Response> | undefined} */
  let inner;
  let isFirst = true;
  const engine = await engineWith(t, {
    fetch: async (input) => new Response(String(input)),
    getCdnId(url) {
      if (isFirst) {
        isFirst = false;
        inner = engine.fetch('http://host.example/inner.ts', { site: 'segment' });
      }
      return new URL(url).host;
    },
  });
  const outer = await engine.fetch('http://host.example/outer.ts', { site: 'segment' });
  assert.match(await outer.text(), /outer/);
  assert.match((await (await inner)?.text()) ?? '', /inner/);
});
