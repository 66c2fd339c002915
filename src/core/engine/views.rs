//! What an engine shows of itself.

use super::{Engine, HostState};
use crate::core::clock::Millis;
use crate::core::estimate::Estimator;
use crate::core::log::Entry;
use crate::core::request::RetryState;
use crate::core::throttle::ThrottleState;

impl Engine {
    /// The requests that have failed and go on, or that are not sent yet.
    pub fn retry_states(&self) -> impl Iterator<Item = RetryState> {
        self.requests.iter().filter_map(|request| {
            let policy = self.config.site(request.site);
            request.retry_state(policy)
        })
    }

    /// What is known of the hosts, in the order of their numbers (R42).
    pub fn hosts(&self, now: Millis) -> impl Iterator<Item = HostState> {
        self.hosts.iter().zip(0..).map(move |(host, number)| HostState {
            host: number,
            health: host.breaker.health(&self.config.breaker, now),
            throttle: host.throttle.state(now),
        })
    }

    /// The rate limit of the whole session, while there is one.
    pub fn session_throttle(&self, now: Millis) -> Option<ThrottleState> {
        self.session.state(now)
    }

    /// The estimate of the bandwidth, and the bytes that are left out of it.
    pub const fn estimator(&self) -> &Estimator {
        &self.estimator
    }

    /// The decision log, oldest first.
    pub fn log(&self) -> impl Iterator<Item = &Entry> {
        self.log.iter()
    }

    /// How many requests are under way.
    pub const fn request_count(&self) -> usize {
        self.requests.len()
    }
}
