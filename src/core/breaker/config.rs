//! The numbers of a breaker.

use crate::core::backoff::exponential;
use crate::core::clock::Millis;

/// The numbers of a breaker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakerConfig {
    /// So many countable failures in a row open it.
    pub consecutive: u32,
    /// The span over which the share of failures is taken.
    pub window: Millis,
    /// The share counts once the window holds so many results.
    pub min_requests: u32,
    /// The share of failures that opens it, from 0 to 1.
    pub ratio: f64,
    /// The first cool-down.
    pub open_base: Millis,
    /// What each cool-down is multiplied with for the next.
    pub growth: f64,
    /// The longest cool-down, before jitter.
    pub open_cap: Millis,
    /// A closed breaker forgets one trip each time it sees no countable failure for so long.
    pub clean_decay: Millis,
    /// Whether one spent ladder opens it too.
    pub trip_exhausted: bool,
}

impl BreakerConfig {
    /// The cool-down after so many trips, before jitter.
    pub(super) fn cool_down(&self, trips: u32) -> Millis {
        exponential(self.open_base, self.growth, self.open_cap, trips.saturating_add(1))
    }
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self {
            consecutive: 5,
            window: Millis::new(30_000.0),
            min_requests: 10,
            ratio: 0.5,
            open_base: Millis::new(4_000.0),
            growth: 1.5,
            open_cap: Millis::new(30_000.0),
            clean_decay: Millis::new(30_000.0),
            trip_exhausted: false,
        }
    }
}
