//! `Retry-After` field values to milliseconds (RFC 9110 sections 10.2.3 and 5.6.7).
//!
//! What is not in the grammar counts as absent: a server that writes nonsense has said
//! nothing. Policy clamps the result later; nothing is clamped here.

use std::time::UNIX_EPOCH;

use super::clock::Millis;

/// What the server asks to wait, or `None` where the field says nothing usable.
///
/// `date` is the response's own `Date` field where it can be read: it cancels the skew of the
/// local clock. `wall_ms` is the local clock, in milliseconds since 1970, and stands in for
/// it. A date in the past is zero.
pub fn parse(value: &str, date: Option<&str>, wall_ms: f64) -> Option<Millis> {
    let value = value.trim_ascii();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return delay_seconds(value);
    }
    let at = http_date_ms(value)?;
    let now = date.and_then(http_date_ms).unwrap_or(wall_ms);
    Some(Millis::new(at - now))
}

fn delay_seconds(digits: &str) -> Option<Millis> {
    let seconds: u64 = digits.parse().ok()?;
    let span = seconds as f64 * 1000.0;
    (span <= Millis::MAX.get()).then(|| Millis::new(span))
}

/// An HTTP-date in any of its three forms, in milliseconds since 1970. What lies before 1970
/// reads as 1970: only the difference to now matters.
fn http_date_ms(value: &str) -> Option<f64> {
    let value = value.trim_ascii();
    // A leap second is a valid second (RFC 9110 section 5.6.7) that the parser refuses: it is
    // read as the second before it, and added.
    let leap = value.as_bytes().windows(3).position(|part| part == b":60");
    let at = match leap {
        Some(place) => {
            let (before, after) = (value.get(..place)?, value.get(place + 3..)?);
            httpdate::parse_http_date(&[before, ":59", after].concat())
        }
        None => httpdate::parse_http_date(value),
    };
    let at = at.ok()?;
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(since.as_secs() as f64 * 1000.0 + if leap.is_some() { 1000.0 } else { 0.0 })
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
