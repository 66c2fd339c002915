//! The rate-limited mode, step by step, and the vectors of its curve.
#![cfg(not(target_family = "wasm"))]

use holdfast::core::{Cubic, Millis, Slot, Throttle};
use serde_json::Value;

const SPAN: Millis = Millis::new(4_000.0);
const CAP: Millis = Millis::new(30_000.0);
const LEASE: Millis = Millis::new(12_000.0);

fn at(secs: f64) -> Millis {
    Millis::from_secs(secs)
}

fn vectors() -> Value {
    serde_json::from_str(include_str!("../vectors/cubic.json")).expect("a vector file is JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    let all = value.as_array().expect("a list");
    all.iter().map(|one| one.as_f64().expect("a number")).collect()
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found}, where {expected} is expected");
}

/// Throttled by one attempt that was sent without a slot, at a second.
fn entered(wait: Option<f64>, unit: f64, secs: f64) -> Throttle {
    let mut throttle = Throttle::default();
    throttle.handle_throttled(None, wait.map(at), SPAN, CAP, unit, at(secs));
    throttle
}

/// The slot that is offered at `now`, if any.
fn take(throttle: &mut Throttle, now: Millis) -> Option<Slot> {
    if throttle.next_at(now) > now {
        return None;
    }
    throttle.handle_sent(now);
    Some(throttle.take(now + LEASE, now))
}

fn refuse(throttle: &mut Throttle, slot: Option<Slot>, now: Millis) {
    throttle.handle_throttled(slot, None, SPAN, CAP, 0.5, now);
}

#[test]
fn r46_the_curve_after_one_refusal_is_that_of_the_vectors() {
    let vectors = vectors();
    let table = &vectors["success"];
    let times = numbers(&table["t"]);
    let cubic = Cubic::new(table["w_max"].as_f64().expect("a rate"), at(times[0]));
    for (secs, expected) in times.iter().zip(numbers(&table["rate"])) {
        assert_near(cubic.rate(at(*secs)), expected);
    }
    assert_near(Cubic::cut(cubic.w_max()), cubic.rate(cubic.since()));
}

#[test]
fn r46_the_curve_with_refusals_between_is_that_of_the_vectors() {
    let expected = numbers(&vectors()["mixed"]["rate"]);
    // In that series a refusal hands on what it leaves, as the rate that was refused.
    let mut cubic = Cubic::new(10.0, at(5.0));
    let mut rate = 0.0;
    for (step, expected) in expected.into_iter().enumerate() {
        let now = at(5.0 + step as f64);
        if step == 2 || step == 3 {
            rate = Cubic::cut(rate);
            cubic = Cubic::new(rate, now);
        } else {
            rate = cubic.rate(now);
        }
        assert_near(rate, expected);
    }
}

#[test]
fn r46_a_scope_that_nobody_throttled_is_never_in_the_way() {
    let mut throttle = Throttle::default();
    for step in 0..1_000 {
        let now = Millis::new(f64::from(step));
        let slot = take(&mut throttle, now).expect("a slot at once");
        assert!(!slot.is_trial());
        throttle.handle_success(Some(slot), now);
    }
    assert!(!throttle.is_on());
    assert_eq!(throttle.state(at(2.0)), None);
    assert!(size_of::<Throttle>() < 160, "{} bytes", size_of::<Throttle>());
}

#[test]
fn r46_after_the_wait_exactly_one_trial_goes_and_its_success_starts_the_pace() {
    let mut throttle = entered(Some(10.0), 0.0, 100.0);
    assert_eq!(throttle.next_at(at(109.9)), at(110.0));
    let trial = take(&mut throttle, at(110.0)).expect("the trial");
    assert!(trial.is_trial());
    assert_eq!(take(&mut throttle, at(110.1)), None, "one at a time");
    throttle.handle_success(Some(trial), at(110.2));
    // The pace is the gentle one: two in three seconds, counted from the trial.
    assert_eq!(throttle.next_at(at(110.2)), at(111.5));
    assert!(!take(&mut throttle, at(111.5)).expect("the second").is_trial());
    assert_eq!(take(&mut throttle, at(112.9)), None);
}

#[test]
fn r47_a_trial_that_is_refused_blocks_again_and_longer() {
    let mut throttle = entered(None, 0.5, 0.0);
    let mut waits = Vec::new();
    let mut now = Millis::ZERO;
    for _ in 0..6 {
        let next = throttle.next_at(now);
        waits.push((next - now).as_secs());
        now = next;
        let trial = take(&mut throttle, now);
        assert!(trial.is_some_and(Slot::is_trial));
        refuse(&mut throttle, trial, now);
    }
    assert_eq!(waits, [3.0, 6.0, 12.0, 22.5, 22.5, 22.5]);
    now = throttle.next_at(now);
    let trial = take(&mut throttle, now);
    throttle.handle_success(trial, now);
    now = throttle.next_at(now);
    let slot = take(&mut throttle, now);
    refuse(&mut throttle, slot, now);
    assert_eq!(throttle.next_at(now), now + at(3.0), "the count is of refusals in a row");
}

#[test]
fn r47_a_wait_that_was_asked_for_is_kept_with_jitter_above_up_to_five_minutes() {
    for (wait, unit, expected) in
        [(10.0, 0.0, 10.0), (10.0, 0.5, 11.0), (300.0, 0.0, 300.0), (86_400.0, 0.5, 330.0)]
    {
        assert_eq!(entered(Some(wait), unit, 50.0).next_at(at(50.0)), at(50.0 + expected));
    }
    assert!(entered(Some(0.0), 0.0, 50.0).next_at(at(50.0)) > at(50.0), "never a hot loop");
    let cap = at(86_400.0);
    let mut throttle = Throttle::default();
    throttle.handle_throttled(None, None, cap, cap, 0.99, at(50.0));
    assert!(throttle.next_at(at(50.0)) <= at(350.0));
}

#[test]
fn r47_a_wait_that_proved_too_short_is_kept_but_not_relied_on() {
    let mut throttle = entered(Some(1.0), 0.5, 0.0);
    let mut now = Millis::ZERO;
    for expected in [1.1, 6.0, 6.0, 6.0] {
        assert_eq!((throttle.next_at(now) - now).as_secs(), expected);
        now = throttle.next_at(now);
        let trial = take(&mut throttle, now);
        throttle.handle_throttled(trial, Some(at(1.0)), SPAN, CAP, 0.5, now);
    }
}

/// How long is waited after a trial that was refused with the wait that had been named before.
fn second_wait(named: f64, unit: f64) -> f64 {
    let mut throttle = entered(Some(named), unit, 0.0);
    let now = throttle.next_at(Millis::ZERO);
    let trial = take(&mut throttle, now);
    throttle.handle_throttled(trial, Some(at(named)), SPAN, CAP, unit, now);
    (throttle.next_at(now) - now).as_secs()
}

#[test]
fn r47_a_wait_that_is_named_again_has_a_tenth_more_of_jitter_and_is_never_undercut() {
    for (unit, expected) in [(0.0, 10.0), (0.25, 10.5 * 1.025), (0.5, 11.0 * 1.05)] {
        assert_near(second_wait(10.0, unit), expected);
    }
    for named in [6.0, 10.0, 30.0, 60.0, 300.0] {
        for unit in [0.0, 0.3, 0.6, 0.9, 0.999] {
            let wait = second_wait(named, unit);
            assert!((named..=1.3 * named).contains(&wait), "{wait} s where {named} s were named");
        }
    }
}

#[test]
fn r46_a_burst_of_refusals_is_one_refusal() {
    let sent = |throttle: &mut Throttle| {
        for step in 0..40 {
            throttle.handle_sent(Millis::new(100.0 * f64::from(step)));
        }
    };
    let (mut one, mut many) = (Throttle::default(), Throttle::default());
    sent(&mut one);
    sent(&mut many);
    refuse(&mut one, None, at(4.0));
    for _ in 0..10 {
        refuse(&mut many, None, at(4.0));
    }
    assert_eq!(one.state(at(4.0)), many.state(at(4.0)));
    let state = one.state(at(4.0)).expect("throttled");
    assert!((6.5..7.5).contains(&state.rate), "0.7 of ten a second: {}", state.rate);

    many.handle_throttled(None, Some(at(2.0)), SPAN, CAP, 0.0, at(4.1));
    assert_eq!(many.state(at(4.1)), Some(state), "a shorter wait says nothing new");
    many.handle_throttled(None, Some(at(9.0)), SPAN, CAP, 0.0, at(4.1));
    assert_eq!(many.next_at(at(4.1)), at(13.1), "a longer one is kept");
    assert_eq!(many.state(at(4.1)).map(|state| state.rate), Some(state.rate));
}

#[test]
fn r46_of_the_requests_of_one_ramp_only_the_first_refusal_counts() {
    let mut throttle = ramping(8.0);
    let slots: Vec<_> = (0..4)
        .map(|step| take(&mut throttle, at(20.0 + 0.01 * f64::from(step))).expect("a slot"))
        .collect();
    refuse(&mut throttle, Some(slots[0]), at(20.1));
    let state = throttle.state(at(20.1));
    for slot in &slots[1..] {
        refuse(&mut throttle, Some(*slot), at(20.1));
    }
    assert_eq!(throttle.state(at(20.1)), state);
    throttle.handle_success(Some(slots[1]), at(20.2));
    let blocked_until = state.expect("throttled").blocked_until;
    assert_eq!(throttle.next_at(at(20.2)), blocked_until, "an old success opens nothing");
}

/// On the ramp at second 10, at a pace of about `rate`.
fn ramping(rate: f64) -> Throttle {
    let mut throttle = Throttle::default();
    let count = (rate / 0.7 * 5.0) as u32;
    for step in 0..count {
        throttle.handle_sent(at(f64::from(step) * 0.7 / rate));
    }
    throttle.handle_throttled(None, Some(at(5.0)), SPAN, CAP, 0.0, at(5.0));
    let trial = take(&mut throttle, at(10.0)).expect("the trial");
    throttle.handle_success(Some(trial), at(10.0));
    throttle
}

#[test]
fn r46_a_trial_that_was_cancelled_is_given_back() {
    let mut throttle = entered(Some(1.0), 0.0, 0.0);
    let trial = take(&mut throttle, at(1.0)).expect("the trial");
    throttle.handle_nothing(trial, at(1.1));
    let second = take(&mut throttle, at(1.1)).expect("the trial again");
    assert!(second.is_trial());
    throttle.handle_nothing(trial, at(1.2));
    assert_eq!(take(&mut throttle, at(1.2)), None, "given back once only");
}

#[test]
fn r46_a_trial_that_never_reports_is_given_back_when_its_lease_ends() {
    let mut throttle = entered(Some(1.0), 0.0, 0.0);
    let lost = take(&mut throttle, at(1.0)).expect("the trial");
    assert_eq!(throttle.next_at(at(1.0)), at(1.0) + LEASE);
    let second = take(&mut throttle, at(13.0)).expect("the trial again");
    assert!(second.is_trial());
    throttle.handle_nothing(lost, at(13.1));
    throttle.handle_success(Some(lost), at(13.1));
    assert_eq!(take(&mut throttle, at(13.2)), None, "the lost one has no say any more");
    throttle.handle_success(Some(second), at(13.2));
    assert!(throttle.next_at(at(13.2)) < at(16.0));
}

#[test]
fn r46_a_caller_that_asks_for_little_makes_the_pace_no_faster() {
    let mut throttle = ramping(8.0);
    let before = throttle.state(at(10.0)).expect("throttled").rate;
    for second in 11..30 {
        let slot = take(&mut throttle, at(f64::from(second)));
        throttle.handle_success(slot, at(f64::from(second)));
    }
    assert_eq!(throttle.state(at(30.0)).map(|state| state.rate), Some(before));
}

#[test]
fn r46_the_mode_ends_after_half_a_minute_of_calm_and_is_remembered_for_five() {
    let mut throttle = ramping(8.0);
    let mut second = 10.0;
    while throttle.is_on() && second < 100.0 {
        second += 1.0;
        let slot = take(&mut throttle, at(second));
        throttle.handle_success(slot, at(second));
    }
    assert_eq!(second, 40.0);
    let again = |start: f64| {
        let mut throttle = throttle.clone();
        for step in 0..1_000 {
            throttle.handle_sent(at(start + 0.01 * f64::from(step)));
        }
        refuse(&mut throttle, None, at(start + 10.0));
        throttle.state(at(start + 10.0)).expect("throttled").rate
    };
    let first = ramping(8.0).state(at(10.0)).expect("throttled").rate;
    assert_near(again(41.0), first);
    assert!(again(600.0) > 60.0, "long forgotten: {}", again(600.0));
}

#[test]
fn r46_another_tab_can_only_make_it_stricter() {
    let mut throttle = Throttle::default();
    throttle.adopt(at(5.0), 2.0, at(10.0));
    assert!(!throttle.is_on(), "a wait that is over turns nothing on");
    throttle.adopt(at(20.0), f64::NAN, at(10.0));
    assert!(!throttle.is_on());
    throttle.adopt(at(20.0), 2.0, at(10.0));
    assert_eq!(throttle.next_at(at(10.0)), at(20.0));
    throttle.adopt(at(15.0), 5.0, at(10.0));
    let state = throttle.state(at(10.0)).expect("throttled");
    assert_eq!((state.blocked_until, state.rate), (at(20.0), 2.0));
    throttle.adopt(at(1e9), 1.0, at(10.0));
    let state = throttle.state(at(10.0)).expect("throttled");
    assert_eq!((state.blocked_until, state.rate), (at(370.0), 1.0), "no tab can block for good");
    assert!(take(&mut throttle, at(370.0)).is_some_and(Slot::is_trial));
}

#[test]
fn r46_less_than_a_microsecond_is_no_wait() {
    let throttle = entered(Some(10.0), 0.0, 0.0);
    let due = throttle.next_at(at(0.0));
    assert_eq!(due, at(10.0));
    let short = |by: f64| Millis::new(due.get() - by);
    let half = short(0.000_5);
    assert!(throttle.next_at(half) <= half, "half a microsecond");
    let two = short(0.002);
    assert_eq!(throttle.next_at(two), due, "two microseconds");
}

#[test]
fn r46_what_another_tab_knows_is_kept_to_where_it_is_stricter() {
    let mut throttle = entered(Some(10.0), 0.0, 0.0);
    let before = throttle.state(at(1.0)).expect("it is on");
    throttle.adopt(at(5.0), 100.0, at(1.0));
    assert_eq!(throttle.state(at(1.0)), Some(before), "neither longer nor slower");
    throttle.adopt(at(20.0), 0.2, at(1.0));
    let after = throttle.state(at(1.0)).expect("it is on");
    assert_eq!((after.blocked_until, after.rate), (at(20.0), 0.2));
    // A wait that is over turns nothing on.
    let mut off = Throttle::default();
    off.adopt(at(1.0), 0.2, at(1.0));
    assert_eq!(off.state(at(1.0)), None);
    off.adopt(at(2.0), 0.2, at(1.0));
    assert!(off.state(at(1.0)).is_some());
}
