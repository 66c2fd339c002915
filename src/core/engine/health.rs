//! What attempts tell the breaker of their host.

use super::{Action, Engine};
use crate::core::breaker::{Evidence, Report};
use crate::core::clock::Millis;
use crate::core::log::LogEvent;
use crate::core::request::{Request, RequestId};
use crate::core::retry::hold_interval;

impl Engine {
    /// Tells the breaker what the attempt under way came to, if it has not been told yet.
    pub(super) fn report_health(
        &mut self,
        index: usize,
        evidence: Evidence,
        transport: bool,
        now: Millis,
    ) {
        let Some(permit) = self.requests[index].permit.take() else { return };
        let request = &self.requests[index];
        let number = request.host;
        let pause = self.pause(request, now);
        let asked = request.last_failure.and_then(|last| last.retry_at);
        let hint = asked.map(|at| at - now);
        let url = request.marks.url;
        let failed = matches!(evidence, Evidence::Failure | Evidence::Soft);
        let unit = if failed { self.dice.f64() } else { 0.5 };
        let report = Report { evidence, transport, url, pause, hint, unit };
        let breaker = &mut self.hosts[number as usize].breaker;
        if breaker.report(&self.config.breaker, permit, report, now) {
            self.tell_health(number, now);
        }
    }

    /// A ladder is spent, where one is enough to open its host (R38).
    pub(super) fn trip(&mut self, index: usize, now: Millis) {
        let request = &self.requests[index];
        if self.config.naive || !request.last_failure.is_some_and(|last| last.counts) {
            return;
        }
        let number = request.host;
        let pause = self.pause(request, now);
        let unit = self.dice.f64();
        let breaker = &mut self.hosts[number as usize].breaker;
        if breaker.trip(&self.config.breaker, pause, unit, now) {
            self.tell_health(number, now);
        }
    }

    /// What has changed of a host's health is told to whoever looks on.
    pub(super) fn tell_health(&mut self, number: u32, now: Millis) {
        let host = &mut self.hosts[number as usize];
        let health = host.breaker.health(&self.config.breaker, now).health;
        // A probe that failed changes the times, and nothing else.
        self.actions.push(Action::Changed);
        if health == host.told {
            return;
        }
        host.told = health;
        self.note(now, RequestId(0), 0, LogEvent::Health, health as u32, number.into());
    }

    /// The cool-down where there is nowhere else to go: probes keep the pace of steady play.
    fn pause(&self, request: &Request, now: Millis) -> Option<Millis> {
        let failing = self.host(request).failing_for(now);
        let target = self.playback.target_duration;
        self.may_hold(request).then(|| hold_interval(target, false, failing))
    }
}
