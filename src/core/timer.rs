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
}

impl Timer {
    /// The timers of a request, in the order of their codes.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Headers, Self::Retry, Self::Stall, Self::StallSuspect, Self::Hook];

    /// How many timers a request has.
    pub const COUNT: usize = 5;
}

/// The timers of one request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimerTable([Option<Millis>; Timer::COUNT]);

impl TimerTable {
    pub(super) const fn set(&mut self, timer: Timer, at: Millis) {
        self.0[timer as usize] = Some(at);
    }

    pub(super) const fn stop(&mut self, timer: Timer) {
        self.0[timer as usize] = None;
    }

    pub(super) const fn stop_all(&mut self) {
        self.0 = [None; Timer::COUNT];
    }

    /// When this timer is due, where it is armed.
    pub(super) const fn at(&self, timer: Timer) -> Option<Millis> {
        self.0[timer as usize]
    }

    /// The earliest timer.
    #[inline(never)]
    pub(super) fn next(&self) -> Option<(Millis, Timer)> {
        let armed = Timer::ALL.into_iter().filter_map(|timer| Some((self.at(timer)?, timer)));
        armed.reduce(|first, other| if other.0 < first.0 { other } else { first })
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
