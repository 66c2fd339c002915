//! What is peculiar to reloads of live playlists: those of one playlist do not overtake one another
//! (R32), and what they ask for beyond the playlist is given up where it does not work (R33).

use super::{Action, Engine};
use crate::core::classify::{FailureClass, Retryable};
use crate::core::clock::Millis;
use crate::core::log::LogEvent;
use crate::core::request::{Request, State};
use crate::core::retry::WaitReason;
use crate::core::timer::Timer;

/// Of so many playlists the last attempts are remembered, and so many of each.
const PLAYLISTS: usize = 4;
const ATTEMPTS: usize = 4;

/// When the last attempts were sent, the newest first, by the URL of the playlist.
pub(super) type Reloads = [(u32, [Option<Millis>; ATTEMPTS]); PLAYLISTS];

/// None were.
pub(super) const NONE: Reloads = [(0, [None; ATTEMPTS]); PLAYLISTS];

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

    /// When a reload may be repeated: within a target duration its ladder is sent and no more,
    /// whatever hurries it; and once what was refused for its rate, which no ladder counts (R31).
    pub(super) fn repeats_at(&self, request: &Request) -> Millis {
        let refused = request.last_failure.is_some_and(|last| {
            last.class == FailureClass::RateLimited
                || last.class == FailureClass::ServerBusy && last.retry_at.is_some()
        });
        let steps = if refused { 1 } else { self.config.site(request.site).attempts };
        let earlier = self.reloads.iter().find(|(url, _)| *url == request.marks.url);
        let earlier = earlier.and_then(|(_, sent)| sent[(steps.max(1) as usize).min(ATTEMPTS) - 1]);
        earlier.map_or(Millis::ZERO, |sent| sent + self.target())
    }

    /// An attempt to read this playlist is sent.
    pub(super) fn keep_reload(&mut self, url: u32, now: Millis) {
        let place = self.reloads.iter().position(|(of, _)| *of == url);
        // The playlist that was read longest ago gives its place away.
        let (_, mut sent) = place.map_or((url, [None; ATTEMPTS]), |place| self.reloads[place]);
        sent.copy_within(..ATTEMPTS - 1, 1);
        sent[0] = Some(now);
        self.reloads.copy_within(..place.unwrap_or(PLAYLISTS - 1), 1);
        self.reloads[0] = (url, sent);
    }

    /// The last attempt succeeded: only failures count on the bound of the next reload.
    pub(super) fn forget_reload(&mut self, url: u32) {
        if let Some((_, sent)) = self.reloads.iter_mut().find(|(of, _)| *of == url) {
            sent.copy_within(1.., 0);
            sent[ATTEMPTS - 1] = None;
        }
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
        let target = self.target();
        let request = &mut self.requests[index];
        let refused = matches!(status, 400 | 503) || class == FailureClass::Timeout;
        if !request.marks.directives || !refused || self.config.naive {
            return;
        }
        if let Some(pending) = &mut request.pending {
            pending.at_once = status == 400 || now - request.since >= target;
            if status == 400 {
                // It was the directives that were refused.
                pending.failure.retryable = Retryable::Always;
            }
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
