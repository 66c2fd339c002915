//! The receiving end of a driver, and globals that a test has replaced.

use std::rc::Rc;

use holdfast::web::{Driver, Sink};
use js_sys::{Array, Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

#[wasm_bindgen(inline_js = r#"
const { fetch, setTimeout, clearTimeout } = globalThis;
const real = { fetch, set: setTimeout.bind(globalThis), clear: clearTimeout.bind(globalThis) };

export class Fixture {
  calls = [];
  fetches = [];
  answers = [];
  listeners = {};
  online = true;
  closed = false;
  timers = new Set();

  constructor() {
    const tell = (name) => (...rest) => {
      this.calls.push([name, ...rest]);
      this.listeners[name]?.(...rest);
    };
    const names = ['sent', 'accept', 'cut', 'fail', 'exhausted', 'changed'];
    this.sink = Object.fromEntries(names.map((name) => [name, tell(name)]));
    const { sent } = this.sink;
    this.sink.sent = (request, attempt, at, promise) => {
      this.follow(request, attempt, promise);
      sent(request, attempt, at);
    };
    this.sink.ring = () => this.closed || this.wake();
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
    const settle = (response, error) =>
      this.settled([request, attempt, response, error, performance.now(), this.online]);
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
/// headers and for a silence, and rejection at the end.
fn numbers() -> Vec<f64> {
    let row = [200.0, 200.0, 200.0, 3.0, 50.0, 1.0, 50.0, 5_000.0, 1_000.0, 2.0];
    let mut numbers = vec![5_000.0, 100.0, 2.0, 5.0];
    for _ in 0..11 {
        numbers.extend(row);
    }
    numbers
}

pub(crate) const SEGMENT: u32 = 4;

/// What tells the driver how an attempt has settled.
fn settles(driver: &Rc<Driver>) -> Function {
    let driver = Rc::downgrade(driver);
    let settle = Closure::<dyn FnMut(Array)>::new(move |told: Array| {
        let Some(driver) = driver.upgrade() else { return };
        let number = |place| told.get(place).as_f64().expect("a number");
        let response = told.get(2);
        let response = response.is_truthy().then(|| response.unchecked_into());
        driver.online(told.get(5).is_truthy());
        driver.settled(number(0) as u32, number(1) as u32, response, told.get(3), number(4));
    });
    settle.into_js_value().unchecked_into()
}

/// What tells the driver that its timer has rung.
fn wakes(driver: &Rc<Driver>) -> Function {
    let driver = Rc::downgrade(driver);
    let wake = Closure::<dyn FnMut()>::new(move || {
        if let Some(driver) = driver.upgrade() {
            driver.wake();
        }
    });
    wake.into_js_value().unchecked_into()
}

impl Page {
    /// The driver comes first, so that whatever the fixture replaces is replaced late.
    pub(crate) fn open() -> Self {
        let sink = js_sys::Object::new();
        let driver = Rc::new(Driver::new(&numbers(), sink.clone().unchecked_into::<Sink>()));
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
        self.start_with(request, "/media".into(), js_sys::Object::new().into(), None);
    }

    pub(crate) fn start_with(
        &self,
        request: u32,
        input: JsValue,
        init: JsValue,
        fetch: Option<Function>,
    ) {
        self.driver.start(request, SEGMENT, 0, 0, 0, input, init, fetch, None, now());
    }

    /// Starts a request whose first attempt was sent at `at` already.
    pub(crate) fn start_adopted(&self, request: u32, controller: &AbortController, at: f64) {
        let (input, init) = (JsValue::from("/media"), js_sys::Object::new().into());
        let controller = Some(controller.clone());
        self.driver.start(request, SEGMENT, 0, 0, 0, input, init, None, controller, at);
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
