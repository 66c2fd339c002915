//! The script of `tests/replay` and the decisions that are kept of it (R14).

use std::collections::BTreeSet;

#[path = "../replay/script.rs"]
mod script;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/replay.tsv");

#[test]
fn r14_the_same_script_leads_to_the_same_decisions_to_the_last_bit() {
    let played = script::play();
    if std::env::var_os("HOLDFAST_BLESS").is_some() {
        std::fs::write(GOLDEN, &played).expect("the file can be written");
    }
    let kept = std::fs::read_to_string(GOLDEN).unwrap_or_default();
    let mut lines = (1..).zip(kept.lines().zip(played.lines()));
    let other = lines.find(|(_, (kept, played))| kept != played);
    assert!(
        kept == played,
        "the first line that is not as it was: {other:#?}\n\
         Where that is meant: HOLDFAST_BLESS=1 cargo test --test core r14"
    );
}

#[test]
fn r14_a_second_run_is_no_different() {
    assert!(script::play() == script::play());
}

/// The numbers in one column of the lines with this event.
fn seen(played: &str, event: &str) -> BTreeSet<u32> {
    let cells = played.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let rows = cells.filter(|row| row.len() == 6 && row[3] == event);
    rows.map(|row| row[4].parse().expect("a number")).collect()
}

#[test]
fn the_script_meets_everything_that_is_decided() {
    let played = script::play();
    let events: BTreeSet<_> =
        played.lines().skip(1).filter_map(|line| line.split('\t').nth(3)).collect();
    assert_eq!(events.len(), 20, "{events:?}");
    assert_eq!(seen(&played, "Waiting").len(), 11, "all reasons to wait");
    let failures = seen(&played, "Failed");
    assert!(failures.len() >= 16, "{failures:?}");
    let verdicts = seen(&played, "GivenUp");
    assert!(verdicts.len() >= 9, "{verdicts:?}");
    assert_eq!(seen(&played, "Throttled").len(), 3, "all scopes");
    assert_eq!(seen(&played, "Hurried").len(), 4);
    assert_eq!(seen(&played, "Health").len(), 2, "a probe is no change of health");
    assert_eq!(seen(&played, "Answered").len(), 4);
}
