//! What is peculiar to reloads of live playlists: those of one playlist do not overtake one another
//! (R32), and what they ask for beyond the playlist is given up where it does not work (R33).

use super::{Action, Engine};
use crate::core::classify::{FailureClass, Retryable};
use crate::core::clock::Millis;
use crate::core::log::LogEvent;
use crate::core::request::State;
use crate::core::retry::WaitReason;
use crate::core::timer::Timer;

impl Engine {
    /// A retry of an older reload of the same playlist becomes part of the newer one: it comes a
    /// target duration and a bit later, if it is still needed then (R32).
    pub(super) fn merge_reloads(&mut self, url: u32, now: Millis) {
        if self.config.naive {
            return;
        }
        // Not at the very time of the next tick, which would meet it under way.
        let later = now + self.target() * 1.25;
        for request in &mut self.requests {
            let same = request.site.is_reload() && request.marks.url == url;
            let waits =
                matches!(request.state, State::Waiting(why) if why != WaitReason::TokenRefresh);
            let Some(due) = request.timers.at(Timer::Retry) else { continue };
            // However many ticks follow, it does not wait beyond the limit of a hold.
            let limit = request.exhausted.unwrap_or(request.started) + self.config.hold_limit;
            let at = later.min(limit);
            if same && waits && request.attempts > 0 && at > due {
                request.timers.set(Timer::Retry, at);
                self.actions.push(Action::Changed);
            }
        }
    }

    /// Whether a reload of this playlist is under way (R32).
    pub(super) fn is_read(&self, url: u32) -> bool {
        self.requests.iter().any(|other| {
            let under_way = matches!(other.state, State::Headers | State::Body(_));
            other.site.is_reload() && other.marks.url == url && under_way
        })
    }

    /// A reload that asks for a delta, or for the answer to be held back, is asked for plainly
    /// once that fails: the server may be unable to give it (R33).
    pub(super) fn give_up_directives(
        &mut self,
        index: usize,
        status: u16,
        class: FailureClass,
        now: Millis,
    ) {
        let request = &mut self.requests[index];
        let refused = matches!(status, 400 | 503) || class == FailureClass::Timeout;
        if !request.marks.directives || !refused || self.config.naive {
            return;
        }
        if let Some(pending) = &mut request.pending
            && status == 400
        {
            // It was the directives that were refused.
            pending.failure.retryable = Retryable::Always;
        }
        self.ask_plainly(index, status, now);
    }

    /// So is one that is sent late: what it was to add to is too old by then (R33).
    pub(super) fn give_up_late_directives(&mut self, index: usize, now: Millis) {
        let request = &self.requests[index];
        let late = now - request.started > self.target() * 3.0;
        if request.marks.directives && late && !self.config.naive {
            self.ask_plainly(index, 0, now);
        }
    }

    fn ask_plainly(&mut self, index: usize, status: u16, now: Millis) {
        let request = &mut self.requests[index];
        request.marks.directives = false;
        // Nothing that asks for the answer to be held back is left in it.
        request.blocking = false;
        let (id, attempt) = (request.id, request.attempts);
        self.note(now, id, attempt, LogEvent::Plain, status.into(), 0.0);
        self.actions.push(Action::Plain { request: id });
    }
}
