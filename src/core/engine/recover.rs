//! From a failed attempt to what follows: a wait, a hold, or the verdict.

use super::{Action, Engine};
use crate::core::backoff::FLOOR;
use crate::core::classify::{Facts, FailureClass, Outcome, Weight, classify};
use crate::core::clock::Millis;
use crate::core::error::{Failure, Reason};
use crate::core::log::LogEvent;
use crate::core::request::{LastFailure, Request, RequestId, State};
use crate::core::retry::{
    Alternatives, Situation, Wait, WaitReason, hold_interval, holds, next_on_hold, next_on_ladder,
};
use crate::core::timer::Timer;

/// What came with a failure besides its outcome.
#[derive(Clone, Copy, Default)]
pub(super) struct Aside {
    pub(super) retry_after: Option<Millis>,
    /// The bound that was exceeded.
    pub(super) limit: Option<Millis>,
}

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

/// How long a page that was frozen gets to deliver what may have arrived meanwhile.
pub(super) const GRACE: Millis = Millis::new(1_000.0);

/// No hold is put off for longer than this by others.
const LONGEST_QUEUE: Millis = Millis::new(30_000.0);

impl Engine {
    pub(super) fn fail_current(
        &mut self,
        request: RequestId,
        attempt: u32,
        outcome: Outcome,
        now: Millis,
    ) {
        if let Some(index) = self.current(request, attempt) {
            self.fail_attempt(index, outcome, Aside::default(), now);
        }
    }

    /// A timer of a request is due.
    pub(super) fn fire(&mut self, index: usize, timer: Timer, due: Millis, now: Millis) {
        let request = &mut self.requests[index];
        match timer {
            Timer::Headers if !request.graced && now - due >= GRACE => {
                request.graced = true;
                request.timers.set(Timer::Headers, now + GRACE);
            }
            Timer::Headers => {
                let aside = Aside { limit: Some(request.bound), retry_after: None };
                self.fail_attempt(index, Outcome::HeadersTimeout, aside, now);
            }
            Timer::Retry if matches!(request.state, State::Waiting(WaitReason::Offline)) => {
                self.give_up(index, Reason::HoldLimit, now);
            }
            Timer::Retry if !self.online => {
                let wait = Wait { delay: Millis::ZERO, reason: WaitReason::Offline };
                self.wait(index, wait, now);
            }
            Timer::Retry => self.send(index, now),
            Timer::Stall => self.fire_stall(index, due, now),
            Timer::StallSuspect => {
                let (id, attempt) = (request.id, request.attempts);
                let left = request.timers.at(Timer::Stall).unwrap_or(due) - due;
                self.note(now, id, attempt, LogEvent::StallSuspect, 0, left.get() * 2.0);
            }
        }
    }

    fn fire_stall(&mut self, index: usize, due: Millis, now: Millis) {
        let bound = self.means(&self.requests[index], now);
        let State::Body(body) = &mut self.requests[index].state else { return };
        if body.stall.grant_grace(due, now) {
            self.arm_stall(index, now);
            return;
        }
        let aside = Aside { limit: Some(body.stall.bound(bound)), retry_after: None };
        self.fail_attempt(index, Outcome::Stall, aside, now);
    }

    /// An attempt came to nothing: what now?
    pub(super) fn fail_attempt(
        &mut self,
        index: usize,
        outcome: Outcome,
        aside: Aside,
        now: Millis,
    ) {
        // The page may learn of the failure before its late timer rings.
        self.excuse_sleep(now);
        let situation = self.record(index, outcome, aside, now);
        let step = self.next_wait(index, &situation, now);
        if step.is_ok() || !matches!(outcome, Outcome::Opaque | Outcome::Status(_)) {
            // A final refusal's response is left alone: the caller may want to read it.
            let Request { id: request, attempts: attempt, .. } = self.requests[index];
            self.actions.push(Action::Cut { request, attempt });
        }
        match step {
            Ok(wait) => self.wait(index, wait, now),
            Err(reason) => self.give_up(index, reason, now),
        }
    }

    /// Writes a failure into the books of the request and its host, and lays out the
    /// situation for the gates.
    #[inline(never)]
    fn record(&mut self, index: usize, outcome: Outcome, aside: Aside, now: Millis) -> Situation {
        let Aside { retry_after, limit } = aside;
        let facts = Facts { outcome, online: self.online, retry_after: retry_after.is_some() };
        let failure = classify(facts);
        let class = failure.class;
        let status = if let Outcome::Status(status) = outcome { status } else { 0 };

        let request = &mut self.requests[index];
        let host = &mut self.hosts[request.host as usize];
        let held_back = request.blocking && class == FailureClass::Timeout;
        if failure.breaker == Weight::Full && !held_back {
            host.handle_failure();
        }
        if std::mem::take(&mut request.answered_beside) {
            request.beside += 1;
        }
        if let State::Body(body) = &request.state {
            self.estimator.exclude(body.received);
        }
        match class {
            // Not an attempt that the ladder counts: nothing was there to try.
            FailureClass::Offline if self.config.site(request.site).attempts > 1 => {
                request.ladder -= 1;
            }
            FailureClass::Timeout => request.header_timeouts += 1,
            FailureClass::Stall => request.stalls += 1,
            _ => {}
        }
        // The answer that was held back did not come: ask for what is there now.
        request.blocking = false;
        let bit = 1 << class as u32;
        let repeated = request.failed_in & bit != 0;
        request.failed_in |= bit;
        let retry_at = retry_after.map(|wait| now + wait);
        request.last_failure =
            Some(LastFailure { class, status, svta: failure.svta, retry_at, limit });
        request.timers.stop_all();
        let (id, attempt) = (request.id, request.attempts);
        self.note(now, id, attempt, LogEvent::Failed, class as u32, status.into());

        let request = &self.requests[index];
        let policy = self.policy(request, now);
        Situation {
            policy,
            failure,
            repeated,
            attempts: request.ladder,
            time_left: request.started + request.offline + policy.deadline - now,
            idempotent: request.idempotent,
            released: request.has_released(),
            online: self.online,
            retry_after,
        }
    }

    /// The wait before the next attempt, on the quick ladder or on the slow one.
    fn next_wait(
        &mut self,
        index: usize,
        situation: &Situation,
        now: Millis,
    ) -> Result<Wait, Reason> {
        let goes_on = self.may_hold(&self.requests[index]);
        let exhausted = if let Some(exhausted) = self.requests[index].exhausted {
            if !goes_on {
                return Err(Reason::Attempts);
            }
            exhausted
        } else {
            match next_on_ladder(situation, &mut self.dice) {
                Err(reason) if reason.is_exhaustion() && goes_on => {
                    self.exhaust(index, reason, true, now);
                    now
                }
                step => return step,
            }
        };
        let reload = self.requests[index].site.is_reload();
        let interval = hold_interval(self.playback.target_duration, reload, now - exhausted);
        let queue = if reload { Millis::ZERO } else { self.queue_of_holds(index, now) };
        let time_left = exhausted + self.config.hold_limit - now;
        next_on_hold(situation, interval, queue, time_left, &mut self.dice)
    }

    /// How far ahead the host's other holds are scheduled. They take turns: one probe at a
    /// time says as much of a host as all of them, and its success ends every hold.
    fn queue_of_holds(&self, index: usize, now: Millis) -> Millis {
        let host = self.requests[index].host;
        let dues = self.requests.iter().filter_map(|request| match request.state {
            State::Waiting(WaitReason::Hold) if request.host == host => {
                request.timers.at(Timer::Retry)
            }
            _ => None,
        });
        (dues.fold(now, Millis::max) - now).min(LONGEST_QUEUE)
    }

    fn may_hold(&self, request: &Request) -> bool {
        let alternatives = match request.alternatives {
            Alternatives::Unknown => self.alternatives[request.site as usize],
            declared => declared,
        };
        holds(self.config.site(request.site).exhausted, alternatives, request.beside)
    }

    fn wait(&mut self, index: usize, wait: Wait, now: Millis) {
        let Wait { delay, reason } = wait;
        // Without a network only `handle_online` ends the wait; the timer is its limit.
        let delay = if reason == WaitReason::Offline { self.config.hold_limit } else { delay };
        let request = &mut self.requests[index];
        request.state = State::Waiting(reason);
        request.since = now;
        request.timers.set(Timer::Retry, now + delay);
        let (id, attempt) = (request.id, request.attempts);
        self.note(now, id, attempt, LogEvent::Waiting, reason as u32, delay.get());
        self.actions.push(Action::Changed);
    }

    /// The ladder is spent, or there is none: said once a request.
    fn exhaust(&mut self, index: usize, reason: Reason, holding: bool, now: Millis) {
        let failure = self.failure(index, reason, holding, now);
        let request = &mut self.requests[index];
        request.exhausted = Some(now);
        let (id, attempt) = (request.id, request.attempts);
        self.note(now, id, attempt, LogEvent::Exhausted, reason as u32, attempt.into());
        self.actions.push(Action::Exhausted { request: id, failure });
    }

    pub(super) fn give_up(&mut self, index: usize, reason: Reason, now: Millis) {
        if self.requests[index].exhausted.is_none() {
            self.exhaust(index, reason, false, now);
        }
        let failure = self.failure(index, reason, false, now);
        let gone = self.requests.remove(index);
        let attempts = gone.attempts;
        self.note(now, gone.id, attempts, LogEvent::GivenUp, reason as u32, attempts.into());
        self.actions.push(Action::Fail { request: gone.id, failure });
        self.actions.push(Action::Changed);
    }

    #[inline(never)]
    fn failure(&self, index: usize, reason: Reason, holding: bool, now: Millis) -> Failure {
        let request = &self.requests[index];
        let last = request.last_failure;
        Failure {
            class: last.map_or(FailureClass::Unexpected, |last| last.class),
            reason,
            status: last.map_or(0, |last| last.status),
            attempts: request.attempts,
            elapsed: now - request.started,
            retry_at: last.and_then(|last| last.retry_at),
            limit: last.and_then(|last| last.limit),
            svta: last.map_or(0, |last| last.svta),
            holding,
        }
    }

    /// Ends the waits that `hurry` concerns, all within a short span.
    pub(super) fn hurry(&mut self, hurry: Hurry, now: Millis) {
        let mut changed = false;
        for index in 0..self.requests.len() {
            let request = &mut self.requests[index];
            let State::Waiting(reason) = request.state else { continue };
            let concerned = match hurry {
                Hurry::Caller => matches!(reason, WaitReason::Backoff | WaitReason::Hold),
                Hurry::HostBack(host) => {
                    host == request.host && matches!(reason, WaitReason::Backoff | WaitReason::Hold)
                }
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
}
