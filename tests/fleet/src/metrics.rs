//! What is counted in a run, and what it is summed up to.

use crate::calendar::Ms;
use crate::scenario::Scenario;

/// How finely it is known who plays.
const TICK: Ms = 100;

/// What a run leaves.
pub struct Trace {
    /// Requests in each second.
    pub arrivals: Vec<u32>,
    /// In each tenth of a second, how many stand still more than before.
    freezes: Vec<i32>,
    /// Time that viewers stood still, in all.
    stalled: u64,
    /// Requests that were served, and those of them that nobody waited for any more.
    pub served: u64,
    /// See [`Trace::served`].
    pub wasted: u64,
    /// Retries before the time that a server had named.
    pub violations: u64,
    /// Viewers whose session has ended with an error.
    pub dead: u32,
    /// Loads of the page after that.
    pub reloads: u32,
    /// Viewers who did not come back.
    pub gone: u32,
}

impl Trace {
    /// Of a run that has not begun.
    pub fn new(scenario: &Scenario) -> Self {
        let horizon = scenario.horizon();
        Self {
            arrivals: vec![0; horizon.div_ceil(1_000) as usize],
            freezes: vec![0; (horizon / TICK + 2) as usize],
            stalled: 0,
            served: 0,
            wasted: 0,
            violations: 0,
            dead: 0,
            reloads: 0,
            gone: 0,
        }
    }

    /// A request arrives.
    pub fn arrive(&mut self, now: Ms) {
        self.arrivals[(now / 1_000) as usize] += 1;
    }

    /// A viewer stood still.
    pub fn stall(&mut self, from: Ms, to: Ms) {
        self.stalled += u64::from(to - from);
        self.freezes[(from / TICK) as usize] += 1;
        self.freezes[(to / TICK) as usize] -= 1;
    }

    /// Requests from one second to another.
    fn sum(&self, from: Ms, to: Ms) -> f64 {
        let seconds = &self.arrivals[(from / 1_000) as usize..(to / 1_000) as usize];
        seconds.iter().map(|count| f64::from(*count)).sum()
    }

    /// The worst second of a span.
    fn worst(&self, from: Ms, to: Ms) -> f64 {
        let seconds = &self.arrivals[(from / 1_000) as usize..(to / 1_000) as usize];
        seconds.iter().copied().max().map_or(0.0, f64::from)
    }

    /// How long after `end` it takes until no more than `share` of the viewers stand still, for
    /// good; `None` where that never comes.
    fn recovery(&self, share: f64, scenario: &Scenario) -> Option<f64> {
        let (_, end) = scenario.span();
        let most = (share * f64::from(scenario.viewers)) as i64;
        let (mut frozen, mut last) = (0_i64, None);
        for (tick, change) in (0..).zip(&self.freezes) {
            frozen += i64::from(*change);
            if frozen > most && tick * TICK < scenario.horizon() {
                last = Some(tick);
            }
        }
        let recovered = last.map_or(0, |tick| ((tick + 1) * TICK).saturating_sub(end));
        (end + recovered < scenario.horizon()).then(|| f64::from(recovered) / 1_000.0)
    }

    /// What the run comes to, beside what the same policy does without a fault.
    pub fn sum_up(&self, scenario: &Scenario, healthy: &Self) -> Summary {
        let (onset, end) = scenario.span();
        let horizon = scenario.horizon();
        let steady = scenario.steady();
        let late = onset + 30_000;
        let load = |from, to| self.sum(from, to) / healthy.sum(from, to).max(1.0);
        Summary {
            outage_load: load(onset, end),
            late_load: (late < end).then(|| load(late, end)),
            peak: self.worst(end, horizon) / steady,
            healthy_peak: healthy.worst(scenario.warm.min(8_000), horizon) / steady,
            recover95: self.recovery(0.05, scenario),
            recover99: self.recovery(0.01, scenario),
            stall: self.stalled as f64 / 1_000.0 / f64::from(scenario.viewers),
            dead: 100.0 * f64::from(self.dead) / f64::from(scenario.viewers),
            gone: 100.0 * f64::from(self.gone) / f64::from(scenario.viewers),
            wasted: 100.0 * self.wasted as f64 / (self.served as f64).max(1.0),
            load: self.sum(onset, horizon) / healthy.sum(onset, horizon).max(1.0),
            end_load: self.sum(horizon - 10_000, horizon) / 10.0 / steady,
            violations: self.violations,
        }
    }
}

/// What a run comes to.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Requests during the outage, to those without a fault.
    pub outage_load: f64,
    /// The same from 30 s after the onset, where it is so long.
    pub late_load: Option<f64>,
    /// The worst second after the outage, to steady play.
    pub peak: f64,
    /// The worst second without a fault, to steady play.
    pub healthy_peak: f64,
    /// Seconds from the end of the outage until 95 of 100 play again.
    pub recover95: Option<f64>,
    /// The same for 99.
    pub recover99: Option<f64>,
    /// Seconds that a viewer stood still, on average.
    pub stall: f64,
    /// Sessions that ended with an error, of 100.
    pub dead: f64,
    /// Viewers who did not come back, of 100.
    pub gone: f64,
    /// Work for clients who had gone, of 100.
    pub wasted: f64,
    /// Requests from the onset to the end of the run, to those without a fault.
    pub load: f64,
    /// Requests in the last ten seconds, to steady play.
    pub end_load: f64,
    /// Retries before the time that a server had named.
    pub violations: u64,
}
