//! Classification against its golden file, `tests/vectors/classification.tsv`.
//!
//! The file has every outcome and every status from 0 and 100 to 599, each with both answers
//! to "online?" and "Retry-After?". Rows that say the same are written as one: `any` stands
//! for both answers, `200-299` for a range, `3000+status` for the status in the cause.

use std::fmt::Write;

use holdfast::core::{Classification, Facts, FailureClass, Outcome, Retryable, Weight, classify};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/classification.tsv");
const HEAD: &str = "outcome\tonline\tretry-after\tclass\tretryable\tbreaker\tadverse\tcost\tsvta\n";

const OTHERS: [Outcome; 11] = [
    Outcome::Aborted,
    Outcome::BadContentRange,
    Outcome::Empty,
    Outcome::HeadersTimeout,
    Outcome::Intercepted,
    Outcome::Opaque,
    Outcome::RangeIgnored,
    Outcome::Rejected,
    Outcome::Stall,
    Outcome::Truncated,
    Outcome::Status(0),
];

fn statuses() -> impl Iterator<Item = u16> {
    100..=599
}

fn outcomes() -> impl Iterator<Item = Outcome> {
    OTHERS.into_iter().chain(statuses().map(Outcome::Status))
}

fn all_facts() -> impl Iterator<Item = Facts> {
    outcomes().flat_map(|outcome| {
        [(false, false), (false, true), (true, false), (true, true)]
            .map(|(online, retry_after)| Facts { outcome, online, retry_after })
    })
}

fn of_status(status: u16) -> Classification {
    classify(Facts { outcome: Outcome::Status(status), online: true, retry_after: false })
}

fn verdict_columns(facts: Facts) -> String {
    let Classification { class, retryable, breaker, adverse, cost, svta } = classify(facts);
    let svta = match facts.outcome {
        Outcome::Status(status) if svta == 3000 + status => "3000+status".to_owned(),
        _ => svta.to_string(),
    };
    format!("{class:?}\t{retryable:?}\t{breaker:?}\t{adverse}\t{cost}\t{svta}\n")
}

/// The rows of one outcome without its name: one, or one for each answer that matters.
fn rows(outcome: Outcome) -> Vec<String> {
    let row = |online, retry_after| verdict_columns(Facts { outcome, online, retry_after });
    let online_matters =
        row(true, false) != row(false, false) || row(true, true) != row(false, true);
    let asked_matters =
        row(true, false) != row(true, true) || row(false, false) != row(false, true);
    let answers = |matters: bool| if matters { &[Some(true), Some(false)][..] } else { &[None] };
    let name = |answer: Option<bool>| answer.map_or("any", |yes| if yes { "yes" } else { "no" });
    let mut rows = Vec::new();
    for &online in answers(online_matters) {
        for &asked in answers(asked_matters) {
            let verdict = row(online.unwrap_or(true), asked.unwrap_or(true));
            rows.push(format!("{}\t{}\t{verdict}", name(online), name(asked)));
        }
    }
    rows
}

fn render() -> String {
    let mut text = HEAD.to_owned();
    for outcome in OTHERS {
        for row in rows(outcome) {
            write!(text, "{outcome:?}\t{row}").expect("a string takes all");
        }
    }
    let mut first = 100;
    for status in statuses() {
        let same = rows(Outcome::Status(status));
        if status < 599 && rows(Outcome::Status(status + 1)) == same {
            continue;
        }
        for row in same {
            match first == status {
                true => write!(text, "{status}\t{row}"),
                false => write!(text, "{first}-{status}\t{row}"),
            }
            .expect("a string takes all");
        }
        first = status + 1;
    }
    text
}

#[test]
fn r23_every_outcome_is_classified_as_the_golden_file_says() {
    let actual = render();
    if std::env::var_os("HOLDFAST_WRITE_VECTORS").is_some() {
        std::fs::write(GOLDEN, &actual).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(GOLDEN).expect("the golden file can be read");
    let lines = golden.lines().zip(actual.lines()).enumerate();
    for (number, (expected, found)) in lines {
        assert_eq!(
            found,
            expected,
            "line {} of {GOLDEN}; if the change is meant: \
             HOLDFAST_WRITE_VECTORS=1 cargo test --test classify, and review the difference",
            number + 1
        );
    }
    assert_eq!(actual.lines().count(), golden.lines().count(), "rows were added or lost");
}

#[test]
fn r24_of_all_statuses_5xx_408_425_and_429_are_retried_as_often_as_the_ladder_allows() {
    let retried = |status: &u16| of_status(*status).retryable == Retryable::Always;
    let expected: Vec<u16> = [408, 425, 429].into_iter().chain(500..=599).collect();
    assert_eq!(statuses().filter(retried).collect::<Vec<_>>(), expected);
}

#[test]
fn r24_a_misdirected_request_is_the_only_status_that_is_retried_once() {
    let once = |status: &u16| of_status(*status).retryable == Retryable::Once;
    assert_eq!(statuses().filter(once).collect::<Vec<_>>(), [421]);
}

#[test]
fn r24_413_is_retried_only_where_the_server_says_when() {
    let facts = Facts { outcome: Outcome::Status(413), online: true, retry_after: true };
    assert_eq!(classify(facts).retryable, Retryable::Always);
    assert_eq!(of_status(413).retryable, Retryable::Never);
}

#[test]
fn r24_451_is_final_whatever_else_is_known() {
    for facts in all_facts().filter(|facts| facts.outcome == Outcome::Status(451)) {
        assert_eq!(classify(facts).retryable, Retryable::Never, "{facts:?}");
        assert_eq!(classify(facts).class, FailureClass::Legal, "{facts:?}");
    }
}

#[test]
fn r27_no_outcome_is_called_a_name_that_did_not_resolve() {
    for facts in all_facts() {
        assert_ne!(classify(facts).svta, 3003, "{facts:?}");
    }
}

#[test]
fn r39_a_limit_of_rate_does_not_count_against_the_host() {
    for facts in all_facts() {
        let throttled = matches!(facts.outcome, Outcome::Status(429))
            || matches!(facts.outcome, Outcome::Status(503) if facts.retry_after);
        if throttled {
            assert_eq!(classify(facts).breaker, Weight::None, "{facts:?}");
        }
    }
}

#[test]
fn no_status_below_511_is_evidence_of_an_adverse_network() {
    let adverse = |status: &u16| of_status(*status).adverse;
    assert_eq!(statuses().filter(adverse).collect::<Vec<_>>(), [511]);
}

#[test]
fn only_failures_have_a_cause_and_only_repeated_attempts_a_price() {
    for facts in all_facts() {
        let said = classify(facts);
        let blameless = matches!(said.class, FailureClass::Success | FailureClass::Aborted);
        assert_eq!(said.svta == 0, blameless, "{facts:?}");
        if said.retryable == Retryable::Never {
            assert_eq!(said.cost, 0.0, "{facts:?}");
        }
    }
}
