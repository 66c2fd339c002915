//! The judge of `js/retry-after.js`: what the crate `httpdate` makes of several thousand dates, kept
//! in `tests/vectors/http-dates.json` and held against ours by `tests/node/retry-after.test.mjs`.
//!
//! A line is a text and what the judge reads, in seconds since 1970; a third value is what is to be
//! read where we differ from it on purpose.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use fastrand::Rng;
use serde_json::json;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/http-dates.json");

const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The last second of the year 9999.
const LAST: u64 = 253_402_300_799;

/// The first second that two digits of a year do not name: they mean 1970 to 2069.
const Y2070: u64 = 3_155_760_000;

/// The first second there is, the last, and the last before and of a leap day, of a February
/// without one and of a century.
const EDGES: [u64; 6] = [0, 951_782_399, 951_868_799, 4_107_542_399, 4_102_444_799, LAST];

/// Seconds of 2000 years: the calendar repeats every 400.
const AGES: i64 = 5 * 146_097 * 86_400;

fn judged(text: &str) -> Option<i64> {
    let at = httpdate::parse_http_date(text).ok()?;
    let since = at.duration_since(UNIX_EPOCH).expect("the judge reads nothing before 1970");
    Some(since.as_secs() as i64)
}

/// What the judge would say if it knew of the four differences
/// (docs/decisions/0008-http-dates.md).
fn expected(text: &str) -> Option<i64> {
    let is_foreign = |letter: char| letter.is_ascii_control() && letter != '\t';
    if text.contains(is_foreign) || !has_blank_before_time(text) {
        return None;
    }
    match text.rsplit_once(":60") {
        Some((before, after)) if !after.contains(':') => {
            expected_since_0(&format!("{before}:59{after}")).map(|at| at + 1)
        }
        _ => expected_since_0(text),
    }
}

/// Whether a blank stands before the time, in the two forms that end in `GMT`.
fn has_blank_before_time(text: &str) -> bool {
    let Some(date) = text.trim_ascii().strip_suffix(" GMT") else { return true };
    date.len().checked_sub(9).is_none_or(|place| date.as_bytes()[place] == b' ')
}

fn expected_since_0(text: &str) -> Option<i64> {
    judged(text).or_else(|| Some(judged(&later(text)?)? - AGES))
}

/// The text with the year, of four digits and before 1970, 2000 years later.
fn later(text: &str) -> Option<String> {
    let mut text = text.trim_ascii().to_owned();
    // It ends an asctime-date, and stands before the time in the newest form.
    let end = if text.ends_with(" GMT") { text.len().checked_sub(13)? } else { text.len() };
    let place = end.checked_sub(4)?..end;
    let digits = text.get(place.clone())?;
    let year = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u32>())?;
    let year = year.ok().filter(|year| *year < 1970)?;
    text.replace_range(place, &(year + 2000).to_string());
    Some(text)
}

/// A date whose parts need not fit together.
#[derive(Clone)]
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

    /// Each is within or just beyond its bounds.
    fn any(rng: &mut Rng) -> Self {
        let year = if rng.bool() { rng.u32(1970..2100) } else { rng.u32(..10_000) };
        let (hour, minute, second) = (rng.u8(..26), rng.u8(..62), rng.u8(..62));
        Self {
            weekday: rng.usize(..7),
            day: rng.u32(..33),
            month: rng.usize(..12),
            year,
            clock: format!("{hour:02}:{minute:02}:{second:02}"),
        }
    }

    /// The three forms, the last with the day after a zero and after a blank: both are met.
    fn forms(&self) -> [String; 4] {
        let Self { weekday, day, month, year, clock } = self;
        let (name, month) = (DAYS[*weekday], MONTHS[*month]);
        let (short, century) = (&name[..3], year % 100);
        [
            format!("{short}, {day:02} {month} {year:04} {clock} GMT"),
            format!("{name}, {day:02}-{month}-{century:02} {clock} GMT"),
            format!("{short} {month} {day:02} {clock} {year:04}"),
            format!("{short} {month} {day:2} {clock} {year:04}"),
        ]
    }

    fn form(&self, rng: &mut Rng) -> String {
        self.forms()[rng.usize(..4)].clone()
    }
}

/// An instant, with those at the edges of days, of Februaries and of years more often.
fn instant(rng: &mut Rng) -> u64 {
    match rng.u8(..8) {
        0..=2 => rng.u64(..=LAST),
        3..=6 => rng.u64(..4_102_444_800),
        _ => (EDGES[rng.usize(..EDGES.len())] + rng.u64(..3)).min(LAST),
    }
}

/// Of what dates are made, and what is like it.
const USUAL: &[u8] = b" ,:-0123456789GMTadnsy\t_";

/// One change to the text.
fn damaged(rng: &mut Rng, text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    if letters.is_empty() {
        return String::new();
    }
    let at = rng.usize(..letters.len());
    let byte = match rng.u8(..3) {
        0 => rng.u8(..128),
        _ => USUAL[rng.usize(..USUAL.len())],
    };
    match rng.u8(..14) {
        0..=3 => letters[at] = char::from(byte),
        4..=5 => letters.insert(at, char::from(byte)),
        6..=7 => drop(letters.remove(at)),
        8 => letters.insert(at, letters[at]),
        9 if at > 0 => letters.swap(at, at - 1),
        9 => letters.reverse(),
        // Bit 5 is the case of a letter, and tells other bytes apart as well.
        10..=11 => letters[at] = char::from((letters[at] as u8) ^ 32),
        12 => letters.truncate(at),
        _ => letters[at] = 'é',
    }
    letters.into_iter().collect()
}

/// The texts, always the same.
fn texts() -> Vec<String> {
    let mut rng = Rng::with_seed(9110);
    let mut texts = Vec::new();
    for _ in 0..450 {
        let second = instant(&mut rng);
        texts.extend(Parts::of(second).forms());
        texts.push(Parts::any(&mut rng).form(&mut rng));
        texts.push(Parts::of(second % Y2070).forms()[1].clone());
        // Each day of the week: one of them is right, where the day exists.
        let parts = Parts::any(&mut rng);
        texts.extend((0..7).map(|weekday| Parts { weekday, ..parts.clone() }.forms()[0].clone()));
        for _ in 0..2 {
            let mut text = Parts::of(rng.u64(..4_102_444_800)).form(&mut rng);
            for _ in 0..rng.u8(1..3) {
                text = damaged(&mut rng, &text);
            }
            texts.push(text);
        }
    }
    for _ in 0..300 {
        let mut leap = Parts::of(instant(&mut rng));
        leap.clock.replace_range(6.., "60");
        texts.push(leap.form(&mut rng));
        // Before 1970 the days of the week are those of 2000 years later.
        let old = Parts::of(rng.u64(946_684_800..LAST));
        if (2000..3970).contains(&old.year) {
            texts.push(Parts { year: old.year - 2000, ..old }.form(&mut rng));
        }
        texts.push((0..rng.u8(..32)).map(|_| rng.char(' '..'\u{7f}')).collect());
    }
    let [now, long, ..] = Parts::of(1_796_040_000).forms();
    texts.extend([" ", "\t", "\u{b}", "\u{c}"].map(|blank| format!("{now}{blank}")));
    texts.extend([" ", ",", "T", "-"].map(|blank| long.replace(" 12:", &format!("{blank}12:"))));
    let mut seen = BTreeSet::new();
    // A row of digits is a span, whatever else it might be.
    texts.retain(|text| {
        text.bytes().any(|byte| !byte.is_ascii_digit()) && seen.insert(text.clone())
    });
    texts
}

#[test]
fn r25_the_judgements_of_dates_are_as_they_are_kept() {
    let (mut lines, mut dates, mut differ) = (Vec::new(), 0, 0);
    for text in texts() {
        let (judged, expected) = (judged(&text), expected(&text));
        dates += usize::from(expected.is_some());
        differ += usize::from(expected != judged);
        lines.push(if expected == judged {
            json!([text, judged]).to_string()
        } else {
            json!([text, judged, expected]).to_string()
        });
    }
    println!("{} texts: {dates} are dates, {differ} differ", lines.len());
    assert!(dates > 2_000 && lines.len() - dates > 2_000 && differ > 200);

    let judgements = format!("[\n{}\n]\n", lines.join(",\n"));
    if std::env::var_os("HOLDFAST_BLESS").is_some() {
        fs::write(FILE, &judgements).expect("the file can be written");
    }
    let kept = fs::read_to_string(FILE).unwrap_or_default();
    let other = kept.lines().zip(judgements.lines()).find(|(kept, judged)| kept != judged);
    assert!(
        kept == judgements,
        "the first that is not as it was: {other:#?}\n\
         Where that is meant: HOLDFAST_BLESS=1 cargo test --test core http_date"
    );
}

/// So that what the file says of dates is no empty claim.
#[test]
fn r25_the_judge_reads_every_instant_in_all_forms() {
    let mut rng = Rng::with_seed(25);
    for _ in 0..2_000 {
        let second = instant(&mut rng);
        let parts = Parts::of(second);
        let [fixdate, rfc_850, asctime, padded] = parts.forms();
        for form in [fixdate, asctime, padded] {
            assert_eq!(
                (judged(&form), expected(&form)),
                (Some(second as i64), Some(second as i64))
            );
        }
        if second < Y2070 {
            assert_eq!(judged(&rfc_850), Some(second as i64), "{rfc_850}");
        }
    }
}
