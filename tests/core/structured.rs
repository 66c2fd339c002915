//! The judge of `js/advice.js`: what the crate `sfv` makes of several thousand fields, kept in
//! `tests/vectors/advice.json` and held against the parser by `tests/node/advice.test.mjs`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use fastrand::Rng;
use serde_json::{Value, json};
use sfv::{BareItem, Dictionary, FieldType, Item, List, ListEntry, Parser};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");
const LONGEST: usize = 2048;
const OWN: [&str; 4] = ["chunk", "sessions", "ranges", "ttl"];
const CAP: usize = 4;

/// The lowest of chunk, sessions, ranges, ttl and the cap, as they are written.
#[derive(Default)]
struct Lowest {
    values: [Option<f64>; 5],
    duress: bool,
}

impl Lowest {
    /// Of both fields; `None`: neither says anything.
    fn of(own: &str, dynamic: &str) -> Option<Self> {
        let (members, hops) = (read::<Dictionary>(own), read::<List>(dynamic));
        if members.is_none() && hops.is_none() {
            return None;
        }
        let mut lowest = Self::default();
        for (key, member) in members.unwrap_or_default() {
            let place = OWN.iter().position(|own| *own == key.as_str());
            if let (Some(place), ListEntry::Item(Item { bare_item, .. })) = (place, &member) {
                lowest.lower(place, integer(bare_item));
            }
        }
        for hop in hops.unwrap_or_default() {
            let ListEntry::Item(Item { params, .. }) = hop else { continue };
            for (key, value) in &params {
                lowest.take(key.as_str(), value);
            }
        }
        Some(lowest)
    }

    /// A parameter of a hop.
    fn take(&mut self, key: &str, value: &BareItem) {
        match key {
            "du" => {
                let is_true = value.as_token().is_some_and(|token| token.as_str() == "true");
                self.duress |=
                    value.as_boolean() == Some(true) || is_true || integer(value) == Some(1.0);
            }
            "mb" | "etp" => {
                let decimal = value.as_decimal().map(f64::from);
                self.lower(CAP, integer(value).or(decimal));
            }
            _ => {
                let own = key.rsplit_once('-').map(|(_, own)| own);
                if let Some(place) = OWN.iter().position(|name| Some(*name) == own) {
                    self.lower(place, integer(value));
                }
            }
        }
    }

    fn lower(&mut self, place: usize, value: Option<f64>) {
        if let Some(value) = value {
            let lowest = &mut self.values[place];
            *lowest = Some(lowest.map_or(value, |lowest| lowest.min(value)));
        }
    }

    fn json(&self) -> Value {
        let mut values = self.values;
        values[CAP] = values[CAP].map(|kbps| kbps.max(1.0) * 1_000.0);
        let mut list: Vec<_> =
            values.iter().map(|value| value.map_or(Value::Null, short)).collect();
        list.push(json!(u8::from(self.duress)));
        Value::Array(list)
    }
}

fn read<T: FieldType>(field: &str) -> Option<T> {
    let may_be = !field.is_empty() && field.chars().count() <= LONGEST;
    may_be.then(|| Parser::new(field).parse().ok()).flatten()
}

fn integer(value: &BareItem) -> Option<f64> {
    value.as_integer().map(|value| i64::from(value) as f64)
}

/// Without a fraction where there is none.
fn short(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

/// Field of a case of the public suite.
struct Case {
    kind: String,
    field: String,
    json: Value,
}

/// The public suite, in the order of its files' names.
fn suite() -> Vec<Case> {
    let folder = fs::read_dir(format!("{VECTORS}/structured-fields")).expect("a folder");
    let mut files: Vec<PathBuf> = folder.map(|file| file.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let texts = files.iter().map(|path| fs::read_to_string(path).expect("a text"));
    let cases = texts.flat_map(|text| serde_json::from_str::<Vec<Value>>(&text).expect("cases"));
    let cases = cases.map(|json| {
        let lines = json["raw"].as_array().expect("lines").iter();
        let lines: Vec<_> = lines.map(|line| line.as_str().expect("a line")).collect();
        let kind = json["header_type"].as_str().expect("a kind").to_owned();
        Case { kind, field: lines.join(", "), json }
    });
    cases.collect()
}

#[test]
fn r89_the_judge_passes_the_public_suite() {
    let cases = suite();
    for Case { kind, field, json } in &cases {
        let parser = Parser::new(field);
        let is_read = match kind.as_str() {
            "dictionary" => parser.parse::<Dictionary>().is_ok(),
            "list" => parser.parse::<List>().is_ok(),
            _ => parser.parse::<Item>().is_ok(),
        };
        let is_expected = is_read != (json["must_fail"] == true);
        assert!(is_expected || (json["can_fail"] == true && !is_read), "{json}");
    }
    assert_eq!(cases.len(), 1_591);
}

/// What members are made of. The first eight are for dictionaries, the others from `du` on for hops.
const KEYS: [&str; 18] = [
    "chunk",
    "sessions",
    "ranges",
    "ttl",
    "du",
    "mb",
    "etp",
    "a-chunk",
    "com.b-sessions",
    "c-d-ranges",
    "e_f-ttl",
    "b-chunk",
    "*-ttl",
    "du",
    "mb",
    "x",
    "ttl-",
    "com.ttl",
];
/// Of every type, and what nearly is a value; the first 14 are right.
const VALUES: [&str; 51] = [
    "0",
    "1",
    "-1",
    "7",
    "64",
    "500000",
    "9000000",
    "999999999999999",
    "1.5",
    "2500.25",
    "-0.001",
    "?1",
    "?1",
    "true",
    "-0",
    "007",
    "-999999999999999",
    "1000000000000000",
    "--1",
    "999999999999.999",
    "1.",
    ".5",
    "1.2345",
    "1234567890123.1",
    "?0",
    "?2",
    "false",
    "*a/b:c",
    "a%",
    "Infinity",
    "\"a, b;c=(1)\"",
    "\"\\\"\\\\\"",
    "\"\\a\"",
    "\"%c3\"",
    ":aGVs:",
    ":aGk=:",
    ":a=:",
    ":aGk:",
    ":aGk==:",
    ":aGl=:",
    ":aA:",
    ":aA=:",
    ":aB==:",
    ":aA===:",
    "@1",
    "@-5",
    "@1.5",
    "%\"a%c3%a4 b\"",
    "%\"%c3\"",
    "%\"%C3%A4\"",
    "%\"%ed%a0%80\"",
];
const PIECES: [&str; 24] = [
    "=", ", ", ",", ";", "; ", "(", ")", "()", " ", "  ", "\t", "\"", "\\", ":", "%\"", "%", "?",
    "@", "-", ".", "é", "\u{7f}", "\0", "A",
];

fn pick<'a, T: ?Sized>(rng: &mut Rng, of: &[&'a T]) -> &'a T {
    of[rng.usize(..of.len())]
}

/// One that is mostly right.
fn value(rng: &mut Rng) -> String {
    match rng.u8(..16) {
        0..=11 => rng.i32(-10..100_000).to_string(),
        12..=13 => pick(rng, &VALUES[..14]).to_owned(),
        14 => pick(rng, &VALUES).to_owned(),
        _ => {
            let items = (0..rng.u8(..3)).map(|_| pick(rng, &VALUES)).collect::<Vec<_>>();
            format!("({})", items.join(" "))
        }
    }
}

fn pair(rng: &mut Rng, is_parameter: bool) -> String {
    let key = if is_parameter { pick(rng, &KEYS[4..]) } else { pick(rng, &KEYS[..8]) };
    match rng.u8(..8) {
        0 => key.to_owned(),
        _ if is_parameter => format!("{key}={}", value(rng).trim_matches(['(', ')'])),
        _ => format!("{key}={}", value(rng)),
    }
}

fn parameters(rng: &mut Rng, most: u8) -> String {
    (0..rng.u8(..=most)).map(|_| format!(";{}", pair(rng, true))).collect()
}

fn dictionary(rng: &mut Rng) -> String {
    let members = (0..rng.u8(1..4)).map(|_| format!("{}{}", pair(rng, false), parameters(rng, 1)));
    members.collect::<Vec<_>>().join(", ")
}

fn list(rng: &mut Rng) -> String {
    let hops = (0..rng.u8(1..3)).map(|_| format!("{}{}", value(rng), parameters(rng, 4)));
    hops.collect::<Vec<_>>().join(", ")
}

/// One change to the text: something in, something out, something twice.
fn mutate(rng: &mut Rng, field: &str) -> String {
    let mut text: Vec<char> = field.chars().collect();
    let at = rng.usize(..=text.len());
    let end = (at + rng.usize(1..4)).min(text.len());
    match rng.u8(..4) {
        0 => drop(text.drain(at..end)),
        1 => drop(text.splice(at..at, pick(rng, &PIECES).chars())),
        2 => drop(text.splice(at..end, pick(rng, &PIECES).chars())),
        _ => {
            let again = text[at..end].to_vec();
            drop(text.splice(at..at, again));
        }
    }
    text.into_iter().collect()
}

/// The fields, always the same.
fn fields() -> Vec<[String; 2]> {
    let mut rng = Rng::with_seed(9651);
    let none = String::new;
    let mut fields = Vec::new();
    let mut short = Vec::new();
    for Case { kind, field, .. } in suite() {
        if field.len() > LONGEST {
            continue;
        }
        match kind.as_str() {
            "dictionary" => fields.push([field.clone(), none()]),
            "list" => fields.push([none(), field.clone()]),
            _ => {
                fields.push([format!("ttl={field}"), none()]);
                fields.push([none(), format!("a;b-ttl={field}")]);
            }
        }
        if field.len() < 100 && kind != "item" {
            short.push(field);
        }
    }
    for value in VALUES {
        fields.push([format!("ttl=4, x={value}"), none()]);
        fields.push([none(), format!("{value};b-ttl=4")]);
    }
    for length in [LONGEST, LONGEST + 1] {
        let long = |start: &str| format!("{start}{}", "y".repeat(length - start.len()));
        fields.push([long("ttl=4, x="), none()]);
        fields.push([none(), long("1;b-ttl=4, ")]);
    }
    for _ in 0..500 {
        let place = rng.usize(..short.len());
        let field = mutate(&mut rng, &short[place]);
        fields.push(if rng.bool() { [field, none()] } else { [none(), field] });
    }
    for _ in 0..800 {
        let (own, hops) = (dictionary(&mut rng), list(&mut rng));
        fields.push([mutate(&mut rng, &own), none()]);
        fields.push([none(), mutate(&mut rng, &hops)]);
        fields.push([own, hops]);
    }
    let mut seen = BTreeSet::new();
    fields.retain(|field| seen.insert(field.clone()));
    fields
}

#[test]
fn r89_the_judgements_of_fields_are_as_they_are_kept() {
    let (mut lines, mut silent, mut advised) = (Vec::new(), 0, 0);
    for [own, dynamic] in fields() {
        let lowest = Lowest::of(&own, &dynamic);
        match &lowest {
            None => silent += 1,
            Some(lowest) if lowest.duress || lowest.values.iter().any(Option::is_some) => {
                advised += 1;
            }
            Some(_) => {}
        }
        lines.push(json!([own, dynamic, lowest.map(|lowest| lowest.json())]).to_string());
    }
    println!("{} fields: {silent} say nothing, {advised} advise something", lines.len());
    assert!(silent > 1_000 && advised > 1_000);

    let file = format!("{VECTORS}/advice.json");
    let judged = format!("[\n{}\n]\n", lines.join(",\n"));
    if std::env::var_os("HOLDFAST_BLESS").is_some() {
        fs::write(&file, &judged).expect("the file can be written");
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    let other = kept.lines().zip(judged.lines()).find(|(kept, judged)| kept != judged);
    assert!(
        kept == judged,
        "the first that is not as it was: {other:#?}\n\
         Where that is meant: HOLDFAST_BLESS=1 cargo test --test core structured"
    );
}
