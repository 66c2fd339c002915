// @ts-check
// The path as a browser tells it: one sample, again after each change, and nothing left behind.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { OptionsError } from '../../js/errors.js';
import { parseSample, PATH, watchPath } from '../../js/path.js';
import { engineFor, failureOf, sleep } from './fixture.mjs';

const NOTHING = {
  cost: 'unknown',
  reachability: 'unknown',
  interface: 'unknown',
  power: 'unknown',
  thermal: 'unknown',
  execution: 'unknown',
};

/** An object of the browser that counts who listens. */
class Target extends EventTarget {
  /** @type {Array<AbortSignal | undefined>} */
  #listeners = [];

  /** @param {object} [fields] */
  constructor(fields) {
    super();
    Object.assign(this, fields);
  }

  /** @param {any[]} rest */
  addEventListener(...rest) {
    this.#listeners.push(rest[2]?.signal);
    super.addEventListener(.../** @type {[string, any, any]} */ (rest));
  }

  /** Listeners without a signal are there for good. */
  get count() {
    return this.#listeners.filter((signal) => !signal?.aborted).length;
  }

  /** @param {string} type @param {object} [fields] that have changed */
  fire(type, fields) {
    Object.assign(this, fields);
    this.dispatchEvent(new Event(type));
  }
}

/**
 * Replaces globals for a test; `undefined` takes one away. The global scope becomes a target of
 * events.
 *
 * @param {{ after(fn: () => void): void }} t
 * @param {Record<string, any>} globals
 */
function page(t, globals) {
  const scope = new Target();
  const all = {
    navigator: undefined,
    document: undefined,
    addEventListener: scope.addEventListener.bind(scope),
    removeEventListener: scope.removeEventListener.bind(scope),
    ...globals,
  };
  for (const [name, value] of Object.entries(all)) {
    const was = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    t.after(() => {
      if (was) Object.defineProperty(globalThis, name, was);
      else Reflect.deleteProperty(globalThis, name);
    });
  }
  return scope;
}

/**
 * The samples reported so far, and the way out.
 *
 * @param {{ after(fn: () => void): void }} t
 */
function watch(t) {
  /** @type {any[]} */
  const samples = [];
  const stop = watchPath((sample) => samples.push(sample));
  t.after(stop);
  return { samples, stop, last: () => samples.at(-1) };
}

/** Whatever was asked of the browser has been answered. */
const answered = () => sleep(0);

describe('what the browser says', () => {
  test('R85: where there is nothing to ask, all is unknown, and said once', async (t) => {
    page(t, { addEventListener: undefined, removeEventListener: undefined });
    const { samples, stop } = watch(t);
    await answered();
    assert.deepEqual(samples, [NOTHING]);
    stop();
  });

  test('R85: in Node as it is, too', async (t) => {
    const { samples } = watch(t);
    await answered();
    assert.deepEqual(samples, [NOTHING]);
  });

  test('R85: samples are plain and frozen', (t) => {
    page(t, {});
    const { samples } = watch(t);
    assert.ok(Object.isFrozen(samples[0]));
    assert.deepEqual(JSON.parse(JSON.stringify(samples[0])), NOTHING);
  });

  test('R83: "offline" is believed; "online" proves nothing', (t) => {
    const navigator = { onLine: true };
    const scope = page(t, { navigator });
    const { samples, last } = watch(t);
    assert.equal(last().reachability, 'unknown');
    navigator.onLine = false;
    scope.fire('offline');
    assert.equal(last().reachability, 'none');
    navigator.onLine = true;
    scope.fire('online');
    assert.equal(last().reachability, 'unknown');
    assert.equal(samples.length, 3);
  });

  for (const [type, is] of /** @type {const} */ ([
    ['ethernet', 'wired'],
    ['wifi', 'wifi'],
    ['cellular', 'cellular'],
    ['bluetooth', 'other'],
    ['wimax', 'other'],
    ['mixed', 'other'],
    ['other', 'other'],
    ['unknown', 'unknown'],
    ['none', 'unknown'],
    [undefined, 'unknown'],
  ])) {
    test(`R85: a connection of the type ${type} is ${is}`, (t) => {
      page(t, { navigator: { onLine: true, connection: new Target({ type }) } });
      const reachability = type === 'none' ? 'none' : 'unknown';
      assert.deepEqual(watch(t).last(), { ...NOTHING, interface: is, reachability });
    });
  }

  test('R83: what a cellular link costs is left to the core', (t) => {
    page(t, { navigator: { connection: new Target({ type: 'cellular', saveData: false }) } });
    assert.equal(watch(t).last().cost, 'unknown');
  });

  test('R83: who saves data is constrained', (t) => {
    const connection = new Target({ saveData: false });
    page(t, { navigator: { connection } });
    const { last } = watch(t);
    connection.fire('change', { saveData: true });
    assert.equal(last().cost, 'constrained');
    connection.fire('change', { saveData: false });
    assert.equal(last().cost, 'unknown');
  });

  test('R85: what has not changed is not said again', (t) => {
    const connection = new Target({ type: 'wifi', downlink: 10 });
    const scope = page(t, { navigator: { onLine: true, connection } });
    const { samples } = watch(t);
    connection.fire('change', { downlink: 3 });
    scope.fire('online');
    scope.fire('pageshow');
    assert.equal(samples.length, 1);
    connection.fire('change', { type: 'cellular' });
    assert.equal(samples.length, 2);
  });

  test('R85: power is what somebody says, not what a battery says', async (t) => {
    const battery = new Target({ charging: false, level: 0.01 });
    page(t, { navigator: { getBattery: async () => battery } });
    const { samples, last } = watch(t);
    await answered();
    assert.equal(last().power, 'unknown');
    assert.equal(battery.count, 0);
    assert.equal(samples.length, 1);
  });

  test('R88: a hidden page is in the background, without a deadline', (t) => {
    const document = new Target({ visibilityState: 'visible' });
    page(t, { document });
    const { samples, last } = watch(t);
    assert.equal(last().execution, 'foreground');
    document.fire('visibilitychange', { visibilityState: 'hidden' });
    assert.equal(last().execution, 'background');
    document.fire('freeze');
    assert.equal(samples.length, 2);
    assert.equal(parseSample(last()).at(-1), -1);
  });

  test('R88: a page that wakes up looks again, whatever it has missed', (t) => {
    const navigator = { onLine: true };
    const document = new Target({ visibilityState: 'hidden' });
    const scope = page(t, { navigator, document });
    const { last } = watch(t);
    navigator.onLine = false;
    document.fire('resume');
    assert.equal(last().reachability, 'none');
    Object.assign(document, { visibilityState: 'visible' });
    scope.fire('pageshow');
    assert.equal(last().execution, 'foreground');
  });
});

describe('what the browser refuses', () => {
  const refuse = () => {
    throw new DOMException('no', 'NotAllowedError');
  };
  for (const [what, globals] of /** @type {Array<[string, Record<string, any>]>} */ ([
    ['a connection without events', { navigator: { connection: {} } }],
    [
      'a connection that throws',
      { navigator: Object.defineProperty({}, 'connection', { get: refuse }) },
    ],
  ])) {
    test(`R85: ${what}: all is unknown, and nothing is thrown`, async (t) => {
      page(t, globals);
      /** @type {unknown[]} */
      const unhandled = [];
      const note = (/** @type {unknown} */ error) => unhandled.push(error);
      process.on('unhandledRejection', note);
      t.after(() => void process.off('unhandledRejection', note));
      const { samples, stop } = watch(t);
      await answered();
      stop();
      await answered();
      assert.deepEqual(samples, [NOTHING]);
      assert.deepEqual(unhandled, []);
    });
  }
});

describe('the way out', () => {
  test('R85: leaves no listener and no observer, and nothing is said any more', async (t) => {
    const connection = new Target({ type: 'wifi' });
    const document = new Target({ visibilityState: 'visible' });
    const scope = page(t, { navigator: { onLine: true, connection }, document });
    const { samples, stop } = watch(t);
    await answered();
    const targets = [scope, connection, document];
    for (const target of targets) assert.ok(target.count > 0);
    const { length } = samples;
    stop();
    assert.deepEqual(
      targets.map(({ count }) => count),
      [0, 0, 0],
    );
    connection.fire('change', { type: 'cellular' });
    document.fire('visibilitychange', { visibilityState: 'hidden' });
    assert.equal(samples.length, length);
    stop();
  });

  test('R85: may be taken from within a report', async (t) => {
    const navigator = { onLine: true };
    const scope = page(t, { navigator });
    let count = 0;
    const stop = watchPath(() => {
      count += 1;
      if (count === 2) stop();
    });
    await answered();
    navigator.onLine = false;
    scope.fire('offline');
    navigator.onLine = true;
    scope.fire('online');
    assert.equal(count, 2);
    assert.equal(scope.count, 0);
  });
});

describe('a sample as numbers', () => {
  const FIELDS = /** @type {const} */ (['cost', 'reachability', 'interface', 'power', 'thermal']);

  test('R85: what is left out is unknown', () => {
    assert.deepEqual(parseSample({}), [0, 0, 0, 0, 0, -1]);
    assert.deepEqual(parseSample(/** @type {any} */ (NOTHING)), [0, 0, 0, 0, 0, -1]);
    assert.deepEqual(parseSample({ cost: undefined, execution: undefined }), [0, 0, 0, 0, 0, -1]);
  });

  test('R85: each word has its code, in its place', () => {
    for (const [place, name] of FIELDS.entries()) {
      for (const [code, word] of PATH[name].entries()) {
        const numbers = [0, 0, 0, 0, 0, -1];
        numbers[place] = code;
        assert.deepEqual(parseSample({ [name]: word }), numbers, `${name}: ${word}`);
      }
    }
  });

  test('R85: the words and codes are those of the core', () => {
    const core = readFileSync(new URL('../../src/core/path.rs', import.meta.url), 'utf8');
    for (const name of FIELDS) {
      const type = name[0].toUpperCase() + name.slice(1);
      const body = new RegExp(`enum ${type} \\{([^}]*)\\}`).exec(core)?.[1] ?? '';
      const found = [...body.matchAll(/^\s*(\w+) = (\d+),/gm)].map(([, variant, code]) => [
        variant.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase(),
        Number(code),
      ]);
      assert.deepEqual(
        found,
        PATH[name].map((word, code) => [word, code]),
      );
    }
  });

  test('R85: the background has a deadline where it is told, in milliseconds', () => {
    /** @param {any} execution */
    const left = (execution) => parseSample({ execution })[5];
    assert.equal(left('foreground'), -1);
    assert.equal(left('background'), -1);
    assert.equal(left('unknown'), -1);
    assert.equal(left({ deadline: 59_000 }), 59_000);
    assert.equal(left({ deadline: 0 }), 0);
  });

  for (const [sample, field, expected] of /** @type {Array<[any, string, RegExp]>} */ ([
    [undefined, 'path', /^path must be an object/],
    [null, 'path', /^path must be an object/],
    ['wifi', 'path', /^path must be an object/],
    [{ cost: 'free' }, 'path.cost', /^path\.cost must be one of unknown, unmetered, metered, con/],
    [{ cost: 1 }, 'path.cost', /but is 1$/],
    [{ reachability: true }, 'path.reachability', /one of unknown, none, reachable/],
    [{ reachability: 'constructor' }, 'path.reachability', /but is "constructor"/],
    [{ interface: 'ethernet' }, 'path.interface', /one of unknown, wired, wifi, cellular, other/],
    [{ power: null }, 'path.power', /but is null/],
    [{ thermal: ['serious'] }, 'path.thermal', /one of unknown, nominal, fair, serious, critical/],
    [{ execution: 'frozen' }, 'path.execution', /foreground, background or \{ deadline: mill/],
    [{ execution: {} }, 'path.execution', /deadline/],
    [{ execution: { deadline: -1 } }, 'path.execution', /but is \{"deadline":-1\}/],
    [{ execution: { deadline: NaN } }, 'path.execution', /deadline/],
    [{ execution: { deadline: Infinity } }, 'path.execution', /deadline/],
    [{ execution: { deadline: '5' } }, 'path.execution', /deadline/],
  ])) {
    test(`R85: ${inspect(sample)} names ${field} as what cannot be`, async () => {
      const error = await failureOf((async () => parseSample(sample))());
      assert.ok(error instanceof OptionsError);
      assert.equal(error.field, field);
      assert.match(error.message, expected);
    });
  }
});

test('a success after a lapse of the network that no event told of frees what waits for it', async (t) => {
  let isOnline = true;
  page(t, {
    navigator: {
      get onLine() {
        return isOnline;
      },
    },
  });
  let isUp = true;
  const own = async () => {
    await sleep(5);
    if (!isUp) throw new TypeError('Failed to fetch');
    return new Response('media');
  };
  const engine = await engineFor(t, {}, { fetch: own });
  const load = (/** @type {string} */ name) =>
    engine.load({ url: `https://a.test/${name}.m4s`, site: 'segment' });
  await load('a');
  [isUp, isOnline] = [false, false];
  const waits = load('b');
  await sleep(50);
  [isUp, isOnline] = [true, true];
  await load('c');
  const { attempts } = await waits;
  assert.equal(attempts, 2);
});
