//! The pace at which playback catches up after an outage.
//!
//! When a host comes back, a crowd of players with empty buffers fetches as fast as it can, and that,
//! not the retries before it, is the worst second of an outage. So the buffer may grow, after an
//! outage, by a little more than is played, and faster with each answer that comes as soon as answers
//! of this host are used to come. One that is late says that the host has no room to spare.

use super::clock::Millis;

/// By how much the buffer may grow in the time that it plays, at first and at most,
const SLOWEST: f64 = 0.05;
const FASTEST: f64 = 0.5;
/// and what a timely answer adds to it.
const STEP: f64 = 0.03;

/// So much later than usual is late.
const LATE: Millis = Millis::new(100.0);

/// An outage that was shorter leaves no crowd behind.
pub(super) const OUTAGE: Millis = Millis::new(3_000.0);

/// After this time nobody is behind any more.
const LONGEST: Millis = Millis::new(120_000.0);

/// One return to steady play.
#[derive(Clone, Copy, Debug)]
pub(super) struct CatchUp {
    began: Millis,
    /// When the numbers below were true.
    at: Millis,
    /// What may be buffered.
    allowed: Millis,
    growth: f64,
    /// How late answers were before the outage.
    usual: Millis,
}

impl CatchUp {
    /// The host is back. `buffer` is left, and `usual` is how late its answers were, at most.
    pub(super) fn new(buffer: Millis, usual: Millis, unit: f64, now: Millis) -> Self {
        Self { began: now, at: now, allowed: buffer, growth: 2.0 * SLOWEST * unit, usual }
    }

    /// The headers of a segment came after so long.
    pub(super) fn handle_answer(&mut self, took: Millis, now: Millis) {
        self.allowed = self.allowed_at(now);
        self.at = now;
        let timely = took <= self.usual + LATE;
        self.growth =
            if timely { (self.growth + STEP).min(FASTEST) } else { self.growth.min(SLOWEST) };
    }

    /// When the next segment may be asked for, with so much buffered; a segment takes `fetch`.
    pub(super) fn next_at(&self, buffer: Millis, fetch: Millis, now: Millis) -> Millis {
        if now - self.began >= LONGEST {
            return now;
        }
        let above = buffer - fetch - self.allowed_at(now);
        now + (above * (1.0 / (1.0 + self.growth))).max(Millis::ZERO)
    }

    fn allowed_at(&self, now: Millis) -> Millis {
        self.allowed + (now - self.at) * self.growth
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const BUFFER: Millis = Millis::new(2_000.0);
    const USUAL: Millis = Millis::new(50.0);
    const TIMELY: Millis = USUAL;
    /// An answer that is not.
    const TARDY: Millis = Millis::new(151.0);

    fn at(ms: f64) -> Millis {
        Millis::new(ms)
    }

    fn begun(unit: f64) -> CatchUp {
        CatchUp::new(BUFFER, USUAL, unit, Millis::ZERO)
    }

    /// After answers that took so long, each so long after the one before. Gives the time, too.
    fn answered(unit: f64, answers: &[(f64, f64)]) -> (CatchUp, Millis) {
        let (mut pace, mut now) = (begun(unit), Millis::ZERO);
        for (took, gap) in answers {
            now = now + at(*gap);
            pace.handle_answer(at(*took), now);
        }
        (pace, now)
    }

    /// How long nothing is asked for with 5 s more than there were at first.
    fn wait(pace: CatchUp, now: Millis) -> f64 {
        (pace.next_at(BUFFER + at(5_000.0), Millis::ZERO, now) - now).get()
    }

    #[test]
    fn as_much_as_there_was_and_what_a_segment_takes_is_asked_for_at_once() {
        let (pace, fetch) = (begun(0.5), at(300.0));
        assert_eq!(pace.next_at(BUFFER + fetch, fetch, Millis::ZERO), Millis::ZERO);
        assert!(pace.next_at(BUFFER + fetch + at(1.0), fetch, Millis::ZERO) > Millis::ZERO);
    }

    #[test]
    fn chance_sets_the_first_pace_so_that_not_all_are_in_step() {
        // 5 s more, at a growth of nothing, and of a tenth of what is played.
        let waits = [0.0, 1.0].map(|unit| wait(begun(unit), Millis::ZERO));
        assert!((waits[0] - 5_000.0).abs() < 1e-6, "{waits:?}");
        assert!((waits[1] - 5_000.0 / 1.1).abs() < 1e-6, "{waits:?}");
    }

    #[test]
    fn timely_answers_raise_the_pace_to_half_as_much_again_and_a_late_one_ends_that() {
        let mut pace = begun(0.5);
        let mut waits = vec![wait(pace, Millis::ZERO)];
        for _ in 0..30 {
            pace.handle_answer(TIMELY, Millis::ZERO);
            waits.push(wait(pace, Millis::ZERO));
        }
        assert!(waits.windows(2).all(|pair| pair[1] <= pair[0]), "{waits:?}");
        assert!((waits[30] - 5_000.0 / 1.5).abs() < 1e-6, "{waits:?}");
        pace.handle_answer(TARDY, Millis::ZERO);
        assert!((wait(pace, Millis::ZERO) - 5_000.0 / 1.05).abs() < 1e-6, "as at first");
    }

    #[test]
    fn after_two_minutes_nobody_is_behind() {
        let (pace, hour) = (begun(0.0), at(3_600_000.0));
        let end = LONGEST;
        assert_eq!(pace.next_at(hour, Millis::ZERO, end), end);
        assert!(pace.next_at(hour, Millis::ZERO, end - at(1.0)) > end);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// The buffer is played while it is waited for.
        #[test]
        fn a_wait_is_over_when_it_says_and_not_before(
            unit in 0.0..1.0_f64,
            answers in vec((0.0..400.0_f64, 0.0..5_000.0_f64), 0..12),
            buffer in 0.0..60_000.0_f64,
            fetch in 0.0..2_000.0_f64,
        ) {
            let (pace, now) = answered(unit, &answers);
            let due = pace.next_at(at(buffer), at(fetch), now);
            let waited = due - now;
            prop_assume!(waited.get() > 1.0 && due < LONGEST);
            prop_assert!(waited <= at(buffer), "playback does not stop for it");
            let left = |waited: Millis| at(buffer) - waited;
            let again = pace.next_at(left(waited), at(fetch), due);
            prop_assert!((again - due).get() < 1e-6, "{again:?} at {due:?}");
            let half = waited * 0.5;
            let early = pace.next_at(left(half), at(fetch), now + half);
            prop_assert!((early.get() - due.get()).abs() < 1e-6, "{early:?} for {due:?}");
        }

        #[test]
        fn the_buffer_may_never_shrink_and_grows_by_half_of_what_is_played_at_most(
            unit in 0.0..1.0_f64,
            answers in vec((0.0..400.0_f64, 0.0..5_000.0_f64), 0..12),
            later in 0.0..10_000.0_f64,
        ) {
            let (pace, now) = answered(unit, &answers);
            let now = now + at(later);
            prop_assume!(now < LONGEST);
            prop_assert_eq!(pace.next_at(BUFFER, Millis::ZERO, now), now);
            let most = BUFFER + now * FASTEST;
            prop_assert!(pace.next_at(most + at(1.0), Millis::ZERO, now) > now);
        }

        #[test]
        fn who_has_more_waits_longer(
            unit in 0.0..1.0_f64,
            answers in vec((0.0..400.0_f64, 0.0..5_000.0_f64), 0..12),
            buffers in (0.0..60_000.0_f64, 0.0..60_000.0_f64),
        ) {
            let (pace, now) = answered(unit, &answers);
            let due = |buffer: f64| pace.next_at(at(buffer), Millis::ZERO, now);
            let (less, more) = (buffers.0.min(buffers.1), buffers.0.max(buffers.1));
            prop_assert!(due(less) <= due(more));
        }
    }
}
