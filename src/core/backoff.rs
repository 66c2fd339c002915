//! The delay before the next attempt: an exponential curve and jitter from a supplied unit
//! random (Brooker, "Exponential Backoff And Jitter", 2015).

use super::clock::Millis;

/// No retry is sent sooner than this after the failure, whatever the dice say: full jitter
/// alone can come out as zero, and zero is a hot loop.
pub(super) const FLOOR: Millis = Millis::new(50.0);

/// The curve without jitter: `min(cap, base * factor^(n-1))` for the `n`-th failure, from 1.
pub fn exponential(base: Millis, factor: f64, cap: Millis, n: u32) -> Millis {
    // An overflow to infinity is cut by the cap like any large value.
    Millis::new(base.get() * power(factor, n.saturating_sub(1).min(1_000))).min(cap)
}

/// `factor` to the power of `n`, the same to the last bit wherever it runs, as `powi` is not.
pub(super) fn power(factor: f64, n: u32) -> f64 {
    (0..n).fold(1.0, |product, _| product * factor)
}

/// Uniform in `[0, span)`, never below 50 ms: spreads clients the widest (R13).
pub fn full_jitter(span: Millis, unit: f64) -> Millis {
    (span * unit).max(FLOOR)
}

/// Uniform in `[span/2, span)`, never below 50 ms: for failures that ask for less load,
/// where a lucky draw near zero would be a mistake.
pub fn equal_jitter(span: Millis, unit: f64) -> Millis {
    (span * (0.5 + 0.5 * unit)).max(FLOOR)
}

/// What the first time-outs and silences in a row widen a bound to, at most: where a host is a black
/// hole, its return is noticed when the bound is over.
const WIDE: Millis = Millis::new(12_000.0);
/// So many are the first.
const FIRST: u32 = 8;
/// What the others do.
const WIDEST: Millis = Millis::new(30_000.0);

/// The bound after it was exceeded `times` times: half as long again each time, up to 12 s, later
/// up to 30 s, or the bound itself. A server that always takes its time must be waited for in the
/// end, or no attempt ever succeeds.
pub(super) fn widened(bound: Millis, times: u32, most: Millis) -> Millis {
    let widest = if times < FIRST { WIDE } else { WIDEST };
    (bound * power(1.5, times.min(16))).min(most.max(widest))
}

/// For attempts that timed out: waiting was the pause already, and at a span of seconds the
/// attempts space themselves. A quarter of full jitter keeps clients out of step.
pub(super) fn after_timeout(span: Millis, unit: f64) -> Millis {
    full_jitter(span * 0.25, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Millis = Millis::new(1_000.0);
    const CAP: Millis = Millis::new(8_000.0);

    #[test]
    fn full_jitter_at_one_half_follows_the_published_series() {
        let series: Vec<f64> =
            (1..=5).map(|n| full_jitter(exponential(BASE, 2.0, CAP, n), 0.5).get()).collect();
        assert_eq!(series, [500.0, 1000.0, 2000.0, 4000.0, 4000.0]);
    }

    #[test]
    fn equal_jitter_spans_the_upper_half() {
        let span = exponential(BASE, 2.0, CAP, 3);
        assert_eq!(equal_jitter(span, 0.0), Millis::new(2_000.0));
        assert_eq!(equal_jitter(span, 0.5), Millis::new(3_000.0));
        assert_eq!(equal_jitter(span, 1.0), Millis::new(4_000.0));
    }

    #[test]
    fn r13_a_hundred_thousand_draws_stay_in_bounds_with_half_as_mean() {
        let mut dice = fastrand::Rng::with_seed(7);
        let span = exponential(BASE, 2.0, CAP, 4);
        let draws = 100_000;
        let mut sum = 0.0;
        for _ in 0..draws {
            let delay = full_jitter(span, dice.f64());
            assert!(delay >= FLOOR && delay <= span);
            sum += delay.get();
        }
        let mean = sum / f64::from(draws) / span.get();
        assert!((mean - 0.5).abs() < 0.01, "mean {mean} of the span");
    }

    #[test]
    fn never_below_the_floor_and_never_above_the_cap() {
        assert_eq!(full_jitter(Millis::ZERO, 0.9), FLOOR);
        assert_eq!(full_jitter(BASE, 0.0), FLOOR);
        assert_eq!(after_timeout(BASE, 0.0), FLOOR);
        assert_eq!(exponential(BASE, 1e300, CAP, u32::MAX), CAP);
    }
}
