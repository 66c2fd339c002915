//! The exported class.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, RequestInit, Response};

use super::fetch::{self, now};
use super::flight::Flight;
use super::options;
use super::records;
use super::sink::Sink;
use super::wake::Wake;
use crate::core::{
    Action, Alternatives, Delivery, Engine, Millis, Playback, RequestId, Site, StartRequest,
};

/// Bits of the flags that [`Driver::start`] takes.
mod flag {
    /// Deliver bytes as they come.
    pub(super) const STREAMING: u32 = 1;
    /// Not safe to send twice.
    pub(super) const ONCE_ONLY: u32 = 2;
    /// A success has no body.
    pub(super) const NO_BODY: u32 = 4;
    /// The server may hold the answer back.
    pub(super) const BLOCKING: u32 = 8;
}

/// One engine and its network side.
#[wasm_bindgen]
pub struct Driver {
    inner: Rc<Inner>,
}

struct Inner {
    engine: RefCell<Engine>,
    /// By request, ascending.
    flights: RefCell<Vec<(u32, Flight)>>,
    wake: RefCell<Wake>,
    sink: Sink,
    /// Whether actions are being carried out further up the stack.
    draining: Cell<bool>,
    /// For the callbacks, which must not keep the engine alive.
    own: Weak<Self>,
}

#[wasm_bindgen]
impl Driver {
    /// An engine with these options (see the options module for the order of the numbers).
    #[wasm_bindgen(constructor)]
    pub fn new(numbers: &[f64], sink: Sink) -> Self {
        // Without a source of randomness the jitter is merely the same each time.
        let seed = getrandom::u64().unwrap_or(0);
        let engine = Engine::new(options::parse(numbers, seed));
        let inner = Rc::new_cyclic(|own| Inner {
            engine: RefCell::new(engine),
            flights: RefCell::default(),
            wake: RefCell::default(),
            sink,
            draining: Cell::new(false),
            own: own.clone(),
        });
        Self { inner }
    }

    /// Takes a request on and sends it. `adopted` aborts an attempt that was sent at `at`
    /// already, and whose end JavaScript reports; `flags` are 1 streaming, 2 not safe to send twice, 4 without a
    /// body, 8 blocking; `alternatives` is the code of what was declared for this URL.
    /// `request` is the request's number; the numbers ascend.
    #[allow(
        clippy::too_many_arguments,
        reason = "numbers and handles cross cheaper than an object"
    )]
    pub fn start(
        &self,
        request: u32,
        site: u32,
        host: u32,
        flags: u32,
        alternatives: u32,
        input: JsValue,
        init: JsValue,
        fetch: Option<Function>,
        adopted: Option<AbortController>,
        at: f64,
    ) {
        let start = StartRequest {
            id: RequestId(request),
            site: Site::from_code(site).unwrap_or(Site::Other),
            host,
            delivery: if flags & flag::STREAMING == 0 {
                Delivery::Buffered
            } else {
                Delivery::Streaming
            },
            idempotent: flags & flag::ONCE_ONLY == 0,
            expects_body: flags & flag::NO_BODY == 0,
            blocking: flags & flag::BLOCKING != 0,
            alternatives: alternatives_from(alternatives),
        };
        let flight = Flight {
            input,
            init: init.unchecked_into::<RequestInit>(),
            fetch,
            adopted,
            attempt: 0,
            controller: None,
            response: None,
            error: JsValue::UNDEFINED,
        };
        self.inner.flights.borrow_mut().push((request, flight));
        self.inner.feed(|engine| engine.handle_start(start, Millis::new(at)));
    }

    /// The promise of an attempt has settled: with a response, or rejected with an error.
    pub fn settled(
        &self,
        request: u32,
        attempt: u32,
        response: Option<Response>,
        error: JsValue,
        at: f64,
    ) {
        let facts = response.as_ref().map(fetch::facts);
        let current = self.inner.with_flight(request, |flight| {
            let current = flight.carries(attempt);
            if current {
                flight.response = response;
                flight.error = error;
            }
            current
        });
        if current != Some(true) {
            return;
        }
        let (id, at) = (RequestId(request), Millis::new(at));
        self.inner.feed(|engine| match facts {
            Some(facts) => engine.handle_response(id, attempt, facts, at),
            None => engine.handle_rejected(id, attempt, at),
        });
    }

    /// Somebody waits for the next byte.
    pub fn reading(&self, request: u32, attempt: u32, at: f64) {
        self.inner
            .feed(|engine| engine.handle_reading(RequestId(request), attempt, Millis::new(at)));
    }

    /// Bytes arrived. Answers whether the attempt still counts.
    pub fn chunk(&self, request: u32, attempt: u32, bytes: f64, reading: bool, at: f64) -> bool {
        self.inner.feed(|engine| {
            engine.handle_chunk(RequestId(request), attempt, bytes, reading, Millis::new(at))
        })
    }

    /// The body ended. Answers whether it was whole.
    #[wasm_bindgen(js_name = bodyEnd)]
    pub fn body_end(&self, request: u32, attempt: u32, at: f64) -> bool {
        self.inner
            .feed(|engine| engine.handle_body_end(RequestId(request), attempt, Millis::new(at)))
    }

    /// The body is lost: its stream broke with this error, or it is a page where media was
    /// asked for.
    #[wasm_bindgen(js_name = bodyLost)]
    pub fn body_lost(&self, request: u32, attempt: u32, page: bool, error: JsValue, at: f64) {
        let (id, at) = (RequestId(request), Millis::new(at));
        if page {
            self.inner.feed(|engine| engine.handle_intercepted(id, attempt, at));
            return;
        }
        self.inner.with_flight(request, |flight| flight.error = error);
        self.inner.feed(|engine| engine.handle_body_lost(id, attempt, at));
    }

    /// The caller aborted.
    pub fn abort(&self, request: u32) {
        self.inner.feed(|engine| engine.handle_abort(RequestId(request), now()));
    }

    /// The timer has rung.
    pub fn wake(&self) {
        self.inner.wake.borrow_mut().rung();
        self.inner.feed(|engine| engine.handle_timeout(now()));
    }

    /// What the browser says of the network. To be said before a failure is reported: the
    /// event may still be on its way.
    pub fn online(&self, online: bool) {
        self.inner.feed(|engine| engine.handle_online(online, now()));
    }

    /// What the player says of its playback, in milliseconds; negative where unknown.
    pub fn playback(&self, buffer_ahead: f64, target_duration: f64) {
        let known = |value: f64| (value >= 0.0).then(|| Millis::new(value));
        let playback =
            Playback { buffer_ahead: known(buffer_ahead), target_duration: known(target_duration) };
        self.inner.feed(|engine| engine.handle_playback(playback, now()));
    }

    /// Whether the player has somewhere else to go for what the site asks, as a code.
    pub fn alternatives(&self, site: u32, alternatives: u32) {
        if let Some(site) = Site::from_code(site) {
            let alternatives = alternatives_from(alternatives);
            self.inner.feed(|engine| engine.handle_alternatives(site, alternatives));
        }
    }

    /// Ends the waits that may be ended.
    #[wasm_bindgen(js_name = retryNow)]
    pub fn retry_now(&self) {
        self.inner.feed(|engine| engine.handle_retry_now(now()));
    }

    /// The requests that have failed and go on, as an array of records.
    #[wasm_bindgen(js_name = retryStates)]
    pub fn retry_states(&self) -> JsValue {
        records::retry_states(self.inner.engine.borrow().retry_states())
    }

    /// The estimated bandwidth in bit/s, or NaN until enough was seen.
    pub fn bandwidth(&self) -> f64 {
        self.inner.engine.borrow().estimator().estimate().unwrap_or(f64::NAN)
    }

    /// Bytes that retries delivered and that the estimate leaves out.
    #[wasm_bindgen(js_name = excludedBytes)]
    pub fn excluded_bytes(&self) -> f64 {
        self.inner.engine.borrow().estimator().excluded_bytes()
    }

    /// The decision log, oldest first, as an array of records.
    pub fn log(&self) -> JsValue {
        records::log(self.inner.engine.borrow().log())
    }

    /// Clears the timer and aborts what waits for its headers. Bodies under way, and all
    /// promises, are left to JavaScript.
    pub fn close(&self) {
        self.inner.wake.borrow_mut().disarm();
        // Taken out first: an abort may call back.
        let flights = self.inner.flights.take();
        let waiting = flights.into_iter().filter(|(_, flight)| flight.response.is_none());
        for (_, mut flight) in waiting {
            flight.cut().inspect(AbortController::abort);
        }
    }
}

fn alternatives_from(code: u32) -> Alternatives {
    match code {
        1 => Alternatives::None,
        2 => Alternatives::Some,
        _ => Alternatives::Unknown,
    }
}

impl Inner {
    /// Feeds one fact and carries out what follows.
    fn feed<T>(&self, fact: impl FnOnce(&mut Engine) -> T) -> T {
        let answer = fact(&mut self.engine.borrow_mut());
        self.drain();
        answer
    }

    /// Carries out all actions, in their order. What an action calls may feed facts again:
    /// those add their actions to the same queue, which the outermost call empties.
    #[inline(never)]
    fn drain(&self) {
        if self.draining.replace(true) {
            return;
        }
        while let Some(action) = self.poll() {
            self.carry_out(action);
        }
        self.draining.set(false);
        self.rearm();
    }

    /// Its own function, so that the borrow ends before anything is carried out.
    fn poll(&self) -> Option<Action> {
        self.engine.borrow_mut().poll()
    }

    #[inline(never)]
    fn rearm(&self) {
        let due = self.engine.borrow().next_timeout().map(|(due, _)| due);
        let own = self.own.clone();
        self.wake.borrow_mut().arm(due, now(), move || {
            if let Some(inner) = own.upgrade() {
                // JavaScript calls back: a trap in there is noticed there.
                inner.sink.ring();
            }
        });
    }

    fn carry_out(&self, action: Action) {
        match action {
            Action::Accept { request, attempt, inspect } => {
                let response = self.with_flight(request.0, |flight| flight.response.clone());
                if let Some(response) = response.flatten() {
                    self.sink.accept(request.0, attempt, &response, inspect);
                }
            }
            Action::Changed => self.sink.changed(),
            Action::Cut { request, attempt } => {
                // Aborted after the borrow: its listeners are called at once and may call back.
                let controller = self.with_flight(request.0, Flight::cut).flatten();
                controller.inspect(AbortController::abort);
                self.sink.cut(request.0, attempt);
            }
            Action::Exhausted { request, failure } => {
                self.sink.exhausted(request.0, records::failure(&failure));
            }
            Action::Fail { request, failure } => {
                let flight = self.take_flight(request.0);
                let (response, error) =
                    flight.map(|flight| (flight.response, flight.error)).unwrap_or_default();
                let failure = records::failure(&failure);
                self.sink.fail(request.0, failure, response, error);
            }
            Action::Forget { request } => {
                let flight = self.take_flight(request.0);
                flight.and_then(|mut flight| flight.cut()).inspect(AbortController::abort);
            }
            // JavaScript knows: the end of the body was whole.
            Action::Finish { request } => drop(self.take_flight(request.0)),
            Action::Send { request, attempt } => self.send(request, attempt),
        }
    }

    fn send(&self, request: RequestId, attempt: u32) {
        let Some((input, init, fetch, adopted)) = self.with_flight(request.0, |flight| {
            flight.attempt = attempt;
            flight.controller = flight.adopted.take();
            let Flight { input, init, fetch, controller, .. } = &*flight;
            (input.clone(), init.clone(), fetch.clone(), controller.is_some())
        }) else {
            return;
        };
        let controller = AbortController::new();
        let (false, Ok(controller)) = (adopted, controller) else { return };
        let promise = fetch::send(&input, &init, fetch.as_ref(), &controller);
        let kept = self.with_flight(request.0, |flight| {
            flight.controller = Some(controller.clone());
        });
        if kept.is_none() {
            // Closed from within the caller's own fetch.
            controller.abort();
        }
        self.sink.sent(request.0, attempt, now().get(), &promise);
    }

    fn with_flight<T>(&self, request: u32, use_it: impl FnOnce(&mut Flight) -> T) -> Option<T> {
        let mut flights = self.flights.borrow_mut();
        let place = flights.binary_search_by_key(&request, |(id, _)| *id).ok()?;
        Some(use_it(&mut flights[place].1))
    }

    fn take_flight(&self, request: u32) -> Option<Flight> {
        let mut flights = self.flights.borrow_mut();
        let place = flights.binary_search_by_key(&request, |(id, _)| *id).ok()?;
        Some(flights.remove(place).1)
    }
}
