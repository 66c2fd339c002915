//! Credentials that have expired: who is asked for a fresh one, who waits, and what becomes of
//! those who waited.

use super::{Action, Engine, Expiry};
use crate::core::classify::FailureClass;
use crate::core::clock::Millis;
use crate::core::credential::{Credential, MOST_WAITERS, Step};
use crate::core::error::Reason;
use crate::core::hook::{Answer, Hook, Hooks, REFRESH};
use crate::core::log::LogEvent;
use crate::core::recovery::Recovery;
use crate::core::request::{Marks, Request, RequestId, State};
use crate::core::retry::{Wait, WaitReason};
use crate::core::site::Site;

impl Engine {
    pub(super) fn credential(&self, number: u32) -> Option<&Credential> {
        self.credentials.get((number as usize).checked_sub(1)?)
    }

    fn credential_mut(&mut self, number: u32) -> Option<&mut Credential> {
        self.credentials.get_mut((number as usize).checked_sub(1)?)
    }

    /// When a credential expires, where that is known.
    pub fn handle_expiry(&mut self, credential: u32, at: Option<Millis>, now: Millis) {
        let unit = self.dice.f64();
        self.make_room(&Marks { credential, ..Marks::default() });
        if let Some(credential) = self.credential_mut(credential) {
            credential.set_expiry(at, unit, now);
        }
    }

    /// A request carries another credential than was thought; where it waits for a fresh one,
    /// that is asked for.
    pub fn handle_reassigned(&mut self, request: RequestId, credential: u32, now: Millis) {
        // Its time may be over, which ends the requests that wait for it: they are moved on first.
        self.expire_question(credential, now);
        let Some(index) = self.position(request) else { return };
        self.requests[index].marks.credential = credential;
        let marks = self.requests[index].marks;
        self.make_room(&marks);
        if matches!(self.requests[index].state, State::Waiting(WaitReason::TokenRefresh)) {
            self.refresh(index, now);
        }
    }

    /// Whether a refusal is to be answered with a fresh credential, and what came of that: `None`
    /// if it is not, else whether the request goes on.
    pub(super) fn try_refresh(
        &mut self,
        index: usize,
        class: FailureClass,
        recovery: Option<Recovery>,
        expiry: Expiry,
        now: Millis,
    ) -> Option<Result<(), Reason>> {
        let request = &self.requests[index];
        let hooks = request.marks.hooks;
        let licensed = matches!(request.site, Site::License | Site::Certificate);
        let fixed = matches!(class, FailureClass::Legal | FailureClass::Aborted);
        let evident = class == FailureClass::Denied
            || expiry == Expiry::Expired
            || recovery == Some(Recovery::Refresh);
        if fixed || expiry == Expiry::Denied || self.config.naive || self.is_stuck(request, now) {
            return None;
        }
        if licensed {
            let wanted = hooks.has(Hooks::REFRESH_LICENSE) && evident;
            if !wanted || request.refreshed {
                return None;
            }
            self.ask(index, Hook::RefreshLicense, REFRESH, now);
            return Some(Ok(()));
        }
        if !evident || !hooks.has(Hooks::REFRESH_TOKEN) {
            return None;
        }
        // A license that is refreshed is another request; this would be the same once more.
        if !request.idempotent {
            return None;
        }
        let (number, generation, refreshed) =
            (request.marks.credential, request.generation, request.refreshed);
        match self.credential(number)?.handle_refused(generation, now) {
            Step::Replay => self.replay(index, now),
            Step::Refuse => return Some(Err(Reason::Refresh)),
            // Refused with the fresh one too: final, or this never ends.
            Step::Keep => return None,
            Step::Ask | Step::Join if refreshed => return None,
            Step::Ask | Step::Join => self.refresh(index, now),
        }
        Some(Ok(()))
    }

    /// Waits for a fresh credential, which is asked for if it was not yet.
    pub(super) fn refresh(&mut self, index: usize, now: Millis) {
        let number = self.requests[index].marks.credential;
        let Some(index) = self.settle_question(index, now) else { return };
        let Some(credential) = self.credential(number) else {
            return self.give_up(index, Reason::Refresh, now);
        };
        let asked = credential.is_asked();
        if self.waiters(number).count() >= MOST_WAITERS {
            return self.give_up(index, Reason::Refresh, now);
        }
        let request = &mut self.requests[index];
        request.state = State::Waiting(WaitReason::TokenRefresh);
        request.since = now;
        request.timers.stop_all();
        let (id, attempt) = (request.id, request.attempts);
        self.note(now, id, attempt, LogEvent::Waiting, WaitReason::TokenRefresh as u32, 0.0);
        self.actions.push(Action::Changed);
        if !asked {
            self.ask_for(number, id, now);
        }
    }

    fn ask_for(&mut self, credential: u32, request: RequestId, now: Millis) {
        self.questions = self.questions.wrapping_add(1);
        let number = self.questions;
        if let Some(asked) = self.credential_mut(credential) {
            asked.ask(number, now);
            self.note(now, request, 0, LogEvent::RefreshAsked, credential, number.into());
            self.actions.push(Action::Refresh { credential, request, number });
        }
    }

    /// The question for a fresh credential is answered. All that waited for it are sent again, or
    /// given up.
    pub fn handle_refreshed(&mut self, credential: u32, number: u32, renewed: bool, now: Millis) {
        if !self.credential(credential).is_some_and(|asked| asked.is_open(number)) {
            return;
        }
        let unit = self.dice.f64();
        let lost = !renewed && !self.online;
        if let Some(asked) = self.credential_mut(credential) {
            if lost {
                // Without a network nobody could have answered: asked again once it is back.
                asked.withdraw();
            } else {
                asked.handle_answer(renewed, unit, now);
            }
        }
        let value = f64::from(u8::from(renewed));
        self.note(now, RequestId(0), 0, LogEvent::Refreshed, credential, value);
        let waiters: Vec<_> = self.waiters(credential).map(|request| request.id).collect();
        for id in waiters {
            // Each may be given up on its way.
            let Some(index) = self.position(id) else { continue };
            if renewed {
                self.replay(index, now);
            } else if !lost && self.requests[index].pending.is_none() {
                // It was not refused yet: the old one may still do.
                self.requests[index].refreshed = true;
                self.depart(index, now);
            } else {
                self.handle_unrefreshed(index, now);
            }
        }
    }

    /// Sent again at once, and not counted by the ladder (R54); where the server said when, then.
    fn replay(&mut self, index: usize, now: Millis) {
        self.set_refusal_aside(index);
        let request = &mut self.requests[index];
        request.refreshed = true;
        request.state = State::Waiting(WaitReason::TokenRefresh);
        let asked = request.last_failure.and_then(|last| last.retry_at).unwrap_or_default();
        if asked > now {
            self.defer(index, WaitReason::RetryAfter, asked, now);
        } else {
            self.depart(index, now);
        }
    }

    /// There is no fresh credential: final, unless it is for want of a network.
    fn handle_unrefreshed(&mut self, index: usize, now: Millis) {
        let request = &self.requests[index];
        if self.online || request.attempts > 0 && !request.idempotent {
            return self.give_up(index, Reason::Refresh, now);
        }
        self.set_refusal_aside(index);
        self.wait(index, Wait { delay: Millis::ZERO, reason: WaitReason::Offline }, now);
    }

    /// What was refused for its credential counts neither on the ladder nor for the budget.
    fn set_refusal_aside(&mut self, index: usize) {
        let request = &mut self.requests[index];
        let Some(pending) = request.pending.take() else { return };
        if !pending.throttled {
            request.ladder = request.ladder.saturating_sub(1);
        }
        if let Some(last) = &mut request.last_failure {
            last.cost = 0.0;
        }
        // Until now the refusal could have been the final one.
        let Request { id: request, attempts: attempt, .. } = *request;
        self.actions.push(Action::Cut { request, attempt });
    }

    /// The license request has its new credential, or there is none.
    pub(super) fn license_refreshed(&mut self, index: usize, answer: Answer, now: Millis) {
        if answer == Answer::Yes {
            self.replay(index, now);
        } else {
            self.handle_unrefreshed(index, now);
        }
    }

    /// The requests that wait for this credential.
    fn waiters(&self, credential: u32) -> impl Iterator<Item = &Request> {
        self.requests.iter().filter(move |request| {
            matches!(request.state, State::Waiting(WaitReason::TokenRefresh))
                && request.marks.credential == credential
        })
    }

    /// When something is due that concerns a credential.
    pub(super) fn credentials_due(&self) -> impl Iterator<Item = Millis> {
        (1..).zip(&self.credentials).filter_map(|(number, credential)| {
            credential.next_at(|| self.waiters(number).next().is_some())
        })
    }

    /// Questions whose time is over count as refused; what will expire soon is refreshed.
    pub(super) fn expire_credentials(&mut self, now: Millis) {
        for number in 1..=self.credentials.len() as u32 {
            self.expire_question(number, now);
            let due = self.credential_mut(number).is_some_and(|each| each.take_refresh(now));
            if due && self.online {
                self.ask_for(number, RequestId(0), now);
            }
        }
    }

    /// Ends the question about a request's credential, if its time is over, and the requests that
    /// waited for it: says where the request stands by then.
    pub(super) fn settle_question(&mut self, index: usize, now: Millis) -> Option<usize> {
        let (id, number) = (self.requests[index].id, self.requests[index].marks.credential);
        self.expire_question(number, now);
        self.position(id)
    }

    fn expire_question(&mut self, credential: u32, now: Millis) {
        if let Some(question) = self.credential(credential).and_then(|each| each.overdue(now)) {
            self.handle_refreshed(credential, question, false, now);
        }
    }

    /// Before a repetition, some license servers want a new nonce: asks for it instead of
    /// sending. Says whether it does.
    pub(super) fn ask_before_repeating(&mut self, index: usize, now: Millis) -> bool {
        let request = &self.requests[index];
        let wanted = request.attempts > 0
            && request.marks.hooks.has(Hooks::REFRESH_BEFORE_RETRY)
            && !matches!(request.state, State::Waiting(WaitReason::TokenRefresh));
        if wanted {
            self.ask(index, Hook::RefreshLicense, REFRESH, now);
        }
        wanted
    }
}
