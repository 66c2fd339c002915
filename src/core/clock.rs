//! Time as the core sees it: a number that the caller supplies.

use std::ops::{Add, Mul, Sub};

/// A point on the engine's monotonic time line, or a span of it, in milliseconds.
///
/// Never negative and never NaN: differences saturate at zero, so that a clock that steps
/// back makes nothing overdue.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Millis(f64);

impl Millis {
    /// The longest span that is told apart from "for ever": 2^53 - 1 ms.
    pub const MAX: Self = Self(9_007_199_254_740_991.0);
    /// No time at all.
    pub const ZERO: Self = Self(0.0);

    /// A span of `value` milliseconds; what is not a number, or below zero, becomes zero.
    pub const fn new(value: f64) -> Self {
        // A comparison with NaN is false, so NaN becomes zero too.
        if value > 0.0 { Self(value) } else { Self::ZERO }
    }

    /// A span of `value` seconds.
    pub const fn from_secs(value: f64) -> Self {
        Self::new(value * 1000.0)
    }

    /// The value in milliseconds.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The value in seconds.
    pub const fn as_secs(self) -> f64 {
        self.0 / 1000.0
    }

    /// The smaller of both.
    #[inline(never)]
    pub const fn min(self, other: Self) -> Self {
        if other.0 < self.0 { other } else { self }
    }

    /// The larger of both.
    #[inline(never)]
    pub const fn max(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }

    /// `self` between `low` and `high`; `low` wins where they cross.
    pub const fn clamp(self, low: Self, high: Self) -> Self {
        self.min(high).max(low)
    }
}

/// When something last happened, if it ever did. Half as large as an `Option`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Last(f64);

impl Last {
    /// It never did: infinitely long ago.
    pub(super) const NEVER: Self = Self(f64::NEG_INFINITY);

    /// It did then.
    pub(super) const fn at(now: Millis) -> Self {
        Self(now.get())
    }

    /// Whether it is less than `span` ago.
    pub(super) fn is_within(self, span: Millis, now: Millis) -> bool {
        now.get() - self.0 < span.get()
    }

    /// So long after it; zero where it never happened.
    pub(super) const fn plus(self, span: Millis) -> Millis {
        Millis::new(self.0 + span.get())
    }

    /// As if it had happened so much later.
    pub(super) const fn put_off(&mut self, span: Millis) {
        self.0 += span.get();
    }
}

impl Default for Last {
    fn default() -> Self {
        Self::NEVER
    }
}

impl Add for Millis {
    type Output = Self;

    #[inline(never)]
    fn add(self, other: Self) -> Self {
        Self::new(self.0 + other.0).min(Self::MAX)
    }
}

impl Sub for Millis {
    type Output = Self;

    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        Self::new(self.0 - other.0)
    }
}

impl Mul<f64> for Millis {
    type Output = Self;

    #[inline(never)]
    fn mul(self, factor: f64) -> Self {
        Self::new(self.0 * factor).min(Self::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_saturate_and_nan_is_zero() {
        assert_eq!(Millis::new(3.0) - Millis::new(5.0), Millis::ZERO);
        assert_eq!(Millis::new(f64::NAN), Millis::ZERO);
        assert_eq!(Millis::new(-1.0), Millis::ZERO);
        assert_eq!(Millis::MAX + Millis::MAX, Millis::MAX);
    }

    #[test]
    fn what_never_happened_is_within_no_span_and_nothing_follows_it() {
        let never = Last::default();
        assert!(!never.is_within(Millis::MAX, Millis::ZERO));
        assert_eq!(never.plus(Millis::MAX), Millis::ZERO);
        let mut put_off = never;
        put_off.put_off(Millis::MAX);
        assert_eq!(put_off, never);
    }

    #[test]
    fn what_happened_is_within_a_span_until_it_is_over() {
        let mut last = Last::at(Millis::ZERO);
        assert!(last.is_within(Millis::new(3.0), Millis::new(2.9)));
        assert!(!last.is_within(Millis::new(3.0), Millis::new(3.0)));
        assert!(last.is_within(Millis::new(3.0), Millis::ZERO));
        last.put_off(Millis::new(2.0));
        assert_eq!(last.plus(Millis::new(3.0)), Millis::new(5.0));
    }

    #[test]
    fn clamp_prefers_the_lower_bound() {
        let clamped = Millis::new(1.0).clamp(Millis::new(5.0), Millis::new(2.0));
        assert_eq!(clamped, Millis::new(5.0));
    }
}
