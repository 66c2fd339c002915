//! `Retry-After` and `Date` out of any bytes: nothing panics, what is read is a span, and rows of
//! digits and dates mean what they mean to others.

use holdfast::core::{Millis, retry_after};

use super::judge::{expected, ours};

/// The first line is the one field, the second the other.
pub(crate) fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (value, date) = text.split_once('\n').map_or((&*text, None), |(one, two)| (one, Some(two)));
    for wall in [0.0, 1_796_040_000_000.0, f64::NAN, f64::INFINITY, -1.0] {
        let read = retry_after::parse(value, date, wall).map(Millis::get);
        assert!(read.is_none_or(|span| span.is_finite() || wall.is_infinite()), "{value:?}: {read:?}");
        assert!(read.is_none_or(|span| span >= 0.0), "{value:?}: {read:?}");
    }
    let trimmed = value.trim_ascii();
    if !trimmed.is_empty() && trimmed.bytes().all(|byte| byte.is_ascii_digit()) {
        let span = trimmed.parse::<f64>().expect("digits") * 1_000.0;
        let read = ours(value);
        assert_eq!(read.is_some(), span <= Millis::MAX.get(), "{value:?}");
        // Summed up digit by digit, which rounds elsewhere.
        assert!(read.is_none_or(|read| (read - span).abs() <= span * 1e-14), "{value:?}: {read:?}");
    } else {
        assert_eq!(ours(value), expected(value), "{value:?}");
    }
}
