//! The origin: one queue, first in, first out, with a capacity and a bound.
//!
//! The queue is never walked. What is ahead of a request is an amount of work, and how much work
//! is done by when is known in advance, so that an arrival is told at once when it will be
//! answered. Work goes on after the client has gone.

use std::collections::VecDeque;

use crate::calendar::Ms;

/// What a refusal costs, in services.
const REFUSAL: f64 = 0.05;

/// What is left of the capacity in a brown-out.
const BROWN: f64 = 0.2;

/// What is wrong with the origin during the outage.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// It accepts and never answers.
    Blackhole,
    /// A fifth of its capacity is left.
    Brownout,
    /// It refuses at once.
    Error,
    /// Nothing.
    Nothing,
}

/// How long services take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Service {
    /// All the same.
    Constant,
    /// Exponentially distributed.
    Exponential,
}

/// What the queue holds.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// So much work, in milliseconds of the healthy origin.
    Work(f64),
    /// So many requests, the one in service included.
    Count(usize),
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reply {
    /// It is never answered.
    Never,
    /// It is answered then.
    Served(f64),
    /// It is refused at once.
    Refused,
}

/// The origin.
pub struct Origin {
    /// Services a millisecond.
    rate: f64,
    fault: Fault,
    from: f64,
    to: f64,
    service: Service,
    bound: Bound,
    /// The work that is done once the queue is empty, counted from the start.
    mark: f64,
    /// When the requests in the system leave it, where they are counted.
    leaving: VecDeque<f64>,
}

impl Origin {
    /// An origin of `rate` services a millisecond that is at fault within `span`.
    pub fn new(rate: f64, fault: Fault, span: (Ms, Ms), service: Service, bound: Bound) -> Self {
        let (from, to) = (f64::from(span.0), f64::from(span.1));
        Self { rate, fault, from, to, service, bound, mark: 0.0, leaving: VecDeque::new() }
    }

    /// A request arrives; arrivals come in the order of time.
    pub fn arrive(&mut self, now: f64, dice: &mut fastrand::Rng) -> Reply {
        let at_fault = (self.from..self.to).contains(&now);
        if at_fault && self.fault == Fault::Blackhole {
            return Reply::Never;
        }
        let done = self.done(now);
        let start = self.mark.max(done);
        if at_fault && self.fault == Fault::Error || self.is_full(start - done, now) {
            // Where requests are counted, one that is refused is gone.
            if matches!(self.bound, Bound::Work(_)) {
                self.mark = start + REFUSAL;
            }
            return Reply::Refused;
        }
        let size = match self.service {
            Service::Constant => 1.0,
            Service::Exponential => -(1.0 - dice.f64()).ln(),
        };
        self.mark = start + size;
        let at = self.when(self.mark);
        if let Bound::Count(_) = self.bound {
            self.leaving.push_back(at);
        }
        Reply::Served(at)
    }

    fn is_full(&mut self, ahead: f64, now: f64) -> bool {
        match self.bound {
            Bound::Work(most) => ahead > most * self.rate,
            Bound::Count(most) => {
                while self.leaving.front().is_some_and(|at| *at <= now) {
                    self.leaving.pop_front();
                }
                self.leaving.len() >= most
            }
        }
    }

    /// How many requests are in the system, where they are counted.
    pub fn count(&mut self, now: f64) -> usize {
        self.is_full(0.0, now);
        self.leaving.len()
    }

    /// What is left of the rate while the origin is slow.
    fn share(&self) -> f64 {
        if self.fault == Fault::Brownout { BROWN } else { 1.0 }
    }

    /// How much work can be done until `now`.
    fn done(&self, now: f64) -> f64 {
        let slow = (now.min(self.to) - self.from).max(0.0);
        self.rate * (now - slow * (1.0 - self.share()))
    }

    /// When so much work is done.
    fn when(&self, work: f64) -> f64 {
        let (at_onset, at_end) = (self.done(self.from), self.done(self.to));
        if work <= at_onset {
            work / self.rate
        } else if work < at_end {
            self.from + (work - at_onset) / (self.rate * self.share())
        } else {
            self.to + (work - at_end) / self.rate
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(fault: Fault, bound: Bound) -> Origin {
        Origin::new(0.1, fault, (1_000, 2_000), Service::Constant, bound)
    }

    #[test]
    fn requests_are_answered_one_after_the_other() {
        let mut dice = fastrand::Rng::with_seed(1);
        let mut origin = origin(Fault::Nothing, Bound::Work(25.0));
        let replies = [0.0; 4].map(|at| origin.arrive(at, &mut dice));
        // Two and a half services fit in front of a request.
        assert_eq!(replies[..3], [10.0, 20.0, 30.0].map(Reply::Served));
        assert_eq!(replies[3], Reply::Refused);
    }

    #[test]
    fn a_brown_out_stretches_what_is_under_way() {
        let mut dice = fastrand::Rng::with_seed(1);
        let mut origin = origin(Fault::Brownout, Bound::Work(1e9));
        for (at, answered) in [(0.0, 10.0), (995.0, 1_025.0), (996.0, 1_075.0), (1_990.0, 2_008.0)]
        {
            let Reply::Served(served) = origin.arrive(at, &mut dice) else { panic!("{at}") };
            assert!((served - answered).abs() < 1e-6, "{at}: {served}");
        }
    }
}
