//! From a failed attempt to what follows: a wait, a hold, or the verdict.

use super::path::is_held;
use super::resume::WORTH;
use super::{Action, Engine, Expiry, Limited, Scope};
use crate::core::backoff::FLOOR;
use crate::core::breaker::Evidence;
use crate::core::classify::{
    Classification, Facts, FailureClass, Outcome, Retryable, Weight, classify,
};
use crate::core::clock::Millis;
use crate::core::error::{FailedAttempt, Reason};
use crate::core::hook::{Answer, Hook, SHOULD_RETRY};
use crate::core::log::LogEvent;
use crate::core::recovery::{Recovery, recovered, recovery};
use crate::core::request::{LastFailure, Pending, Request, RequestId, State};
use crate::core::resume::Ask;
use crate::core::retry::{
    Alternatives, Situation, Wait, WaitReason, asked_by_hook, hold_interval, holds, may_repeat,
    next_naive, next_on_hold, next_on_ladder,
};
use crate::core::site::Site;
use crate::core::throttle::Cause;
use crate::core::timer::Timer;

/// For so long the success of another host proves that the network is well.
const PROOF: Millis = Millis::new(30_000.0);

/// What came with a failure besides its outcome.
#[derive(Clone, Copy, Default)]
pub(super) struct Aside {
    pub(super) retry_after: Option<Millis>,
    pub(super) limited: Option<Limited>,
    pub(super) expiry: Expiry,
    /// The bound that was exceeded.
    pub(super) limit: Option<Millis>,
}

/// How long a page that was frozen gets to deliver what may have arrived meanwhile.
pub(super) const GRACE: Millis = Millis::new(1_000.0);

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
                let aside = Aside { limit: Some(request.bound), ..Aside::default() };
                self.fail_attempt(index, Outcome::HeadersTimeout, aside, now);
            }
            Timer::Retry => {
                let was_held = is_held(request);
                let is_over = match request.state {
                    State::Waiting(WaitReason::Offline) => true,
                    State::Waiting(WaitReason::Held | WaitReason::Window) => {
                        let late = now >= request.since + self.config.hold_limit;
                        late && self.held(&self.requests[index], now).is_some()
                    }
                    _ => false,
                };
                if is_over {
                    self.give_up(index, Reason::HoldLimit, now);
                } else if !self.online && !self.config.naive {
                    // Breakers stand still meanwhile, and name times that have passed.
                    let wait = Wait { delay: Millis::ZERO, reason: WaitReason::Offline };
                    self.wait(index, wait, now);
                } else {
                    self.depart(index, now);
                }
                if was_held {
                    // Its place in the lane may be free still.
                    self.release_held(now);
                }
            }
            Timer::Hook => self.answered(index, Answer::Default, now),
            // No request's own.
            Timer::Plan | Timer::Refresh => {}
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
        let aside = Aside { limit: Some(body.stall.bound(bound)), ..Aside::default() };
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
        let Some(index) = self.settle_question(index, now) else { return };
        let recovery = self.record(index, outcome, aside, now);
        let class = self.requests[index].last_failure.map(|last| last.class);
        let class = class.unwrap_or(FailureClass::Unexpected);
        match self.try_refresh(index, class, recovery, aside.expiry, now) {
            Some(Ok(())) => {}
            Some(Err(reason)) => self.give_up(index, reason, now),
            None if self.has_opinion(index) => {
                self.ask(index, Hook::ShouldRetry, SHOULD_RETRY, now);
            }
            None => self.decide(index, Answer::Default, now),
        }
        if self.must_replan {
            self.replan(now);
        } else {
            self.retime(now);
        }
    }

    /// Writes a failure into the books of the request, its host and its pacers. Says what the
    /// recovery matrix has for it.
    #[inline(never)]
    fn record(
        &mut self,
        index: usize,
        outcome: Outcome,
        aside: Aside,
        now: Millis,
    ) -> Option<Recovery> {
        let naive = self.config.naive;
        let Aside { limit, expiry, .. } = aside;
        let retry_after = aside.retry_after.filter(|_| !naive);
        let online = !self.is_offline();
        let facts = Facts { outcome, online, retry_after: retry_after.is_some() };
        let mut general = classify(facts);
        if aside.limited.is_some() && !naive && general.class != FailureClass::Legal {
            // Whatever the status, the detector knows it for what it is (R46).
            let facts = Facts { outcome: Outcome::Status(429), ..facts };
            general = Classification { svta: general.svta, ..classify(facts) };
        }
        let class = general.class;
        let status = if let Outcome::Status(status) = outcome { status } else { 0 };

        let request = &mut self.requests[index];
        let (site, number, live) = (request.site, request.host as usize, self.playback.live);
        let recovery = recovery(&self.config.recovery, site, live, class, status);
        let recovery = recovery.filter(|_| !naive);
        let mut failure = recovered(general, recovery);
        if expiry == Expiry::Denied {
            failure.retryable = Retryable::Never;
        }
        let held_back = request.blocking && class == FailureClass::Timeout;
        let blameless = held_back || request.marks.optional || site == Site::Other;
        let counts = failure.breaker == Weight::Full && !blameless;
        let duration = now - request.since;
        let in_body = matches!(request.state, State::Body(_));
        let bytes = if let State::Body(body) = &request.state { body.received } else { 0.0 };
        let progress = self.keep(index);
        let released = self.is_stuck(&self.requests[index], now);
        let goes_on = progress >= WORTH && self.way_on(&self.requests[index], now).is_some();
        let request = &mut self.requests[index];
        // Browsers refuse an encoded part themselves.
        let is_part = matches!(request.ask, Ask::Part(..));
        request.in_one |= is_part && request.kept == 0.0 && outcome == Outcome::Rejected;
        let blameless = blameless || goes_on;
        let counts = counts && !goes_on;
        let host = &mut self.hosts[number];
        if counts {
            host.handle_failure(in_body, now);
        }
        if std::mem::take(&mut request.answered_beside) {
            request.beside += 1;
        }
        self.estimator.exclude(bytes);
        match class {
            // Not an attempt that the ladder counts: nothing was there to try.
            FailureClass::Offline if !naive && self.config.site(site).attempts > 1 => {
                request.ladder -= 1;
            }
            FailureClass::Timeout => request.header_timeouts += 1,
            FailureClass::Stall => request.stalls += 1,
            _ => {}
        }
        if goes_on {
            // Nor is one that has brought playback on, and its time was not lost.
            request.ladder = request.ladder.saturating_sub(1);
            request.offline = request.offline + duration;
        }
        let bit = 1 << class as u32;
        let repeated = request.failed_in & bit != 0;
        request.failed_in |= bit;
        let retry_at = retry_after.map(|wait| now + wait);
        // What the server itself has asked to come back for is not a burden on it.
        let invited = retry_after.is_some()
            && matches!(class, FailureClass::RateLimited | FailureClass::ServerBusy);
        let cost = if invited { 0.0 } else { failure.cost.into() };
        let svta = failure.svta;
        let last = LastFailure { class, status, svta, cost, retry_at, limit, counts };
        request.last_failure = Some(last);
        host.cause = Some(last);
        request.timers.stop_all();

        let is_status = matches!(outcome, Outcome::Opaque | Outcome::Status(_));
        // 429, and 503 with a time: there is too much of what was sent (2.1 of RFC 6585).
        let told = aside.limited.or_else(|| {
            let throttled = invited || class == FailureClass::RateLimited;
            throttled.then_some(Limited { scope: Scope::Host, wait: retry_after })
        });
        let told = told.filter(|_| !naive && site != Site::Other && !released);
        request.pending = Some(Pending {
            failure,
            repeated,
            released,
            retry_after,
            throttled: told.is_some(),
            refusal: is_status,
            at_once: false,
        });
        let (id, attempt) = (request.id, request.attempts);
        self.note(now, id, attempt, LogEvent::Failed, class as u32, status.into());
        let failed = FailedAttempt { attempt, class, status, svta, duration, bytes };
        self.actions.push(Action::Failed { request: id, failed });

        let transport = !is_status && outcome != Outcome::Empty;
        let evidence = match failure.breaker {
            Weight::Full | Weight::Soft if blameless => Evidence::Nothing,
            Weight::Full => Evidence::Failure,
            Weight::Soft => Evidence::Soft,
            // What stands between here and the host answered in its place.
            Weight::None if transport || class == FailureClass::Intercepted => Evidence::Nothing,
            Weight::None => Evidence::Alive,
        };
        self.report_health(index, evidence, transport, now);
        if let Some(Limited { scope, wait }) = told {
            let cap = self.config.site(site).backoff_cap * 4.0;
            let wait = wait.or(retry_after);
            let busy = class == FailureClass::ServerBusy;
            let cause = if busy { Cause::Busy } else { Cause::Limit };
            self.handle_throttled(index, (scope, cause), wait, cap, now);
            // The server is well and asks for less: not an attempt that the ladder counts (R47).
            let request = &mut self.requests[index];
            request.ladder = request.ladder.saturating_sub(1);
        }
        self.give_slots_back(index, now);
        if general.adverse && !held_back && site != Site::Other {
            self.handle_bad_link(now);
        }
        if class == FailureClass::Transport && !blameless && !naive {
            self.suspect(index, duration < Millis::from_secs(1.0) && bytes == 0.0, now);
        }
        self.give_up_directives(index, status, class, now);
        // The answer that was held back did not come: ask for what is there now.
        self.requests[index].blocking = false;
        recovery
    }

    /// A request that fails like this may have been refused unseen, for lack of CORS headers on
    /// a 429 or of all of them (2.6).
    fn suspect(&mut self, index: usize, fast: bool, now: Millis) {
        let request = &self.requests[index];
        let number = request.host;
        let other = self.succeeded.iter().find(|(host, at)| *host != number && at.is_some());
        let elsewhere = other.and_then(|(_, at)| *at);
        let here = self.host(request).answered_at;
        let target = self.target();
        if self.hosts[number as usize].burst.handle_failure(fast, elsewhere, here, now) {
            self.handle_throttled(index, (Scope::Host, Cause::Guess), None, target, now);
        }
        let proved = elsewhere.is_some_and(|at| now - at < PROOF);
        self.requests[index].suspect = fast && here.is_none() && proved;
    }

    /// What follows a failure, now that the hooks have had their say.
    pub(super) fn decide(&mut self, index: usize, answer: Answer, now: Millis) {
        let Some(pending) = self.requests[index].pending.take() else { return };
        let situation = self.situation(index, &pending, answer, now);
        if let Some(last) = &mut self.requests[index].last_failure
            && pending.failure.retryable == Retryable::Never
        {
            // If it is sent again, then on the word of a hook, and not for nothing.
            last.cost = 1.0;
        }
        let step = if self.config.naive {
            next_naive(&situation)
        } else if pending.throttled {
            let delay = asked_by_hook(&situation).unwrap_or(FLOOR);
            may_repeat(&situation).map(|()| Wait { delay, reason: WaitReason::Vrlt })
        } else if pending.at_once && self.requests[index].exhausted.is_none() {
            may_repeat(&situation).map(|()| Wait { delay: FLOOR, reason: WaitReason::Backoff })
        } else {
            self.next_wait(index, &situation, now)
        };
        if step.is_ok() || !pending.refusal {
            // A final refusal's response is left alone: the caller may want to read it.
            let Request { id: request, attempts: attempt, .. } = self.requests[index];
            self.actions.push(Action::Cut { request, attempt });
        }
        match step {
            Ok(Wait { delay, reason: WaitReason::Vrlt }) => {
                let at = self.paced_until(&self.requests[index], now).max(now + delay);
                // It was told itself, others are merely held back.
                let (reason, at) = match pending.retry_after {
                    Some(wait) => (WaitReason::RetryAfter, at.max(now + wait)),
                    None => (WaitReason::Vrlt, at),
                };
                self.defer(index, reason, at, now);
            }
            Ok(wait) => {
                let patient =
                    matches!(pending.failure.retryable, Retryable::Grace | Retryable::NotReady);
                self.requests[index].graces += u32::from(patient);
                self.wait(index, wait, now);
            }
            Err(reason) => self.give_up(index, reason, now),
        }
    }

    /// Lays out the situation for the gates.
    fn situation(&self, index: usize, pending: &Pending, answer: Answer, now: Millis) -> Situation {
        let request = &self.requests[index];
        let policy = self.policy(request, now);
        Situation {
            policy,
            failure: pending.failure,
            answer,
            repeated: pending.repeated,
            graces: request.graces,
            live: self.playback.live,
            target: self.playback.target_duration,
            attempts: request.ladder,
            rotates: self.rotates(request),
            time_left: request.started + request.offline + policy.deadline - now,
            idempotent: request.idempotent,
            released: pending.released,
            online: self.online,
            retry_after: pending.retry_after,
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
        // Where it was the budget that ran out, there is no hurry to be paid for.
        let unpaid = self.requests[index].spent == Some(Reason::Budget);
        let held = if unpaid { Millis::MAX } else { now - exhausted };
        let interval = hold_interval(self.playback.target_duration, reload, held);
        let queue = if reload { Millis::ZERO } else { self.queue_of_probes(index, now) };
        let time_left = exhausted + self.config.hold_limit - now;
        next_on_hold(situation, interval, queue, time_left, &mut self.dice)
    }

    /// How far ahead the host's other probes are scheduled. They take turns: one probe at a
    /// time says as much of a host as all of them, and its success ends every hold.
    pub(super) fn queue_of_probes(&self, index: usize, now: Millis) -> Millis {
        let host = self.requests[index].host;
        let dues = self.requests.iter().filter_map(|request| match request.state {
            State::Waiting(WaitReason::Budget | WaitReason::Hold) if request.host == host => {
                request.timers.at(Timer::Retry)
            }
            _ => None,
        });
        dues.fold(now, Millis::max) - now
    }

    /// Whether the player has somewhere else to go, as far as anybody said.
    pub(super) fn alternatives(&self, request: &Request) -> Alternatives {
        match request.alternatives {
            Alternatives::Unknown => self.alternatives[request.site as usize],
            declared => declared,
        }
    }

    pub(super) fn may_hold(&self, request: &Request) -> bool {
        let alternatives = self.alternatives(request);
        // What CORS refuses is refused for good, unless there is nothing else to hope for.
        let hopeless = request.suspect && alternatives != Alternatives::None;
        let mode = self.config.site(request.site).exhausted;
        holds(mode, alternatives, request.beside)
            && !hopeless
            && !request.marks.optional
            && !self.config.naive
    }

    pub(super) fn wait(&mut self, index: usize, wait: Wait, now: Millis) {
        let Wait { delay, reason } = wait;
        // These waits are ended from elsewhere; the timer is their limit.
        let is_held = matches!(reason, WaitReason::Held | WaitReason::Offline | WaitReason::Window);
        let delay = if is_held { self.config.hold_limit } else { delay };
        self.is_crowded |= is_held;
        self.await_plan(now);
        let request = &mut self.requests[index];
        // Who is put off again in a queue goes on to wait.
        let goes_on = matches!(request.state, State::Waiting(before) if before == reason);
        if !goes_on {
            request.excuse_hold(now);
        }
        let (id, attempt) = (request.id, request.attempts);
        if !goes_on {
            request.state = State::Waiting(reason);
            request.since = now;
        }
        // A limit is not put off by who asks in vain.
        let from = if is_held { request.since } else { now };
        request.timers.set(Timer::Retry, from + delay);
        if !goes_on {
            self.note(now, id, attempt, LogEvent::Waiting, reason as u32, delay.get());
        }
        self.actions.push(Action::Changed);
    }
}
