//! The policies against request logs of what they stand for (`logs/`, recorded by
//! `tests/bench/fleet/record.mjs`).

use std::fs;
use std::path::Path;

use holdfast::core::Site;

use super::budgets::Book;
use super::libraries::{COCKATIEL, KY, P_RETRY};
use super::peer::{Failure, Next, Policy};
use super::players::{DASH, HLS, SHAKA_VOD};

/// How much earlier and later than it may be by the policy an attempt was, in seconds: the clock's
/// step, and the time that the attempt before took on a busy machine.
const EARLY: f64 = 0.02;
const LATE: f64 = 0.35;

/// The seconds between attempts, of each run.
fn recorded(name: &str) -> Vec<Vec<f64>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("logs/{name}.json"));
    let text = fs::read_to_string(file).expect("a log");
    let log: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let runs = log["gapsS"].as_array().expect("runs");
    let gaps = |run: &serde_json::Value| {
        let gaps = run.as_array().expect("a run").iter();
        gaps.map(|gap| gap.as_f64().expect("a number")).collect()
    };
    runs.iter().map(gaps).collect()
}

/// The shortest and the longest wait after each failure in a row, over many sessions; as many as
/// there are retries, or `most`.
fn waits(policy: &Policy, most: u32) -> Vec<(f64, f64)> {
    let mut dice = fastrand::Rng::with_seed(1);
    let mut waits = Vec::new();
    for _ in 0..20_000 {
        let mut book = Book::default();
        for count in 1..=most {
            let failure = Failure::Refused(None);
            let next = (policy.next)(Site::Segment, failure, count, &mut book, &mut dice);
            let Next::Retry(delay) = next else { break };
            let delay = f64::from(delay) / 1_000.0;
            if waits.len() < count as usize {
                waits.push((delay, delay));
            }
            let (least, longest) = &mut waits[count as usize - 1];
            *least = least.min(delay);
            *longest = longest.max(delay);
        }
    }
    waits
}

/// Each recorded wait is one that the policy might have made. `whole` says that the log has all
/// that the real one would ever send.
fn check(name: &str, policy: &Policy, whole: bool) {
    let runs = recorded(name);
    assert!(!runs.is_empty(), "{name}: an empty log");
    let waits = waits(policy, 20);
    let longest = runs.iter().map(Vec::len).max().unwrap_or_default();
    assert!(longest <= waits.len(), "{name}: {longest} retries, and {} here", waits.len());
    if whole {
        assert_eq!(longest, waits.len(), "{name}: retries");
    }
    for run in runs {
        for (gap, (least, most)) in run.iter().zip(&waits) {
            assert!(
                (least - EARLY..=most + LATE).contains(gap),
                "{name}: {gap} s in {run:?}, and {least} to {most} s here"
            );
        }
    }
}

/// hls.js counts the failures of its audio and its video together, so their waits are one ladder;
/// the simulation's viewers have one track.
#[test]
fn hls_js_waits_as_its_log_says() {
    let mut gaps = recorded("hls").concat();
    gaps.sort_by(f64::total_cmp);
    let waits = waits(&HLS, 20);
    assert!(gaps.len() >= 4 && gaps.len() <= waits.len(), "{gaps:?}");
    for (gap, (wait, _)) in gaps.iter().zip(waits) {
        assert!((wait - EARLY..=wait + LATE).contains(gap), "{gap} s, and {wait} s here");
    }
}

#[test]
fn shaka_player_waits_as_its_log_says() {
    check("shaka", &SHAKA_VOD, true);
}

#[test]
fn dash_js_waits_as_its_log_says() {
    check("dash", &DASH, true);
}

#[test]
fn p_retry_waits_as_its_log_says() {
    check("p-retry", &P_RETRY, false);
}

#[test]
fn ky_waits_as_its_log_says() {
    check("ky", &KY, true);
}

#[test]
fn cockatiel_waits_as_its_log_says() {
    check("cockatiel", &COCKATIEL, true);
}
