//! What the driver calls: an object that JavaScript supplies.

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use web_sys::RequestInit;

/// What [`Sink::told`] is told, by code.
pub(super) mod told {
    /// The timer has rung: the fact that wakes the driver is due.
    pub(crate) const RING: u32 = 0;
    /// What the driver shows has changed.
    pub(crate) const CHANGED: u32 = 1;
    /// The attempt `x` is over; whatever its body still delivers does not count.
    pub(crate) const CUT: u32 = 2;
    /// The hook with the code `x` is asked, with the number `y`.
    pub(crate) const ASK: u32 = 3;
    /// The request is to be sent without its directives from now on.
    pub(crate) const PLAIN: u32 = 4;
    /// A fresh credential `x` is asked for, with the number `y`, by a request, or by 0 ahead of
    /// time.
    pub(crate) const REFRESH: u32 = 5;
}

#[wasm_bindgen]
extern "C" {
    /// The receiving end in JavaScript. Its methods are looked up when called.
    pub type Sink;

    /// An attempt was sent. How its promise settles is to be told to
    /// [`Driver::settled`](super::Driver::settled).
    #[wasm_bindgen(method)]
    pub(super) fn sent(this: &Sink, request: u32, attempt: u32, at: f64, promise: &Promise);

    /// The init of an attempt is to ask for the bytes from `first` to `last` only, past the cache;
    /// or, where both are NaN, for what no cache has.
    #[wasm_bindgen(method)]
    pub(super) fn dress(this: &Sink, request: u32, init: &RequestInit, first: f64, last: f64);

    /// The response is accepted: hand it on and read its body. `flags` are 1 look at its bytes, 2
    /// it goes on where the body before broke off, 4 it answers for a part that only the engine
    /// asked for; `skip` bytes are dropped, and `take` are passed on then at most.
    #[wasm_bindgen(method)]
    pub(super) fn accept(this: &Sink, request: u32, attempt: u32, flags: u32, skip: f64, take: f64);

    /// An attempt came to nothing, as a record.
    #[wasm_bindgen(method)]
    pub(super) fn failed(this: &Sink, request: u32, failed: JsValue);

    /// Failure, as a [record](super::records::failure()). The response of a final refusal, or the
    /// error of a final rejection, is the one that was told last.
    #[wasm_bindgen(method)]
    pub(super) fn fail(this: &Sink, request: u32, failure: JsValue);

    /// The ladder is spent, or the failure is final.
    #[wasm_bindgen(method)]
    pub(super) fn exhausted(this: &Sink, request: u32, failure: JsValue);

    /// Something that is nothing but numbers, by its code.
    #[wasm_bindgen(method)]
    pub(super) fn told(this: &Sink, what: u32, request: u32, x: u32, y: u32);
}
