// @ts-check
/** Shaka Player, 4 and 5, live: what is reloaded, and what it does about a verdict. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { shared, startBrowser } from './fixture.mjs';
import { openShaka } from './shaka-fixture.mjs';

/** @typedef {import('../lab/rules.mjs').Rule} Rule */
/** @typedef {import('../lab/session.mjs').Session} Session */

/** @type {import('./fixture.mjs').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof openShaka>>} */
let page;
/** @type {import('../lab/server.mjs').Lab} */
let lab;
before(async () => {
  browser = await startBrowser();
  lab = await browser.startLab();
  page = await openShaka(browser);
});
after(() => browser?.close());

const segment = {
  attempts: 2,
  backoff: { base: 100, factor: 1, cap: 100 },
  onExhausted: /** @type {const} */ ('reject'),
};
/** How long the stream has been on when it is first asked for, and how far behind it is played. */
const [ON_S, DELAY_S] = [24, 6];

/** The test stream, as if it were live. @param {Session} session @param {string} path */
function serveLive(session, path) {
  const template = `<SegmentTemplate timescale="1000" duration="2000" startNumber="1"
    initialization="$RepresentationID$-init.mp4" media="$RepresentationID$-$Number%02d$.m4s" />`;
  const start = new Date(Date.now() - ON_S * 1000).toISOString();
  return browser.media.on(
    path,
    shared((_, response) => {
      response.end(`<?xml version="1.0" encoding="utf-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" availabilityStartTime="${start}"
  minimumUpdatePeriod="PT1S" timeShiftBufferDepth="PT30S" minBufferTime="PT2S"
  suggestedPresentationDelay="PT${DELAY_S}S" profiles="urn:mpeg:dash:profile:isoff-live:2011">
  <BaseURL>${session.baseUrl}</BaseURL>
  <Period id="0" start="PT0S">
    <AdaptationSet id="0" contentType="video" mimeType="video/mp4" segmentAlignment="true">
      ${template}
      <Representation id="mid" bandwidth="700000" width="320" height="180" codecs="avc1.64000d" />
    </AdaptationSet>
    <AdaptationSet id="1" contentType="audio" mimeType="audio/mp4" lang="en">
      ${template}
      <Representation id="audio" bandwidth="70000" audioSamplingRate="48000" codecs="mp4a.40.2" />
    </AdaptationSet>
  </Period>
</MPD>`);
    }),
  );
}

let paths = 0;

/**
 * Plays until it has come so far, or for so long.
 *
 * @param {number} version @param {Rule[]} rules @param {{ position?: number, patience?: number }} end
 */
async function play(version, rules, { position = Infinity, patience = 15_000 }) {
  const session = lab.createSession({ rules });
  const url = serveLive(session, `/live-${++paths}.mpd`);
  const facts = await page.run(
    async ({ shakaPage, version, url, position, patience, segment }) => {
      const started = await shakaPage.start(version, {
        media: true,
        engine: { sites: { segment } },
      });
      const { player, video, engine, events } = started;
      await player.load(url);
      await video.play();
      await shakaPage.until(() => video.currentTime > position, patience);
      const facts = {
        events,
        position: video.currentTime,
        isLive: player.isLive(),
        sites: engine.log().flatMap(({ event, detail }) => (event === 'started' ? [detail] : [])),
      };
      await started.end();
      return facts;
    },
    { version, url, position, patience, segment },
  );
  const asked = session.log.filter(({ file }) => file === 'mid-11.m4s');
  return { ...facts, asked };
}

for (const version of [4, 5]) {
  describe(`Shaka ${version}`, () => {
    test('a manifest that is read again is a reload, and an outage is got over', async () => {
      /** @type {Rule} */
      const rule = { match: '^mid-11', nth: [1, 2, 3], act: 'status', status: 503 };
      const { position, isLive, sites, asked } = await play(version, [rule], { position: 21 });
      assert.ok(isLive);
      assert.ok(position > 21, `at ${position}`);
      assert.equal(asked.length, 4);
      assert.equal(sites[0], 'manifest');
      assert.ok(sites.includes('playlist-reload'));
    });

    test('what is refused for good is not asked for over and over', async () => {
      /** @type {Rule} */
      const rule = { match: '^mid-11', act: 'status', status: 403 };
      const { events, asked } = await play(version, [rule], { patience: 6000 });
      assert.ok(events.some(([name, code]) => name === 'error' && code === 1001));
      assert.equal(asked.length, 3, 'twice more, as at the live edge it may be early');
    });

    test('a hole behind the live edge is left out', async () => {
      /** @type {Rule} */
      const rule = { match: '^mid-11', act: 'status', status: 404 };
      const { position } = await play(version, [rule], { position: 23, patience: 25_000 });
      assert.ok(position > 23, `at ${position}`);
    });
  });
}
