//! One attempt: the call of `fetch` and the head of its response.

use js_sys::{Function, Object, Promise};
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, Request, RequestInit, Response};

use crate::core::{Millis, ResponseFacts, retry_after};

#[wasm_bindgen]
extern "C" {
    // Bound as globals and not through `window`: looked up when called, and there in workers.
    #[wasm_bindgen(js_name = fetch, catch)]
    fn global_fetch(input: &JsValue, init: &RequestInit) -> Result<Promise, JsValue>;

    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn performance_now() -> f64;

    #[wasm_bindgen(js_namespace = Date, js_name = now)]
    fn date_now() -> f64;
}

/// The engine's clock.
pub(super) fn now() -> Millis {
    Millis::new(performance_now())
}

/// Sends an attempt. Whatever `fetch` throws counts as its rejection.
pub(super) fn send(
    input: &JsValue,
    init: &RequestInit,
    fetch: Option<&Function>,
    controller: &AbortController,
) -> Promise {
    // Its own init for each attempt: a caller's `fetch` may look at it later.
    let init: RequestInit = Object::assign(&Object::new(), init).unchecked_into();
    init.set_signal(Some(&controller.signal()));
    let sent = match input.dyn_ref::<Request>() {
        // A request's body can be read once, so each attempt takes a copy.
        Some(request) => request.clone().and_then(|copy| call(&copy, &init, fetch)),
        None => call(input, &init, fetch),
    };
    sent.unwrap_or_else(|error| Promise::reject(&error))
}

fn call(input: &JsValue, init: &RequestInit, fetch: Option<&Function>) -> Result<Promise, JsValue> {
    match fetch {
        None => global_fetch(input, init),
        Some(fetch) => {
            fetch.call2(&JsValue::UNDEFINED, input, init).map(|sent| Promise::resolve(&sent))
        }
    }
}

/// Reads the head of a response. The header fields of a refusal are read only there.
pub(super) fn facts(response: &Response) -> ResponseFacts {
    let status = response.status();
    let read = |name| response.headers().get(name).ok().flatten();
    if response.ok() {
        let length = read("content-length").and_then(|value| retry_after::digits(&value));
        return ResponseFacts { length, ..ResponseFacts::of(status) };
    }
    let retry_after = read("retry-after")
        .and_then(|value| retry_after::parse(&value, read("date").as_deref(), date_now()));
    ResponseFacts { retry_after, ..ResponseFacts::of(status) }
}
