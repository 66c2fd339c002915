//! The pace of the ramp: the generic cell rate algorithm. One time says it all: when the next
//! request would be due if all had kept the pace exactly.

use crate::core::clock::Millis;

/// A wait shorter than this is none, or a sum of fractions would be waited for.
pub(super) const SHORTFALL: Millis = Millis::new(0.001);

/// The pace of one scope.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    due: Millis,
}

impl Pace {
    /// A request takes its turn.
    pub(super) fn take(&mut self, rate: f64, now: Millis) {
        self.due = self.due.max(now) + Millis::from_secs(1.0 / rate);
    }

    /// Begins at `now` with nothing saved up: one request at once, the others at the pace.
    pub(super) fn restart(&mut self, rate: f64, now: Millis) {
        self.due = self.due.max(now) + tolerance(rate);
    }

    /// When the next request may go.
    pub(super) fn next_at(self, rate: f64) -> Millis {
        self.due - tolerance(rate)
    }
}

/// How far requests may run ahead of the pace: those of one second may go at once.
fn tolerance(rate: f64) -> Millis {
    let burst = rate.floor().max(1.0);
    Millis::from_secs((burst - 1.0) / rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many may go at `now`.
    fn taken(pace: &mut Pace, rate: f64, now: Millis) -> usize {
        (0..100)
            .take_while(|_| {
                let granted = pace.next_at(rate) <= now + SHORTFALL;
                if granted {
                    pace.take(rate, now);
                }
                granted
            })
            .count()
    }

    #[test]
    fn after_a_pause_the_requests_of_one_second_may_go_at_once() {
        for (rate, burst) in [(0.3, 1), (1.9, 1), (2.0, 2), (5.7, 5)] {
            let mut pace = Pace::default();
            let now = Millis::new(60_000.0);
            assert_eq!(taken(&mut pace, rate, now), burst, "at {rate}/s");
            assert_eq!(taken(&mut pace, rate, now + Millis::from_secs(1.0 / rate)), 1);
        }
    }

    #[test]
    fn a_restart_saves_nothing_up() {
        let mut pace = Pace::default();
        let now = Millis::new(60_000.0);
        pace.restart(5.0, now);
        assert_eq!(taken(&mut pace, 5.0, now), 1);
        assert_eq!(taken(&mut pace, 5.0, now + Millis::new(199.0)), 0);
        assert_eq!(taken(&mut pace, 5.0, now + Millis::new(200.0)), 1);
    }
}
