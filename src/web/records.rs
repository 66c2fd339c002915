//! Flat records for cold paths, carried out by serde.
//!
//! A record is an array of numbers in a fixed order, and absent is NaN; `js/records.js` gives
//! the numbers their names. Names in here would travel twice, once to be encoded and once to
//! be read, and cost more bytes than the whole ladder.

use wasm_bindgen::JsValue;

use crate::core::{Engine, FailedAttempt, Failure, HostState, Millis, PathState};

/// `[class, reason, status, attempts, elapsed, retryAt, limit, svta, holding, minor, suspect]`
pub(super) fn failure(failure: &Failure) -> JsValue {
    to_js(&[
        f64::from(failure.class as u8),
        f64::from(failure.reason as u8),
        f64::from(failure.status),
        f64::from(failure.attempts),
        failure.elapsed.get(),
        number_of(failure.retry_at),
        number_of(failure.limit),
        f64::from(failure.svta),
        f64::from(u8::from(failure.holding)),
        f64::from(u8::from(failure.minor)),
        f64::from(u8::from(failure.suspect_cors)),
    ])
}

/// `[attempt, class, status, svta, duration, bytes]`
pub(super) fn failed(failed: &FailedAttempt) -> JsValue {
    to_js(&[
        f64::from(failed.attempt),
        f64::from(failed.class as u8),
        f64::from(failed.status),
        f64::from(failed.svta),
        failed.duration.get(),
        failed.bytes,
    ])
}

/// What the engine shows, one row after the other: 0 its requests, 1 its hosts, 2 its log, 3 its
/// estimate, 4 its path.
///
/// A row of requests, for each that has failed and goes on, or that is not sent yet, is
/// `[request, attempt, maxAttempts, class, status, nextAt, wait, exhausted]`; one of hosts, where
/// the session is host -1, `[host, health, failures, openedAt, retryAt, trips, blockedUntil,
/// rate]`; one of the log `[at, request, attempt, event, detail, value]`; and the estimate
/// `[bits per second, bytes left out]`; the path is `[class, generation, allowed, maxInFlight,
/// rangeWindow, abrCap, maxBufferAhead]`.
pub(super) fn view(engine: &Engine, what: u32, now: Millis) -> JsValue {
    let mut rows = Vec::new();
    match what {
        0 => {
            for state in engine.retry_states() {
                rows.extend_from_slice(&[
                    f64::from(state.request.0),
                    f64::from(state.attempt),
                    f64::from(state.max_attempts),
                    state.class.map_or(f64::NAN, |class| f64::from(class as u8)),
                    f64::from(state.status),
                    number_of(state.next_at),
                    state.wait.map_or(f64::NAN, |reason| f64::from(reason as u8)),
                    f64::from(u8::from(state.exhausted)),
                ]);
            }
        }
        1 => {
            for HostState { host, health, throttle } in engine.hosts(now) {
                rows.extend_from_slice(&[
                    f64::from(host),
                    f64::from(health.health as u8),
                    f64::from(health.failures),
                    number_of(health.opened_at),
                    number_of(health.retry_at),
                    f64::from(health.trips),
                    number_of(throttle.map(|limit| limit.blocked_until)),
                    throttle.map_or(f64::NAN, |limit| limit.rate),
                ]);
            }
            if let Some(limit) = engine.session_throttle(now) {
                let (none, blocked) = (f64::NAN, limit.blocked_until.get());
                rows.extend_from_slice(&[-1.0, 0.0, 0.0, none, none, 0.0, blocked, limit.rate]);
            }
        }
        2 => {
            for entry in engine.log() {
                rows.extend_from_slice(&[
                    entry.at.get(),
                    f64::from(entry.request.0),
                    f64::from(entry.attempt),
                    f64::from(entry.event as u8),
                    f64::from(entry.detail),
                    entry.value,
                ]);
            }
        }
        4 => {
            let PathState { class, generation, plan } = engine.path_state(now);
            rows.extend_from_slice(&[
                f64::from(class as u8),
                f64::from(generation),
                f64::from(plan.allowed as u8),
                f64::from(plan.max_in_flight),
                plan.range_window.unwrap_or(f64::NAN),
                plan.abr_cap.unwrap_or(f64::NAN),
                number_of(plan.max_buffer_ahead),
            ]);
        }
        _ => {
            let estimator = engine.estimator();
            rows.extend_from_slice(&[
                estimator.estimate().unwrap_or(f64::NAN),
                estimator.excluded_bytes(),
            ]);
        }
    }
    to_js(&rows)
}

fn number_of(value: Option<Millis>) -> f64 {
    value.map_or(f64::NAN, Millis::get)
}

/// `null` if it cannot be made, which no array of numbers leads to.
#[inline(never)]
fn to_js(numbers: &[f64]) -> JsValue {
    serde_wasm_bindgen::to_value(numbers).unwrap_or(JsValue::NULL)
}
