// @ts-check
// Tabs that share what they know: two of them in one process, over Node's BroadcastChannel and
// locks as a browser's lock manager gives them.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { shareAcrossTabs, singleFlightAcrossTabs } from 'holdfast/cross-tab';
import { engineFor, eventually, sleep } from './fixture.mjs';
import { answer, ok, serve } from './server.mjs';

/** @typedef {import('holdfast').HostHealth} HostHealth */
/** @typedef {import('holdfast').HostNews} HostNews */

const HOST = 'https://media.test';
/** Longer than a message takes. */
const A_WHILE = 30;

/** Locks as the standard has them, without modes. */
class Locks {
  /** @type {Set<string>} */
  held = new Set();
  /** @type {Array<{ name: string, grant: () => void }>} */
  queue = [];

  /** @param {string} name @param {{ ifAvailable?: boolean, signal?: AbortSignal }} options @param {(lock: object | null) => unknown} call */
  async request(name, { ifAvailable, signal }, call) {
    assert.ok(!(ifAvailable && signal), 'the standard forbids both');
    await sleep(1);
    if (this.held.has(name)) {
      if (ifAvailable) return call(null);
      await new Promise((resolve, reject) => {
        const entry = { name, grant: () => resolve(undefined) };
        this.queue.push(entry);
        signal?.addEventListener('abort', () => {
          const place = this.queue.indexOf(entry);
          if (place >= 0) this.queue.splice(place, 1);
          reject(signal.reason);
        });
      });
    }
    this.held.add(name);
    try {
      return await call({ name });
    } finally {
      this.held.delete(name);
      const next = this.queue.findIndex((entry) => entry.name === name);
      if (next >= 0) this.queue.splice(next, 1)[0].grant();
    }
  }
}

/** What an engine shows and is told, without the engine. */
class FakeEngine {
  ready = Promise.resolve(true);
  /** @type {any} */
  state = { mode: 'engine', hostHealth: {}, throttle: {} };
  /** @type {Set<(state: any) => void>} */
  listeners = new Set();
  /** @type {Array<HostNews & { host: string }>} */
  adopted = [];
  /** @type {((host: string) => Promise<boolean>) | undefined} */
  elect;
  subscribe = (/** @type {(state: any) => void} */ listener) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };
  electProbes = (/** @type {FakeEngine['elect']} */ elect) => void (this.elect = elect);
  adoptHealth = (/** @type {string} */ host, /** @type {HostNews} */ news) =>
    void this.adopted.push({ host, ...news });

  /** @param {Partial<HostHealth>} health @param {{ blockedUntil: number, rate: number }} [throttle] */
  show(health, throttle, host = HOST) {
    const { hostHealth, throttle: before } = this.state;
    this.state = {
      mode: 'engine',
      hostHealth: { ...hostHealth, [host]: { failures: 0, trips: 0, ...health } },
      throttle: throttle ? { ...before, [host]: throttle } : before,
    };
    for (const listener of this.listeners) listener(this.state);
  }
}

/** @type {{ onLine: boolean, locks?: Locks }} */
let navigator;
/** @type {Locks} */
let locks;
/** @type {EventTarget} */
let page;
let listening = 0;
const GLOBALS = /** @type {const} */ (['navigator', 'addEventListener', 'removeEventListener']);
const usual = GLOBALS.map((key) => Object.getOwnPropertyDescriptor(globalThis, key));

beforeEach(() => {
  locks = new Locks();
  navigator = { onLine: true, locks };
  page = new EventTarget();
  listening = 0;
  const values = {
    navigator,
    addEventListener: (/** @type {[string, any]} */ ...args) => {
      listening += 1;
      page.addEventListener(...args);
    },
    removeEventListener: (/** @type {[string, any]} */ ...args) => {
      listening -= 1;
      page.removeEventListener(...args);
    },
  };
  for (const key of GLOBALS) {
    Object.defineProperty(globalThis, key, { value: values[key], configurable: true });
  }
});
afterEach(() => {
  GLOBALS.forEach((key, i) => {
    delete (/** @type {any} */ (globalThis)[key]);
    if (usual[i]) Object.defineProperty(globalThis, key, usual[i]);
  });
});

/** The page goes into the back/forward cache, or comes out of it. @param {'pagehide' | 'pageshow'} type */
const turn = (type) => page.dispatchEvent(Object.assign(new Event(type), { persisted: true }));

let count = 0;
/** A name that no other test hears. */
const ownName = () => `test ${(count += 1)}`;

/**
 * A tab that is closed after the test, once it has asked the others.
 *
 * @param {{ after(fn: () => void): void }} t
 * @param {string} name
 */
async function tab(t, name) {
  const engine = new FakeEngine();
  const { close } = shareAcrossTabs(engine, { name });
  t.after(close);
  await sleep(A_WHILE);
  return { engine, close };
}

/** Listens in, and speaks. @param {{ after(fn: () => void): void }} t @param {string} name */
function stranger(t, name) {
  const channel = new BroadcastChannel(name);
  t.after(() => channel.close());
  /** @type {any[]} */
  const heard = [];
  channel.onmessage = ({ data }) => heard.push(data);
  return { heard, say: (/** @type {unknown} */ message) => channel.postMessage(message) };
}

/** The same time, as far as two readings of two clocks tell. @param {number | undefined} a @param {number} b */
const assertTime = (a, b) => assert.ok(Math.abs(Number(a) - b) < 20, `${a} is not ${b}`);

describe('news of hosts', () => {
  test('an open breaker and a rate limit reach the other tab, in its own time', async (t) => {
    const name = ownName();
    const [a, b] = [await tab(t, name), await tab(t, name)];
    const now = performance.now();
    a.engine.show(
      { state: 'open', retryAt: now + 5000, trips: 2 },
      { blockedUntil: now + 7000, rate: 1.5 },
    );
    await eventually(() => b.engine.adopted.length);
    const [{ openUntil, blockedUntil, ...rest }] = b.engine.adopted;
    assert.deepEqual(rest, { host: HOST, trips: 2, rate: 1.5 });
    assertTime(openUntil, now + 5000);
    assertTime(blockedUntil, now + 7000);
  });

  test('what was heard is not told back, nor what is no worse', async (t) => {
    const name = ownName();
    const [a, b] = [await tab(t, name), await tab(t, name)];
    const { heard } = stranger(t, name);
    const health = { state: /** @type {const} */ ('open'), retryAt: performance.now() + 5000 };
    a.engine.show({ ...health, trips: 1 });
    await eventually(() => b.engine.adopted.length);
    b.engine.show({ ...health, trips: 1, retryAt: health.retryAt + 3 });
    b.engine.show({ ...health, trips: 1, retryAt: health.retryAt - 2000 });
    a.engine.show({ state: 'closed' });
    a.engine.show({ state: 'half-open' });
    await sleep(300);
    assert.equal(heard.length, 1);
    assert.equal(a.engine.adopted.length, 0);
    b.engine.show({ ...health, retryAt: health.retryAt + 3000 });
    await eventually(() => a.engine.adopted.length);
    assertTime(a.engine.adopted[0].openUntil, health.retryAt + 3000);
  });

  test('news go out at most four times a second, the last ones too', async (t) => {
    const name = ownName();
    const a = await tab(t, name);
    const { heard } = stranger(t, name);
    const start = performance.now();
    for (let i = 1; i <= 20; i += 1) {
      a.engine.show({ state: 'open', retryAt: start + 2000 + i * 1000, trips: i });
      await sleep(25);
    }
    await sleep(300);
    const most = Math.ceil((performance.now() - start) / 250) + 1;
    assert.ok(heard.length > 1 && heard.length <= most, `${heard.length} messages`);
    assert.equal(heard.at(-1).hosts[0].trips, 20);
  });

  test('malformed messages, and those of other versions, change nothing', async (t) => {
    const name = ownName();
    const { engine } = await tab(t, name);
    const { say } = stranger(t, name);
    const at = Date.now();
    const good = { host: HOST, openUntil: at + 5000, trips: 1, blockedUntil: 0, rate: Infinity };
    for (const message of [
      null,
      'hosts',
      42,
      [],
      { v: 2, at, hosts: [good] },
      { at, hosts: [good] },
      { v: 1, hosts: [good] },
      { v: 1, at: 'now', hosts: [good] },
      { v: 1, at, hosts: good },
      { v: 1, at, hosts: null },
      { v: 1, at, hosts: [null, undefined, 3, 'host', [], {}] },
      {
        v: 1,
        at,
        hosts: [
          { ...good, host: 7 },
          { ...good, host: '' },
        ],
      },
      { v: 1, at, hosts: [{ ...good, openUntil: 'later' }] },
      { v: 1, at, hosts: [{ ...good, openUntil: NaN }] },
      { v: 1, at, hosts: [{ ...good, openUntil: at - 5 }] },
      { v: 1, at, hosts: [{ host: HOST, blockedUntil: at + 5000 }] },
      { v: 1, at, hosts: [{ host: HOST, blockedUntil: at + 5000, rate: -1 }] },
    ]) {
      say(message);
    }
    await sleep(A_WHILE);
    assert.equal(engine.adopted.length, 0);
    say({ v: 1, at, hosts: [{ ...good, trips: {} }] });
    await eventually(() => engine.adopted.length);
    const [{ host, trips }] = engine.adopted;
    assert.deepEqual([host, trips], [HOST, 0]);
  });

  test('what another tab says counts for a minute', async (t) => {
    const name = ownName();
    const { engine } = await tab(t, name);
    const { say } = stranger(t, name);
    const at = Date.now();
    const news = { openUntil: at + 1e9, trips: 1e9, blockedUntil: at + 1e9, rate: 1 };
    // A page that was frozen gets all at once, late.
    say({ v: 1, at: at - 60_001, hosts: [{ host: 'https://late.test', ...news }] });
    say({ v: 1, at: at - 20_000, hosts: [{ host: HOST, ...news }] });
    await eventually(() => engine.adopted.length);
    const [{ host, trips, openUntil, blockedUntil }] = engine.adopted;
    assert.deepEqual([host, trips], [HOST, 10]);
    assertTime(openUntil, performance.now() + 40_000 - (Date.now() - at));
    assertTime(blockedUntil, performance.now() + 40_000 - (Date.now() - at));
  });

  test('a hundred hosts are heard of, and no more', async (t) => {
    const name = ownName();
    const { engine } = await tab(t, name);
    const { say } = stranger(t, name);
    const at = Date.now();
    for (let i = 0; i < 4; i += 1) {
      const hosts = Array.from({ length: 60 }, (_, n) => ({
        ...{ host: `https://${i}-${n}.test`, trips: 1, openUntil: at + 5000 },
      }));
      say({ v: 1, at, hosts });
    }
    await sleep(A_WHILE);
    assert.equal(engine.adopted.length, 100);
  });

  test('a tab that comes later is told what is known', async (t) => {
    const name = ownName();
    const a = await tab(t, name);
    const until = performance.now() + 5000;
    a.engine.show({ state: 'open', retryAt: until, trips: 1 });
    await sleep(A_WHILE);
    const b = await tab(t, name);
    assert.equal(b.engine.adopted.length, 1);
    assertTime(b.engine.adopted[0].openUntil, until);
    assert.equal(a.engine.adopted.length, 0);
  });

  test('a tab whose module comes late is told then', async (t) => {
    const name = ownName();
    const a = await tab(t, name);
    const late = new FakeEngine();
    /** @type {(ready: boolean) => void} */
    let load = () => {};
    late.ready = new Promise((resolve) => (load = resolve));
    late.state.mode = 'starting';
    t.after(shareAcrossTabs(late, { name }).close);
    a.engine.show({ state: 'open', retryAt: performance.now() + 5000, trips: 1 });
    await sleep(A_WHILE);
    assert.equal(late.adopted.length, 0);
    late.state.mode = 'engine';
    load(true);
    await eventually(() => late.adopted.length);
  });

  test('without a network nothing is told of hosts', async (t) => {
    const name = ownName();
    const [a, b] = [await tab(t, name), await tab(t, name)];
    navigator.onLine = false;
    a.engine.show({ state: 'open', retryAt: performance.now() + 5000, trips: 1 });
    await sleep(A_WHILE);
    assert.equal(b.engine.adopted.length, 0);
  });

  test('tabs of another name are others', async (t) => {
    const [a, b] = [await tab(t, ownName()), await tab(t, ownName())];
    a.engine.show({ state: 'open', retryAt: performance.now() + 5000, trips: 1 });
    await sleep(A_WHILE);
    assert.equal(b.engine.adopted.length, 0);
  });
});

describe('the election of who probes', () => {
  /** @param {{ engine: FakeEngine }} tab */
  const ask = async ({ engine }) => {
    assert.ok(engine.elect);
    return engine.elect(HOST);
  };
  const probing = { state: /** @type {const} */ ('half-open'), retryAt: 1e9 };

  for (const [how, shown] of Object.entries({
    'has found the host up': [probing, { state: /** @type {const} */ ('closed') }],
    'has failed': [probing, { state: /** @type {const} */ ('open'), retryAt: 1e9 }],
    'was cancelled': [probing, { state: /** @type {const} */ ('half-open') }],
  })) {
    test(`one tab probes a host until its probe ${how}, then another may`, async (t) => {
      const name = ownName();
      const [a, b] = [await tab(t, name), await tab(t, name)];
      assert.deepEqual(await Promise.all([ask(a), ask(b)]), [true, false]);
      assert.deepEqual([...locks.held], [`${name}:probe:${HOST}`]);
      a.engine.show({ state: 'half-open' });
      assert.equal(await ask(b), false);
      a.engine.show(shown[0]);
      assert.equal(await ask(b), false);
      a.engine.show(shown[1]);
      await eventually(() => locks.held.size === 0);
      assert.equal(await ask(b), true);
    });
  }

  test('of two requests of a tab, one probes', async (t) => {
    const a = await tab(t, ownName());
    assert.deepEqual(await Promise.all([ask(a), ask(a)]), [true, false]);
  });

  test('a probe that is not sent within a second is over', async (t) => {
    const a = await tab(t, ownName());
    const now = performance.now();
    const clock = t.mock.method(performance, 'now', () => now);
    assert.equal(await ask(a), true);
    a.engine.show({ state: 'half-open' });
    clock.mock.mockImplementation(() => now + 999);
    a.engine.show({ state: 'half-open' });
    await new Promise((resolve) => setTimeout(resolve, A_WHILE));
    assert.equal(locks.held.size, 1);
    clock.mock.mockImplementation(() => now + 1000);
    a.engine.show({ state: 'half-open' });
    clock.mock.restore();
    await eventually(() => locks.held.size === 0);
  });

  test('what came of a probe is told before another tab may', async (t) => {
    const name = ownName();
    const [a, b] = [await tab(t, name), await tab(t, name)];
    assert.equal(await ask(a), true);
    a.engine.show({ state: 'open', retryAt: performance.now() + 5000, trips: 1 });
    while (b.engine.adopted.length === 0) {
      assert.ok(locks.held.size, 'the lock is held');
      await sleep(1);
    }
    assert.ok(locks.held.size, 'still');
    await eventually(() => locks.held.size === 0);
  });

  test('a probe is over after 15 s, and a tab that holds on for 20 s is not waited for', async (t) => {
    const name = ownName();
    const [a, b] = [await tab(t, name), await tab(t, name)];
    t.mock.timers.enable({ apis: ['setTimeout'] });
    assert.equal(await ask(a), true);
    t.mock.timers.tick(14_999);
    assert.equal(await ask(b), false);
    t.mock.timers.tick(1);
    await eventually(() => locks.held.size === 0);

    b.engine.show({ state: 'half-open' });
    locks.held.add(`${name}:probe:${HOST}`);
    const now = performance.now();
    const clock = t.mock.method(performance, 'now', () => now + 100);
    assert.equal(await ask(b), false);
    clock.mock.mockImplementation(() => now + 19_000);
    assert.equal(await ask(b), false);
    clock.mock.mockImplementation(() => now + 20_101);
    assert.equal(await ask(b), true);
    // With news of the host, it waits anew.
    b.engine.show({ state: 'open', retryAt: now });
    b.engine.show({ state: 'half-open' });
    assert.equal(await ask(b), false);
    clock.mock.restore();
  });

  test('where the lock manager refuses, the tab probes', async (t) => {
    const a = await tab(t, ownName());
    locks.request = async () => {
      throw new DOMException('not in here', 'SecurityError');
    };
    assert.equal(await ask(a), true);
  });
});

describe('the page', () => {
  test('gives back locks and closes the channel when it hides, and goes on when it returns', async (t) => {
    const name = ownName();
    const a = await tab(t, name);
    const { heard, say } = stranger(t, name);
    assert.equal(await a.engine.elect?.(HOST), true);
    const elect = a.engine.elect;
    turn('pagehide');
    await eventually(() => locks.held.size === 0);
    assert.equal(a.engine.elect, undefined);
    const at = Date.now();
    const hosts = [{ host: HOST, trips: 1, openUntil: at + 5000 }];
    say({ v: 1, at, hosts });
    a.engine.show({ state: 'open', retryAt: performance.now() + 9000 });
    await sleep(A_WHILE);
    assert.deepEqual([heard, a.engine.adopted], [[], []]);

    turn('pageshow');
    assert.equal(a.engine.elect, elect);
    await eventually(() => heard.some(({ asks }) => asks));
    assert.ok(
      heard.some(({ hosts }) => hosts),
      'it tells what it has learnt',
    );
    say({ v: 1, at, hosts: [{ ...hosts[0], openUntil: at + 20_000 }] });
    await eventually(() => a.engine.adopted.length);
  });

  test('a page that hides while it is asked holds no lock', async (t) => {
    const a = await tab(t, ownName());
    const asked = a.engine.elect?.(HOST);
    turn('pagehide');
    assert.equal(await asked, true);
    await sleep(A_WHILE);
    assert.equal(locks.held.size, 0);
  });

  test('nothing is left after close', async (t) => {
    const name = ownName();
    const timers = spyOnTimers(t);
    const { engine, close } = await tab(t, name);
    const b = await tab(t, name);
    engine.show({ state: 'open', retryAt: performance.now() + 5000 });
    assert.equal(await engine.elect?.(HOST), true);
    assert.ok(timers.size > 0, 'the spy sees them');
    close();
    b.close();
    assert.deepEqual([listening, engine.listeners.size, timers.size], [0, 0, 0]);
    assert.equal(engine.elect, undefined);
    await eventually(() => locks.held.size === 0);
    const { heard } = stranger(t, name);
    turn('pageshow');
    engine.show({ state: 'open', retryAt: performance.now() + 9000 });
    await sleep(A_WHILE);
    assert.deepEqual(heard, []);
  });

  test('without channels and locks, the engine is left alone', async (t) => {
    const channel = globalThis.BroadcastChannel;
    t.after(() => void (globalThis.BroadcastChannel = channel));
    delete (/** @type {any} */ (globalThis).BroadcastChannel);
    navigator.locks = undefined;
    const a = await tab(t, ownName());
    assert.equal(a.engine.elect, undefined);
    a.engine.show({ state: 'open', retryAt: performance.now() + 5000 });
    const hook = singleFlightAcrossTabs((url) => `${url}&t=2`);
    t.after(hook.close);
    assert.equal(await hook('https://a.test/x?t=1', CONTEXT), 'https://a.test/x?t=1&t=2');
    turn('pagehide');
    turn('pageshow');
    a.close();
  });
});

/** The timers that these modules have armed. @param {{ after(fn: () => void): void }} t */
function spyOnTimers(t) {
  const { setTimeout, clearTimeout } = globalThis;
  /** @type {Set<unknown>} */
  const armed = new Set();
  globalThis.setTimeout = /** @type {any} */ (
    (/** @type {() => void} */ call, /** @type {number} */ ms) => {
      const timer = setTimeout(() => {
        armed.delete(timer);
        call();
      }, ms);
      if (/\/js\/tab-/.test(String(new Error().stack))) armed.add(timer);
      return timer;
    }
  );
  globalThis.clearTimeout = /** @type {any} */ (
    (/** @type {NodeJS.Timeout} */ timer) => {
      armed.delete(timer);
      clearTimeout(timer);
    }
  );
  t.after(() => void Object.assign(globalThis, { setTimeout, clearTimeout }));
  return armed;
}

/** @type {import('holdfast').RefreshContext} */
const CONTEXT = { url: '', status: 403, body: '', attempt: 1, evidence: 'refused' };
const OLD = 'token=old-0123456789';
const NEW = 'token=new-0123456789';

/**
 * Tabs with a hook each.
 *
 * @param {{ after(fn: () => void): void }} t
 * @param {number} many
 * @param {(url: string, nth: number) => string | Promise<string>} said
 * @param {import('holdfast/cross-tab').SharedRefreshOptions} [options]
 */
function hooks(t, many, said, options = { name: ownName() }) {
  /** @type {string[]} */
  const calls = [];
  const refresh = (/** @type {string} */ url) => said(url, calls.push(url));
  const tabs = Array.from({ length: many }, () => singleFlightAcrossTabs(refresh, options));
  for (const { close } of tabs) t.after(close);
  const ask = async (/** @type {number} */ tab, /** @type {string} */ url) =>
    tabs[tab](`https://cdn.test/${url}`, CONTEXT);
  return { calls, ask, tabs, name: options.name };
}
const exchanged = (/** @type {string} */ url) => url.replace(OLD, NEW);

describe('one refresh for all tabs', () => {
  test('the hook is called once, and each tab gets its own URL with the answer', async (t) => {
    const { calls, ask } = hooks(t, 3, async (url) => {
      await sleep(50);
      return exchanged(url);
    });
    const asked = [ask(0, `a?${OLD}`), ask(1, `b?${OLD}&q=1`), ask(2, `a?${OLD}`)];
    assert.deepEqual(await Promise.all(asked), [
      `https://cdn.test/a?${NEW}`,
      `https://cdn.test/b?${NEW}&q=1`,
      `https://cdn.test/a?${NEW}`,
    ]);
    assert.equal(calls.length, 1);
    await eventually(() => locks.held.size === 0);
  });

  test('who gets the answer of another tab passes the lock on at once', async (t) => {
    const { calls, ask } = hooks(t, 3, exchanged);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const asked = Promise.all([ask(0, `a?${OLD}`), ask(1, `b?${OLD}`), ask(2, `c?${OLD}`)]);
    await sleep(A_WHILE);
    t.mock.timers.tick(200);
    await sleep(A_WHILE);
    assert.deepEqual([calls.length, locks.held.size], [1, 0]);
    await asked;
  });

  test('a bare token serves the other tabs too', async (t) => {
    const { calls, ask } = hooks(t, 2, () => 'new-0123456789');
    assert.equal(await ask(0, `a?${OLD}`), 'new-0123456789');
    assert.equal(await ask(1, `b?${OLD}`), `https://cdn.test/b?${NEW}`);
    assert.equal(calls.length, 1);
  });

  test('an answer serves for a minute', async (t) => {
    const { calls, ask } = hooks(t, 2, exchanged);
    await ask(0, `a?${OLD}`);
    await sleep(A_WHILE);
    const now = Date.now();
    const clock = t.mock.method(Date, 'now', () => now + 59_000);
    assert.equal(await ask(1, `b?${OLD}`), `https://cdn.test/b?${NEW}`);
    assert.equal(calls.length, 1);
    clock.mock.mockImplementation(() => now + 60_001);
    assert.equal(await ask(1, `b?${OLD}`), `https://cdn.test/b?${NEW}`);
    assert.equal(calls.length, 2);
    clock.mock.restore();
  });

  test('another credential does not wait, nor get the answer', async (t) => {
    const { calls, ask } = hooks(t, 2, (url) =>
      url.includes(OLD) ? new Promise(() => {}) : `${url}.new`,
    );
    void ask(0, `a?${OLD}`);
    await sleep(A_WHILE);
    assert.match(await ask(1, 'b?token=other-0123456789'), /other-0123456789\.new$/);
    assert.equal(calls.length, 2);
  });

  test('the caller says what is the same credential', async (t) => {
    const options = { name: ownName(), keyOf: () => 'session' };
    const { calls, ask } = hooks(t, 2, (url) => url.replace('/s/1/', '/s/2/'), options);
    assert.equal(await ask(0, 's/1/x/a.m4s'), 'https://cdn.test/s/2/x/a.m4s');
    assert.equal(await ask(1, 's/1/x/b.m4s'), 'https://cdn.test/s/2/x/b.m4s');
    assert.equal(calls.length, 1);
    // What the answer does not fit asks for its own.
    await ask(1, 's/3/x/b.m4s');
    assert.equal(calls.length, 2);
  });

  test('where the other tab fails, the hook is called here; nothing is taken from anybody', async (t) => {
    const { calls, ask } = hooks(t, 2, async (url, nth) => {
      await sleep(20);
      if (nth === 1) throw new Error('no session');
      return exchanged(url);
    });
    const [a, b] = await Promise.allSettled([ask(0, `a?${OLD}`), ask(1, `b?${OLD}`)]);
    assert.equal(a.status, 'rejected');
    assert.deepEqual(b, { status: 'fulfilled', value: `https://cdn.test/b?${NEW}` });
    assert.equal(calls.length, 2);
  });

  test('another tab is waited for for 8 s, and holds the lock for 10 s', async (t) => {
    const { calls, ask } = hooks(t, 2, (url, nth) =>
      nth === 1 ? new Promise(() => {}) : exchanged(url),
    );
    t.mock.timers.enable({ apis: ['setTimeout'] });
    void ask(0, `a?${OLD}`);
    await sleep(A_WHILE);
    const second = ask(1, `b?${OLD}`);
    await sleep(A_WHILE);
    t.mock.timers.tick(7999);
    await sleep(A_WHILE);
    assert.equal(calls.length, 1);
    t.mock.timers.tick(1);
    assert.equal(await second, `https://cdn.test/b?${NEW}`);
    assert.deepEqual([calls.length, locks.held.size], [2, 1]);
    t.mock.timers.tick(2000);
    await eventually(() => locks.held.size === 0);
  });

  test('without locks each tab calls its own, unless it has heard the answer', async (t) => {
    navigator.locks = undefined;
    const { calls, ask } = hooks(t, 2, exchanged);
    await ask(0, `a?${OLD}`);
    await sleep(A_WHILE);
    assert.equal(await ask(1, `b?${OLD}`), `https://cdn.test/b?${NEW}`);
    assert.equal(calls.length, 1);
  });

  test('malformed messages are no answers, and no answer is none to share', async (t) => {
    const { calls, ask, name } = hooks(t, 2, (_, nth) => /** @type {any} */ (nth < 3 ? nth : NEW));
    const { heard, say } = stranger(t, `${name}:token`);
    await ask(0, `a?${OLD}`);
    assert.deepEqual(heard, []);
    const lock = [...locks.held][0];
    const key = Number(lock?.split(':').at(-1));
    assert.ok(key > 0, 'the name of the lock tells no credential');
    const [from, to] = [`https://cdn.test/a?${OLD}`, `https://cdn.test/a?${NEW}`];
    const at = Date.now();
    say(null);
    say({ v: 2, at, key, from, to });
    say({ v: 1, at, key, from, to: 5 });
    say({ v: 1, at, key, from: null, to });
    say({ v: 1, at: at - 60_001, key, from, to });
    say({ v: 1, key, from, to });
    await sleep(A_WHILE);
    await ask(1, `a?${OLD}`);
    assert.equal(calls.length, 2);
    say({ v: 1, at, key, from, to });
    await sleep(A_WHILE);
    assert.equal(await ask(1, `a?${OLD}`), to);
    assert.equal(calls.length, 2);
  });

  test('a hidden page holds no lock; nothing is left after close', async (t) => {
    const timers = spyOnTimers(t);
    const { ask, tabs } = hooks(t, 3, (url, nth) =>
      nth === 1 ? new Promise(() => {}) : exchanged(url),
    );
    void ask(0, `a?${OLD}`);
    await sleep(A_WHILE);
    const waiting = ask(1, `a?${OLD}`);
    await sleep(A_WHILE);
    assert.deepEqual([locks.held.size, locks.queue.length, timers.size], [1, 1, 2]);
    turn('pagehide');
    assert.equal(await waiting, `https://cdn.test/a?${NEW}`);
    await eventually(() => locks.held.size === 0);
    assert.deepEqual([locks.queue.length, timers.size], [0, 0]);

    turn('pageshow');
    await ask(2, `b?${OLD}`);
    assert.ok(timers.size > 0, 'the lock is held until the answer is heard');
    for (const { close } of tabs) close();
    assert.deepEqual([listening, timers.size], [0, 0]);
    await eventually(() => locks.held.size === 0);
    // It still is a hook.
    assert.equal(await ask(0, `c?${OLD}`), `https://cdn.test/c?${NEW}`);
  });

  test('ten refusals in each of two engines lead to one call', async (t) => {
    const server = await serve();
    t.after(() => server.close());
    for (let i = 0; i < 10; i += 1) {
      server.on(`/${i}.m4s`, (request, response) =>
        (request.url?.includes(NEW) ? ok('media') : answer(403, 'token expired'))(
          request,
          response,
        ),
      );
    }
    const { calls, tabs } = hooks(t, 2, async (url) => {
      await sleep(50);
      return exchanged(url);
    });
    const engines = await Promise.all(
      tabs.map((refreshPlaybackToken) => engineFor(t, {}, { refreshPlaybackToken })),
    );
    const loads = engines.flatMap((engine) =>
      Array.from({ length: 10 }, (_, i) =>
        engine.load({ url: `${server.origin}/${i}.m4s?${OLD}`, site: 'segment' }),
      ),
    );
    const all = await Promise.all(loads);
    assert.ok(all.every(({ url }) => url.includes(NEW)));
    assert.equal(calls.length, 1);
  });
});
