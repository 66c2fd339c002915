//! What the driver calls: an object that JavaScript supplies.

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use web_sys::Response;

#[wasm_bindgen]
extern "C" {
    /// The receiving end in JavaScript. Its methods are looked up when called.
    pub type Sink;

    /// An attempt was sent. How its promise settles is to be told to
    /// [`Driver::settled`](super::Driver::settled).
    #[wasm_bindgen(method)]
    pub(super) fn sent(this: &Sink, request: u32, attempt: u32, at: f64, promise: &Promise);

    /// The timer has rung: [`Driver::wake`](super::Driver::wake) is due.
    #[wasm_bindgen(method)]
    pub(super) fn ring(this: &Sink);

    /// The response is accepted: hand it on and read its body.
    #[wasm_bindgen(method)]
    pub(super) fn accept(
        this: &Sink,
        request: u32,
        attempt: u32,
        response: &Response,
        inspect: bool,
    );

    /// The attempt is over; whatever its body still delivers does not count.
    #[wasm_bindgen(method)]
    pub(super) fn cut(this: &Sink, request: u32, attempt: u32);

    /// A hook is asked, by its code; the answer goes to [`Driver::answer`](super::Driver::answer).
    #[wasm_bindgen(method)]
    pub(super) fn ask(this: &Sink, request: u32, hook: u32, number: u32);

    /// A fresh credential is asked for, by a request, or by 0 ahead of time; the answer goes to
    /// [`Driver::refreshed`](super::Driver::refreshed).
    #[wasm_bindgen(method)]
    pub(super) fn refresh(this: &Sink, credential: u32, request: u32, number: u32);

    /// The request is to be sent without its directives from now on.
    #[wasm_bindgen(method)]
    pub(super) fn plain(this: &Sink, request: u32);

    /// An attempt came to nothing, as a record, with the refusal where there is one.
    #[wasm_bindgen(method)]
    pub(super) fn failed(this: &Sink, request: u32, failed: JsValue, response: Option<Response>);

    /// Failure, as a [record](super::records::failure()), with the response of a final refusal
    /// and the error of a final rejection, where there is one.
    #[wasm_bindgen(method)]
    pub(super) fn fail(
        this: &Sink,
        request: u32,
        failure: JsValue,
        response: Option<Response>,
        error: JsValue,
    );

    /// The ladder is spent, or the failure is final.
    #[wasm_bindgen(method)]
    pub(super) fn exhausted(this: &Sink, request: u32, failure: JsValue);

    /// What [`Driver::retry_states`](super::Driver::retry_states) tells has changed.
    #[wasm_bindgen(method)]
    pub(super) fn changed(this: &Sink);
}
