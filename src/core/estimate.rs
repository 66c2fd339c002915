//! Bandwidth estimate: two exponentially weighted moving averages, the lower one counts.
//!
//! Each sample weighs as many seconds as its transfer took; a bias towards zero from the
//! empty start is divided out. Only first attempts are sampled (R64): a retry measures the
//! failure, not the link.

use super::backoff::power;

/// The numbers of an estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimatorConfig {
    /// Half-life of the quick average, in seconds of transfer.
    pub fast_half_life: f64,
    /// Half-life of the slow average, in seconds of transfer.
    pub slow_half_life: f64,
    /// Smaller samples are ignored, in bytes: they measure latency.
    pub min_bytes: f64,
    /// Shorter samples are ignored, in milliseconds: they measure the cache.
    pub min_duration: f64,
    /// The estimate stands once so many bytes were seen.
    pub min_total_bytes: f64,
}

impl EstimatorConfig {
    /// The pair that hls.js is tuned for: 3 s and 9 s.
    pub const HLS_JS: Self = Self {
        fast_half_life: 3.0,
        slow_half_life: 9.0,
        min_bytes: 0.0,
        min_duration: 0.0,
        min_total_bytes: 0.0,
    };

    /// The pair that SPF and Shaka Player are tuned for: 2 s and 5 s.
    pub const SPF: Self = Self {
        fast_half_life: 2.0,
        slow_half_life: 5.0,
        min_bytes: 16_000.0,
        min_duration: 5.0,
        min_total_bytes: 128_000.0,
    };
}

/// The estimator.
#[derive(Clone, Debug)]
pub struct Estimator {
    config: EstimatorConfig,
    fast: Average,
    slow: Average,
    /// All bytes of samples, the ignored ones too.
    sampled_bytes: f64,
    excluded_bytes: f64,
}

impl Estimator {
    /// An estimator that has seen nothing.
    pub const fn new(config: EstimatorConfig) -> Self {
        Self {
            config,
            fast: Average::EMPTY,
            slow: Average::EMPTY,
            sampled_bytes: 0.0,
            excluded_bytes: 0.0,
        }
    }

    /// Takes in a transfer of `bytes` in `duration` milliseconds.
    pub fn sample(&mut self, duration: f64, bytes: f64) {
        self.sampled_bytes += bytes;
        if bytes < self.config.min_bytes || duration < self.config.min_duration || duration <= 0.0 {
            return;
        }
        let bits_per_second = 8_000.0 * bytes / duration;
        let weight = duration / 1_000.0;
        self.fast.add(bits_per_second, weight, self.config.fast_half_life);
        self.slow.add(bits_per_second, weight, self.config.slow_half_life);
    }

    /// Counts bytes that must not be sampled: those of retries.
    pub fn exclude(&mut self, bytes: f64) {
        self.excluded_bytes += bytes;
    }

    /// The estimate in bit/s, or `None` until enough was seen.
    pub fn estimate(&self) -> Option<f64> {
        if self.sampled_bytes < self.config.min_total_bytes {
            return None;
        }
        let fast = self.fast.corrected(self.config.fast_half_life)?;
        let slow = self.slow.corrected(self.config.slow_half_life)?;
        Some(fast.min(slow))
    }

    /// Bytes that retries delivered and that are in no estimate.
    pub const fn excluded_bytes(&self) -> f64 {
        self.excluded_bytes
    }
}

/// One exponentially weighted moving average.
#[derive(Clone, Copy, Debug)]
struct Average {
    value: f64,
    weight: f64,
}

impl Average {
    const EMPTY: Self = Self { value: 0.0, weight: 0.0 };

    fn add(&mut self, value: f64, weight: f64, half_life: f64) {
        let keep = remainder(weight, half_life);
        self.value = value * (1.0 - keep) + self.value * keep;
        self.weight += weight;
    }

    /// The average without the pull of its empty start.
    fn corrected(&self, half_life: f64) -> Option<f64> {
        let seen = 1.0 - remainder(self.weight, half_life);
        (seen > 0.0).then(|| self.value / seen)
    }
}

/// What is left of one after `elapsed` at this half-life: whole halvings, and the series of `e^-x`
/// for the rest. A function of the standard library would bring its tables into the module, and
/// not give the same last bit natively and in a browser.
fn remainder(elapsed: f64, half_life: f64) -> f64 {
    let halvings = (elapsed / half_life).min(1_100.0);
    let rest = (halvings - halvings.floor()) * std::f64::consts::LN_2;
    // At most 0.7, so that the sixteenth term is below the last bit.
    let series = (1..=16).rev().fold(1.0, |sum, n| 1.0 - rest * sum / f64::from(n));
    power(0.5, halvings as u32) * series
}

#[cfg(test)]
mod tests {
    use super::remainder;

    #[test]
    fn what_is_left_is_a_power_of_one_half() {
        for elapsed in [0.0, 1e-6, 0.3, 1.0, 1.999_999, 2.0, 7.7, 63.0, 2_000.0, f64::MAX] {
            let expected = 0.5_f64.powf(elapsed / 2.0);
            let error = (remainder(elapsed, 2.0) - expected).abs();
            assert!(error <= 4.0 * f64::EPSILON * expected, "{elapsed}: off by {error}");
        }
    }
}
