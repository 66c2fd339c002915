//! Published results that the simulation has to reproduce before anything else is said with it.
//!
//! - M/M/1/K: loss and mean number in the system by the closed form; the same [`Origin`] as that of
//!   the fleet, asked for exponential services and a bound by count.
//! - M. Brooker, "Fixing retries with token buckets and circuit breakers", 2022
//!   (brooker.co.za/blog/2022/02/28/retries.html): N retries multiply load by up to 1 + N, an
//!   adaptive bucket by about 1.1, and a breaker of many small clients fails what need not fail.
//!   The figures are those of its published program for 100 clients of 10 requests a second in 5 s.
//! - M. Brooker, "Exponential backoff and jitter", AWS 2015: contenders for one optimistically
//!   locked row; full jitter sends less than half the calls of backoff without jitter.
//! - J. Magerramov's `queueingsimulator` and others: where a client's time-out is below the mean
//!   sojourn that its retries cause, the storm outlives its trigger; where it is not, it ends.

use crate::grid::{TAIL, WARM};
use crate::metrics::Trace;
use crate::origin::{Bound, Fault, Origin, Reply, Service};
use crate::policy::peer::{Failure, Limits, Next, Peer, Policy};
use crate::scenario::{Mode, Phase, Scenario};
use crate::sim::Sim;

/// One figure.
pub struct Reference {
    /// What it is.
    pub name: String,
    /// What was published, or follows from a formula.
    pub expected: f64,
    /// What comes out here.
    pub measured: f64,
    /// How far off it may be.
    pub tolerance: f64,
}

impl Reference {
    /// Whether it comes out.
    pub fn holds(&self) -> bool {
        (self.measured - self.expected).abs() <= self.tolerance
    }
}

/// All of them.
pub fn all() -> Vec<Reference> {
    [queue(), retries(), jitter(), storm()].into_iter().flatten().collect()
}

/// M/M/1/10 at a load of 0.8, and M/M/1/5 at 1.2.
pub fn queue() -> Vec<Reference> {
    let mut references = Vec::new();
    for (load, places) in [(0.8, 10), (1.2, 5)] {
        let (lost, length) = simulated_queue(load, places);
        let weights: Vec<f64> = (0..=places as i32).map(|n| load.powi(n)).collect();
        let sum: f64 = weights.iter().sum();
        let mean = (0..).zip(&weights).map(|(n, weight)| f64::from(n) * weight).sum::<f64>() / sum;
        let compared = [("loss", weights[places] / sum, lost), ("length", mean, length)];
        for (what, expected, measured) in compared {
            let name = format!("M/M/1/{places} at a load of {load}: {what}");
            references.push(Reference { name, expected, measured, tolerance: 0.01 * expected });
        }
    }
    references
}

/// The share that is refused, and how many are in the system on average. Arrivals see time
/// averages, as they are Poisson.
fn simulated_queue(load: f64, places: usize) -> (f64, f64) {
    let mut dice = fastrand::Rng::with_seed(7);
    let bound = Bound::Count(places);
    let mut origin = Origin::new(1.0, Fault::Nothing, (0, 0), Service::Exponential, bound);
    let (mut now, mut lost, mut seen) = (0.0, 0.0, 0.0);
    let arrivals = 16_000_000;
    for _ in 0..arrivals {
        now += -(1.0 - dice.f64()).ln() / load;
        seen += origin.count(now) as f64;
        if origin.arrive(now, &mut dice) == Reply::Refused {
            lost += 1.0;
        }
    }
    (lost / f64::from(arrivals), seen / f64::from(arrivals))
}

/// How a client of Brooker's simulation retries.
#[derive(Clone, Copy)]
enum Retries {
    /// So many times.
    Fixed(u32),
    /// While a bucket of five has more than a token; each request brings a tenth of one.
    Adaptive,
    /// Three times, unless more than a tenth of its requests have failed so far.
    Breaker,
}

/// Brooker's figures: failure rate, then success and attempts of a request.
pub fn retries() -> Vec<Reference> {
    let cases = [
        ("three retries", Retries::Fixed(3), 0.1, 1.000, 1.104),
        ("three retries", Retries::Fixed(3), 0.5, 0.937, 1.873),
        ("three retries", Retries::Fixed(3), 0.75, 0.695, 2.742),
        ("three retries", Retries::Fixed(3), 1.0, 0.000, 4.000),
        ("adaptive", Retries::Adaptive, 0.1, 0.997, 1.101),
        ("adaptive", Retries::Adaptive, 0.5, 0.593, 1.181),
        ("adaptive", Retries::Adaptive, 0.75, 0.289, 1.184),
        ("adaptive", Retries::Adaptive, 1.0, 0.000, 1.187),
        ("breaker", Retries::Breaker, 0.1, 0.923, 1.024),
        ("breaker", Retries::Breaker, 0.5, 0.503, 1.000),
        ("breaker", Retries::Breaker, 0.75, 0.242, 1.000),
        ("breaker", Retries::Breaker, 1.0, 0.000, 1.000),
    ];
    let mut references = Vec::new();
    for (kind, retries, rate, succeeded, loaded) in cases {
        let (success, load) = small_clients(rate, retries);
        let name = |what| format!("{kind}, {} % of attempts fail: {what}", 100.0 * rate);
        // Theirs is one run of about 5 000 requests, whose standard error is 0.7 % at most.
        references.push(Reference {
            name: name("success"),
            expected: succeeded,
            measured: success,
            tolerance: 0.02,
        });
        references.push(Reference {
            name: name("load"),
            expected: loaded,
            measured: load,
            tolerance: 0.02,
        });
    }
    references
}

/// A hundred clients of ten requests a second for five seconds: the share of requests that
/// succeed, and attempts for each request.
fn small_clients(rate: f64, retries: Retries) -> (f64, f64) {
    let mut dice = fastrand::Rng::with_seed(1);
    let (clients, requests) = (100, 50);
    // Averaged over runs, so that what is left of the difference is that of their one run.
    let runs = 20;
    let (mut sent, mut succeeded) = (0_u32, 0_u32);
    for _ in 0..clients * runs {
        let (mut bucket, mut calls, mut failures) = (5.0_f64, 0.0, 0.0);
        for _ in 0..requests {
            bucket = (bucket + 0.1).min(5.0);
            calls += 1.0;
            let mut attempts = 0;
            let succeeds = loop {
                sent += 1;
                attempts += 1;
                if dice.f64() >= rate {
                    break true;
                }
                failures += 1.0;
                let again = match retries {
                    Retries::Fixed(most) => attempts <= most,
                    Retries::Adaptive => bucket > 1.0,
                    Retries::Breaker => failures / calls <= 0.1 && attempts <= 3,
                };
                if !again {
                    break false;
                }
                bucket -= 1.0;
            };
            succeeded += u32::from(succeeds);
        }
    }
    let all = f64::from(clients * runs * requests);
    (f64::from(succeeded) / all, f64::from(sent) / all)
}

/// Calls of a hundred contenders, with full jitter to those without.
pub fn jitter() -> Vec<Reference> {
    let runs = 40;
    let calls = |jittered: bool| -> f64 {
        (0..runs).map(|seed| contend(100, jittered, seed)).sum::<f64>() / f64::from(runs as u32)
    };
    let ratio = calls(true) / calls(false);
    // All that the source says in words: what is below a half, and not far, comes out.
    vec![Reference {
        name: "calls of 100 contenders, full jitter to none (“more than halved”)".into(),
        expected: 0.43,
        measured: ratio,
        tolerance: 0.07,
    }]
}

/// Contenders for one row under optimistic locking: read, write, and back off where somebody
/// else wrote in between. Network delays are normal with mean 10 ms and deviation 2 ms; backoff
/// is 5 ms doubled up to 2 s. Answers the calls until all have written.
fn contend(contenders: u32, jittered: bool, seed: u64) -> f64 {
    let mut dice = fastrand::Rng::with_seed(seed);
    // When, who, and with which version; none for a read.
    let mut calls: Vec<(f64, u32, Option<u32>)> = Vec::new();
    let delay = |dice: &mut fastrand::Rng| {
        // Twelve uniforms are normal enough.
        let normal = (0..12).map(|_| dice.f64()).sum::<f64>() - 6.0;
        (10.0 + 2.0 * normal).max(0.0)
    };
    for who in 0..contenders {
        calls.push((delay(&mut dice), who, None));
    }
    let mut failures = vec![0; contenders as usize];
    let (mut version, mut made) = (0, 0.0);
    while !calls.is_empty() {
        let earliest =
            |a: &(f64, u32, Option<u32>), b: &(f64, u32, Option<u32>)| a.0.total_cmp(&b.0);
        let Some(place) = (0..calls.len()).min_by(|a, b| earliest(&calls[*a], &calls[*b])) else {
            break;
        };
        let (now, who, seen) = calls.swap_remove(place);
        made += 1.0;
        let answered = now + delay(&mut dice);
        match seen {
            None => calls.push((answered + delay(&mut dice), who, Some(version))),
            Some(seen) if seen == version => version += 1,
            Some(_) => {
                let span = (5.0 * f64::from(1_u32 << failures[who as usize].min(12))).min(2_000.0);
                failures[who as usize] += 1;
                let wait = if jittered { span * dice.f64() } else { span };
                calls.push((answered + wait + delay(&mut dice), who, None));
            }
        }
    }
    made
}

/// A client that gives up waiting after `limit` and asks again at once.
macro_rules! impatient {
    ($name:literal, $limit:expr) => {
        Policy {
            name: $name,
            limits: |_| Limits { head: $limit, whole: $limit },
            next: |_, _: Failure, _, _, _| Next::Retry(1),
            gate: None,
            note: None,
        }
    };
}

static IMPATIENT: Policy = impatient!("a time-out of 3 s", 3_000);
static PATIENT: Policy = impatient!("a time-out of 60 s", 60_000);

/// Whether the load is still above steady play two minutes after a brown-out of 20 s, with a queue
/// of 30 s and a head-room of 1.05: 1 where it is.
pub fn storm() -> Vec<Reference> {
    let persists = |policy: &'static Policy| {
        let scenario = Scenario {
            mode: Mode::Brownout,
            outage: 20_000,
            headroom: 1.05,
            phase: Phase::Uniform,
            viewers: 2_000,
            queue: 30_000,
            seed: 1,
            warm: WARM,
            tail: TAIL,
        };
        let trace: Trace = Sim::<Peer>::run(scenario, policy);
        let from = (scenario.horizon() - 10_000) / 1_000;
        let last: u32 = trace.arrivals[from as usize..].iter().sum();
        f64::from(u8::from(f64::from(last) / 10.0 > 1.1 * scenario.steady()))
    };
    vec![
        Reference {
            name: "a time-out below the sojourn: the storm persists".into(),
            expected: 1.0,
            measured: persists(&IMPATIENT),
            tolerance: 0.0,
        },
        Reference {
            name: "a time-out above the sojourn: the storm persists".into(),
            expected: 0.0,
            measured: persists(&PATIENT),
            tolerance: 0.0,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(references: Vec<Reference>) {
        for reference in references {
            assert!(
                reference.holds(),
                "{}: {} instead of {}",
                reference.name,
                reference.measured,
                reference.expected
            );
        }
    }

    #[test]
    fn a_queue_loses_and_holds_what_the_closed_form_says() {
        check(queue());
    }

    #[test]
    fn retries_multiply_load_as_brooker_published() {
        check(retries());
    }

    #[test]
    fn full_jitter_more_than_halves_the_calls_of_contenders() {
        check(jitter());
    }

    #[test]
    fn a_retry_storm_outlives_its_trigger_where_time_outs_are_short() {
        check(storm());
    }
}
