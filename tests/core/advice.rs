//! Server advice: its two fields by the public suite for RFC 9651, its bounds and its lifetime.

use std::fs;

use holdfast::core::{Advice, Millis, Standing, Window};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use sfv::Parser;
use sfv::visitor::Ignored;

#[path = "../fuzz/advice.rs"]
mod fuzz;

const NOW: Millis = Millis::new(5_000.0);

/// What holds without advice.
const CHUNK: f64 = Window::CHUNK.default;
const SESSIONS: u32 = Window::SESSIONS.default as u32;
const RANGES: u32 = Window::RANGES.default as u32;

fn own(field: &str) -> Advice {
    Advice::parse(field).unwrap_or_else(|| panic!("{field:?} is a dictionary"))
}

fn cmsd(field: &str) -> Advice {
    Advice::parse_cmsd_dynamic(field).unwrap_or_else(|| panic!("{field:?} is a list"))
}

fn standing(advice: Advice) -> Standing {
    let mut standing = Standing::default();
    standing.adopt(advice, NOW);
    standing
}

fn secs(value: f64) -> Millis {
    Millis::from_secs(value)
}

/// Chunk, sessions and ranges as they hold.
fn windows(standing: &Standing, now: Millis) -> (f64, u32, u32) {
    (standing.chunk(now), standing.sessions(now), standing.ranges(now))
}

/// A case of the suite.
struct Case {
    file: String,
    json: Value,
    field: String,
}

impl Case {
    fn all() -> Vec<Self> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/structured-fields");
        let files =
            fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
        files
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .flat_map(|path| {
                let text = fs::read_to_string(&path).expect("a text");
                let cases: Vec<Value> = serde_json::from_str(&text).expect("a list of cases");
                let file = path.display().to_string();
                cases.into_iter().map(move |json| Self::new(file.clone(), json))
            })
            .collect()
    }

    fn new(file: String, json: Value) -> Self {
        let lines = json["raw"].as_array().expect("lines").iter();
        let lines: Vec<_> = lines.map(|line| line.as_str().expect("a line")).collect();
        let field = lines.join(", ");
        Self { file, json, field }
    }

    fn kind(&self) -> &str {
        self.json["header_type"].as_str().expect("a kind")
    }

    fn must_fail(&self) -> bool {
        self.json["must_fail"] == true
    }

    /// Longer ones we refuse, whatever they are.
    fn is_short(&self) -> bool {
        self.field.len() <= 2048
    }

    /// What is wrong with a reading of it, if anything.
    fn judge(&self, how: &str, is_read: bool) -> Option<String> {
        let expected = !self.must_fail();
        let is_right = is_read == expected || (self.json["can_fail"] == true && !is_read);
        (!is_right).then(|| format!("{how}: {}: {}", self.file, self.json))
    }
}

/// The value of `ttl` where a member of the suite takes its place.
fn ttl(expected: &Value) -> Option<Millis> {
    expected.as_i64().map(|seconds| secs((seconds as f64).clamp(0.0, 86_400.0)))
}

#[test]
fn r89_the_public_suite_holds() {
    let cases = Case::all();
    let of = |kind: &'static str| cases.iter().filter(move |case| case.kind() == kind);
    let (mut wrong, mut long) = (Vec::new(), 0);
    for case in &cases {
        let field = case.field.as_str();
        let parser = Parser::new(field);
        let (ours, theirs) = match case.kind() {
            "dictionary" => (
                Advice::parse(field).is_some(),
                parser.parse_dictionary_with_visitor(Ignored).is_ok(),
            ),
            "list" => (
                Advice::parse_cmsd_dynamic(field).is_some(),
                parser.parse_list_with_visitor(Ignored).is_ok(),
            ),
            _ => {
                let is_ok = parser.parse_item_with_visitor(Ignored).is_ok();
                (is_ok, is_ok)
            }
        };
        wrong.extend(case.judge("the crate", theirs));
        if case.is_short() || case.kind() == "item" {
            wrong.extend(case.judge("ours", ours));
        } else {
            long += 1;
            assert!(!ours, "{} is too long", case.json["name"]);
        }
    }
    assert_eq!(wrong, [] as [&str; 0]);
    let count = |kind| of(kind).count();
    let (dictionary, list, item) = (count("dictionary"), count("list"), count("item"));
    let must_fail = cases.iter().filter(|case| case.must_fail()).count();
    println!(
        "{dictionary} dictionary, {list} list, {item} item cases; {must_fail} must fail, \
         {long} are longer than we read"
    );
    assert_eq!((dictionary, list, item, must_fail), (432, 319, 840, 864));
}

/// As a member's value, an item is read by us as well.
#[test]
fn r89_the_items_of_the_public_suite_are_values_of_a_member() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for case in Case::all() {
        // A comma begins the next member, and before it a tab may stand.
        let differs = case.field.contains(',') || case.field.trim_end_matches(' ').ends_with('\t');
        if case.kind() != "item" || !case.is_short() || (case.must_fail() && differs) {
            continue;
        }
        count += 1;
        let field = format!("ttl={}", case.field.trim_start_matches(' '));
        let advice = Advice::parse(&field);
        wrong.extend(case.judge("as a member", advice.is_some()));
        if let Some(advice) = advice {
            assert_eq!(advice.ttl, ttl(&case.json["expected"][0]), "{}", case.json);
        }
    }
    assert_eq!(wrong, [] as [&str; 0]);
    println!("{count} items as members");
    assert_eq!(count, 832);
}

#[test]
fn r89_the_integers_of_the_public_suite_are_read_and_nothing_else_is() {
    let (mut integers, mut others) = (0, 0);
    for case in Case::all() {
        if case.kind() != "dictionary" || case.must_fail() || !case.is_short() {
            continue;
        }
        for member in case.json["expected"].as_array().expect("members") {
            let key = member[0].as_str().expect("a key");
            let advice = own(&renamed(&case.field, key));
            let expected = ttl(&member[1][0]);
            assert_eq!(advice.ttl, expected, "{key} of {}", case.json);
            *if expected.is_some() { &mut integers } else { &mut others } += 1;
        }
    }
    println!("{integers} integers, {others} other members");
    assert_eq!((integers, others), (129, 35));
}

/// The dictionary with `ttl` for the key.
fn renamed(field: &str, key: &str) -> String {
    let members = field.split(',').map(|member| {
        let blanks = member.len() - member.trim_start_matches([' ', '\t']).len();
        let (blanks, text) = member.split_at(blanks);
        match text.strip_prefix(key) {
            Some(rest) if !rest.starts_with(|next: char| next.is_alphanumeric()) => {
                format!("{blanks}ttl{rest}")
            }
            _ => member.to_owned(),
        }
    });
    members.collect::<Vec<_>>().join(",")
}

#[test]
fn r89_integers_within_the_bounds_are_taken_as_they_are() {
    let advice = own("chunk=131072, sessions=4, ranges=2, ttl=60");
    let expected = Advice {
        chunk: Some(131_072.0),
        sessions: Some(4),
        ranges: Some(2),
        ttl: Some(secs(60.0)),
        abr_cap: None,
        duress: false,
    };
    assert_eq!(advice, expected);
    assert_eq!(windows(&standing(advice), NOW), (131_072.0, 4, 2));
}

#[test]
fn r89_r90_integers_beyond_the_bounds_are_clamped() {
    let low = own("chunk=1, sessions=0, ranges=-999999999999999, ttl=-1");
    assert_eq!(low.chunk, Some(Window::CHUNK.min));
    assert_eq!((low.sessions, low.ranges), (Some(1), Some(1)));
    assert_eq!(low.ttl, Some(Millis::ZERO));
    let high = own("chunk=999999999999999, sessions=1000, ranges=1000, ttl=86401");
    assert_eq!(high.chunk, Some(Window::CHUNK.max));
    assert_eq!(high.sessions.map(f64::from), Some(Window::SESSIONS.max));
    assert_eq!(high.ranges.map(f64::from), Some(Window::RANGES.max));
    assert_eq!(windows(&standing(high), NOW), (CHUNK, SESSIONS, RANGES));
    assert_eq!(high.ttl, Some(secs(86_400.0)));
}

#[test]
fn r89_bounds_hold_their_default_and_every_window_lets_something_through() {
    for window in [Window::CHUNK, Window::SESSIONS, Window::RANGES, Window::TTL] {
        assert!(window.min <= window.default && window.default <= window.max, "{window:?}");
    }
    for window in [Window::CHUNK, Window::SESSIONS, Window::RANGES] {
        assert!(window.min >= 1.0, "{window:?}");
    }
}

#[test]
fn r89_a_member_of_the_wrong_type_is_absent_and_the_others_count() {
    for value in [
        "sessions",
        "sessions;a=1",
        "sessions=?1",
        "sessions=4.0",
        "sessions=\"4\"",
        "sessions=four",
        "sessions=:NA==:",
        "sessions=@4",
        "sessions=%\"4\"",
        "sessions=(4)",
        "sessions=()",
    ] {
        let advice = own(&format!("chunk=131072, {value}, ranges=2"));
        assert_eq!((value, advice.sessions), (value, None));
        assert_eq!((value, advice.chunk, advice.ranges), (value, Some(131_072.0), Some(2)));
    }
}

#[test]
fn r89_of_duplicates_the_last_counts_whatever_its_type() {
    assert_eq!(own("sessions=4, ranges=2, sessions=8").sessions, Some(8));
    assert_eq!(own("sessions=8, sessions=4").sessions, Some(4));
    assert_eq!(own("sessions=(1), sessions=4").sessions, Some(4));
    for last in ["sessions", "sessions=4.5", "sessions=x", "sessions=(4)"] {
        assert_eq!((last, own(&format!("sessions=4, {last}")).sessions), (last, None));
    }
}

#[test]
fn r89_an_error_anywhere_is_the_end_of_the_whole_field() {
    for field in [
        "sessions=4,",
        "sessions=4, ranges=",
        "sessions=4, Ranges=2",
        "sessions=4 ranges=2",
        "sessions=4; ranges=2, chunk=(1",
        "sessions=4, chunk=1000000000000000",
        "sessions=4, x=\"",
        "sessions=4, x=é",
        "sessions=4, x=:aGVs=:",
        "sessions=4, x=(1\"a\")",
        "sessions=+4",
        ",",
        "{\"sessions\":4}",
    ] {
        assert_eq!((field, Advice::parse(field)), (field, None));
    }
    for field in ["1;du,", "1;com.example-chunk=", "1;du, \"", "1;=2", "du=(1)", "1 du"] {
        assert_eq!((field, Advice::parse_cmsd_dynamic(field)), (field, None));
    }
}

/// The suite has few of them.
#[test]
fn r89_a_display_string_is_utf_8() {
    let tails: [&[u8]; 6] = [&[], &[0x80], &[0xbf, 0x80], &[0x80, 0x80, b'a'], &[0xc0], &[b'a']];
    let (mut good, mut bad) = (0, 0);
    for first in 0x7f..=u8::MAX {
        for second in 0x7f..=u8::MAX {
            for tail in tails {
                let bytes = [&[first, second], tail].concat();
                let text: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
                let is_read = Advice::parse(&format!("x=%\"{text}\"")).is_some();
                assert_eq!(is_read, std::str::from_utf8(&bytes).is_ok(), "{text}");
                *if is_read { &mut good } else { &mut bad } += 1;
            }
        }
    }
    assert!(good > 1_000 && bad > 1_000);
}

#[test]
fn r89_what_is_not_known_is_ignored() {
    let plain = own("sessions=4, ttl=60");
    for field in [
        "sessions=4, ttl=60, retries=99",
        "expires=1, sessions=4;ttl=1;du;x=y, ttl=60",
        "a=(1 2;b), sessions=4;sessions=8, ttl=60",
        "mb=1, etp=1, du, com.example-chunk=70000, sessions=4, ttl=60",
        "sessions.=1, *sessions=1, sessions=4, sessions-=1, ttl=60;ttl=1",
    ] {
        assert_eq!((field, own(field)), (field, plain));
    }
}

#[test]
fn r89_an_empty_field_is_advice_of_nothing() {
    assert_eq!(own(""), Advice::default());
    assert_eq!(cmsd(""), Advice::default());
    assert_eq!(cmsd("\"cdn\";rtt=50;rd=100"), Advice::default());
}

#[test]
fn r89_a_field_of_more_than_2048_bytes_is_ignored() {
    for (field, read) in [
        ("sessions=4, x=", Advice::parse as fn(&str) -> Option<Advice>),
        ("1;com.example-sessions=4, ", Advice::parse_cmsd_dynamic),
    ] {
        let of_length = |length: usize| format!("{field}{}", "y".repeat(length - field.len()));
        assert_eq!(read(&of_length(2048)).and_then(|advice| advice.sessions), Some(4));
        assert_eq!(read(&of_length(2049)), None);
    }
}

#[test]
fn r89_advice_stands_for_its_ttl_and_then_the_defaults_do() {
    let none = Standing::default();
    assert_eq!(windows(&none, NOW), (CHUNK, SESSIONS, RANGES));
    assert_eq!((none.abr_cap(NOW), none.is_in_duress(NOW)), (None, false));
    assert_eq!(none.expires_at(Millis::ZERO), None);

    let advice = cmsd("1;du;mb=500;a-chunk=65536;a-ranges=2;a-ttl=10");
    let standing = standing(advice);
    let end = NOW + secs(10.0);
    assert_eq!(standing.expires_at(NOW), Some(end));
    let before = Millis::new(end.get() - 1.0);
    assert_eq!(windows(&standing, before), (65_536.0, 1, 2));
    assert_eq!((standing.abr_cap(before), standing.is_in_duress(before)), (Some(500e3), true));
    assert_eq!(windows(&standing, end), windows(&none, end));
    assert_eq!((standing.abr_cap(end), standing.is_in_duress(end)), (None, false));
    assert_eq!(standing.expires_at(end), None);
}

#[test]
fn r89_without_a_ttl_advice_stands_for_300_s_and_with_none_left_not_at_all() {
    for field in ["sessions=4", "sessions=4, ttl", "sessions=4, ttl=1.5"] {
        assert_eq!(standing(own(field)).expires_at(NOW), Some(NOW + secs(300.0)), "{field}");
    }
    for field in ["sessions=4, ttl=0", "sessions=4, ttl=-5"] {
        let standing = standing(own(field));
        assert_eq!(
            (field, standing.sessions(NOW), standing.expires_at(NOW)),
            (field, SESSIONS, None)
        );
    }
}

#[test]
fn r89_new_advice_replaces_the_old_wholly() {
    let mut standing = standing(own("sessions=4, chunk=65536, ttl=1000"));
    standing.adopt(own("ranges=2, ttl=5"), NOW);
    assert_eq!(windows(&standing, NOW), (CHUNK, SESSIONS, 2));
    assert_eq!(standing.expires_at(NOW), Some(NOW + secs(5.0)));
}

#[test]
fn r89_two_carriers_add_up_to_the_lower_of_each() {
    let one = own("sessions=4, chunk=131072, ttl=60");
    let other = cmsd("1;mb=2000;a-sessions=8;a-chunk=70000;a-ranges=3, 2;du");
    let both = Advice {
        chunk: Some(70_000.0),
        sessions: Some(4),
        ranges: Some(3),
        ttl: Some(secs(60.0)),
        abr_cap: Some(2e6),
        duress: true,
    };
    assert_eq!(one.merge(other), both);
    assert_eq!(other.merge(one), both);
    assert_eq!(both.merge(Advice::default()), both);
}

#[test]
fn r89_duress_is_said_by_any_hop_and_means_one_request() {
    for field in ["a;du", "a;du=?1", "a;du=true", "a;du=1", "a, b;du, c;du=?0", "\"a\";du=0;du"] {
        let standing = standing(cmsd(field));
        assert!(standing.is_in_duress(NOW), "{field}");
        assert_eq!(windows(&standing, NOW), (CHUNK, 1, RANGES), "{field}");
    }
    assert_eq!(standing(cmsd("a;du;x-sessions=8")).sessions(NOW), 1);
    for field in ["a", "du", "a;du=?0", "a;du=0", "a;du=2", "a;du=no", "a;du;du=?0", "(a);du"] {
        let standing = standing(cmsd(field));
        assert!(!standing.is_in_duress(NOW), "{field}");
        assert_eq!(standing.sessions(NOW), SESSIONS, "{field}");
    }
}

#[test]
fn r89_the_cap_is_the_lowest_bitrate_of_all_hops() {
    for (field, kbps) in [
        ("a;mb=3000", Some(3_000.0)),
        ("a;etp=3000", Some(3_000.0)),
        ("a;mb=3000;etp=2000, b;mb=2500", Some(2_000.0)),
        ("a;mb=3000;etp=4000, b;rtt=5", Some(3_000.0)),
        ("a;mb=1000;mb=3000", Some(3_000.0)),
        ("a;mb=1000;mb=x, b;etp=2000", Some(2_000.0)),
        ("a;mb=1000.5;etp=\"900\"", None),
        ("a;mb=0", Some(1.0)),
        ("a;etp=-7", Some(1.0)),
        ("(a;mb=5);mb=5", None),
    ] {
        let cap = cmsd(field).abr_cap;
        assert_eq!((field, cap), (field, kbps.map(|kbps| kbps * 1_000.0)));
    }
}

#[test]
fn r89_hops_carry_members_under_a_vendors_prefix() {
    let advice = cmsd(
        "\"origin\";com.example-chunk=131072;com.example-sessions=9;com.example-ttl=600, \
         \"cdn\";rtt=20;com.other-chunk=70000;com.other-my-ranges=0",
    );
    assert_eq!(advice.chunk, Some(70_000.0));
    assert_eq!((advice.sessions, advice.ranges), (Some(9), Some(1)));
    assert_eq!(advice.ttl, Some(secs(600.0)));
    let field = "a;chunk=70000;sessions=2;ranges=2;ttl=5;com.example-du;x-mb=1;com.sessions=1";
    assert_eq!(cmsd(field), Advice::default());
    assert_eq!(cmsd("a;x-sessions=2;x-sessions").sessions, None);
}

/// Pieces that often make a field.
const PIECES: [&str; 40] = [
    "chunk",
    "sessions",
    "ranges",
    "ttl",
    "du",
    "mb",
    "etp",
    "a-chunk",
    "a-sessions",
    "a-ranges",
    "a-ttl",
    "=",
    "=",
    "=",
    "=",
    ", ",
    ", ",
    ", ",
    ";",
    ";",
    "(",
    ")",
    " ",
    "\t",
    "0",
    "1",
    "-1",
    "7",
    "31",
    "64",
    "70000",
    "500000",
    "9000000",
    "999999999999999",
    "1.5",
    "?1",
    "?0",
    "\"a\"",
    "true",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn r90_no_field_of_whatever_text_raises_anything(field in any::<String>()) {
        fuzz::run(field.as_bytes());
    }

    #[test]
    fn r90_no_field_of_likely_pieces_raises_anything(pieces in vec(select(&PIECES[..]), 0..24)) {
        fuzz::run(pieces.concat().as_bytes());
    }

    #[test]
    fn r90_no_members_raise_anything(
        members in vec((select(&PIECES[..11]), any::<i64>().prop_map(|n| n % 1_000_000_000)), 0..8),
    ) {
        let member = |separator: &str| {
            let pairs = members.iter().map(|(key, value)| format!("{key}={value}"));
            pairs.collect::<Vec<_>>().join(separator)
        };
        let (dictionary, list) = (member(", "), format!("a;{}", member(";")));
        prop_assert!(Advice::parse(&dictionary).is_some());
        prop_assert!(members.is_empty() || Advice::parse_cmsd_dynamic(&list).is_some());
        fuzz::run(dictionary.as_bytes());
        fuzz::run(list.as_bytes());
    }
}
