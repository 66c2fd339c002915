//! CUBIC: how a rate grows back after a refusal. Slow near the rate that was refused, fast far
//! from it. The numbers are those of the adaptive retry mode of a public SDK.

use crate::core::clock::Millis;

/// What a refusal leaves of the rate.
const BETA: f64 = 0.7;

/// How steep the curve is, in requests/s^4.
const STEEPNESS: f64 = 0.4;

/// The curve after one refusal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cubic {
    /// The rate that was refused, in requests/s.
    w_max: f64,
    /// When the growth began.
    since: Millis,
}

impl Cubic {
    /// The curve after `w_max` requests/s were refused, growing from `since` on.
    pub const fn new(w_max: f64, since: Millis) -> Self {
        Self { w_max, since }
    }

    /// The rate that was refused, in requests/s.
    pub const fn w_max(self) -> f64 {
        self.w_max
    }

    /// When the growth began.
    pub const fn since(self) -> Millis {
        self.since
    }

    /// The rate at `now`, in requests/s: `C (t - K)^3 + w_max`. It begins at [`Cubic::cut`] of
    /// `w_max`, and reaches `w_max` after `K` seconds.
    pub fn rate(self, now: Millis) -> f64 {
        let span = cube_root(self.w_max * (1.0 - BETA) / STEEPNESS);
        let beyond = (now - self.since).as_secs() - span;
        STEEPNESS * beyond * beyond * beyond + self.w_max
    }

    /// What a refusal leaves of `rate`, in requests/s.
    pub const fn cut(rate: f64) -> f64 {
        BETA * rate
    }
}

/// Newton's method from above: `f64::cbrt` would bring more than two kilobytes into the module.
/// Fifty steps are enough for any rate.
fn cube_root(value: f64) -> f64 {
    let mut root = value.max(1.0);
    for _ in 0..50 {
        root -= (root - value / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cube_root_is_that_of_the_library_for_any_rate() {
        for value in [0.001, 0.2, 1.0, 7.5, 1_000.0, 1e6] {
            assert!((cube_root(value) / value.cbrt() - 1.0).abs() < 1e-12, "of {value}");
        }
        assert!(cube_root(0.0) < 1e-6);
    }
}
