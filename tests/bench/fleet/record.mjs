// @ts-check
/**
 * node tests/bench/fleet/record.mjs [name...]: records when the real libraries and players repeat a
 * request that is answered with 503, as fixtures for the policies of the simulation
 * (tests/fleet/logs). Each file has, for each run, the seconds between one attempt and the next.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { runAsProgram } from '../../tools/main.mjs';
import { ROOT } from '../../tools/setup.mjs';
import { versionOf } from '../machine.mjs';

const FOLDER = join(ROOT, 'tests/fleet/logs');

/** How long a library is listened to, and how often it is run. */
const LISTEN_MS = 16_000;
const RUNS = 12;

/** @typedef {(url: string) => Promise<unknown>} Call one request that fails in the end */

/** @type {Partial<Record<string, () => Promise<Call>>>} */
const LIBRARIES = {
  async ky() {
    const { default: ky } = await import('ky');
    return (url) => ky(url);
  },
  async 'p-retry'() {
    const { default: pRetry } = await import('p-retry');
    return (url) => pRetry(() => fetchOk(url));
  },
  async cockatiel() {
    const cockatiel = await import('cockatiel');
    const { ConsecutiveBreaker, ExponentialBackoff, circuitBreaker, handleAll, retry, wrap } =
      cockatiel;
    return (url) => {
      const policy = wrap(
        retry(handleAll, { maxAttempts: 3, backoff: new ExponentialBackoff() }),
        circuitBreaker(handleAll, { halfOpenAfter: 10_000, breaker: new ConsecutiveBreaker(5) }),
      );
      return policy.execute(() => fetchOk(url));
    };
  },
};

/** Players by the name of the lab, and the package of each. */
const PLAYERS = { hls: 'hls.js', shaka: 'shaka-player', dash: 'dashjs' };

/** @param {string} url */
async function fetchOk(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response;
}

/**
 * The seconds between the attempts of each of several calls at the same time.
 * @param {Call} call
 */
async function recordLibrary(call) {
  /** @type {Map<string, number[]>} */
  const times = new Map();
  const server = createServer((request, response) => {
    const url = String(request.url);
    times.set(url, [...(times.get(url) ?? []), performance.now()]);
    response.writeHead(503).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  const calls = Array.from({ length: RUNS }, (_, run) =>
    call(`http://127.0.0.1:${address.port}/${run}`).catch(() => {}),
  );
  const timeout = new Promise((resolve) => void setTimeout(resolve, LISTEN_MS));
  await Promise.race([Promise.all(calls), timeout]);
  server.closeAllConnections();
  server.close();
  return [...times.values()].map(gaps);
}

/** @param {readonly number[]} times in milliseconds */
const gaps = (times) => times.slice(1).map((at, index) => round((at - times[index]) / 1000));

/** @param {number} seconds */
const round = (seconds) => Math.round(seconds * 1000) / 1000;

/**
 * A player in the fault lab, through ten seconds of 503: the attempts at each segment that was refused.
 * @param {string} player
 */
async function recordPlayer(player) {
  const args = ['tests/lab/players.mjs', '--only', player, '--scenario', 'burst-503'];
  const rest = ['--variant', 'plain', '--verbose', '--json'];
  const child = spawn(process.execPath, [...args, ...rest], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  /** @type {Map<string, number[]>} */
  const refused = new Map();
  for await (const line of createInterface({ input: child.stderr })) {
    const json = /server\s+(\{.*\})/.exec(line)?.[1];
    if (!json) continue;
    const { file, t, status } = JSON.parse(json);
    const seen = refused.get(file);
    if (status === 503 || seen) refused.set(file, [...(seen ?? []), t]);
  }
  return [...refused.values()].map(gaps).filter((run) => run.length > 0);
}

async function main() {
  const names = process.argv.slice(2);
  const all = [...Object.keys(LIBRARIES), ...Object.keys(PLAYERS)];
  for (const name of names.length > 0 ? names : all) {
    const library = LIBRARIES[name];
    const recorded = library ? recordLibrary(await library()) : recordPlayer(name);
    const packageName = PLAYERS[/** @type {keyof typeof PLAYERS} */ (name)] ?? name;
    const log = {
      of: `${packageName} ${versionOf(packageName)}`,
      recorded: new Date().toISOString().slice(0, 10),
      by: library
        ? 'tests/bench/fleet/record.mjs: every request is answered with 503'
        : 'npm run lab:players, scenario burst-503: segments are answered with 503 from second 6 to 16',
      gapsS: await recorded,
    };
    const lists = JSON.stringify(log.gapsS).replaceAll('],[', '],\n    [');
    const { gapsS: _, ...head } = log;
    const text = JSON.stringify(head, null, 2).replace(/\n}$/, `,\n  "gapsS": ${lists}\n}\n`);
    writeFileSync(join(FOLDER, `${name}.json`), text);
  }
}

runAsProgram(import.meta.url, main);
