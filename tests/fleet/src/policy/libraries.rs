//! Libraries that retry a `fetch`, with their defaults, and with a time-out of ten seconds where
//! they have none of their own. A player under which they give up stops with an error.

use super::budgets::Book;
use super::peer::{Failure, Gate, Next, Policy};
use super::players::{TEN, exponential};
use crate::calendar::Ms;

/// p-retry 7: ten retries after 1, 2, 4, ... s.
pub static P_RETRY: Policy = Policy {
    name: "p-retry",
    limits: |_| TEN,
    next: |_, _, count, _, _| match count {
        1..=10 => Next::Retry(exponential(1_000, count, Ms::MAX)),
        _ => Next::Die,
    },
    gate: None,
    note: None,
};

/// ky 1.14: two retries after 0.3 and 0.6 s, or when the server says; none after a time-out.
pub static KY: Policy = Policy {
    name: "ky",
    limits: |_| TEN,
    next: |_, failure, count, _, _| match (failure, count) {
        (Failure::Refused(wait), 1..=2) => {
            Next::Retry(wait.unwrap_or_else(|| exponential(300, count, Ms::MAX)))
        }
        _ => Next::Die,
    },
    gate: None,
    note: None,
};

/// cockatiel 3.2 as its documentation begins: three retries with decorrelated jitter around a
/// breaker that opens after five failures in a row, for ten seconds.
pub static COCKATIEL: Policy = Policy {
    name: "cockatiel",
    limits: |_| TEN,
    next: |_, _, count, book, dice| match count {
        1..=3 => {
            if count == 1 {
                book.previous = 0.0;
            }
            let t = f64::from(count - 1) + dice.f64();
            let next = t.exp2() * (4.0 * t).sqrt().tanh();
            let delay = (next - f64::from(book.previous)).max(0.0) / 1.4 * 128.0;
            book.previous = next as f32;
            Next::Retry(delay.min(30_000.0) as Ms)
        }
        _ => Next::Die,
    },
    gate: Some(
        |book: &mut Book, now, _| {
            if now < book.open_until { Gate::Shut } else { Gate::Open }
        },
    ),
    note: Some(|book, success, now, _| {
        if success {
            book.failures = 0;
        } else {
            book.failures += 1;
            if book.failures >= 5 {
                book.open_until = now + 10_000;
            }
        }
    }),
};
