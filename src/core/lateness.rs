//! How long a host takes for its headers, as RFC 6298 (section 2) learns how long a network takes
//! for a round trip: a mean, and how far from it the answers usually are.

use super::clock::Millis;

/// What was learned of the answers to one kind of request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lateness {
    /// Below zero before the first answer.
    mean: f32,
    deviation: f32,
}

impl Lateness {
    /// Nothing.
    pub(super) const NONE: Self = Self { mean: -1.0, deviation: 0.0 };

    /// Headers came after so long.
    pub(super) fn handle_answer(&mut self, took: Millis) {
        let took = took.get() as f32;
        if self.mean >= 0.0 {
            self.deviation += ((took - self.mean).abs() - self.deviation) / 4.0;
            self.mean += (took - self.mean) / 8.0;
        } else {
            *self = Self { mean: took, deviation: took / 2.0 };
        }
    }

    /// How late the next headers are at most, as far as can be told.
    pub(super) fn latest(&self) -> Option<Millis> {
        let latest = self.mean + 4.0 * self.deviation;
        (self.mean >= 0.0).then(|| Millis::new(latest.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latest(answers: &[f64]) -> Option<f64> {
        let mut lateness = Lateness::NONE;
        for took in answers {
            lateness.handle_answer(Millis::new(*took));
        }
        lateness.latest().map(Millis::get)
    }

    #[test]
    fn nothing_is_known_before_the_first_answer() {
        assert_eq!(latest(&[]), None);
        assert_eq!(latest(&[0.0]), Some(0.0));
    }

    #[test]
    fn the_first_answer_may_be_three_times_as_late() {
        assert_eq!(latest(&[100.0]), Some(300.0));
    }

    #[test]
    fn answers_that_are_always_as_late_leave_no_doubt() {
        let settled = latest(&[100.0; 50]).unwrap();
        assert!((100.0..101.0).contains(&settled), "{settled}");
    }

    #[test]
    fn one_late_answer_makes_room_for_more_of_them() {
        let mut answers = vec![100.0; 50];
        answers.push(2_000.0);
        assert!(latest(&answers).unwrap() > 2_000.0);
    }
}
