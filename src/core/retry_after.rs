//! `Retry-After` field values to milliseconds (RFC 9110 sections 10.2.3 and 5.6.7).
//!
//! What is not in the grammar counts as absent: a server that writes nonsense has said
//! nothing. Policy clamps the result later; nothing is clamped here.

use super::clock::Millis;
use super::http_date;

/// What the server asks to wait, or `None` where the field says nothing usable.
///
/// `date` is the response's own `Date` field where it can be read: it cancels the skew of the
/// local clock. `wall_ms` is the local clock, in milliseconds since 1970, and stands in for
/// it. A date in the past is zero.
pub fn parse(value: &str, date: Option<&str>, wall_ms: f64) -> Option<Millis> {
    let value = value.trim_ascii();
    if let Some(seconds) = digits(value) {
        let span = seconds * 1000.0;
        return (span <= Millis::MAX.get()).then(|| Millis::new(span));
    }
    let at = http_date::parse(value)?;
    // A `Date` of 1970 or before is that of a clock that was never set.
    let date = date.and_then(http_date::parse).filter(|date| *date > 0.0);
    Some(Millis::new(at - date.unwrap_or(wall_ms)))
}

/// The value of a row of digits, however long it is: a time in seconds, or a length.
pub fn digits(value: &str) -> Option<f64> {
    let mut sum = None;
    for byte in value.bytes() {
        if !byte.is_ascii_digit() {
            return None;
        }
        sum = Some(sum.unwrap_or(0.0) * 10.0 + f64::from(byte - b'0'));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_in_the_past_is_zero_and_nonsense_is_nothing() {
        let past = parse("Thu, 01 Jan 1970 00:00:01 GMT", None, 5_000.0);
        assert_eq!(past, Some(Millis::ZERO));
        assert_eq!(parse("soon", None, 0.0), None);
    }
}
