//! One attempt: the call of `fetch`, and the head of its response as numbers.

use js_sys::{Function, Object, Promise};
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, Request, RequestInit};

use super::fact;
use crate::core::{
    Coding, ContentRange, Expiry, Limited, Millis, Representation, ResponseFacts, Scope,
};

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

/// The head of a response, as numbers, with NaN for what is not known; none for a rejection. They
/// are `[status, first, last, total, length, etag, weak, modified, source, coding, open, wait, limit,
/// limitWait, expiry]`: the status, 0 for an opaque response; the representation; what a refusal asks
/// to wait; 0, or 1 more than the code of the scope that the detector names, and how long, negative
/// where unknown; and the code of what a refusal says of its credential.
pub(super) fn facts(numbers: &[f64]) -> Option<ResponseFacts> {
    let &[
        status,
        first,
        last,
        total,
        length,
        etag,
        weak,
        modified,
        source,
        coding,
        open,
        wait,
        limit,
        limit_wait,
        expiry,
    ] = numbers
    else {
        return None;
    };
    let known = |value: f64| (!value.is_nan()).then_some(value);
    let scope = match limit as u8 {
        1 => Some(Scope::Session),
        2 => Some(Scope::Host),
        3 => Some(Scope::Prefix),
        _ => None,
    };
    Some(ResponseFacts {
        status: status as u16,
        representation: Representation {
            range: match (known(first), known(total)) {
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
        },
        retry_after: fact::known(wait),
        limited: scope.map(|scope| Limited { scope, wait: fact::known(limit_wait) }),
        expiry: match expiry as u8 {
            1 => Expiry::Expired,
            2 => Expiry::Denied,
            _ => Expiry::Unknown,
        },
    })
}
