//! What a `Retry-After` that is a date means, by the crate `httpdate`: the judge of our own parser.

use std::time::UNIX_EPOCH;

use holdfast::core::retry_after;

/// Ours, in milliseconds since 1970.
pub(crate) fn ours(value: &str) -> Option<f64> {
    retry_after::parse(value, None, 0.0).map(|at| at.get())
}

/// The judge's, in milliseconds since 1970.
pub(crate) fn judged(value: &str) -> Option<f64> {
    let at = httpdate::parse_http_date(value).ok()?;
    let since = at.duration_since(UNIX_EPOCH).expect("the judge reads nothing before 1970");
    Some(since.as_secs_f64() * 1000.0)
}

/// What the judge would say if it knew of the differences that have a test of their own.
pub(crate) fn expected(value: &str) -> Option<f64> {
    if value.contains('\u{b}') || !blank_before_time(value) {
        return None;
    }
    match value.rsplit_once(":60") {
        Some((before, after)) if !after.contains(':') => {
            expected_since_0(&format!("{before}:59{after}"), 1000.0)
        }
        _ => expected_since_0(value, 0.0),
    }
}

/// Whether a blank stands before the time, in the two forms that end in `GMT`.
fn blank_before_time(value: &str) -> bool {
    let Some(date) = value.trim_ascii().strip_suffix(" GMT") else { return true };
    date.len().checked_sub(9).is_none_or(|place| date.as_bytes()[place] == b' ')
}

fn expected_since_0(value: &str, more: f64) -> Option<f64> {
    judged(value).map_or_else(
        || later(value).and_then(|later| judged(&later)).and(Some(0.0)),
        |at| Some(at + more),
    )
}

/// The value with the year, of four digits and before 1970, 2000 years later: the calendar
/// repeats every 400 years.
fn later(value: &str) -> Option<String> {
    let mut value = value.trim_ascii().to_owned();
    // It ends an asctime-date, and stands before the time in the newest form.
    let end = if value.ends_with(" GMT") { value.len().checked_sub(13)? } else { value.len() };
    let place = end.checked_sub(4)?..end;
    let digits = value.get(place.clone())?;
    let year = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u32>())?;
    let year = year.ok().filter(|year| *year < 1970)?;
    value.replace_range(place, &(year + 2000).to_string());
    Some(value)
}
