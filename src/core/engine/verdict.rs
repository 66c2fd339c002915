//! The end of a ladder, and of a request that fails.

use super::{Action, Engine};
use crate::core::breaker::Evidence;
use crate::core::classify::FailureClass;
use crate::core::clock::Millis;
use crate::core::error::{Failure, Reason};
use crate::core::log::LogEvent;
use crate::core::request::LastFailure;
use crate::core::site::Site;

/// What a URL is retired for.
const GONE: LastFailure = never_sent(FailureClass::Gone, 410);

/// What others were told to wait for.
const LIMITED: LastFailure = never_sent(FailureClass::RateLimited, 429);

/// The failure of a request that was refused for what became of others.
const fn never_sent(class: FailureClass, status: u16) -> LastFailure {
    let svta = 3_000 + status;
    LastFailure { class, status, svta, cost: 0.0, retry_at: None, limit: None, counts: false }
}

impl Engine {
    /// The ladder is spent, or there is none: said once a request.
    pub(super) fn exhaust(&mut self, index: usize, reason: Reason, holding: bool, now: Millis) {
        let failure = self.failure(index, reason, holding, now);
        let request = &mut self.requests[index];
        request.exhausted = Some(now);
        request.spent = Some(reason);
        let (id, attempt) = (request.id, request.attempts);
        self.note(now, id, attempt, LogEvent::Exhausted, reason as u32, attempt.into());
        self.actions.push(Action::Exhausted { request: id, failure });
        if reason.is_exhaustion() && self.config.breaker.trip_exhausted {
            self.trip(index, now);
        }
    }

    pub(super) fn give_up(&mut self, index: usize, reason: Reason, now: Millis) {
        self.report_health(index, Evidence::Nothing, false, now);
        self.give_slots_back(index, now);
        if self.requests[index].exhausted.is_none() {
            self.exhaust(index, reason, false, now);
        }
        let failure = self.failure(index, reason, false, now);
        let gone = self.requests.remove(index);
        let attempts = gone.attempts;
        if gone.site != Site::Other && reason != Reason::Rotated && !self.config.naive {
            let denied = failure.class == FailureClass::Denied;
            let retired = failure.class == FailureClass::Gone && gone.site == Site::Steering;
            self.guard.handle_given_up(gone.marks.url, denied, retired, now);
        }
        self.note(now, gone.id, attempts, LogEvent::GivenUp, reason as u32, attempts.into());
        self.actions.push(Action::Fail { request: gone.id, failure });
        self.actions.push(Action::Changed);
    }

    #[inline(never)]
    fn failure(&self, index: usize, reason: Reason, holding: bool, now: Millis) -> Failure {
        let request = &self.requests[index];
        let host = self.host(request);
        // What was never sent fails for what others failed for.
        let last = request.last_failure.or(match reason {
            Reason::RateLimited => Some(LIMITED),
            Reason::Retired => Some(GONE),
            _ => host.cause,
        });
        let retry_at = match reason {
            Reason::Breaker => host.breaker.health(&self.config.breaker, now).retry_at,
            Reason::RateLimited => Some(self.paced_until(request, now)),
            _ => last.and_then(|last| last.retry_at),
        };
        let buffered = self.buffer_ahead(now).is_none_or(|buffer| buffer > Millis::ZERO);
        Failure {
            class: last.map_or(FailureClass::Unexpected, |last| last.class),
            reason,
            status: last.map_or(0, |last| last.status),
            attempts: request.attempts,
            elapsed: now - request.started,
            retry_at,
            limit: last.and_then(|last| last.limit),
            svta: last.map_or(0, |last| last.svta),
            holding,
            minor: request.marks.optional || request.site.is_reload() && buffered,
            suspect_cors: request.suspect,
        }
    }
}
