//! Flat records for cold paths, carried out by serde.
//!
//! A record is an array of numbers in a fixed order, and absent is NaN; `js/records.js` gives
//! the numbers their names. Names in here would travel twice, once to be encoded and once to
//! be read, and cost more bytes than the whole ladder.

use serde::Serialize;
use wasm_bindgen::JsValue;

use crate::core::{Entry, Failure, Millis, RetryState};

/// `[class, reason, status, attempts, elapsed, retryAt, limit, svta, holding]`
pub(super) fn failure(failure: &Failure) -> JsValue {
    to_js(&[
        f64::from(failure.class as u8),
        f64::from(failure.reason as u8),
        f64::from(failure.status),
        f64::from(failure.attempts),
        failure.elapsed.get(),
        number(failure.retry_at),
        number(failure.limit),
        f64::from(failure.svta),
        f64::from(u8::from(failure.holding)),
    ])
}

/// `[request, attempt, maxAttempts, class, status, nextAt, wait, exhausted]` of each request
/// that has failed and goes on.
pub(super) fn retry_states(states: impl Iterator<Item = RetryState>) -> JsValue {
    let rows = states.map(|state| {
        [
            f64::from(state.request.0),
            f64::from(state.attempt),
            f64::from(state.max_attempts),
            f64::from(state.class as u8),
            f64::from(state.status),
            number(state.next_at),
            state.wait.map_or(f64::NAN, |reason| f64::from(reason as u8)),
            f64::from(u8::from(state.exhausted)),
        ]
    });
    to_js(&rows.collect::<Vec<_>>())
}

/// `[at, request, attempt, event, detail, value]` of each entry, oldest first.
pub(super) fn log<'a>(entries: impl Iterator<Item = &'a Entry>) -> JsValue {
    let rows = entries.map(|entry| {
        [
            entry.at.get(),
            f64::from(entry.request.0),
            f64::from(entry.attempt),
            f64::from(entry.event as u8),
            f64::from(entry.detail),
            entry.value,
        ]
    });
    to_js(&rows.collect::<Vec<_>>())
}

fn number(value: Option<Millis>) -> f64 {
    value.map_or(f64::NAN, Millis::get)
}

/// `null` if it cannot be made, which no array of numbers leads to.
fn to_js(record: &impl Serialize) -> JsValue {
    serde_wasm_bindgen::to_value(record).unwrap_or(JsValue::NULL)
}
