//! Throttling that a page cannot read: a refusal without CORS headers looks like a network that
//! failed. It shows in a burst of failures that come at once, while the network is well.

use super::clock::{Last, Millis};

/// So many failures within [`WINDOW`] are a burst.
const BURST: usize = 3;

/// The span of a burst.
const WINDOW: Millis = Millis::new(10_000.0);

/// What fails together, as the first requests of a player do, fails once.
const TOGETHER: Millis = Millis::new(50.0);

/// For so long an answer proves that the network is well, and a burst that the next failure is
/// one more of it: a trial comes alone.
const PROOF: Millis = Millis::new(30_000.0);

/// The recent failures of one host.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpaqueBurst {
    /// When the failures before the newest one happened, the latest first.
    earlier: [Last; BURST - 1],
    /// When a burst was last seen.
    seen_at: Last,
}

impl OpaqueBurst {
    /// An attempt failed without a status; says whether that is throttling. `fast`: within a
    /// second, without a byte, while the browser was online. `elsewhere` is when another host
    /// last succeeded, `here` when this one last answered.
    pub fn handle_failure(
        &mut self,
        fast: bool,
        elsewhere: Option<Millis>,
        here: Option<Millis>,
        now: Millis,
    ) -> bool {
        if !fast {
            // A path that is slow to fail is a broken path.
            *self = Self::default();
            return false;
        }
        let together = self.earlier[0].is_within(TOGETHER, now);
        let burst = !together && self.earlier.iter().all(|at| at.is_within(WINDOW, now));
        if !together {
            self.earlier.copy_within(..BURST - 2, 1);
            self.earlier[0] = Last::at(now);
        }
        let proves = |at: Option<Millis>| at.is_some_and(|at| now - at < PROOF);
        let throttled =
            (burst || self.seen_at.is_within(PROOF, now)) && (proves(elsewhere) || proves(here));
        if throttled {
            self.seen_at = Last::at(now);
        }
        throttled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: f64) -> Millis {
        Millis::from_secs(secs)
    }

    /// Whether each of fast failures at these seconds is throttling, where this host answered at
    /// second 0 and no other did.
    fn judged(secs: &[f64]) -> Vec<bool> {
        let mut burst = OpaqueBurst::default();
        secs.iter().map(|secs| burst.handle_failure(true, None, Some(at(0.0)), at(*secs))).collect()
    }

    #[test]
    fn r46_three_failures_within_ten_seconds_are_a_burst() {
        assert_eq!(judged(&[1.0, 2.0, 3.0]), [false, false, true]);
        assert_eq!(judged(&[1.0, 1.1, 10.9]), [false, false, true]);
        assert_eq!(judged(&[1.0, 5.0, 11.0]), [false, false, false]);
    }

    #[test]
    fn r46_what_fails_together_fails_once() {
        assert_eq!(judged(&[1.0, 1.01, 1.02, 1.03]), [false; 4]);
        assert_eq!(judged(&[1.0, 1.01, 2.0, 2.01, 3.0]), [false, false, false, false, true]);
    }

    #[test]
    fn r46_after_a_burst_one_failure_is_enough_while_the_network_is_known_to_be_well() {
        assert_eq!(judged(&[1.0, 1.1, 1.2, 5.0, 16.0, 29.0])[2..], [true; 4]);
        assert_eq!(judged(&[1.0, 1.1, 1.2, 30.0])[2..], [true, false], "no answer for too long");
    }

    #[test]
    fn r46_no_burst_is_throttling_while_nothing_shows_that_the_network_is_well() {
        let mut burst = OpaqueBurst::default();
        let long_ago = Some(at(0.0));
        for second in [100.0, 101.0, 102.0] {
            assert!(!burst.handle_failure(true, None, None, at(second)));
            assert!(!burst.handle_failure(true, long_ago, long_ago, at(second)));
        }
        assert!(burst.handle_failure(true, Some(at(90.0)), None, at(103.0)), "another host");
        assert!(burst.handle_failure(true, None, Some(at(90.0)), at(104.0)), "this host");
    }

    #[test]
    fn r46_a_failure_that_took_its_time_ends_the_burst() {
        let mut burst = OpaqueBurst::default();
        let here = Some(at(0.0));
        let mut judge = |fast, secs| burst.handle_failure(fast, None, here, at(secs));
        assert!(!judge(true, 1.0) && !judge(true, 1.1) && judge(true, 1.2));
        assert!(!judge(false, 2.0));
        assert!(!judge(true, 2.1) && !judge(true, 2.2) && judge(true, 2.3));
    }
}
