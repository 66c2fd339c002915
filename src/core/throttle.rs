//! The rate-limited mode of one scope: what is sent after a server said "too much" (R46, R47).
//!
//! First nothing, until the wait that the server asked for is over. Then exactly one request, the
//! *trial*. Its success starts the *ramp*: requests at a pace that grows with every success. Its
//! refusal blocks again, longer. The mode ends when the ramp gives more than is asked for.

mod cubic;
mod meter;
mod pace;

pub use cubic::Cubic;

use super::backoff::{FLOOR, equal_jitter, exponential};
use super::clock::Millis;
use meter::Meter;
use pace::{Pace, SHORTFALL};

/// Nobody is waited for longer than this, whatever was asked for; jitter comes on top.
const LONGEST: Millis = Millis::new(300_000.0);

/// How much jitter is added above a wait that was asked for, as a part of it.
const ABOVE: f64 = 0.2;

/// Who names a wait twice over is asked again after that, with this much more jitter, or after this
/// long where our own wait is as long: who refuses trials is tried no more seldom than it says itself.
const MORE: f64 = 0.1;
const ENOUGH: Millis = Millis::new(6_000.0);

/// The pace that the mode begins with at least, in requests/s.
const GENTLE: f64 = 2.0 / 3.0;

/// The slowest pace, in requests/s. A server that allows less says so again, and its waits then
/// set the pace.
const SLOWEST: f64 = 0.1;

/// One success makes the pace faster by no more than this factor. At less than two requests/s
/// the curve passes what was refused within a few requests; without this, every second or third
/// request would be refused for good.
const GAIN: f64 = 1.1;

/// The mode ends after a ramp without a refusal that is at least so long.
const CALM: Millis = Millis::new(30_000.0);

/// For so long after its end, what was refused is remembered.
const MEMORY: Millis = Millis::new(300_000.0);

/// Leave to send one attempt in a throttled scope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    trial: bool,
    generation: u32,
}

impl Slot {
    /// Whether the attempt is the one that tries whether the server is well.
    pub const fn is_trial(self) -> bool {
        self.trial
    }
}

/// Why a scope is throttled; of several the last one here counts.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Cause {
    /// Failures that look like a refusal which a page cannot read.
    #[default]
    Guess,
    /// The server was down, and said when to come back: nobody had asked too often.
    Busy,
    /// The server said that it was asked too often.
    Limit,
}

/// What a scope that is throttled shows, and tells other tabs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThrottleState {
    /// Nothing is sent before this; never in the past.
    pub blocked_until: Millis,
    /// The pace afterwards, in requests/s.
    pub rate: f64,
}

/// The rate-limited mode of one scope, which is off at first.
#[derive(Clone, Debug, Default)]
pub struct Throttle {
    mode: Mode,
    cause: Cause,
    /// Tells what was sent before the last refusal, or before a trial was given up.
    generation: u32,
    /// Trials refused in a row.
    refused: u32,
    blocked_until: Millis,
    /// The pace of the ramp, in requests/s.
    rate: f64,
    cubic: Cubic,
    pace: Pace,
    meter: Meter,
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    /// A wait runs, or nobody asked since. Ends when a trial is taken.
    Blocked,
    /// Nobody was refused of late; up to `memory` it counts what was. Ends with a refusal.
    Off { memory: Millis },
    /// The trial succeeded, and requests go at the pace. Ends with a refusal, or in calm.
    Ramp,
    /// The one trial is on its way. Ends with its outcome, or unreported at `lease`.
    Trial { lease: Millis },
}

impl Default for Mode {
    fn default() -> Self {
        Self::Off { memory: Millis::ZERO }
    }
}

impl Throttle {
    /// An attempt of the scope is sent. All are told, also while the mode is off: the first pace
    /// depends on how many there were.
    pub fn handle_sent(&mut self, now: Millis) {
        self.meter.handle_sent(now);
    }

    /// Takes the slot that [`Throttle::next_at`] offers now. A trial whose outcome is not told
    /// until `lease` counts as given back.
    pub fn take(&mut self, lease: Millis, now: Millis) -> Slot {
        match self.mode {
            Mode::Off { .. } => return Slot { trial: false, generation: self.generation },
            Mode::Blocked | Mode::Trial { .. } => {
                self.generation = self.generation.wrapping_add(1);
                self.mode = Mode::Trial { lease };
            }
            Mode::Ramp => {}
        }
        self.pace.take(self.rate, now);
        Slot { trial: !matches!(self.mode, Mode::Ramp), generation: self.generation }
    }

    /// Why the server will be told to have throttled an attempt.
    pub(super) fn blame(&mut self, cause: Cause) {
        self.cause = if self.is_on() { self.cause.max(cause) } else { cause };
    }

    /// Why it is on.
    pub(super) const fn cause(&self) -> Cause {
        self.cause
    }

    /// The server throttled an attempt, which was sent with `slot`, or without while the mode was
    /// off. `wait` is what the server or a detector asked for. Where nobody knows, it is `span`
    /// with equal jitter, twice as long after each trial refused in a row, up to `cap`. `unit` is
    /// a random number in `[0, 1)`.
    ///
    /// Of attempts that were sent before the last refusal, only a longer wait counts.
    pub fn handle_throttled(
        &mut self,
        slot: Option<Slot>,
        wait: Option<Millis>,
        span: Millis,
        cap: Millis,
        unit: f64,
        now: Millis,
    ) {
        let wait = wait.map(|wait| wait.min(LONGEST));
        let asked = wait.map(|wait| (wait * (1.0 + ABOVE * unit)).max(FLOOR));
        if self.is_on() && !self.is_current(slot) {
            let longer = wait.is_some_and(|wait| now + wait > self.blocked_until);
            if let Some(asked) = asked
                && longer
            {
                self.block(now + asked);
            }
            return;
        }
        // Who says to come back in so long allows one request in it.
        let named = wait.map_or(SLOWEST, |wait| (1.0 / wait.as_secs()).clamp(SLOWEST, GENTLE));
        // The lowest pace that this refusal may lead to, and the fastest that it leaves.
        let (least, most) = match self.mode {
            Mode::Off { memory } if now < memory => (GENTLE, self.cubic.w_max()),
            Mode::Off { .. } => (GENTLE, f64::INFINITY),
            // The pace was too fast, be it the gentle one.
            Mode::Ramp => (GENTLE.min(Cubic::cut(self.rate)).max(named), self.rate),
            // A single request says nothing of the pace.
            Mode::Blocked | Mode::Trial { .. } => (GENTLE.min(self.rate).max(named), self.rate),
        };
        self.refused = match self.mode {
            Mode::Off { .. } | Mode::Ramp => 0,
            Mode::Blocked | Mode::Trial { .. } => self.refused.saturating_add(1),
        };
        let w_max = self.meter.rate().min(most);
        self.cubic = Cubic::new(w_max, now);
        self.rate = Cubic::cut(w_max).max(least);
        self.generation = self.generation.wrapping_add(1);
        self.mode = Mode::Blocked;

        let own = exponential(span, 2.0, cap.min(LONGEST), self.refused.saturating_add(1));
        let own = equal_jitter(own, unit);
        let wait = match asked {
            // What was asked for was waited for, and was not enough.
            Some(asked) if self.refused > 0 => {
                (asked + (asked * (MORE * unit)).min(ENOUGH * MORE)).max(own.min(ENOUGH))
            }
            Some(asked) => asked,
            None => own,
        };
        self.blocked_until = self.blocked_until.max(now + wait);
    }

    /// An attempt succeeded: starts the ramp, makes its pace faster, or ends the mode.
    pub fn handle_success(&mut self, slot: Option<Slot>, now: Millis) {
        if !self.is_current(slot) {
            return;
        }
        match self.mode {
            Mode::Off { .. } => {}
            Mode::Blocked | Mode::Trial { .. } => {
                self.refused = 0;
                self.cubic = Cubic::new(self.cubic.w_max(), now);
                self.pace.restart(self.rate, now);
                self.mode = Mode::Ramp;
            }
            Mode::Ramp => {
                // Twice of what is asked for is enough: the caller is the limit, not the pace.
                let enough = 2.0 * self.meter.rate();
                let grown = self.cubic.rate(now).min(enough).min(self.rate * GAIN);
                self.rate = self.rate.max(grown);
                let calm = now - self.cubic.since().max(self.blocked_until) >= CALM;
                if calm && self.rate >= enough {
                    self.mode = Mode::Off { memory: now + MEMORY };
                }
            }
        }
    }

    /// The ramp that a trial has started is not needed: there was no pace that was too fast.
    pub fn end(&mut self, now: Millis) {
        if matches!(self.mode, Mode::Ramp) {
            self.mode = Mode::Off { memory: now };
        }
    }

    /// An attempt was cancelled, or failed in a way that says nothing of the pace: a trial is
    /// given back.
    pub const fn handle_nothing(&mut self, slot: Slot, _now: Millis) {
        if slot.generation == self.generation && matches!(self.mode, Mode::Trial { .. }) {
            self.mode = Mode::Blocked;
        }
    }

    /// Takes over what another tab tells of the same scope: the longer wait and the lower rate,
    /// in requests/s. Only a wait that still runs turns the mode on; or two tabs would keep each
    /// other in it for good.
    pub fn adopt(&mut self, blocked_until: Millis, rate: f64, now: Millis) {
        let until = blocked_until.min(now + LONGEST * (1.0 + ABOVE));
        let runs = until > now;
        if rate.is_nan() || !(self.is_on() || runs) {
            return;
        }
        let rate = rate.max(SLOWEST);
        if !self.is_on() || rate < self.rate {
            self.rate = rate;
            self.cubic = Cubic::new(rate, self.cubic.since());
        }
        if !self.is_on() {
            self.generation = self.generation.wrapping_add(1);
            self.cause = Cause::Limit;
            self.refused = 0;
            self.blocked_until = now;
            self.mode = Mode::Blocked;
        }
        if runs && until > self.blocked_until {
            self.block(until);
        }
    }

    /// Whether the scope is throttled: attempts need a slot.
    pub const fn is_on(&self) -> bool {
        !matches!(self.mode, Mode::Off { .. })
    }

    /// Whether a trial is on its way: its end is the next turn, and [`Throttle::next_at`] only the
    /// latest.
    pub const fn is_trying(&self) -> bool {
        matches!(self.mode, Mode::Trial { .. })
    }

    /// When the next attempt may go; `now` or before is at once.
    pub fn next_at(&self, now: Millis) -> Millis {
        let next = match self.mode {
            Mode::Blocked => self.blocked_until,
            Mode::Off { .. } => return now,
            Mode::Ramp => self.blocked_until.max(self.pace.next_at(self.rate)),
            Mode::Trial { lease } => self.blocked_until.max(lease),
        };
        if next - now < SHORTFALL { next.min(now) } else { next }
    }

    /// What to show and to tell other tabs; `None` while the mode is off.
    pub fn state(&self, now: Millis) -> Option<ThrottleState> {
        let blocked_until = self.blocked_until.max(now);
        self.is_on().then_some(ThrottleState { blocked_until, rate: self.rate })
    }

    /// Waits longer, and lets nothing be saved up meanwhile.
    fn block(&mut self, until: Millis) {
        self.blocked_until = until;
        self.pace.restart(self.rate, until);
    }

    fn is_current(&self, slot: Option<Slot>) -> bool {
        slot.is_some_and(|slot| slot.generation == self.generation)
    }
}
