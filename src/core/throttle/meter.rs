//! How many requests are sent per second: a moving average over bins of half a second, as the
//! SDK has it whose curve `cubic.rs` is.

use crate::core::clock::Millis;

/// The length of a bin, in milliseconds.
const BIN: f64 = 500.0;

/// The weight of the newest bin.
const WEIGHT: f64 = 0.8;

/// The meter of one scope.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meter {
    rate: f64,
    /// Sent since the last bin ended.
    sent: u32,
    /// The start of the current bin; `None` before the first request.
    bin: Option<Millis>,
}

impl Meter {
    /// A request is sent. The one that opens a bin closes the one before it and counts there.
    pub(super) fn handle_sent(&mut self, now: Millis) {
        let bin = Millis::new((now.get() / BIN).floor() * BIN);
        let last = *self.bin.get_or_insert(bin);
        self.sent = self.sent.saturating_add(1);
        if bin > last {
            let newest = f64::from(self.sent) / (bin - last).as_secs();
            self.rate = WEIGHT * newest + (1.0 - WEIGHT) * self.rate;
            self.sent = 0;
            self.bin = Some(bin);
        }
    }

    /// The average in requests/s, as of the last request that opened a bin.
    pub(super) const fn rate(&self) -> f64 {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_follows_the_published_series() {
        let mut meter = Meter::default();
        meter.handle_sent(Millis::ZERO);
        meter.sent = 0;
        let series: Vec<f64> = (1..=10)
            .map(|step| {
                meter.handle_sent(Millis::new(200.0 * f64::from(step)));
                (meter.rate() * 1e6).round() / 1e6
            })
            .collect();
        assert_eq!(series, [0.0, 0.0, 4.8, 4.8, 4.16, 4.16, 4.16, 5.632, 5.632, 4.3264]);
    }

    #[test]
    fn one_request_in_four_seconds_is_a_quarter_per_second() {
        let mut meter = Meter::default();
        for step in 0..20 {
            meter.handle_sent(Millis::new(1_000_300.0 + 4_000.0 * f64::from(step)));
        }
        assert!((meter.rate() - 0.25).abs() < 1e-6, "{}", meter.rate());
    }
}
