//! One attempt: the call of `fetch` and the head of its response.

use js_sys::{Function, Object, Promise};
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, Headers, Request, RequestInit, Response};

use crate::core::{Ask, Coding, ContentRange, Millis, Representation, ResponseFacts, retry_after};

#[wasm_bindgen]
extern "C" {
    // Bound as globals and not through `window`: looked up when called, and there in workers.
    #[wasm_bindgen(js_name = fetch, catch)]
    fn global_fetch(input: &JsValue, init: &RequestInit) -> Result<Promise, JsValue>;

    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn performance_now() -> f64;

    #[wasm_bindgen(js_namespace = Date, js_name = now)]
    fn date_now() -> f64;

    /// An init by its fields, whose values web-sys knows as enums, and would carry their names.
    type Fields;

    #[wasm_bindgen(method, getter)]
    fn headers(this: &Fields) -> JsValue;

    #[wasm_bindgen(method, setter)]
    fn set_headers(this: &Fields, headers: &Headers);

    #[wasm_bindgen(method, setter)]
    fn set_cache(this: &Fields, cache: &str);
}

/// The engine's clock.
pub(super) fn now() -> Millis {
    Millis::new(performance_now())
}

/// What an attempt is sent with.
pub(super) struct Call {
    pub(super) input: JsValue,
    pub(super) init: RequestInit,
    pub(super) ask: Ask,
    /// A strong validator: a part is of use of nothing else.
    pub(super) condition: Option<String>,
    /// Whether what a cache has is known to be wrong.
    pub(super) reload: bool,
}

/// Sends an attempt. Whatever `fetch` throws counts as its rejection.
pub(super) fn send(call: &Call, fetch: Option<&Function>, controller: &AbortController) -> Promise {
    // Its own init for each attempt: a caller's `fetch` may look at it later.
    let init: RequestInit = Object::assign(&Object::new(), &call.init).unchecked_into();
    init.set_signal(Some(&controller.signal()));
    let request = call.input.dyn_ref::<Request>();
    if let Ask::Part(first, last) = call.ask {
        ask_for(first, last, call.condition.as_deref(), request, &init);
    } else if call.reload {
        init.unchecked_ref::<Fields>().set_cache("reload");
    }
    let sent = match request {
        // A request's body can be read once, so each attempt takes a copy.
        Some(request) => request.clone().and_then(|copy| dispatch(&copy, &init, fetch)),
        None => dispatch(&call.input, &init, fetch),
    };
    sent.unwrap_or_else(|error| Promise::reject(&error))
}

/// Asks for a part, past the cache: it may have a part of something else. In this form the range
/// needs no leave of CORS (Fetch, "CORS-safelisted request-header").
fn ask_for(
    first: f64,
    last: f64,
    condition: Option<&str>,
    request: Option<&Request>,
    init: &RequestInit,
) {
    let fields = init.unchecked_ref::<Fields>();
    let mut own = fields.headers();
    if let (true, Some(request)) = (own.is_undefined(), request) {
        own = request.headers().into();
    }
    let Ok(headers) = Headers::new_with_str_sequence_sequence(&own) else { return };
    let mut range = String::from("bytes=");
    push_number(&mut range, first as u64);
    range.push('-');
    if last.is_finite() {
        push_number(&mut range, last as u64);
    }
    let _ = headers.set("range", &range);
    if let Some(condition) = condition {
        let _ = headers.set("if-range", condition);
    }
    fields.set_headers(&headers);
    fields.set_cache("no-store");
}

fn push_number(text: &mut String, number: u64) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

fn dispatch(
    input: &JsValue,
    init: &RequestInit,
    fetch: Option<&Function>,
) -> Result<Promise, JsValue> {
    match fetch {
        None => global_fetch(input, init),
        Some(fetch) => {
            fetch.call2(&JsValue::UNDEFINED, input, init).map(|sent| Promise::resolve(&sent))
        }
    }
}

/// Reads the head of a response. `open` says that all its fields can be read.
pub(super) fn facts(response: &Response, open: bool) -> ResponseFacts {
    let headers = response.headers();
    let read = |name: &str| headers.get(name).ok().flatten();
    let status = response.status();
    let range = read("content-range").map(|value| ContentRange::parse(&value));
    let mut facts = ResponseFacts::of(status);
    facts.representation.range = range.unwrap_or_default();
    if !response.ok() {
        facts.retry_after = read("retry-after")
            .and_then(|value| retry_after::parse(&value, read("date").as_deref(), date_now()));
        return facts;
    }
    let text = |name| read(name).map(String::into_boxed_str);
    let coding = read("content-encoding");
    facts.representation = Representation {
        length: read("content-length").and_then(|value| retry_after::digits(&value)),
        etag: text("etag"),
        modified: text("last-modified"),
        kind: read("content-type").map(|value| essence(&value)),
        origin: Some(origin(&response.url())),
        coding: match coding.as_deref() {
            None | Some("" | "identity") if open => Coding::Identity,
            None => Coding::Hidden,
            Some("" | "identity") => Coding::Identity,
            Some(_) => Coding::Encoded,
        },
        open,
        ..facts.representation
    };
    facts
}

/// The type and subtype, without parameters.
fn essence(value: &str) -> Box<str> {
    let end = value.find(';').unwrap_or(value.len());
    value[..end].trim_ascii().to_ascii_lowercase().into_boxed_str()
}

/// The URL up to its path.
fn origin(url: &str) -> Box<str> {
    let path = url.match_indices('/').nth(2).map_or(url.len(), |(place, _)| place);
    url[..path].into()
}
