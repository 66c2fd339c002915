//! What comes from outside of the requests: another source, a clean slate, news of other tabs.

use std::sync::Arc;

use super::{Action, Engine};
use crate::core::budget::SourceBudget;
use crate::core::clock::Millis;
use crate::core::config::Config;
use crate::core::host::Host;
use crate::core::request::RequestId;

impl Engine {
    /// Another source is played: this configuration from now on, but for its seed, its log and its
    /// estimator, and its own budget. What is known of the hosts stays (R43, R62).
    pub fn handle_source(&mut self, config: Arc<Config>, now: Millis) {
        self.config = config;
        self.source = SourceBudget::new(&self.config.budget);
        self.guard.clear();
        self.actions.push(Action::Changed);
        self.retime(now);
    }

    /// Forgets what is known against a host, or against all (R42).
    pub fn handle_reset_health(&mut self, host: Option<u32>, now: Millis) {
        for number in 0..self.hosts.len() as u32 {
            if host.is_none_or(|host| host == number) {
                self.hosts[number as usize].breaker.reset();
                self.tell_health(number, now);
            }
        }
        self.guard.clear();
        self.actions.push(Action::Changed);
        self.retime(now);
    }

    /// Another tab knows that a host is down until then, for the `trips`-th time, and how its
    /// rate is limited, from when and to how many requests a second. It never relaxes anything
    /// here.
    pub fn handle_gossip(
        &mut self,
        host: u32,
        open_until: Option<Millis>,
        trips: u32,
        limit: Option<(Millis, f64)>,
        now: Millis,
    ) {
        self.meet(host);
        let Host { breaker, throttle, .. } = &mut self.hosts[host as usize];
        if let Some(until) = open_until {
            breaker.adopt(&self.config.breaker, until, trips, now);
        }
        if let Some((until, rate)) = limit {
            throttle.adopt(until, rate, now);
        }
        self.actions.push(Action::Changed);
        self.retime(now);
    }

    /// A prefix of this request's URL is rate-limited by itself ([`Scope::Prefix`](super::Scope)).
    pub fn handle_prefix(&mut self, request: RequestId, prefix: u32) {
        if let Some(index) = self.position(request) {
            self.requests[index].marks.prefix = prefix;
            let marks = self.requests[index].marks;
            self.make_room(&marks);
        }
    }

    /// Whether tabs agree on who probes a host.
    pub const fn handle_elections(&mut self, elects: bool) {
        self.elects = elects;
    }
}
