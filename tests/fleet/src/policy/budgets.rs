//! What back-ends use: full jitter, alone, with a token bucket, and with adaptive throttling.
//! None of them ever gives up, as somebody is watching: where a back-end's client would fail, the
//! player asks again a segment later.

use super::peer::{Gate, Next, Policy};
use super::players::{TEN, exponential};
use crate::calendar::Ms;
use crate::viewer::SEGMENT;

/// What a viewer's policy remembers from one request to the next.
#[derive(Clone, Copy)]
pub struct Book {
    /// Tokens for retries.
    pub tokens: f32,
    /// Attempts and successes, of late.
    pub requests: f32,
    /// See [`Book::requests`].
    pub accepts: f32,
    /// When these were last aged.
    pub aged: Ms,
    /// Failures in a row.
    pub failures: u32,
    /// When a breaker lets one through again.
    pub open_until: Ms,
    /// The point that decorrelated jitter has reached.
    pub previous: f32,
}

/// What the token bucket holds.
const BUCKET: f32 = 10.0;

/// What a success earns of it.
const EARNED: f32 = 0.1;

/// The time constant of adaptive throttling's counts: its two minutes.
const MEMORY: f32 = 120_000.0;

impl Default for Book {
    fn default() -> Self {
        Self {
            tokens: BUCKET,
            requests: 0.0,
            accepts: 0.0,
            aged: 0,
            failures: 0,
            open_until: 0,
            previous: 0.0,
        }
    }
}

impl Book {
    fn age(&mut self, now: Ms) {
        let left = (-((now - self.aged) as f32) / MEMORY).exp();
        self.requests *= left;
        self.accepts *= left;
        self.aged = now;
    }
}

/// Full jitter: uniform up to 1, 2, 4, 8, 16, 16, ... s.
fn full_jitter(count: u32, dice: &mut fastrand::Rng) -> Ms {
    dice.u32(..exponential(1_000, count, 16_000))
}

/// "Exponential backoff and jitter", AWS 2015.
pub static FULL_JITTER: Policy = Policy {
    name: "full jitter",
    limits: |_| TEN,
    next: |_, _, count, _, dice| Next::Retry(full_jitter(count, dice)),
    gate: None,
    note: None,
};

/// The same with a bucket: a retry costs a token, a success earns a tenth of one.
pub static TOKEN_BUCKET: Policy = Policy {
    name: "full jitter, token bucket",
    limits: |_| TEN,
    next: |_, _, count, book, dice| {
        if book.tokens < 1.0 {
            return Next::Retry(SEGMENT);
        }
        book.tokens -= 1.0;
        Next::Retry(full_jitter(count, dice))
    },
    gate: None,
    note: Some(|book, success, _, _| {
        if success {
            book.tokens = (book.tokens + EARNED).min(BUCKET);
        }
    }),
};

/// The same with the client-side throttling of "Handling overload" (Site Reliability
/// Engineering, chapter 21): K = 2, two minutes.
pub static ADAPTIVE: Policy = Policy {
    name: "full jitter, adaptive throttling",
    limits: |_| TEN,
    next: |_, _, count, _, dice| Next::Retry(full_jitter(count, dice)),
    gate: Some(|book, now, dice| {
        book.age(now);
        let refused = (book.requests - 2.0 * book.accepts) / (book.requests + 1.0);
        book.requests += 1.0;
        if dice.f32() < refused { Gate::Shut } else { Gate::Open }
    }),
    note: Some(|book, success, now, _| {
        book.age(now);
        if success {
            book.accepts += 1.0;
        }
    }),
};
