// @ts-check
/** video.js with VHS on an engine: all kinds of requests, and what the two tell each other. */
import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { answer, file, ok } from '../node/server.mjs';
import { eventually, shared } from './fixture.mjs';
import { RESUMABLE, SHORT, requested, startVhs } from './vhs-fixture.mjs';

/** @type {import('./vhs-fixture.mjs').Vhs} */
let vhs;
before(async () => {
  vhs = await startVhs();
});
after(() => vhs?.close());

test('a resumed segment gives the estimate of an undisturbed one', async () => {
  const rules = [
    { match: '^mid-06\\.m4s$', nth: 1, act: /** @type {const} */ ('stallBody'), at: 0.5 },
  ];
  const session = vhs.createSession({ ...RESUMABLE, rules, link: { kbps: 3000 } });
  // Video alone: audio would share the link at times.
  const { sites } = SHORT;
  const engine = { sites: { ...sites, segment: { ...sites.segment, stallTimeout: 1500 } } };
  const run = await vhs.play({ src: session.url('mid.m3u8'), engine, rate: 4 });
  await run.reaches(16);
  const samples = (await run.told('bandwidthupdated')).map(({ facts }) => facts.bandwidthInfo.to);
  const rest = samples.filter((_, i) => i !== 5).sort((a, b) => a - b);
  const usual = rest[Math.floor(rest.length / 2)];
  assert.equal(requested(session, /^mid-06/).length, 2);
  const share = samples[5] / usual;
  // With the silence of 1500 ms in it, it would be about a quarter.
  assert.ok(share > 0.6 && share < 1.5, `${samples[5]} bit/s among ${usual} bit/s`);
  await run.close();
});

test('DASH is served as well', async () => {
  const rules = [
    { match: '^main\\.mpd$', nth: 1, act: /** @type {const} */ ('status'), status: 503 },
    { match: '^mid-03\\.m4s$', nth: 1, act: /** @type {const} */ ('stallBody'), at: 0.5 },
  ];
  const session = vhs.createSession({ ...RESUMABLE, rules, link: { kbps: 8000 } });
  const run = await vhs.play({ src: session.url('main.mpd'), rate: 2 });
  await run.reaches(6.5);
  assert.equal(requested(session, /^main\.mpd/).length, 2);
  assert.equal(requested(session, /^mid-03/).length, 2);
  assert.equal((await run.look()).errored, 0);
  await run.close();
});

test('DASH with an index finds it without fetching the file', async () => {
  const parts = await Promise.all(segmentFiles('mid').map(media));
  const [init, ...segments] = parts;
  const index = sidx(segments.map(({ length }) => length));
  const whole = Buffer.concat([init, index, ...segments]);
  const { media: origin } = vhs.browser;
  origin.on('/index/film.mp4', shared(file(whole)));
  const range = `${init.length}-${init.length + index.length - 1}`;
  const src = origin.on('/index/film.mpd', shared(ok(indexedMpd(range, init.length))));
  const run = await vhs.play({ src });
  await run.reaches(3);
  const [probe, ...asked] = origin.seen('/index/film.mp4');
  assert.equal(probe.headers.range, undefined);
  assert.ok(asked.length > 1);
  assert.ok(asked.every(({ headers }) => headers.range));
  await run.close();
});

test('a key is asked for again, and its segments play', async () => {
  const key = Buffer.from('holdfast-vhs-key');
  const session = vhs.createSession();
  const { media: origin } = vhs.browser;
  const lines = ['#EXTM3U', '#EXT-X-VERSION:6', '#EXT-X-TARGETDURATION:2'];
  lines.push(`#EXT-X-MAP:URI="${session.url('mid-init.mp4')}"`);
  lines.push(`#EXT-X-KEY:METHOD=AES-128,URI="one.key",IV=0x${'00'.repeat(16)}`);
  for (const name of segmentFiles('mid').slice(1, 5)) {
    const cipher = createCipheriv('aes-128-cbc', key, Buffer.alloc(16));
    const body = Buffer.concat([cipher.update(await media(name)), cipher.final()]);
    origin.on(`/key/${name}`, shared(ok(body)));
    lines.push('#EXTINF:2,', name);
  }
  origin.on('/key/one.key', shared(answer(503)), shared(answer(503)), shared(ok(key)));
  const src = origin.on('/key/main.m3u8', shared(ok([...lines, '#EXT-X-ENDLIST'].join('\n'))));
  const run = await vhs.play({ src });
  await run.reaches(3);
  // VHS asks for the key of each segment anew.
  assert.equal(origin.seen('/key/one.key').length, 6);
  assert.equal((await run.look()).errored, 0);
  await run.close();
});

test('subtitles that failed once are shown', async () => {
  const session = vhs.createSession();
  const { media: origin } = vhs.browser;
  const text = 'WEBVTT\n\n00:00.000 --> 00:05.000\nhold fast\n';
  origin.on('/text/one.vtt', shared(answer(503)), shared(ok(text)));
  origin.on(
    '/text/text.m3u8',
    shared(ok('#EXTM3U\n#EXT-X-TARGETDURATION:40\n#EXTINF:40,\none.vtt\n#EXT-X-ENDLIST')),
  );
  const main = await media('pinned.m3u8');
  const group = '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="t",LANGUAGE="en",URI="text.m3u8"';
  const lines = String(main)
    .replace(/^(#EXT-X-STREAM-INF:.*)$/m, '$1,SUBTITLES="s"')
    .replace(/^([\w-]+\.m3u8)$/m, (name) => session.url(name))
    .replace(/URI="(\w+\.m3u8)"/, (_, name) => `URI="${session.url(name)}"`)
    .replace('#EXTM3U', `#EXTM3U\n${group}`);
  const src = origin.on('/text/main.m3u8', shared(ok(lines)));
  const run = await vhs.play({ src });
  await run.reaches(0.5);
  await run.made.evaluate(({ player }) => {
    const tracks = Array.from(/** @type {any} */ (player.textTracks()));
    tracks.find(({ kind }) => kind === 'subtitles').mode = 'showing';
  });
  const shown = await eventually(
    () =>
      run.made.evaluate(({ player }) => {
        const tracks = Array.from(/** @type {any} */ (player.textTracks()));
        return tracks.find(({ kind }) => kind === 'subtitles').cues?.[0]?.text;
      }),
    'a cue',
  );
  assert.equal(shown, 'hold fast');
  assert.equal(origin.seen('/text/one.vtt').length, 2);
  await run.close();
});

test('a live playlist is reloaded through a failure, and the engine knows of it', async () => {
  const session = vhs.createSession();
  const { media: origin } = vhs.browser;
  const window = (/** @type {number} */ first) =>
    [
      '#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:2',
      `#EXT-X-MEDIA-SEQUENCE:${first}\n#EXT-X-MAP:URI="${session.url('mid-init.mp4')}"`,
      ...segmentFiles('mid')
        .slice(first, first + 6)
        .map((name) => `#EXTINF:2,\n${session.url(name)}`),
    ].join('\n');
  const src = origin.on(
    '/live/main.m3u8',
    shared(ok(window(1))),
    shared(answer(503)),
    ...[2, 3, 4, 5, 6].map((first) => shared(ok(window(first)))),
  );
  const run = await vhs.play({ src });
  await eventually(() => origin.seen('/live/main.m3u8').length > 3, 'reloads');
  const { log, errored } = {
    log: await run.made.evaluate(({ engine }) => engine.log()),
    ...(await run.look()),
  };
  const sites = log.filter(({ event }) => event === 'started').map(({ detail }) => detail);
  assert.equal(sites.filter((site) => site === 'manifest').length, 1);
  assert.ok(sites.filter((site) => site === 'playlist-reload').length >= 2);
  assert.equal(errored, 0);
  assert.deepEqual(await run.told('retryplaylist'), []);
  await run.close();
});

test('a playlist whose directives are refused is reloaded plainly for a while', async () => {
  const session = vhs.createSession();
  const { media: origin } = vhs.browser;
  let first = 0;
  const src = origin.on(
    '/low/main.m3u8',
    shared((request, response) => {
      if (/_HLS_/.test(request.url ?? '')) return answer(400)(request, response);
      first++;
      ok(
        [
          '#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2',
          '#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES',
          `#EXT-X-MEDIA-SEQUENCE:${first}\n#EXT-X-MAP:URI="${session.url('mid-init.mp4')}"`,
          ...segmentFiles('mid')
            .slice(first, first + 6)
            .map((name) => `#EXTINF:2,\n${session.url(name)}`),
        ].join('\n'),
      )(request, response);
    }),
  );
  const run = await vhs.play({ src });
  const seen = () => origin.seen('/low/main.m3u8').map(({ url }) => /_HLS_msn/.test(url));
  await eventually(() => seen().length >= 5, 'reloads');
  assert.deepEqual(seen().slice(0, 5), [false, true, false, false, false]);
  await run.close();
});

test('the engine is told of the buffer, of live, and of what could take over', async () => {
  const session = vhs.createSession();
  const opened = await vhs.open();
  const heard = await opened.kit.evaluateHandle(async (kit, options) => {
    const engine = await kit.engineOf(/** @type {import('holdfast').EngineOptions} */ (options));
    /** @type {{ reports: import('holdfast').PlaybackReport[], counts: Record<string, any> }} */
    const heard = { reports: [], counts: {} };
    const spy = {
      load: engine.load.bind(engine),
      subscribe: engine.subscribe.bind(engine),
      get state() {
        return engine.state;
      },
      reportPlayback: (/** @type {any} */ report) => void heard.reports.push(report),
      declareAlternatives: (/** @type {string} */ site, /** @type {any} */ count) => {
        heard.counts[site] = count ?? 'unknown';
      },
    };
    const player = kit.createPlayer();
    const uninstall = kit.installVhs(spy, kit.library(), player);
    return { heard, player, uninstall };
  }, SHORT);
  await heard.evaluate(({ player }, { kit, src }) => kit.play(player, src), {
    kit: opened.kit,
    src: session.url('pinned.m3u8'),
  });
  const report = await eventually(
    () => heard.evaluate(({ heard }) => heard.reports.find((r) => Number(r.bufferAhead) > 1)),
    'a report',
  );
  assert.deepEqual([report.targetDuration, report.live], [2, false]);
  assert.deepEqual(
    await heard.evaluate(({ heard }) => heard.counts.segment),
    0,
    'one rendition is all there is',
  );
  await heard.evaluate(({ player }, { kit, src }) => kit.play(player, src), {
    kit: opened.kit,
    src: session.url('main.m3u8'),
  });
  await eventually(
    () => heard.evaluate(({ heard }) => heard.counts.segment === 'unknown'),
    'several renditions on one host',
  );
  await opened.close();
});

/** @param {string} name */
const media = (name) => readFile(path.join(vhs.dir, name));

/** @param {string} name of a rendition */
const segmentFiles = (name) => [
  `${name}-init.mp4`,
  ...Array.from({ length: 20 }, (_, i) => `${name}-${String(i + 1).padStart(2, '0')}.m4s`),
];

/** An index box (ISO/IEC 14496-12, 8.16.3). @param {number[]} sizes of the segments */
function sidx(sizes) {
  const box = Buffer.alloc(32 + 12 * sizes.length);
  box.writeUInt32BE(box.length, 0);
  box.write('sidx', 4);
  box.writeUInt32BE(1, 12); // reference_ID
  box.writeUInt32BE(1000, 16); // timescale
  box.writeUInt16BE(sizes.length, 30);
  sizes.forEach((size, i) => {
    box.writeUInt32BE(size, 32 + 12 * i);
    box.writeUInt32BE(2000, 36 + 12 * i);
    box.writeUInt32BE(0x90000000, 40 + 12 * i);
  });
  return box;
}

/** @param {string} index the range of the index box @param {number} init bytes */
const indexedMpd = (index, init) => `<?xml version="1.0" encoding="utf-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" minBufferTime="PT2S"
  profiles="urn:mpeg:dash:profile:isoff-on-demand:2011" mediaPresentationDuration="PT40S">
  <Period id="0" start="PT0S">
    <AdaptationSet id="0" contentType="video" mimeType="video/mp4">
      <Representation id="mid" bandwidth="770000" width="320" height="180" codecs="avc1.4d400c">
        <BaseURL>film.mp4</BaseURL>
        <SegmentBase indexRange="${index}"><Initialization range="0-${init - 1}" /></SegmentBase>
      </Representation>
    </AdaptationSet>
  </Period>
</MPD>
`;
