//! The path to the network: its class, its generations, its behaviour, and the plan that follows
//! (R83 to R87). Each is compared with the rule in words, over all inputs where they are few.

use std::collections::BTreeSet;

use fastrand::Rng;
use holdfast::core::{
    AdverseDetector, Allowed, ConnectionClass, Cost, Interface, Millis, Path, PathSample, Plan,
    PlanInputs, Power, Reachability, Thermal, class, plan,
};
use proptest::collection::vec;
use proptest::prelude::*;

const MINUTE: f64 = 60_000.0;

fn at(secs: f64) -> Millis {
    Millis::from_secs(secs)
}

/// Every sample, without its background.
fn samples() -> Vec<PathSample> {
    let mut all = Vec::new();
    for cost in Cost::ALL {
        for reachability in Reachability::ALL {
            for interface in Interface::ALL {
                for power in Power::ALL {
                    for thermal in Thermal::ALL {
                        let background_until = None;
                        all.push(PathSample {
                            cost,
                            reachability,
                            interface,
                            power,
                            thermal,
                            background_until,
                        });
                    }
                }
            }
        }
    }
    all
}

/// Every combination of what a plan depends on, with the advice of `sessions`.
fn combinations(sessions: u32) -> Vec<PlanInputs> {
    let mut all = Vec::new();
    for sample in samples() {
        for flags in 0..8 {
            // None, expired, short, just not short, long.
            for background in [None, Some(0.0), Some(59.999), Some(60.0), Some(600.0)] {
                all.push(PlanInputs {
                    sample,
                    online: flags & 1 != 0,
                    adverse: flags & 2 != 0,
                    consent: flags & 4 != 0,
                    background_left: background.map(at),
                    chunk: 262_144.0,
                    sessions,
                    abr_cap: None,
                });
            }
        }
    }
    all
}

/// What speaks against a transfer, by name.
fn objections(inputs: &PlanInputs) -> BTreeSet<&'static str> {
    let PathSample { cost, reachability, interface, power, thermal, .. } = inputs.sample;
    let mut found = BTreeSet::new();
    let mut object = |name, holds: bool| {
        if holds {
            found.insert(name);
        }
    };
    object("no path", !inputs.online);
    object("no path", reachability == Reachability::None);
    object("critical heat", thermal == Thermal::Critical);
    object("serious heat", thermal == Thermal::Serious);
    object("low power", power == Power::LowPower);
    object("cost", cost == Cost::Metered || cost == Cost::Constrained);
    object("cost", cost == Cost::Unknown && interface == Interface::Cellular);
    object("data saver", cost == Cost::Constrained);
    object("link", inputs.adverse);
    object("last minute", inputs.background_left.is_some_and(|left| left.as_secs() < 60.0));
    found
}

/// The first class in order of precedence whose condition is among the objections.
fn class_in_words(inputs: &PlanInputs) -> ConnectionClass {
    let order = [
        ("no path", ConnectionClass::Offline),
        ("link", ConnectionClass::Adverse),
        ("data saver", ConnectionClass::Constrained),
        ("cost", ConnectionClass::Metered),
    ];
    let against = objections(inputs);
    let first = order.into_iter().find(|(name, _)| against.contains(name));
    first.map_or(ConnectionClass::Unmetered, |(_, class)| class)
}

/// What may be fetched by the rules, and how many at a time.
fn allowed_in_words(inputs: &PlanInputs) -> (Allowed, u32) {
    let mut against = objections(inputs);
    if inputs.consent {
        against.retain(|name| !["cost", "data saver", "link"].contains(name));
    }
    let against = |names: &[&str]| names.iter().any(|name| against.contains(name));
    if against(&["no path", "critical heat"]) {
        return (Allowed::Nothing, 0);
    }
    let held = against(&["cost", "data saver", "link", "last minute", "low power", "serious heat"]);
    let one_at_a_time = against(&["low power", "serious heat"]);
    (
        if held { Allowed::Needed } else { Allowed::All },
        if one_at_a_time { 1 } else { inputs.sessions },
    )
}

#[test]
fn r83_the_class_of_every_input_is_that_of_the_rules_in_words() {
    let mut counts = [0; 5];
    for inputs in combinations(6) {
        let found = class(&inputs.sample, inputs.online, inputs.adverse);
        assert_eq!(found, class_in_words(&inputs), "{inputs:?}");
        counts[found as usize] += 1;
    }
    println!("unmetered, metered, constrained, adverse, offline: {counts:?}");
    assert_eq!(counts.iter().sum::<u32>(), 48_000);
    assert!(counts.iter().all(|count| *count > 0));
}

#[test]
fn r83_what_is_not_known_means_unmetered_and_online_proves_nothing() {
    let unknown = PathSample::default();
    assert_eq!(class(&unknown, true, false), ConnectionClass::Unmetered);
    let none = PathSample { reachability: Reachability::None, ..unknown };
    assert_eq!(class(&none, true, false), ConnectionClass::Offline, "whatever the browser says");
    let reachable = PathSample { reachability: Reachability::Reachable, ..unknown };
    assert_eq!(class(&reachable, false, false), ConnectionClass::Offline, "a no is believed");
    assert_eq!(class(&reachable, true, true), ConnectionClass::Adverse, "a yes heals nothing");
}

#[test]
fn r83_a_mobile_network_is_metered_until_somebody_says_what_it_costs() {
    let cellular = PathSample { interface: Interface::Cellular, ..PathSample::default() };
    assert_eq!(class(&cellular, true, false), ConnectionClass::Metered);
    let free = PathSample { cost: Cost::Unmetered, ..cellular };
    assert_eq!(class(&free, true, false), ConnectionClass::Unmetered);
}

/// An event of a link, at a time without the time asleep.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Bad(f64),
    Good(f64),
}

/// Whether a link with this history is adverse, from all of its events: some bad event was the
/// third in less than a minute, and no run without bad events has since lasted a minute and had a
/// success.
fn adverse_in_words(events: &[Event], now: f64) -> bool {
    let mut adverse = false;
    for (first, event) in events.iter().enumerate() {
        let Event::Bad(entered) = *event else { continue };
        let so_far = &events[..=first];
        let bad = so_far.iter().filter(|e| matches!(e, Event::Bad(at) if entered - at < MINUTE));
        if bad.count() < 3 {
            continue;
        }
        let (mut since, mut succeeded, mut cured) = (entered, false, false);
        for later in events[first + 1..].iter().chain([&Event::Bad(now)]) {
            match *later {
                Event::Good(_) => succeeded = true,
                Event::Bad(at) => {
                    cured |= succeeded && at - since >= MINUTE;
                    (since, succeeded) = (at, false);
                }
            }
        }
        adverse |= !cured;
    }
    adverse
}

#[test]
fn r84_the_detector_agrees_with_a_model_that_keeps_all_events() {
    let mut rng = Rng::with_seed(84);
    let gaps = [0.0, 1.0, 5_000.0, 19_999.0, 20_000.0, 29_999.0, 30_000.0, 59_999.0, 60_000.0];
    let (mut adverse, mut well, mut demoted) = (0, 0, 0);
    for _ in 0..20_000 {
        let mut detector = AdverseDetector::default();
        let (mut events, mut awake, mut slept) = (Vec::new(), 0.0, 0.0);
        let success = rng.u32(1..60);
        for _ in 0..rng.usize(1..40) {
            awake += if rng.u8(..4) == 0 {
                f64::from(rng.u32(..150_000))
            } else {
                gaps[rng.usize(..gaps.len())]
            };
            match rng.u32(..100) {
                0 => {
                    detector.reset();
                    events.clear();
                }
                1..5 => {
                    let span = f64::from(rng.u32(..700_000));
                    slept += span;
                    detector.excuse(Millis::new(span));
                }
                n if n < 5 + success => {
                    detector.handle_success();
                    events.push(Event::Good(awake));
                }
                _ => {
                    detector.handle_bad(Millis::new(awake + slept));
                    events.push(Event::Bad(awake));
                }
            }
            let now = Millis::new(awake + slept);
            let expected = adverse_in_words(&events, awake);
            assert_eq!(detector.is_adverse(now), expected, "{events:?} at {awake}");
            match detector.changes_at(now).map(|at| at.get() - slept) {
                Some(change) => {
                    assert!(change > awake && expected);
                    assert!(adverse_in_words(&events, change - 1.0), "{events:?}: too late");
                    assert!(!adverse_in_words(&events, change), "{events:?}: too early");
                    demoted += 1;
                }
                None => assert_eq!(adverse_in_words(&events, awake + 1e9), expected),
            }
            if expected { adverse += 1 } else { well += 1 }
        }
    }
    println!("adverse {adverse}, with a known end {demoted}, well {well}");
    assert!(adverse > 50_000 && well > 50_000 && demoted > 10_000);
}

/// A detector after bad events at these seconds.
fn after_bad(secs: &[f64]) -> AdverseDetector {
    let mut detector = AdverseDetector::default();
    for secs in secs {
        detector.handle_bad(at(*secs));
    }
    detector
}

#[test]
fn r84_three_bad_events_in_a_minute_make_a_link_adverse() {
    assert!(!after_bad(&[0.0, 1.0]).is_adverse(at(1.0)));
    assert!(after_bad(&[0.0, 1.0, 59.0]).is_adverse(at(59.0)));
    assert!(!after_bad(&[0.0, 1.0, 60.0]).is_adverse(at(60.0)), "not in one minute");
}

#[test]
fn r84_a_clean_minute_with_a_success_ends_it_and_silence_does_not() {
    let mut detector = after_bad(&[0.0, 1.0, 2.0]);
    assert!(detector.is_adverse(at(3_600.0)), "nothing proves that it is well");
    assert_eq!(detector.changes_at(at(3.0)), None);
    detector.handle_success();
    assert_eq!(detector.changes_at(at(10.0)), Some(at(62.0)));
    assert!(detector.is_adverse(at(61.9)) && !detector.is_adverse(at(62.0)));
    assert_eq!(detector.changes_at(at(62.0)), None, "nothing more to come");

    detector.handle_bad(at(61.0));
    assert!(detector.is_adverse(at(200.0)), "a bad event starts the minute again");
    detector.handle_success();
    assert!(!detector.is_adverse(at(200.0)), "a late success finds a clean minute");
}

#[test]
fn r84_time_asleep_is_no_clean_time_and_another_path_starts_over() {
    let mut detector = after_bad(&[0.0, 1.0, 2.0]);
    detector.handle_success();
    detector.excuse(at(600.0));
    assert!(detector.is_adverse(at(603.0)));
    assert_eq!(detector.changes_at(at(603.0)), Some(at(662.0)));

    let mut two = after_bad(&[0.0, 1.0]);
    two.excuse(at(600.0));
    two.handle_bad(at(602.0));
    assert!(two.is_adverse(at(602.0)), "two seconds awake");

    detector.reset();
    assert_eq!(detector, AdverseDetector::default());
    detector.handle_bad(at(604.0));
    assert!(!detector.is_adverse(at(604.0)));
}

/// A sample where one field has another value, or the same.
fn edited(mut sample: PathSample, field: u32, code: u32) -> PathSample {
    match field {
        0 => sample.cost = Cost::from_code(code),
        1 => sample.reachability = Reachability::from_code(code),
        2 => sample.interface = Interface::from_code(code),
        3 => sample.power = Power::from_code(code),
        4 => sample.thermal = Thermal::from_code(code),
        _ => sample.background_until = (code > 0).then(|| at(f64::from(code))),
    }
    sample
}

/// What a path is known by.
fn identity(sample: &PathSample) -> [u8; 3] {
    [sample.reachability as u8, sample.interface as u8, sample.cost as u8]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn r85_a_generation_begins_when_and_only_when_reach_interface_or_cost_changes(
        steps in vec(vec((0_u32..6, 0_u32..6), 0..4), 1..30)
    ) {
        let mut path = Path::default();
        let mut sample = PathSample::default();
        let mut expected = 0;
        for edits in steps {
            let old = identity(&sample);
            for (field, code) in edits {
                sample = edited(sample, field, code);
            }
            let moved = identity(&sample) != old;
            expected += u32::from(moved);
            prop_assert_eq!(path.handle_sample(sample), moved);
            prop_assert_eq!(path.generation(), expected);
            prop_assert_eq!(*path.sample(), sample);
            prop_assert!(!path.handle_sample(sample), "the same again");
        }
    }
}

#[test]
fn r86_the_plan_of_every_input_is_that_of_the_rules_in_words() {
    let mut counts = [0; 3];
    for inputs in [1, 6].into_iter().flat_map(combinations) {
        let (allowed, max_in_flight) = allowed_in_words(&inputs);
        let adverse = class_in_words(&inputs) == ConnectionClass::Adverse;
        let held = allowed != Allowed::All;
        let expected = Plan {
            allowed,
            max_in_flight,
            range_window: adverse.then_some(262_144.0),
            abr_cap: None,
            max_buffer_ahead: held.then(|| at(30.0)),
        };
        assert_eq!(plan(&inputs), expected, "{inputs:?}");
        counts[allowed as usize] += 1;
    }
    println!("nothing, needed, all: {counts:?}");
    assert_eq!(counts.iter().sum::<u32>(), 2 * 48_000);
    assert!(counts.iter().all(|count| *count > 0));
}

#[test]
fn r86_what_is_needed_goes_on_unless_there_is_no_path_or_a_critical_heat() {
    for inputs in combinations(6) {
        let stopped =
            objections(&inputs).iter().any(|one| ["no path", "critical heat"].contains(one));
        let plan = plan(&inputs);
        assert_eq!(
            plan.allowed >= Allowed::Needed && plan.max_in_flight >= 1,
            !stopped,
            "{inputs:?}"
        );
    }
}

#[test]
fn r86_consent_lifts_what_cost_and_link_hold_and_nothing_else() {
    let mut lifted = 0;
    for without in combinations(6).into_iter().filter(|inputs| !inputs.consent) {
        let with = PlanInputs { consent: true, ..without };
        let (before, after) = (plan(&without), plan(&with));
        assert_eq!(
            (before.range_window, before.max_in_flight),
            (after.range_window, after.max_in_flight)
        );
        if before.allowed == after.allowed {
            continue;
        }
        assert_eq!((before.allowed, after.allowed), (Allowed::Needed, Allowed::All));
        let mut others = objections(&without);
        others.retain(|name| !["cost", "data saver", "link"].contains(name));
        assert!(others.is_empty(), "{others:?} was lifted: {without:?}");
        lifted += 1;
    }
    println!("lifted: {lifted}");
    assert!(lifted > 0);
}

/// The same, worse in one thing each.
fn worsened(inputs: PlanInputs) -> Vec<PlanInputs> {
    let sample = |edit: fn(&mut PathSample)| {
        let mut worse = inputs;
        edit(&mut worse.sample);
        worse
    };
    vec![
        PlanInputs { online: false, ..inputs },
        PlanInputs { adverse: true, ..inputs },
        PlanInputs { consent: false, ..inputs },
        PlanInputs { background_left: Some(at(1.0)), ..inputs },
        PlanInputs { sessions: 1, ..inputs },
        sample(|sample| sample.reachability = Reachability::None),
        sample(|sample| sample.cost = Cost::Constrained),
        sample(|sample| sample.power = Power::LowPower),
        sample(|sample| {
            if sample.thermal != Thermal::Critical {
                sample.thermal = Thermal::Serious;
            }
        }),
        sample(|sample| sample.thermal = Thermal::Critical),
    ]
}

#[test]
fn r86_what_is_worse_never_allows_more() {
    for better in combinations(6) {
        for worse in worsened(better) {
            assert!(!plan(&better).narrows(&plan(&worse)), "{better:?} and {worse:?}");
        }
    }
}

/// A limit, where none is the largest.
fn limit(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::INFINITY)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn r86_lower_advice_raises_nothing_and_the_same_inputs_give_the_same_plan(
        which in 0_usize..48_000,
        (chunk, less) in (1.0..1e8_f64, 0.0..=1.0_f64),
        (sessions, fewer) in (1_u32..20, 1_u32..20),
        (cap, lower) in (proptest::option::of(1.0..1e8_f64), proptest::option::of(1.0..1e8_f64)),
        until in proptest::option::of(0.0..1e6_f64),
    ) {
        let mut own = combination(which);
        (own.chunk, own.sessions, own.abr_cap) = (chunk, sessions, cap);
        let advised = PlanInputs {
            chunk: chunk * less,
            sessions: sessions.min(fewer),
            abr_cap: cap.map_or(lower, |cap| Some(limit(lower).min(cap))),
            ..own
        };
        let (before, after) = (plan(&own), plan(&advised));
        prop_assert!(after.allowed == before.allowed, "advice holds and lifts nothing");
        prop_assert!(after.max_in_flight <= before.max_in_flight);
        prop_assert!(limit(after.range_window) <= limit(before.range_window));
        prop_assert!(limit(after.abr_cap) <= limit(before.abr_cap));
        prop_assert_eq!(after.max_buffer_ahead, before.max_buffer_ahead);
        prop_assert_eq!(before.abr_cap, cap);
        prop_assert_eq!(plan(&own), before);

        own.sample.background_until = until.map(Millis::new);
        prop_assert_eq!(plan(&own), before, "only what is left counts");
    }
}

thread_local! {
    static COMBINATIONS: Vec<PlanInputs> = combinations(6);
}

fn combination(which: usize) -> PlanInputs {
    COMBINATIONS.with(|all| all[which])
}

#[test]
fn r86_the_last_minute_in_the_background_holds_when_the_sample_says_it_does() {
    let until = |secs| PathSample { background_until: Some(at(secs)), ..PathSample::default() };
    let allowed = |sample: PathSample, now| {
        let inputs = PlanInputs {
            sample,
            online: true,
            adverse: false,
            consent: true,
            background_left: sample.background_left(now),
            chunk: 1.0,
            sessions: 6,
            abr_cap: None,
        };
        plan(&inputs).allowed
    };
    for secs in [60.0, 61.0, 90.5, 12_345.678, 1e9] {
        let sample = until(secs);
        let begins = sample.last_minute_at().expect("there is an end");
        assert_eq!(allowed(sample, begins), Allowed::Needed, "{secs}");
        assert_eq!(allowed(sample, begins - Millis::new(2.0)), Allowed::All, "{secs}");
    }
    assert_eq!(allowed(until(5.0), Millis::ZERO), Allowed::Needed);
    assert_eq!(allowed(until(5.0), at(10.0)), Allowed::Needed, "past its end");
    assert_eq!(allowed(PathSample::default(), at(10.0)), Allowed::All, "in the foreground");
    assert_eq!(PathSample::default().last_minute_at(), None);
}

/// What may be in flight under a plan: of which purpose, as which of them.
fn permissions(plan: &Plan) -> BTreeSet<(&'static str, u32)> {
    let purposes: &[&str] = match plan.allowed {
        Allowed::Nothing => &[],
        Allowed::Needed => &["needed"],
        Allowed::All => &["needed", "ahead"],
    };
    let each = |purpose| (0..plan.max_in_flight).map(move |place| (purpose, place));
    purposes.iter().copied().flat_map(each).collect()
}

#[test]
fn r87_a_plan_narrows_when_it_forbids_what_was_allowed() {
    let mut plans: Vec<Plan> = Vec::new();
    for plan in [1, 3, 6].into_iter().flat_map(combinations).map(|inputs| plan(&inputs)) {
        if !plans.contains(&plan) {
            plans.push(plan);
        }
    }
    println!("plans: {}", plans.len());
    let mut narrowing = 0;
    for (before, after) in plans.iter().flat_map(|one| plans.iter().map(move |two| (one, two))) {
        let forbidden = !permissions(before).is_subset(&permissions(after));
        assert_eq!(after.narrows(before), forbidden, "{before:?} to {after:?}");
        narrowing += u32::from(forbidden);
    }
    assert!(narrowing > 0 && narrowing < (plans.len() * plans.len()) as u32);
}
