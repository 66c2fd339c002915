//! The receiving end of a driver, and globals that a test has replaced.

use holdfast::web::{Driver, Sink};
use js_sys::{Array, Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(inline_js = r#"
const { fetch, setTimeout, clearTimeout } = globalThis;
const real = { fetch, set: setTimeout.bind(globalThis), clear: clearTimeout.bind(globalThis) };

export class Fixture {
  calls = [];
  fetches = [];
  answers = [];
  listeners = {};
  online = true;
  timers = new Set();

  constructor() {
    const tell = (name) => (...rest) => {
      this.calls.push([name, ...rest]);
      this.listeners[name]?.(...rest);
    };
    const names = ['sent', 'accept', 'cut', 'fail', 'exhausted', 'changed'];
    this.sink = Object.fromEntries(names.map((name) => [name, tell(name)]));
    this.sink.online = () => this.online;
    globalThis.fetch = (input, init) => this.fetch(input, init);
    globalThis.setTimeout = (ring, ...rest) => {
      const timer = real.set(() => { this.timers.delete(timer); ring(); }, ...rest);
      this.timers.add(timer);
      return timer;
    };
    globalThis.clearTimeout = (timer) => { this.timers.delete(timer); real.clear(timer); };
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
  adopted() {
    this.controller = new AbortController();
    return Promise.resolve(new Response('body'));
  }
  sleep(ms) { return new Promise((resolve) => real.set(resolve, ms)); }
  async until(name, count) {
    for (let tries = 0; tries < 500; tries += 1) {
      if (this.told(name).length >= count) return;
      await this.sleep(5);
    }
    throw new Error(`${name} was not heard ${count} times, but ${this.heard()}`);
  }
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
    pub(crate) fn adopted(this: &Fixture) -> Promise;
    #[wasm_bindgen(method)]
    fn sleep(this: &Fixture, ms: u32) -> Promise;
    #[wasm_bindgen(method)]
    fn until(this: &Fixture, name: &str, count: u32) -> Promise;
    #[wasm_bindgen(method)]
    fn restore(this: &Fixture);
}

/// A driver whose page is a fixture. The globals come back when it is dropped.
pub(crate) struct Page {
    pub(crate) driver: Driver,
    pub(crate) fixture: Fixture,
}

impl Drop for Page {
    fn drop(&mut self) {
        self.driver.close();
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

impl Page {
    /// The driver comes first, so that whatever the fixture replaces is replaced late.
    pub(crate) fn open() -> Self {
        let sink = js_sys::Object::new();
        let driver = Driver::new(&numbers(), sink.clone().unchecked_into::<Sink>());
        let fixture = Fixture::new();
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
        self.start_with(request, "/media".into(), None, None);
    }

    pub(crate) fn start_with(
        &self,
        request: u32,
        input: JsValue,
        fetch: Option<Function>,
        adopted: Option<(Promise, f64)>,
    ) {
        let init = js_sys::Object::new().into();
        let now = field(&js_sys::global(), "performance");
        let now = Function::from(field(&now, "now")).call0(&now).expect("a time").as_f64();
        let at = adopted.as_ref().map(|(_, at)| *at).or(now).expect("a number");
        let controller = adopted.as_ref().map(|_| field(&self.fixture, "controller").into());
        let adopted = adopted.map(|(promise, _)| promise);
        let driver = &self.driver;
        driver.start(request, SEGMENT, 0, 0, 0, input, init, fetch, adopted, controller, at);
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

/// A property of an object.
pub(crate) fn field(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).expect("an object")
}

/// An array of numbers.
pub(crate) fn record(value: &JsValue) -> Vec<f64> {
    Array::from(value).iter().map(|number| number.as_f64().expect("a number")).collect()
}
