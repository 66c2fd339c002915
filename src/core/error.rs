//! Verdicts as data: codes and numbers. The words for people are made in JavaScript.

use super::classify::FailureClass;
use super::clock::Millis;

/// Why a request was given up. The codes are stable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Reason {
    /// All attempts of the ladder were made.
    Attempts = 0,
    /// The next attempt would have come after the ladder's deadline.
    Deadline = 1,
    /// The hold after the ladder came to its limit.
    HoldLimit = 2,
    /// Not safe to send twice, and not declared so (R77).
    NotIdempotent = 3,
    /// The class of the failure is final.
    Terminal = 4,
    /// Bytes were already released to the caller and cannot be taken back.
    Released = 5,
    /// The server asks for a longer wait than the site may hold (R26).
    RetryAfter = 6,
    /// The retry budget does not cover the next attempt in time (R36).
    Budget = 7,
    /// The host is known to be down (R38).
    Breaker = 8,
    /// `shouldRetry` said no.
    Vetoed = 9,
    /// The credential could not be refreshed (R53).
    Refresh = 10,
    /// The player has turned to another host (R69).
    Rotated = 11,
    /// The server had said never to ask for this URL again (R71).
    Retired = 12,
    /// The server asks for less, for longer than the request may wait (R47).
    RateLimited = 13,
}

impl Reason {
    /// Whether this ends the quick ladder only, and a hold may follow.
    pub const fn is_exhaustion(self) -> bool {
        matches!(
            self,
            Self::Attempts | Self::Breaker | Self::Budget | Self::Deadline | Self::RateLimited
        )
    }
}

/// A failed request, or a request whose ladder is spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// The class of the last failure.
    pub class: FailureClass,
    /// Why no further attempt follows on the ladder.
    pub reason: Reason,
    /// The last status, 0 where there was none.
    pub status: u16,
    /// Attempts made.
    pub attempts: u32,
    /// Since the request began.
    pub elapsed: Millis,
    /// When the server said to come back, where it did.
    pub retry_at: Option<Millis>,
    /// The bound that the last attempt exceeded, where it was cut by one.
    pub limit: Option<Millis>,
    /// The SVTA-2070 cause.
    pub svta: u16,
    /// Whether the request goes on, slowly.
    pub holding: bool,
    /// Whether playback does not suffer: the request is optional, or reloads a playlist while
    /// there is media in the buffer (R30, R34).
    pub minor: bool,
    /// Whether this looks like a request that CORS refuses: the host has never answered, fails
    /// at once, and others answer.
    pub suspect_cors: bool,
}

/// One attempt that came to nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailedAttempt {
    /// Which, from 1.
    pub attempt: u32,
    /// What it came to.
    pub class: FailureClass,
    /// Its status, 0 where there was none.
    pub status: u16,
    /// The SVTA-2070 cause.
    pub svta: u16,
    /// From when it was sent.
    pub duration: Millis,
    /// Bytes of its body that came.
    pub bytes: f64,
}
