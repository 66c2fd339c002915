//! Waits that end sooner than they were to.

use super::{Action, Engine};
use crate::core::backoff::FLOOR;
use crate::core::classify::FailureClass;
use crate::core::clock::Millis;
use crate::core::error::Reason;
use crate::core::log::LogEvent;
use crate::core::request::State;
use crate::core::retry::WaitReason;
use crate::core::timer::Timer;

/// Why waits are cut short.
#[derive(Clone, Copy)]
pub(super) enum Hurry {
    /// The caller said so.
    Caller,
    /// This host answers again.
    HostBack(u32),
    /// The network is back.
    NetworkBack,
}

/// Waits that are cut short together end within this span, so that not all of them knock in
/// the same instant.
const SPREAD: Millis = Millis::new(100.0);

impl Engine {
    /// Ends the waits that `hurry` concerns, all within a short span.
    pub(super) fn hurry(&mut self, hurry: Hurry, now: Millis) {
        let mut changed = false;
        for index in 0..self.requests.len() {
            let request = &mut self.requests[index];
            let State::Waiting(reason) = request.state else { continue };
            let paced =
                matches!(reason, WaitReason::Backoff | WaitReason::Budget | WaitReason::Hold);
            let concerned = match hurry {
                Hurry::Caller => paced || reason == WaitReason::Cooldown,
                Hurry::HostBack(host) => host == request.host && paced,
                Hurry::NetworkBack => reason == WaitReason::Offline,
            };
            let spread = match hurry {
                Hurry::Caller => Millis::ZERO,
                Hurry::HostBack(_) | Hurry::NetworkBack => FLOOR + SPREAD * self.dice.f64(),
            };
            let last = request.last_failure;
            let throttled = last.is_some_and(|last| last.class == FailureClass::RateLimited);
            if !concerned || throttled && matches!(hurry, Hurry::HostBack(_)) {
                continue;
            }
            // What the server asked for is never undercut.
            let asked = last.and_then(|last| last.retry_at).unwrap_or_default();
            let at = (now + spread).max(asked);
            if reason == WaitReason::Offline {
                let waited = now - request.since;
                request.offline = request.offline + waited;
                request.exhausted = request.exhausted.map(|at| at + waited);
                let reason = if asked > now { WaitReason::RetryAfter } else { WaitReason::Backoff };
                request.state = State::Waiting(reason);
            } else if request.timers.at(Timer::Retry).is_none_or(|due| due <= at) {
                continue;
            } else if reason == WaitReason::Budget {
                // Its time has not come, so it has to be paid for.
                request.state = State::Waiting(WaitReason::Backoff);
            }
            request.timers.set(Timer::Retry, at);
            changed = true;
            let (id, attempt) = (request.id, request.attempts);
            let detail = match hurry {
                Hurry::Caller => 0,
                Hurry::HostBack(_) => 1,
                Hurry::NetworkBack => 2,
            };
            self.note(now, id, attempt, LogEvent::Hurried, detail, spread.get());
        }
        if changed {
            self.actions.push(Action::Changed);
        }
    }

    /// What waits for its turn with a host, a pacer or a URL is told the new time of it.
    pub(super) fn retime(&mut self, now: Millis) {
        self.release_held(now);
        let mut changed = false;
        for index in 0..self.requests.len() {
            let request = &self.requests[index];
            let State::Waiting(
                reason @ (WaitReason::Breaker | WaitReason::Cooldown | WaitReason::Vrlt),
            ) = request.state
            else {
                continue;
            };
            let turn = self.turn(request, now);
            let due = request.timers.at(Timer::Retry).unwrap_or(turn);
            let asked = request.last_failure.and_then(|last| last.retry_at).unwrap_or_default();
            let at = if turn > now {
                turn
            } else {
                // Open to all: soon, and not put off by the next news. A pacer lets one through
                // at a time, and who that is goes by rank and not by chance.
                let paced = reason == WaitReason::Vrlt;
                let spread = if paced { Millis::ZERO } else { SPREAD * self.dice.f64() };
                due.min(now + FLOOR + spread)
            };
            // Nor is the floor under all delays, whoever's turn it is.
            let floor = if request.attempts > 0 { request.since + FLOOR } else { now };
            let at = at.max(asked).max(floor);
            let request = &mut self.requests[index];
            if due != at {
                request.timers.set(Timer::Retry, at);
                changed = true;
            }
            if at < due {
                let (id, attempt) = (request.id, request.attempts);
                self.note(now, id, attempt, LogEvent::Hurried, 3, (at - now).get());
            }
        }
        if changed {
            self.actions.push(Action::Changed);
        }
    }

    /// The player has turned to another host: what only waits for this one is given up, so that
    /// it is asked for there; what is under way goes on (R69).
    pub fn handle_rotation(&mut self, host: u32, now: Millis) {
        // Where it turns to, if that was down, is tried again soon.
        for (number, other) in (0..).zip(&mut self.hosts) {
            if number != host {
                other.breaker.pull_forward(self.dice.f64(), now);
            }
        }
        self.retime(now);
        let mut index = 0;
        while let Some(request) = self.requests.get(index) {
            let waits = matches!(request.state, State::Waiting(_));
            if waits && request.host == host {
                self.give_up(index, Reason::Rotated, now);
            } else {
                index += 1;
            }
        }
    }
}
