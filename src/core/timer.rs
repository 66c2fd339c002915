//! A fixed table of timers, each with its reason.

use super::clock::Millis;

/// Why a timer is armed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Timer {
    /// The response's headers are due.
    Headers = 0,
    /// The next attempt is due.
    Retry = 1,
    /// A silent body has used up its bound.
    Stall = 2,
    /// A silent body has used up half its bound.
    StallSuspect = 3,
    /// A hook has used up its time.
    Hook = 4,
    /// The refresh of a credential is due, or has used up its time. No request's own.
    Refresh = 5,
    /// The plan changes by itself. No request's own.
    Plan = 6,
}

impl Timer {
    /// The timers of a request, in the order of their codes.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Headers, Self::Retry, Self::Stall, Self::StallSuspect, Self::Hook];

    /// How many timers a request has.
    pub const COUNT: usize = 5;
}

/// The timers of one request: when each is due, infinity where it is not armed.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimerTable([f64; Timer::COUNT]);

impl Default for TimerTable {
    fn default() -> Self {
        Self([f64::INFINITY; Timer::COUNT])
    }
}

impl TimerTable {
    pub(super) const fn set(&mut self, timer: Timer, at: Millis) {
        self.0[timer as usize] = at.get();
    }

    pub(super) const fn stop(&mut self, timer: Timer) {
        self.0[timer as usize] = f64::INFINITY;
    }

    pub(super) const fn stop_all(&mut self) {
        self.0 = [f64::INFINITY; Timer::COUNT];
    }

    /// When this timer is due, where it is armed.
    pub(super) fn at(&self, timer: Timer) -> Option<Millis> {
        let at = self.0[timer as usize];
        at.is_finite().then(|| Millis::new(at))
    }

    /// The earliest timer; the first of those that are due together.
    #[inline(never)]
    pub(super) fn next(&self) -> Option<(Millis, Timer)> {
        let mut earliest = Timer::Headers;
        for timer in Timer::ALL {
            if self.0[timer as usize] < self.0[earliest as usize] {
                earliest = timer;
            }
        }
        Some((self.at(earliest)?, earliest))
    }

    /// Takes the earliest timer that is due at `now` out of the table.
    pub(super) fn expire(&mut self, now: Millis) -> Option<(Millis, Timer)> {
        let (at, timer) = self.next()?;
        (at <= now).then(|| {
            self.stop(timer);
            (at, timer)
        })
    }
}
