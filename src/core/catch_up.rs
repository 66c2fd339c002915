//! The pace at which playback catches up after an outage.
//!
//! When a host comes back, a crowd of players with empty buffers fetches as fast as it can, and that,
//! not the retries before it, is the worst second of an outage. So the buffer may grow, after an
//! outage, by a little more than is played, and faster with each answer that comes as soon as answers
//! of this host are used to come. One that is late says that the host has no room to spare.

use super::clock::Millis;

/// By how much the buffer may grow in the time that it plays, at first and at most,
const SLOWEST: f64 = 0.05;
const FASTEST: f64 = 0.5;
/// and what a timely answer adds to it.
const STEP: f64 = 0.03;

/// So much later than usual is late.
const LATE: Millis = Millis::new(100.0);

/// An outage that was shorter leaves no crowd behind.
pub(super) const OUTAGE: Millis = Millis::new(3_000.0);

/// After this time nobody is behind any more.
const LONGEST: Millis = Millis::new(120_000.0);

/// One return to steady play.
#[derive(Clone, Copy, Debug)]
pub(super) struct CatchUp {
    began: Millis,
    /// When the numbers below were true.
    at: Millis,
    /// What may be buffered.
    allowed: Millis,
    growth: f64,
    /// How late answers were before the outage.
    usual: Millis,
}

impl CatchUp {
    /// The host is back. `buffer` is left, and `usual` is how late its answers were, at most.
    pub(super) fn new(buffer: Millis, usual: Millis, unit: f64, now: Millis) -> Self {
        Self { began: now, at: now, allowed: buffer, growth: 2.0 * SLOWEST * unit, usual }
    }

    /// The headers of a segment came after so long.
    pub(super) fn handle_answer(&mut self, took: Millis, now: Millis) {
        self.allowed = self.allowed_at(now);
        self.at = now;
        let timely = took <= self.usual + LATE;
        self.growth = if timely { (self.growth + STEP).min(FASTEST) } else { SLOWEST };
    }

    /// When the next segment may be asked for, with so much buffered; a segment takes `fetch`.
    pub(super) fn next_at(&self, buffer: Millis, fetch: Millis, now: Millis) -> Millis {
        if now - self.began >= LONGEST {
            return now;
        }
        let above = buffer - fetch - self.allowed_at(now);
        now + (above * (1.0 / (1.0 + self.growth))).max(Millis::ZERO)
    }

    fn allowed_at(&self, now: Millis) -> Millis {
        self.allowed + (now - self.at) * self.growth
    }
}
