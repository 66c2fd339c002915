//! Questions to hooks: asked with an action, answered with a fact, never waited for beyond their
//! deadline.

use super::{Action, Engine};
use crate::core::clock::Millis;
use crate::core::hook::{Answer, Hook, Hooks};
use crate::core::log::LogEvent;
use crate::core::request::{RequestId, State};
use crate::core::retry::WaitReason;
use crate::core::timer::Timer;

/// How long a tab that may not probe leaves the host to the one that may.
const ELSEWHERE: Millis = Millis::new(2_000.0);

impl Engine {
    /// Asks a hook about a request; the answer is waited for that long.
    pub(super) fn ask(&mut self, index: usize, hook: Hook, patience: Millis, now: Millis) {
        self.questions = self.questions.wrapping_add(1);
        let number = self.questions;
        let request = &mut self.requests[index];
        request.asked = number;
        request.state = State::Asking(hook);
        request.timers.stop_all();
        request.timers.set(Timer::Hook, now + patience);
        let (id, attempt) = (request.id, request.attempts);
        self.note(now, id, attempt, LogEvent::Asked, hook as u32, number.into());
        self.actions.push(Action::Ask { request: id, hook, number });
        self.actions.push(Action::Changed);
    }

    /// A hook answers the question of this number. One that is no longer open is ignored.
    pub fn handle_answer(&mut self, request: RequestId, number: u32, answer: Answer, now: Millis) {
        if let Some(index) = self.position(request)
            && self.requests[index].asked == number
        {
            self.answered(index, answer, now);
        }
    }

    /// The question that is open is answered, or its time is over.
    pub(super) fn answered(&mut self, index: usize, answer: Answer, now: Millis) {
        let request = &mut self.requests[index];
        let State::Asking(hook) = request.state else { return };
        request.timers.stop(Timer::Hook);
        let (id, attempt) = (request.id, request.attempts);
        let (detail, value) = match answer {
            Answer::Default => (0, 0.0),
            Answer::No => (1, 0.0),
            Answer::Yes => (2, 0.0),
            Answer::After(delay) => (3, delay.get()),
        };
        self.note(now, id, attempt, LogEvent::Answered, detail, value);
        match (hook, answer) {
            (Hook::Probe, Answer::No) => {
                self.requests[index].state = State::Waiting(WaitReason::Breaker);
                let spread = ELSEWHERE * (0.75 + 0.5 * self.dice.f64());
                self.defer(index, WaitReason::Breaker, now + spread, now);
            }
            (Hook::Probe, _) => {
                let request = &mut self.requests[index];
                request.elected = true;
                request.state = State::Waiting(WaitReason::Hold);
                self.depart(index, now);
            }
            (Hook::RefreshLicense, _) => self.license_refreshed(index, answer, now),
            (Hook::ShouldRetry, _) => self.decide(index, answer, now),
        }
    }

    /// Whether `shouldRetry` is to be asked about a failure of this request.
    pub(super) fn has_opinion(&self, index: usize) -> bool {
        !self.config.naive && self.requests[index].marks.hooks.has(Hooks::SHOULD_RETRY)
    }
}
