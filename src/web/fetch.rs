//! One attempt: the call of `fetch` and the head of its response.

use js_sys::{Function, Object, Promise};
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, Request, RequestInit, Response};

use super::fact;
use crate::core::{Coding, ContentRange, Millis, Representation, ResponseFacts};

#[wasm_bindgen]
extern "C" {
    // Bound as globals and not through `window`: looked up when called, and there in workers.
    #[wasm_bindgen(js_name = fetch, catch)]
    fn global_fetch(input: &JsValue, init: &RequestInit) -> Result<Promise, JsValue>;

    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn performance_now() -> f64;
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
    init.set_signal(Some(&controller.signal()));
    let sent = match input.dyn_ref::<Request>() {
        // A request's body can be read once, so each attempt takes a copy.
        Some(request) => request.clone().and_then(|copy| call(&copy, init, fetch)),
        None => call(input, init, fetch),
    };
    sent.unwrap_or_else(|error| Promise::reject(&error))
}

/// Its own init for each attempt: a caller's `fetch` may look at it later.
pub(super) fn own(init: &RequestInit) -> RequestInit {
    Object::assign(&Object::new(), init).unchecked_into()
}

fn call(input: &JsValue, init: &RequestInit, fetch: Option<&Function>) -> Result<Promise, JsValue> {
    match fetch {
        None => global_fetch(input, init),
        Some(fetch) => {
            fetch.call2(&JsValue::UNDEFINED, input, init).map(|sent| Promise::resolve(&sent))
        }
    }
}

/// The head of a response; of its representation, and of what a refusal asks to wait in
/// milliseconds, there are numbers, with NaN for what is not known:
/// `[first, last, total, length, etag, weak, modified, source, coding, open, wait]`.
pub(super) fn facts(response: &Response, numbers: &[f64]) -> ResponseFacts {
    let facts = ResponseFacts::of(response.status());
    let &[ref representation @ .., wait] = numbers else { return facts };
    let representation = representation_of(representation);
    ResponseFacts { representation, retry_after: fact::known(wait), ..facts }
}

fn representation_of(numbers: &[f64]) -> Representation {
    let &[first, last, total, length, etag, weak, modified, source, coding, open] = numbers else {
        return Representation::UNKNOWN;
    };
    let known = |value: f64| (!value.is_nan()).then_some(value);
    let total = known(total);
    Representation {
        range: match (known(first), total) {
            (Some(first), total) => ContentRange::Part { first, last, total },
            (None, Some(total)) => ContentRange::Unsatisfied { total },
            (None, None) => ContentRange::Unknown,
        },
        length: known(length),
        etag: known(etag),
        weak: weak != 0.0,
        modified: known(modified),
        source,
        coding: match coding as u8 {
            0 => Coding::Identity,
            1 => Coding::Encoded,
            _ => Coding::Hidden,
        },
        open: open != 0.0,
    }
}
