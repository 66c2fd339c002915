//! The receiving end of a driver, and globals that a test has replaced.

use std::rc::Rc;

use holdfast::web::{Driver, Sink};
use js_sys::{Array, Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Response};

#[wasm_bindgen(inline_js = r#"
const { fetch, setTimeout, clearTimeout } = globalThis;
const real = { fetch, set: setTimeout.bind(globalThis), clear: clearTimeout.bind(globalThis) };

export class Fixture {
  calls = [];
  fetches = [];
  answers = [];
  listeners = {};
  online = true;
  /** What the detectors say of what comes: the scope, how long, and of the credential. */
  judged = [0, -1, 0];
  closed = false;
  timers = new Set();

  constructor() {
    const tell = (name) => (...rest) => {
      this.calls.push([name, ...rest]);
      this.listeners[name]?.(...rest);
    };
    const names = [
      ...['sent', 'accept', 'ask', 'cut', 'refresh', 'plain', 'failed', 'fail', 'exhausted'],
      ...['changed', 'dress'],
    ];
    this.sink = Object.fromEntries(names.map((name) => [name, tell(name)]));
    const { sent } = this.sink;
    this.sink.sent = (request, attempt, at, promise) => {
      this.follow(request, attempt, promise);
      sent(request, attempt, at);
    };
    const told = [
      () => this.closed || this.wake(),
      ...['changed', 'cut', 'ask', 'plain', 'refresh'].map((name) => this.sink[name]),
    ];
    this.sink.told = (what, request, x, y) => {
      if (what === 1) told[what]();
      else if (what === 5) told[what](x, request, y);
      else told[what](request, ...[x, y].slice(0, [0, 0, 1, 2, 0][what]));
    };
    globalThis.fetch = (input, init) => this.fetch(input, init);
    globalThis.setTimeout = (ring, ...rest) => {
      const timer = real.set(() => { this.timers.delete(timer); ring(); }, ...rest);
      this.timers.add(timer);
      return timer;
    };
    globalThis.clearTimeout = (timer) => { this.timers.delete(timer); real.clear(timer); };
  }

  attach(settled, wake) {
    this.settled = settled;
    this.wake = wake;
  }
  follow(request, attempt, promise) {
    const settle = (response, error) => {
      const seconds = Number(response?.headers.get('retry-after') ?? NaN);
      const told = [request, attempt, response, error, performance.now(), this.online];
      this.settled([...told, ...this.judged, seconds * 1000]);
    };
    promise.then(
      (response) => this.closed || settle(response),
      (error) => this.closed || settle(undefined, error),
    );
  }

  fetch(input, init) {
    this.fetches.push({ input, init, signal: init.signal });
    const answer = this.answers.shift();
    if (answer === 'throw') throw new SyntaxError('thrown');
    if (answer === 'reject') return Promise.reject(new TypeError('rejected'));
    if (answer instanceof Response) return Promise.resolve(answer);
    return new Promise((_, reject) => {
      init.signal.addEventListener('abort', () => reject(init.signal.reason));
    });
  }

  answer(what) { this.answers.push(what); }
  respond(status, headers) {
    const body = status === 204 || status === 304 ? null : 'body';
    this.answers.push(status === 0 ? Response.error() : new Response(body, { status, headers }));
  }
  listen(name, listener) { this.listeners[name] = listener; }
  judge(...judged) { this.judged = judged; }
  heard() { return this.calls.map(([name]) => name).join(' '); }
  told(name) { return this.calls.filter(([said]) => said === name).map(([, ...rest]) => rest); }
  aborted() { return this.fetches.map(({ signal }) => signal.aborted); }
  timerCount() { return this.timers.size; }
  sleep(ms) { return new Promise((resolve) => real.set(resolve, ms)); }
  async until(name, count) {
    for (let tries = 0; tries < 500; tries += 1) {
      if (this.told(name).length >= count) return;
      await this.sleep(5);
    }
    throw new Error(`${name} was not heard ${count} times, but ${this.heard()}`);
  }
  close() { this.closed = true; }
  restore() {
    Object.assign(globalThis, { fetch, setTimeout, clearTimeout });
  }
}
"#)]
extern "C" {
    pub(crate) type Fixture;

    #[wasm_bindgen(constructor)]
    fn new() -> Fixture;

    #[wasm_bindgen(method)]
    fn answer(this: &Fixture, what: &str);
    #[wasm_bindgen(method)]
    fn respond(this: &Fixture, status: u16, headers: JsValue);
    #[wasm_bindgen(method)]
    fn listen(this: &Fixture, name: &str, listener: &Function);
    #[wasm_bindgen(method)]
    pub(crate) fn judge(this: &Fixture, scope: u32, wait: f64, expiry: u32);
    #[wasm_bindgen(method)]
    pub(crate) fn heard(this: &Fixture) -> String;
    #[wasm_bindgen(method)]
    pub(crate) fn told(this: &Fixture, name: &str) -> Array;
    #[wasm_bindgen(method)]
    fn aborted(this: &Fixture) -> Array;
    #[wasm_bindgen(method, js_name = timerCount)]
    pub(crate) fn timer_count(this: &Fixture) -> usize;
    #[wasm_bindgen(method)]
    fn attach(this: &Fixture, settled: &Function, wake: &Function);
    #[wasm_bindgen(method)]
    pub(crate) fn follow(this: &Fixture, request: u32, attempt: u32, promise: &Promise);
    #[wasm_bindgen(method)]
    fn sleep(this: &Fixture, ms: u32) -> Promise;
    #[wasm_bindgen(method)]
    fn until(this: &Fixture, name: &str, count: u32) -> Promise;
    #[wasm_bindgen(method)]
    fn close(this: &Fixture);
    #[wasm_bindgen(method)]
    fn restore(this: &Fixture);
}

/// A driver whose page is a fixture. The globals come back when it is dropped.
pub(crate) struct Page {
    pub(crate) driver: Rc<Driver>,
    pub(crate) fixture: Fixture,
}

impl Drop for Page {
    fn drop(&mut self) {
        self.close();
        self.fixture.restore();
    }
}

/// Short spans, so that a test takes milliseconds: three attempts, 50 ms apart, 200 ms for the
/// headers and for a silence, rejection at the end, and no part asked for. The budget and the
/// breaker are as large as no test needs them.
pub(crate) fn numbers() -> Vec<f64> {
    let head = [5_000.0, 100.0, 2.0, 5.0, 0.0];
    let budget = [100.0, 100.0, 100.0, 0.1, 200.0];
    let breaker = [50.0, 30_000.0, 50.0, 0.5, 4_000.0, 1.5, 30_000.0, 30_000.0, 0.0];
    let row = [200.0, 200.0, 200.0, 3.0, 50.0, 1.0, 50.0, 5_000.0, 1_000.0, 2.0, 0.0, 0.0];
    let mut numbers = [&head[..], &budget, &breaker].concat();
    for _ in 0..11 {
        numbers.extend(row);
    }
    numbers
}

/// The codes of the facts that tests tell, as in the fact module.
pub(crate) mod fact {
    pub(crate) const READING: u32 = 0;
    pub(crate) const CHUNK: u32 = 1;
    pub(crate) const BODY_END: u32 = 2;
    pub(crate) const PAGE: u32 = 3;
    pub(crate) const ABORT: u32 = 5;
    pub(super) const WAKE: u32 = 6;
    pub(crate) const ONLINE: u32 = 7;
    pub(crate) const RETRY_NOW: u32 = 10;
    pub(crate) const ANSWER: u32 = 11;
    pub(crate) const REFRESHED: u32 = 12;
    pub(crate) const BODY_LOST: u32 = 22;
}

/// What the engine shows, by code, and how many numbers a row of it has.
pub(crate) mod view {
    pub(crate) const REQUESTS: (u32, usize) = (0, 8);
    pub(crate) const HOSTS: (u32, usize) = (1, 8);
    pub(crate) const LOG: (u32, usize) = (2, 6);
    pub(crate) const ESTIMATE: (u32, usize) = (3, 2);
}

pub(crate) const RELOAD: u32 = 2;
pub(crate) const SEGMENT: u32 = 4;

/// What the driver is told of a request besides its number and where it goes.
#[derive(Clone)]
pub(crate) struct Start {
    pub(crate) site: u32,
    pub(crate) flags: u32,
    pub(crate) credential: u32,
    pub(crate) hooks: u8,
    pub(crate) input: JsValue,
    pub(crate) init: JsValue,
    pub(crate) fetch: Option<Function>,
    /// Aborts the attempt that was sent already, and when that was.
    pub(crate) adopted: Option<(AbortController, f64)>,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            site: SEGMENT,
            flags: 0,
            credential: 0,
            hooks: 0,
            input: "/media".into(),
            init: js_sys::Object::new().into(),
            fetch: None,
            adopted: None,
        }
    }
}

/// What tells the driver how an attempt has settled.
fn settles(driver: &Rc<Driver>) -> Function {
    let driver = Rc::downgrade(driver);
    let settle = Closure::<dyn FnMut(Array)>::new(move |told: Array| {
        let Some(driver) = driver.upgrade() else { return };
        let number = |place| told.get(place).as_f64().expect("a number");
        let response: Option<Response> =
            told.get(2).is_truthy().then(|| told.get(2).unchecked_into());
        driver.tell(fact::ONLINE, u32::from(told.get(5).is_truthy()), 0, 0.0, 0.0, 0.0);
        let [request, attempt] = [0, 1].map(|place| number(place) as u32);
        let facts = response.map_or(Vec::new(), |response| {
            let status = f64::from(response.status());
            // Of the representation nothing is known.
            let unknown = f64::NAN;
            let [first, last, total, length, etag, modified] = [unknown; 6];
            let (weak, source, coding, open) = (0.0, 0.0, 0.0, 1.0);
            let representation =
                [first, last, total, length, etag, weak, modified, source, coding, open];
            let judged = [number(9), number(6), number(7), number(8)];
            [&[status][..], &representation, &judged].concat()
        });
        driver.settled(request, attempt, &facts, number(4));
    });
    settle.into_js_value().unchecked_into()
}

/// What tells the driver that its timer has rung.
fn wakes(driver: &Rc<Driver>) -> Function {
    let driver = Rc::downgrade(driver);
    let wake = Closure::<dyn FnMut()>::new(move || {
        if let Some(driver) = driver.upgrade() {
            driver.tell(fact::WAKE, 0, 0, 0.0, 0.0, 0.0);
        }
    });
    wake.into_js_value().unchecked_into()
}

impl Page {
    /// The driver comes first, so that whatever the fixture replaces is replaced late.
    pub(crate) fn open() -> Self {
        let sink = js_sys::Object::new();
        let driver = Rc::new(Driver::new(&numbers(), sink.clone().unchecked_into::<Sink>(), false));
        let fixture = Fixture::new();
        fixture.attach(&settles(&driver), &wakes(&driver));
        js_sys::Object::assign(&sink, &field(&fixture, "sink").unchecked_into());
        Self { driver, fixture }
    }

    /// What the next attempt meets: `hang`, `reject` or `throw`.
    pub(crate) fn meets(self, what: &str) -> Self {
        self.fixture.answer(what);
        self
    }

    /// The status that the next attempt meets.
    pub(crate) fn answers(self, status: u16) -> Self {
        self.fixture.respond(status, JsValue::UNDEFINED);
        self
    }

    pub(crate) fn answers_with(self, status: u16, name: &str, value: &str) -> Self {
        let headers = js_sys::Object::new();
        Reflect::set(&headers, &name.into(), &value.into()).expect("an object takes it");
        self.fixture.respond(status, headers.into());
        self
    }

    pub(crate) fn start(&self, request: u32) {
        self.start_with(request, Start::default());
    }

    pub(crate) fn start_with(&self, request: u32, start: Start) {
        let Start { site, flags, credential, hooks, input, init, fetch, adopted } = start;
        let (adopted, at) = adopted.map_or((None, now()), |(by, at)| (Some(by), at));
        // Each request asks for a URL of its own, so that none rests for another's failure.
        let (host, url, prefix) = (0, request, 0);
        self.driver.start(
            request,
            site,
            host,
            flags,
            0,
            url,
            credential,
            prefix,
            hooks,
            input,
            init,
            fetch,
            adopted,
            at,
            url,
            0.0,
            f64::INFINITY,
        );
    }

    /// Tells a fact that is nothing but numbers.
    pub(crate) fn tell(&self, fact: u32, subject: u32, number: u32, numbers: [f64; 3]) -> bool {
        let [x, y, z] = numbers;
        self.driver.tell(fact, subject, number, x, y, z)
    }

    /// A chunk of four bytes whose next one is waited for. Answers whether its attempt counts.
    pub(crate) fn chunk(&self, request: u32, attempt: u32) -> bool {
        self.tell(fact::CHUNK, request, attempt, [4.0, 1.0, 20.0])
    }

    pub(crate) fn abort(&self, request: u32) {
        self.tell(fact::ABORT, request, 0, [0.0; 3]);
    }

    /// The rows of what the engine shows.
    pub(crate) fn view(&self, (what, width): (u32, usize)) -> Vec<Vec<f64>> {
        let numbers = record(&self.driver.view(what));
        assert_eq!(numbers.len() % width, 0, "whole rows");
        numbers.chunks(width).map(<[f64]>::to_vec).collect()
    }

    /// Closes the driver, which is told nothing from then on.
    pub(crate) fn close(&self) {
        self.fixture.close();
        self.driver.close();
    }

    pub(crate) fn listen<T: FnMut() + 'static>(&self, name: &str, listener: T) {
        let closure = Closure::<dyn FnMut()>::new(listener);
        self.fixture.listen(name, closure.into_js_value().unchecked_ref());
    }

    /// Waits until the sink was told this so many times.
    pub(crate) async fn until(&self, name: &str, count: u32) {
        JsFuture::from(self.fixture.until(name, count)).await.expect("it was heard");
    }

    pub(crate) async fn sleep(&self, ms: u32) {
        JsFuture::from(self.fixture.sleep(ms)).await.expect("time passes");
    }

    /// Whether the signal of each attempt was aborted.
    pub(crate) fn aborted(&self) -> Vec<bool> {
        self.fixture.aborted().iter().map(|aborted| aborted.is_truthy()).collect()
    }

    pub(crate) fn fetches(&self) -> Array {
        field(&self.fixture, "fetches").into()
    }
}

/// The driver's clock.
pub(crate) fn now() -> f64 {
    let performance = field(&js_sys::global(), "performance");
    let now = Function::from(field(&performance, "now")).call0(&performance);
    now.expect("a time").as_f64().expect("a number")
}

/// A property of an object.
pub(crate) fn field(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).expect("an object")
}

/// An array of numbers.
pub(crate) fn record(value: &JsValue) -> Vec<f64> {
    Array::from(value).iter().map(|number| number.as_f64().expect("a number")).collect()
}
