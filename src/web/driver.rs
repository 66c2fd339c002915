//! The exported class.

use std::cell::{Cell, RefCell, RefMut};
use std::rc::{Rc, Weak};

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, RequestInit};

use super::fact::{self, alternatives_from};
use super::fetch::{self, now};
use super::flight::Flight;
use super::options;
use super::records;
use super::sink::{Sink, told};
use super::wake::Wake;
use crate::core::{
    Action, Advice, Ask, Delivery, Engine, Hooks, Marks, Millis, RequestId, Site, StartRequest,
    Wanted,
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
    /// Nothing is lost if it fails.
    pub(super) const OPTIONAL: u32 = 16;
    /// The URL asks for a delta, or for the answer to be held back.
    pub(super) const DIRECTIVES: u32 = 32;
    /// Fetched ahead of need.
    pub(super) const AHEAD: u32 = 64;
    /// The caller asks for a range.
    pub(super) const RANGED: u32 = 128;
    /// Not to be asked for in parts.
    pub(super) const IN_ONE: u32 = 256;
    /// The caller sees the status.
    pub(super) const SEES_STATUS: u32 = 512;
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
    /// An engine with these options (see the options module for the order of the numbers), whose
    /// timer is `lasting` where nobody waits for it to end.
    #[wasm_bindgen(constructor)]
    pub fn new(numbers: &[f64], sink: Sink, lasting: bool) -> Self {
        // Without a source of randomness the jitter is merely the same each time.
        let seed = getrandom::u64().unwrap_or(0);
        let engine = Engine::sharing(options::parse(numbers, seed), seed);
        let inner = Rc::new_cyclic(|own| Inner {
            engine: RefCell::new(engine),
            flights: RefCell::default(),
            wake: RefCell::new(Wake::new(lasting)),
            sink,
            draining: Cell::new(false),
            own: own.clone(),
        });
        Self { inner }
    }

    /// Takes a request on and sends it. `adopted` aborts an attempt that was sent at `at`
    /// already, and whose end JavaScript reports; `flags` are 1 streaming, 2 not safe to send
    /// twice, 4 without a body, 8 blocking, 16 optional, 32 with directives, 64 ahead of need, 128
    /// for a range, 256 not in parts, 512 for a caller who sees the status; `alternatives` is the
    /// code of what was declared for this URL; `url`, `credential` and `prefix` are numbers that
    /// tell one from another, the latter two from 1; `hooks` the bits of what hooks there are;
    /// `resource` tells URLs apart whatever their range, which goes from `first` to `last`.
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
        url: u32,
        credential: u32,
        prefix: u32,
        hooks: u8,
        input: JsValue,
        init: JsValue,
        fetch: Option<Function>,
        adopted: Option<AbortController>,
        at: f64,
        resource: u32,
        first: f64,
        last: f64,
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
            marks: Marks {
                url,
                credential,
                prefix,
                hooks: Hooks(hooks),
                optional: flags & flag::OPTIONAL != 0,
                directives: flags & flag::DIRECTIVES != 0,
                ahead: flags & flag::AHEAD != 0,
                resource,
            },
            wanted: Wanted {
                first,
                last,
                ranged: flags & flag::RANGED != 0,
                exact: flags & flag::SEES_STATUS == 0,
                partial: flags & flag::IN_ONE == 0,
            },
        };
        let flight = Flight {
            input,
            init: init.unchecked_into::<RequestInit>(),
            fetch,
            adopted,
            attempt: 0,
            controller: None,
            answered: false,
        };
        self.inner.flights.borrow_mut().push((request, flight));
        self.inner.feed(|engine| engine.handle_start(start, Millis::new(at)));
    }

    /// The promise of an attempt has settled: with a response, of which there are numbers (see the
    /// fetch module), or rejected, of which there are none. JavaScript keeps both.
    pub fn settled(&self, request: u32, attempt: u32, facts: &[f64], at: f64) {
        let facts = fetch::facts(facts);
        match self.inner.flight(request) {
            Some(mut flight) if flight.carries(attempt) => flight.answered = facts.is_some(),
            _ => return,
        }
        let (id, at) = (RequestId(request), Millis::new(at));
        self.inner.feed(|engine| match facts {
            Some(facts) => engine.handle_response(id, attempt, facts, at),
            None => engine.handle_rejected(id, attempt, at),
        });
    }

    /// A fact that is nothing but numbers, by its code (see the fact module). Answers what the
    /// engine answers to it, and `true` where it answers nothing.
    pub fn tell(&self, fact: u32, subject: u32, number: u32, x: f64, y: f64, z: f64) -> bool {
        if fact == fact::WAKE {
            self.inner.wake.borrow_mut().rung();
        }
        self.inner.feed(|engine| fact::tell(engine, fact, subject, number, [x, y, z]))
    }

    /// What the engine shows, as rows of numbers, by the code of what is asked for (see the view
    /// module).
    pub fn view(&self, what: u32) -> JsValue {
        records::view(&self.inner.engine.borrow(), what, now())
    }

    /// The next attempts of a request are sent to this, with this init where one is given.
    pub fn readdress(&self, request: u32, input: JsValue, init: Option<RequestInit>) {
        if let Some(mut flight) = self.inner.flight(request) {
            flight.input = input;
            if let Some(init) = init {
                flight.init = init;
            }
        }
    }

    /// Policies for what starts from now on, in the same layout as at construction, and a fresh
    /// budget of the source.
    pub fn source(&self, numbers: &[f64]) {
        let config = options::parse(numbers, 0);
        self.inner.feed(|engine| engine.handle_source(config, now()));
    }

    /// What a host advises: `[chunk, sessions, ranges, ttl, abrCap, duress]`, NaN for
    /// what it leaves open.
    pub fn advise(&self, host: u32, numbers: &[f64]) {
        let &[chunk, sessions, ranges, ttl, abr_cap, duress] = numbers else { return };
        let advice = Advice {
            chunk: Some(chunk),
            sessions: Some(sessions),
            ranges: Some(ranges),
            ttl: Some(ttl),
            abr_cap: Some(abr_cap),
            duress: duress > 0.0,
        };
        self.inner.feed(|engine| engine.handle_advice(host, advice, now()));
    }

    /// Clears the timer and aborts what waits for its headers. Bodies under way, and all
    /// promises, are left to JavaScript.
    pub fn close(&self) {
        self.inner.wake.borrow_mut().disarm();
        // Taken out first: an abort may call back.
        let flights = self.inner.flights.take();
        let waiting = flights.into_iter().filter(|(_, flight)| !flight.answered);
        for (_, mut flight) in waiting {
            flight.cut().inspect(AbortController::abort);
        }
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
                inner.sink.told(told::RING, 0, 0, 0);
            }
        });
    }

    fn carry_out(&self, action: Action) {
        match action {
            Action::Accept { request, attempt, inspect, resumed, part, skip, take } => {
                let flags = u32::from(inspect) | u32::from(resumed) << 1 | u32::from(part) << 2;
                self.sink.accept(request.0, attempt, flags, skip, take);
            }
            Action::Ask { request, hook, number } => {
                self.sink.told(told::ASK, request.0, hook as u32, number);
            }
            Action::Changed => self.sink.told(told::CHANGED, 0, 0, 0),
            Action::Cut { request, attempt } => {
                // Aborted after the borrow: its listeners are called at once and may call back.
                let controller = self.flight(request.0).and_then(|mut flight| flight.cut());
                controller.inspect(AbortController::abort);
                self.sink.told(told::CUT, request.0, attempt, 0);
            }
            // Not aborted: it may still be reading its end.
            Action::Ended { request, .. } => {
                drop(self.flight(request.0).and_then(|mut flight| flight.cut()));
            }
            Action::Exhausted { request, failure } => {
                self.sink.exhausted(request.0, records::failure(&failure));
            }
            Action::Failed { request, failed } => {
                self.sink.failed(request.0, records::failed(&failed));
            }
            Action::Plain { request } => self.sink.told(told::PLAIN, request.0, 0, 0),
            Action::Refresh { credential, request, number } => {
                self.sink.told(told::REFRESH, request.0, credential, number);
            }
            Action::Fail { request, failure } => {
                drop(self.take_flight(request.0));
                self.sink.fail(request.0, records::failure(&failure));
            }
            Action::Forget { request } => {
                let flight = self.take_flight(request.0);
                flight.and_then(|mut flight| flight.cut()).inspect(AbortController::abort);
            }
            // JavaScript knows: the end of the body was whole.
            Action::Finish { request } => drop(self.take_flight(request.0)),
            Action::Send { request, attempt, ask, reload } => {
                self.send(request, attempt, ask, reload);
            }
        }
    }

    fn send(&self, request: RequestId, attempt: u32, ask: Ask, reload: bool) {
        let Some(mut flight) = self.flight(request.0) else { return };
        flight.attempt = attempt;
        flight.controller = flight.adopted.take();
        let (false, Ok(controller)) = (flight.controller.is_some(), AbortController::new()) else {
            return;
        };
        let (input, init, fetch) =
            (flight.input.clone(), flight.init.clone(), flight.fetch.clone());
        // Not borrowed while the caller's own fetch runs.
        drop(flight);
        let init = fetch::own(&init);
        if let Ask::Part(first, last) = ask {
            self.sink.dress(request.0, &init, first, last);
        } else if reload {
            self.sink.dress(request.0, &init, f64::NAN, f64::NAN);
        }
        let promise = fetch::send(&input, &init, fetch.as_ref(), &controller);
        match self.flight(request.0) {
            Some(mut flight) => flight.controller = Some(controller),
            // Closed from within it.
            None => controller.abort(),
        }
        self.sink.sent(request.0, attempt, now().get(), &promise);
    }

    #[inline(never)]
    fn flight(&self, request: u32) -> Option<RefMut<'_, Flight>> {
        RefMut::filter_map(self.flights.borrow_mut(), |flights| {
            flights.iter_mut().find(|(id, _)| *id == request).map(|(_, flight)| flight)
        })
        .ok()
    }

    #[inline(never)]
    fn take_flight(&self, request: u32) -> Option<Flight> {
        let mut flights = self.flights.borrow_mut();
        let place = flights.iter().position(|(id, _)| *id == request)?;
        Some(flights.remove(place).1)
    }
}
