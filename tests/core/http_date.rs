//! HTTP-dates of `Retry-After`, against the crate `httpdate` as the judge.
//!
//! Where the two differ on purpose, a test has the name of the difference.

use std::time::{Duration, UNIX_EPOCH};

use holdfast::core::retry_after;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

#[path = "../fuzz/judge.rs"]
mod judge;

use self::judge::{expected, judged, ours};

const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The last second of the year 9999.
const LAST: u64 = 253_402_300_799;

/// The first second there is, the last, and the last before and of a leap day, of a February
/// without one and of a century.
const EDGES: [u64; 6] = [0, 951_782_399, 951_868_799, 4_107_542_399, 4_102_444_799, LAST];

/// A date whose parts need not fit together.
#[derive(Clone, Debug)]
struct Parts {
    weekday: usize,
    day: u32,
    month: usize,
    year: u32,
    clock: String,
}

impl Parts {
    /// Those of an instant in seconds since 1970, from the judge's own words for it.
    fn of(second: u64) -> Self {
        let text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
        let place = |names: &[&str], name: &str| {
            names.iter().position(|full| full.starts_with(name)).expect("a name")
        };
        Self {
            weekday: place(&DAYS, &text[..3]),
            day: text[5..7].parse().expect("a day"),
            month: place(&MONTHS, &text[8..11]),
            year: text[12..16].parse().expect("a year"),
            clock: text[17..25].to_owned(),
        }
    }

    fn fixdate(&self) -> String {
        let Self { weekday, day, month, year, clock } = self;
        let (name, month) = (&DAYS[*weekday][..3], MONTHS[*month]);
        format!("{name}, {day:02} {month} {year:04} {clock} GMT")
    }

    fn rfc_850(&self) -> String {
        let Self { weekday, day, month, year, clock } = self;
        let (name, month) = (DAYS[*weekday], MONTHS[*month]);
        format!("{name}, {day:02}-{month}-{:02} {clock} GMT", year % 100)
    }

    /// With the day after a blank or after a zero: both are met.
    fn asctime(&self, blank: bool) -> String {
        let Self { weekday, day, month, year, clock } = self;
        let (name, month) = (&DAYS[*weekday][..3], MONTHS[*month]);
        let day = if blank { format!("{day:2}") } else { format!("{day:02}") };
        format!("{name} {month} {day} {clock} {year:04}")
    }

    fn forms(&self) -> [String; 4] {
        [self.fixdate(), self.rfc_850(), self.asctime(true), self.asctime(false)]
    }
}

/// Instants, with those at the edges of days, of Februaries and of years more often.
fn instant() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..=LAST,
        4 => 0..4_102_444_800_u64,
        1 => (select(&EDGES[..]), 0..3_u64).prop_map(|(at, on)| (at + on).min(LAST)),
    ]
}

/// Dates of which some exist: every field is within or just beyond its bounds.
fn parts() -> impl Strategy<Value = Parts> {
    let year = prop_oneof![2 => 1970_u32..2100, 1 => 0_u32..10_000];
    let clock = (0_u32..26, 0_u32..62, 0_u32..62)
        .prop_map(|(hour, minute, second)| format!("{hour:02}:{minute:02}:{second:02}"));
    (0..7_usize, 0_u32..33, 0..12_usize, year, clock)
        .prop_map(|(weekday, day, month, year, clock)| Parts { weekday, day, month, year, clock })
}

#[derive(Clone, Debug)]
enum Change {
    Replace(u8),
    Insert(u8),
    Delete,
    Double,
    Swap,
    Case,
    Cut,
    Wide,
}

fn change() -> impl Strategy<Value = Change> {
    let byte = || prop_oneof![select(&b" ,:-0123456789GMTadnsy\t_"[..]), 0_u8..128];
    prop_oneof![
        4 => byte().prop_map(Change::Replace),
        2 => byte().prop_map(Change::Insert),
        2 => Just(Change::Delete),
        1 => Just(Change::Double),
        1 => Just(Change::Swap),
        2 => Just(Change::Case),
        1 => Just(Change::Cut),
        1 => Just(Change::Wide),
    ]
}

/// `text` with a change at a place.
fn changed(text: &str, at: Index, change: &Change) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    if letters.is_empty() {
        return String::new();
    }
    let at = at.index(letters.len());
    match *change {
        Change::Replace(byte) => letters[at] = char::from(byte),
        Change::Insert(byte) => letters.insert(at, char::from(byte)),
        Change::Delete => drop(letters.remove(at)),
        Change::Double => letters.insert(at, letters[at]),
        Change::Swap if at > 0 => letters.swap(at, at - 1),
        Change::Swap => letters.reverse(),
        // Bit 5 is the case of a letter, and tells other bytes apart as well.
        Change::Case => letters[at] = char::from((letters[at] as u8) ^ 32),
        Change::Cut => letters.truncate(at),
        Change::Wide => letters[at] = 'é',
    }
    letters.into_iter().collect()
}

fn assert_agrees(value: &str) -> Result<(), TestCaseError> {
    prop_assert_eq!(ours(value), expected(value), "{:?}", value);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn r25_every_instant_reads_the_same_in_all_forms(second in instant()) {
        let parts = Parts::of(second);
        let at = Some(second as f64 * 1000.0);
        prop_assert_eq!(ours(&parts.fixdate()), at);
        prop_assert_eq!(ours(&parts.asctime(true)), at);
        prop_assert_eq!(ours(&parts.asctime(false)), at);
        if (1970..2070).contains(&parts.year) {
            prop_assert_eq!(ours(&parts.rfc_850()), at);
        }
    }

    #[test]
    fn r25_a_date_is_one_exactly_where_the_judge_says_so(parts in parts()) {
        for form in parts.forms() {
            assert_agrees(&form)?;
        }
    }

    #[test]
    fn r25_a_damaged_date_is_one_exactly_where_the_judge_says_so(
        second in 0..4_102_444_800_u64,
        form in any::<Index>(),
        changes in vec((any::<Index>(), change()), 1..4),
    ) {
        let mut text = form.get(&Parts::of(second).forms()).clone();
        for (at, change) in changes {
            text = changed(&text, at, &change);
            // A row of digits that is left over is a span, which has a test of its own.
            if !text.trim_ascii().bytes().all(|byte| byte.is_ascii_digit()) {
                assert_agrees(&text)?;
            }
        }
    }

    #[test]
    fn r25_whatever_a_server_writes_is_read_without_a_panic(value in any::<String>()) {
        let date = retry_after::parse(&value, Some(&value), 0.0);
        prop_assert!(date.is_none_or(|wait| wait.get() >= 0.0));
    }
}

#[test]
fn r25_a_date_exists_or_is_nothing() {
    for value in [
        "Wed, 30 Feb 2028 12:00:00 GMT",
        "Mon, 29 Feb 2027 12:00:00 GMT",
        "Mon, 29 Feb 2100 12:00:00 GMT",
        "Sun, 00 Nov 2026 12:00:00 GMT",
        "Tue, 30 Nov 2026 12:00:00 GMT",
        "Mon, 30 Nov 2026 24:00:00 GMT",
        "Mon, 30 Nov 2026 12:60:00 GMT",
        "Mon, 30 Nov 2026 12:00:61 GMT",
        "Mon, 30 nov 2026 12:00:00 GMT",
        "mon, 30 Nov 2026 12:00:00 GMT",
        "Mon, 30 Nov 2026 12:00:00 gmt",
        "Mon,  30 Nov 2026 12:00:00 GMT",
        "Mo, 30 Nov 2026 12:00:00 GMT",
        "Monday, 30 Nov 2026 12:00:00 GMT",
        "Mon, 30-Nov-26 12:00:00 GMT",
        "Mond, 30 Nov 2026 12:00:00 GMT",
        "Tuesda, 01-Dec-26 12:00:00 GMT",
        "Tues, 01 Dec 2026 12:00:00 GMT",
        "Monday Nov 30 12:00:00 2026",
        "Tue Dec 1  12:00:00 2026",
        "Tue Dec 1 12:00:00 2026",
        "day, 30-Nov-26 12:00:00 GMT",
        ", 30 Nov 2026 12:00:00 GMT",
        " Nov 30 12:00:00 2026",
        "Lun, 30 Nov 2026 12:00:00 GMT",
        "Mon, 30 Nov 2026 12:00:0٣ GMT",
    ] {
        assert_eq!((value, ours(value)), (value, None));
        assert_eq!((value, judged(value)), (value, None));
    }
}

#[test]
fn r25_leap_days_exist() {
    for value in [
        "Tue, 29 Feb 2028 12:00:00 GMT",
        "Tue, 29 Feb 2000 12:00:00 GMT",
        "Tuesday, 29-Feb-28 12:00:00 GMT",
        "Tue Feb 29 12:00:00 2028",
    ] {
        assert!(ours(value).is_some(), "{value}");
        assert_eq!(ours(value), judged(value));
    }
}

#[test]
fn r25_blanks_around_a_date_are_not_part_of_it() {
    let at = ours("Mon, 30 Nov 2026 12:00:00 GMT");
    assert_eq!(at, Some(1_796_040_000_000.0));
    assert_eq!(ours(" \tMon, 30 Nov 2026 12:00:00 GMT\r\n"), at);
    let wait = retry_after::parse(
        "Mon, 30 Nov 2026 12:00:05 GMT",
        Some(" Mon, 30 Nov 2026 12:00:00 GMT\t"),
        0.0,
    );
    assert_eq!(wait.map(|wait| wait.get()), Some(5_000.0));
}

/// The judge refuses second 60.
#[test]
fn r25_differs_a_leap_second_is_the_second_after_the_one_before_it() {
    for (leap, next) in [
        ("Sat, 31 Dec 2016 23:59:60 GMT", "Sun, 01 Jan 2017 00:00:00 GMT"),
        ("Saturday, 31-Dec-16 23:59:60 GMT", "Sunday, 01-Jan-17 00:00:00 GMT"),
        ("Sat Dec 31 23:59:60 2016", "Sun Jan  1 00:00:00 2017"),
        ("Mon, 30 Nov 2026 12:00:60 GMT", "Mon, 30 Nov 2026 12:01:00 GMT"),
    ] {
        assert_eq!(judged(leap), None);
        assert!(ours(next).is_some());
        assert_eq!(ours(leap), ours(next));
    }
}

/// The judge refuses what lies before 1970, and so much of the past is still the past.
#[test]
fn r25_differs_a_date_before_1970_is_past() {
    for value in [
        "Wed, 31 Dec 1969 23:59:59 GMT",
        "Mon, 01 Jan 0001 00:00:00 GMT",
        "Sat, 01 Jan 0000 00:00:00 GMT",
        "Tue Feb 29 12:00:00 0000",
        "Wed Dec 31 23:59:59 1969",
    ] {
        assert_eq!(judged(value), None);
        assert_eq!((value, ours(value)), (value, Some(0.0)));
    }
    // Even then it has to exist.
    assert_eq!(ours("Thu, 31 Dec 1969 23:59:59 GMT"), None);
    assert_eq!(ours("Wed Feb 29 12:00:00 1900"), None);
    assert_eq!(ours("Thu Feb 29 12:00:00 1900"), None);
}

/// The judge takes a vertical tab for a blank; a header's grammar does not.
#[test]
fn r25_differs_a_vertical_tab_is_no_blank() {
    let value = "Mon, 30 Nov 2026 12:00:00 GMT\u{b}";
    assert!(judged(value).is_some());
    assert_eq!(ours(value), None);
}

/// The judge looks at every byte of the form of RFC 850 but this one.
#[test]
fn r25_differs_a_blank_stands_before_the_time() {
    for value in ["Monday, 30-Nov-26,12:00:00 GMT", "Monday, 30-Nov-26T12:00:00 GMT"] {
        assert!(judged(value).is_some());
        assert_eq!(ours(value), None);
    }
}

/// No difference: the judge has the same rule, which is that of the RFC from 2020 to 2069.
#[test]
fn r25_two_digits_of_a_year_mean_1970_to_2069() {
    for year in 1970..2070 {
        let parts = Parts { year, ..Parts::of(1_796_040_000) };
        let read: Vec<_> = (0..7)
            .filter_map(|weekday| ours(&Parts { weekday, ..parts.clone() }.rfc_850()))
            .collect();
        let full: Vec<_> = (0..7)
            .filter_map(|weekday| ours(&Parts { weekday, ..parts.clone() }.fixdate()))
            .collect();
        assert_eq!(read.len(), 1, "one day of the week fits");
        assert_eq!(read, full);
    }
}

#[test]
fn r25_a_clock_that_was_never_set_says_no_time() {
    let at = "Mon, 30 Nov 2026 12:00:05 GMT";
    let local = ours("Mon, 30 Nov 2026 12:00:00 GMT").expect("a date");
    for date in ["Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "now"] {
        let wait = retry_after::parse(at, Some(date), local).map(|wait| wait.get());
        assert_eq!(wait, Some(5_000.0), "{date}");
    }
}

#[test]
fn r25_a_row_of_digits_is_seconds_up_to_the_longest_span() {
    assert_eq!(ours("9007199254740"), Some(9_007_199_254_740_000.0));
    assert_eq!(ours("9007199254741"), None);
    assert_eq!(ours("000000000000000000000000000000120"), Some(120_000.0));
    assert_eq!(ours(&"9".repeat(400)), None);
    assert_eq!(ours("12٣"), None);
}
