// @ts-check
/**
 * The lab page. Query: `player`, `variant` (plain, tuned, holdfast, both), `scenario`, `session`
 * (made by the runner; else the page makes its own), `cap` and `until` in seconds, `manifest`,
 * `token` (a file that answers with a fresh one), `alternatives` (the stream is at several hosts) and `pinned` (0: the player chooses renditions).
 *
 * `globalThis.lab` is what an automatic runner reads.
 */
import { createSession, fetchScenarios, fetchSession } from './api.js';
import { Panel } from './panel.js';
import { Player } from './player.js';
import { players } from './players/index.js';

/** @typedef {{ name: string, title: string, what: string }} Scenario */

const query = new URLSearchParams(location.search);

const lab = {
  /** @type {Player[]} */
  players: [],
  /** @type {string | null} why this page cannot measure anything */
  error: null,
  /** The state of the first player in a few numbers. */
  snapshot() {
    const [player] = this.players;
    if (!player) return { error: this.error, phase: 'starting', result: null };
    const { meter, phase, result } = player;
    return {
      error: this.error,
      phase,
      result,
      position: meter.samples.at(-1)?.currentTime ?? 0,
      ahead: meter.ahead,
      stallS: meter.stallS,
    };
  },
  /** @param {number} position */
  seek(position) {
    this.players[0]?.seek(position);
  },
  /** What the first player's engine says of itself; null without one. */
  async engine() {
    return (await this.players[0]?.tell()) ?? null;
  },
};
Object.assign(globalThis, { lab });

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * @param {string} name of the player
 * @param {import('./player.js').Variant} variant
 * @param {string} scenario
 */
async function runPanel(name, variant, scenario) {
  const { title, manifest, load } = players[name];
  const panel = new Panel(byId('panels'), title, variant);
  try {
    const driver = await load();
    const id = query.get('session');
    const session = id ? await fetchSession(id) : await createSession(scenario);
    const token = query.get('token');
    const player = new Player(panel.media, driver, variant, {
      capS: Number(query.get('cap') ?? 180),
      untilS: Number(query.get('until') ?? Infinity),
      setup: {
        tokenUrl: token ? session.base + token : undefined,
        alternatives: query.has('alternatives'),
        pinned: query.get('pinned') !== '0',
      },
    });
    lab.players.push(player);
    const finished = player.run(session.base + (query.get('manifest') ?? manifest));
    panel.watch(player, session);
    await finished;
  } catch (error) {
    lab.error = String(error);
    panel.fail(String(error));
  }
}

/** @param {Scenario[]} scenarios @param {string} chosen */
function fillMenu(scenarios, chosen) {
  const menu = /** @type {HTMLSelectElement} */ (byId('scenario'));
  menu.replaceChildren(
    ...scenarios.map(({ title, name }) => new Option(title, name, false, name === chosen)),
  );
  const explain = () => {
    byId('what').textContent = scenarios.find(({ name }) => name === menu.value)?.what ?? '';
  };
  menu.addEventListener('change', explain);
  explain();
}

/** @param {string} chosen */
function fillPlayers(chosen) {
  const menu = /** @type {HTMLSelectElement} */ (byId('player'));
  const options = Object.entries(players).map(
    ([name, { title }]) => new Option(title, name, false, name === chosen),
  );
  menu.replaceChildren(...options);
}

/** Without a question on the address line: what there is to see. @param {Scenario[]} scenarios */
function showChoices(scenarios) {
  byId('legend').hidden = true;
  byId('what').hidden = true;
  const cards = scenarios.map(({ name, title, what }) => {
    const card = document.createElement('a');
    card.className = 'scenario';
    card.href = `/?${new URLSearchParams({ scenario: name, variant: 'both' })}`;
    card.append(
      Object.assign(document.createElement('h2'), { textContent: title }),
      Object.assign(document.createElement('p'), { textContent: what }),
    );
    return card;
  });
  byId('panels').replaceChildren(...cards);
}

async function main() {
  /** @type {Scenario[]} */
  const scenarios = await fetchScenarios();
  const name = query.get('scenario') ?? scenarios[0].name;
  const variant = query.get('variant') ?? 'both';
  const player = query.get('player') ?? 'hls';
  if (!players[player]) throw new Error(`no player ${player}`);
  fillPlayers(player);
  fillMenu(scenarios, name);
  /** @type {HTMLSelectElement} */ (byId('variant')).value = variant;
  if (!query.has('scenario')) return showChoices(scenarios);
  const known = query.has('session') || scenarios.some((scenario) => scenario.name === name);
  if (!known) throw new Error(`no scenario ${name}`);
  if (!['both', 'plain', 'tuned', 'holdfast'].includes(variant))
    throw new Error(`no variant ${variant}`);
  const variants = variant === 'both' ? ['plain', 'holdfast'] : [variant];
  return Promise.all(
    variants.map((v) => runPanel(player, /** @type {import('./player.js').Variant} */ (v), name)),
  );
}

main().catch((error) => {
  lab.error = String(error);
  byId('what').textContent = lab.error;
});
