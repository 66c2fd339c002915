// @ts-check
/** The bandwidth that Shaka Player, 4 and 5, believes in, on a link of constant rate. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startBrowser } from './fixture.mjs';
import { openShaka } from './shaka-fixture.mjs';

/** @typedef {import('../lab/session.mjs').Session} Session */
/** @typedef {import('../lab/session.mjs').SessionOptions} SessionOptions */

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
  attempts: 4,
  backoff: { base: 100, factor: 1, cap: 100 },
  stallTimeout: 1000,
  headersTimeout: 2500,
};
const engine = { sites: { segment } };

for (const version of [4, 5]) {
  test(`the bandwidth estimate of Shaka ${version} is that of a run without faults`, async () => {
    const link = { kbps: 6000, delayMs: 20 };
    /** @type {SessionOptions['rules']} */
    const rules = [
      { match: '^mid-0[2-4]', nth: 1, act: 'status', status: 503 },
      { match: '^mid-06', nth: 1, act: 'stallBody', at: 0.5 },
      { match: '^mid-08', nth: 1, act: 'resetHeaders' },
    ];
    /** One segment after another, so that the link is never shared. @param {Session} session */
    const estimate = (session, isAlone = false) =>
      page.run(
        async ({ shakaPage, version, urls, isAlone, options }) => {
          const shaka = shakaPage.versions[version];
          const { NetworkingEngine } = shaka.net;
          const manager = new shaka.abr.SimpleAbrManager();
          const { abr, networking } = new shaka.Player().getConfiguration();
          manager.configure(abr);
          const engine = shakaPage.createEngine(options);
          const uninstall = isAlone ? () => {} : shakaPage.installShaka(engine, shaka);
          const network = new NetworkingEngine((ms, bytes) =>
            manager.segmentDownloaded(ms, bytes, false),
          );
          network.configure(networking);
          for (const url of urls) {
            const retries = NetworkingEngine.defaultRetryParameters();
            await network.request(1, NetworkingEngine.makeRequest([url], retries)).promise;
          }
          uninstall();
          engine.destroy();
          return Math.round(manager.getBandwidthEstimate() / 1000);
        },
        {
          ...{ version, isAlone, options: engine },
          urls: Array.from({ length: 8 }, (_, i) => session.url(`mid-0${i + 1}.m4s`)),
        },
      );
    const alone = await estimate(lab.createSession({ link }), true);
    const clean = await estimate(lab.createSession({ link }));
    const faulty = await estimate(lab.createSession({ link, rules }));
    const figures = `alone ${alone}, with Holdfast ${clean}, through faults ${faulty} kbit/s`;
    console.error(`Shaka ${version}: ${figures}`);
    // Retries counted as Shaka counts them would more than halve it.
    assert.ok(Math.abs(faulty / clean - 1) < 0.2, figures);
  });
}
