// @ts-check
/** One player on the page: picture, figures, timeline and, with Holdfast, the engine. */
import { fetchRequests } from './api.js';
import { drawEngine } from './engine-view.js';
import { drawTimeline } from './timeline.js';

const DRAW_MS = 500;

/** @type {Record<string, string>} */
const variants = { plain: 'alone', tuned: 'tuned', holdfast: 'with Holdfast' };

/** @type {Record<import('./player.js').Phase, string>} */
const phases = {
  starting: 'starting',
  playing: 'playing',
  waiting: 'waiting for data',
  ended: 'played to the end',
  dead: 'gave up',
  hung: 'still waiting at the cap',
};

const template = `
  <h2><span class="title"></span><span class="phase"></span></h2>
  <video muted playsinline></video>
  <dl class="figures">
    <div><dt>start</dt><dd data-figure="start">–</dd></div>
    <div><dt>rebuffering</dt><dd data-figure="stall">–</dd></div>
    <div><dt>buffer ahead</dt><dd data-figure="ahead">–</dd></div>
    <div><dt>requests</dt><dd data-figure="requests">–</dd></div>
  </dl>
  <svg class="timeline" role="img" aria-label="Timeline of playback, buffer and requests"></svg>
  <details class="errors" hidden><summary></summary><ol></ol></details>
  <section class="engine" hidden><h3>Engine</h3><div></div></section>
`;

export class Panel {
  #root = document.createElement('article');
  #failed = false;
  /** @type {any[]} */
  #requests = [];
  #offsetMs = 0;

  /**
   * @param {Element} parent
   * @param {string} title of the player
   * @param {import('./player.js').Variant} variant
   */
  constructor(parent, title, variant) {
    this.#root.className = `panel ${variant}`;
    this.#root.innerHTML = template;
    this.#find('.title').textContent = `${title} ${variants[variant]}`;
    parent.append(this.#root);
    this.media = /** @type {HTMLVideoElement} */ (this.#find('video'));
  }

  /** @param {string} selector */
  #find(selector) {
    return /** @type {HTMLElement} */ (this.#root.querySelector(selector));
  }

  /**
   * @param {import('./player.js').Player} player
   * @param {{ id: string, rules: { window?: [number, number] }[] }} session
   */
  watch(player, session) {
    const windows = session.rules.flatMap(({ window }) => (window ? [window] : []));
    const draw = async () => {
      await this.#refreshRequests(player, session.id);
      if (this.#failed) return;
      this.#draw(player, windows);
      if (!player.result) setTimeout(draw, DRAW_MS);
    };
    draw();
  }

  /**
   * @param {import('./player.js').Player} player
   * @param {string} id
   */
  async #refreshRequests(player, id) {
    try {
      const { clock, requests } = await fetchRequests(id);
      // The session's clock starts with its first request, shortly after load.
      if (this.#requests.length === 0 && requests.length > 0) this.#offsetMs = player.now - clock;
      this.#requests = requests;
    } catch {
      // The lab server is gone; the player itself goes on with what it has.
    }
  }

  /**
   * @param {import('./player.js').Player} player
   * @param {[number, number][]} windows
   */
  #draw(player, windows) {
    const { meter, phase } = player;
    const nowS = (meter.samples.at(-1)?.at ?? 0) / 1000;
    this.#root.dataset.phase = phase;
    this.#find('.phase').textContent = phases[phase];
    const lowerBound = phase === 'dead' || phase === 'hung' ? '+' : '';
    this.#figure('start', meter.startS === null ? '–' : `${meter.startS.toFixed(1)} s`);
    this.#figure('stall', `${meter.stallS.toFixed(1)}${lowerBound} s`);
    this.#figure('ahead', `${meter.ahead.toFixed(1)} s`);
    this.#figure('requests', String(this.#requests.length));
    const requests = this.#requests;
    drawTimeline(this.#find('.timeline'), {
      meter,
      phase,
      nowS,
      requests,
      offsetMs: this.#offsetMs,
      windows,
    });
    this.#drawErrors(player.errors);
    if (player.engine) {
      this.#find('.engine').hidden = false;
      drawEngine(this.#find('.engine div'), player.engine, player.loadAt);
    }
  }

  /** @param {string} name @param {string} text */
  #figure(name, text) {
    this.#find(`[data-figure=${name}]`).textContent = text;
  }

  /** @param {string[]} errors */
  #drawErrors(errors) {
    this.#find('.errors').hidden = errors.length === 0;
    this.#find('.errors summary').textContent =
      `${errors.length} player error${errors.length === 1 ? '' : 's'}`;
    const list = this.#find('.errors ol');
    for (const error of errors.slice(list.children.length)) {
      list.append(Object.assign(document.createElement('li'), { textContent: error }));
    }
  }

  /** @param {string} message */
  fail(message) {
    this.#failed = true;
    this.#root.dataset.phase = 'dead';
    this.#find('.phase').textContent = 'did not run';
    this.#find('.timeline').outerHTML = '<p class="failure"></p>';
    this.#find('.failure').textContent = message;
  }
}
