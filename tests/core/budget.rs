//! The retry budget: tokens that first successes earn and retries spend (R36, R37).

use std::collections::{BTreeMap, BTreeSet};

use holdfast::core::{
    Alternatives, BudgetConfig, Config, Entry, FailureClass, Health, LogEvent, Reason, Site,
    WaitReason,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::{Answer, World, ask, hang, ok, page, reject, status};

const TARGET: f64 = 4_000.0;
const MINUTE: f64 = 60_000.0;

/// The hosts of requests.
type Hosts = BTreeMap<u32, u32>;

/// How each attempt after the first was paid for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Means {
    /// By the budget, so much at least.
    Tokens(f64),
    /// By time: a probe of the host, or a turn of a hold or of what the budget did not cover.
    Time,
}

/// The retries of a session as the log has them: when, to which host, by which means. `hosts` are
/// the requests' hosts, 0 where there is none.
fn retries(world: &World, hosts: &Hosts) -> Vec<(f64, u32, Means)> {
    let mut waits: BTreeMap<u32, WaitReason> = BTreeMap::new();
    let mut turns: BTreeSet<u32> = BTreeSet::new();
    let mut costs: BTreeMap<u32, f64> = BTreeMap::new();
    let mut closed: BTreeMap<u32, bool> = BTreeMap::new();
    let mut found = Vec::new();
    for Entry { at, request, attempt, event, detail, value } in world.engine.log().copied() {
        let id = request.0;
        match event {
            LogEvent::Health => {
                closed.insert(value as u32, detail == Health::Closed as u32);
            }
            LogEvent::Waiting => {
                // What is put off when its turn has come has been paid for by time.
                let before = waits.insert(id, WAITS[detail as usize]);
                turns.extend(before.filter(|wait| is_turn(*wait)).map(|_| id));
            }
            // What the network's return ends, and what is hurried, has to be paid for.
            LogEvent::Hurried if waits.get(&id) != Some(&WaitReason::Hold) => {
                waits.insert(id, WaitReason::Backoff);
            }
            LogEvent::Failed => {
                costs.insert(id, least_cost(detail));
            }
            LogEvent::Sent if attempt > 1 => {
                let host = hosts.get(&id).copied().unwrap_or(0);
                let turn = turns.remove(&id) | waits.remove(&id).is_some_and(is_turn);
                let probe = turn || !closed.get(&host).copied().unwrap_or(true);
                let means = if probe { Means::Time } else { Means::Tokens(costs[&id]) };
                found.push((at.get(), host, means));
            }
            _ => {}
        }
    }
    found
}

/// Whether time pays for what follows such a wait.
const fn is_turn(wait: WaitReason) -> bool {
    matches!(wait, WaitReason::Hold | WaitReason::Budget)
}

/// The reasons to wait, by their codes.
const WAITS: [WaitReason; 10] = [
    WaitReason::Backoff,
    WaitReason::Hold,
    WaitReason::Offline,
    WaitReason::RetryAfter,
    WaitReason::Breaker,
    WaitReason::Budget,
    WaitReason::Vrlt,
    WaitReason::TokenRefresh,
    WaitReason::Cooldown,
    WaitReason::NotReady,
];

/// What a retry after a failure of this class costs at least.
fn least_cost(class: u32) -> f64 {
    match class {
        of if of == FailureClass::Offline as u32 => 0.0,
        // A 400 for its directives is asked for again at no cost.
        of if of == FailureClass::Contract as u32 => 0.0,
        of if of == FailureClass::RateLimited as u32 => 0.36,
        // Those of the property below name a time, and what is asked for costs nothing.
        of if of == FailureClass::ServerBusy as u32 => 0.0,
        of if of == FailureClass::Misdirected as u32 => 0.5,
        of if of == FailureClass::Truncated as u32 => 0.5,
        of if of == FailureClass::BadRange as u32 => 0.5,
        _ => 1.0,
    }
}

/// What all retries of these cost, or those of one host.
fn tokens(retries: &[(f64, u32, Means)], host: Option<u32>) -> f64 {
    let of = |(_, of, means): &(f64, u32, Means)| match means {
        Means::Tokens(cost) if host.is_none_or(|host| host == *of) => *cost,
        _ => 0.0,
    };
    retries.iter().map(of).sum()
}

/// What first attempts that succeeded have earned, or those of one host.
fn earned(world: &World, hosts: &Hosts, host: Option<u32>) -> f64 {
    let first = |entry: &&Entry| {
        let of = hosts.get(&entry.request.0).copied().unwrap_or(0);
        let succeeded = entry.event == LogEvent::Succeeded && entry.attempt == 1;
        succeeded && host.is_none_or(|host| host == of)
    };
    0.1 * world.engine.log().filter(first).count() as f64
}

/// A hundred segments of a host that answers all of them alike.
fn hundred(answer: &Answer, alternatives: Alternatives) -> World {
    let mut world = World::new();
    world.playback(None, Some(TARGET));
    for _ in 0..100 {
        let request = ask(Site::Segment).alternatives(alternatives);
        world.start(request.always(answer.clone()));
    }
    world
}

#[test]
fn r36_a_hundred_segments_on_a_dead_host_retry_no_more_than_the_bucket_holds() {
    for answer in [reject(), status(503), status(500), hang(), status(425), status(511), page()] {
        for alternatives in [Alternatives::None, Alternatives::Unknown, Alternatives::Some] {
            let mut world = hundred(&answer, alternatives);
            world.drive_until(4.0 * MINUTE);
            let retries = retries(&world, &Hosts::new());
            let paid = tokens(&retries, None);
            assert!(paid <= 10.0 + 1e-9, "{answer:?}, {alternatives:?}: {paid}");
            assert_eq!(world.sent.iter().filter(|sent| sent.attempt == 1).count(), 100);
        }
    }
}

#[test]
fn r36_what_the_budget_does_not_cover_is_probed_for_at_most_once_an_interval() {
    for answer in [reject(), status(503), status(500), status(425), status(511), page()] {
        let mut world = hundred(&answer, Alternatives::None);
        world.drive_until(4.0 * MINUTE);
        let probes: Vec<f64> = retries(&world, &Hosts::new())
            .into_iter()
            .filter(|(.., means)| *means == Means::Time)
            .map(|(at, ..)| at)
            .collect();
        assert!(probes.len() > 30, "{answer:?}: {} probes", probes.len());
        for from in &probes {
            let within = probes.iter().filter(|at| (*from..from + 10_000.0).contains(*at)).count();
            // Brisk at first, and later once a target duration, each with jitter.
            let most = if *from < 30_000.0 { 12 } else { 4 };
            assert!(within <= most, "{answer:?}: {within} from {from}");
        }
    }
}

#[test]
fn r36_the_server_of_a_hundred_failing_segments_has_little_to_do() {
    for answer in [reject(), status(503), status(425), page()] {
        let mut world = hundred(&answer, Alternatives::Unknown);
        world.drive_until(MINUTE);
        // A hundred first attempts, ten retries, and a probe now and then.
        assert!(world.sent.len() <= 100 + 10 + 30, "{answer:?}: {}", world.sent.len());
    }
}

#[test]
fn r36_a_deferral_is_shown_with_its_reason_and_its_time() {
    // Nothing that counts against the host, so that it is the budget that says no.
    let mut world = hundred(&status(425), Alternatives::None);
    world.drive_until(3_000.0);
    let mut seen = 0;
    for state in world.engine.retry_states() {
        if state.wait == Some(WaitReason::Budget) {
            seen += 1;
            assert!(state.next_at.is_some_and(|at| at.get() > world.now));
        }
    }
    assert!(seen >= 80, "{seen}");
}

#[test]
fn r36_with_somewhere_to_go_a_deferral_beyond_the_deadline_is_the_verdict_budget() {
    let mut world = hundred(&status(425), Alternatives::Some);
    world.drive_until_idle();
    let mut ends = BTreeMap::new();
    for id in 1..=100 {
        let (at, failure) = world.failure(id);
        *ends.entry(failure.reason as u32).or_insert(0) += 1;
        if failure.reason == Reason::Budget {
            assert!(at < 15_100.0 && failure.class == FailureClass::TooEarly);
        }
    }
    assert!(ends[&(Reason::Budget as u32)] >= 80, "{ends:?}");
}

#[test]
fn r36_with_nowhere_to_go_a_deferral_beyond_the_deadline_exhausts_and_goes_on() {
    let mut world = hundred(&status(425), Alternatives::None);
    world.drive_until(MINUTE);
    let spent = (1..=100).filter(|id| {
        let told = world.exhaustions(*id);
        told.first().is_some_and(|(_, told)| told.reason == Reason::Budget && told.holding)
    });
    assert!(spent.count() >= 80);
    assert_eq!(world.engine.request_count(), 100);
}

#[test]
fn r37_first_attempts_are_free() {
    let mut world = World::new();
    // The budget is empty after these.
    for _ in 0..40 {
        world.start(ask(Site::Segment).always(status(425)));
    }
    world.drive_until(10_000.0);
    for _ in 0..50 {
        let id = world.start(ask(Site::Segment));
        assert_eq!(world.sent_at(id), [10_000.0], "at once");
    }
}

#[test]
fn r37_the_probes_of_a_host_are_free() {
    let mut world = World::with(Config {
        budget: BudgetConfig { host: 0.0, source: 0.0, session: 0.0, ..BudgetConfig::default() },
        log_capacity: 100_000,
        ..Config::default()
    });
    world.outage(0, 0.0, 20_000.0, status(503));
    let ids: Vec<u32> = (0..6).map(|_| world.start(ask(Site::Segment))).collect();
    world.drive_until(20_000.0);
    assert_ne!(world.host(0).health.health, Health::Closed);
    world.drive_until_idle();
    for id in ids {
        assert!(world.finished_at(id) < 50_000.0);
    }
}

#[test]
fn r36_ten_first_successes_pay_for_one_more_retry() {
    let session = |successes: usize| {
        let mut world = World::new();
        for _ in 0..40 {
            world.start(ask(Site::Segment).always(status(425)).alternatives(Alternatives::Some));
        }
        world.drive_until_idle();
        let before = tokens(&retries(&world, &Hosts::new()), None);
        for n in 0..successes {
            world.start(ask(Site::Segment));
            if n % 100 == 99 {
                world.drive_until_idle();
            }
        }
        world.drive_until_idle();
        for _ in 0..40 {
            world.start(ask(Site::Segment).always(status(425)).alternatives(Alternatives::Some));
        }
        world.drive_until_idle();
        tokens(&retries(&world, &Hosts::new()), None) - before
    };
    assert_eq!(session(0), 0.0);
    assert_eq!(session(9), 0.0);
    assert_eq!(session(10), 1.0);
    assert_eq!(session(50), 5.0);
    assert_eq!(session(1_000), 10.0, "a bucket holds no more");
}

#[test]
fn r36_what_succeeds_only_when_repeated_earns_nothing() {
    let mut world = World::new();
    for _ in 0..100 {
        world.start(ask(Site::Segment).answers([status(425), ok(9.0)]));
        world.drive_until(world.now + 3_000.0);
    }
    world.drive_until_idle();
    assert_eq!(tokens(&retries(&world, &Hosts::new()), None), 10.0);
}

#[test]
fn r36_the_buckets_of_hosts_are_their_own_and_the_engines_bounds_them_all() {
    let (mut world, mut hosts) = (World::new(), Hosts::new());
    for host in 0..5 {
        for _ in 0..20 {
            let id = world.start(ask(Site::Segment).host(host).always(status(425)));
            hosts.insert(id, host);
        }
    }
    world.drive_until(MINUTE);
    let retries = retries(&world, &hosts);
    for host in 0..5 {
        assert!(tokens(&retries, Some(host)) <= 10.0 + 1e-9);
    }
    assert_eq!(tokens(&retries, None), 20.0);
    let hosts = (0..5).filter(|host| tokens(&retries, Some(*host)) > 0.0).count();
    assert!(hosts >= 2, "one host has not all");
}

#[test]
fn r36_a_retry_is_paid_for_by_all_three_buckets() {
    for (host, source, session) in [(4.0, 50.0, 50.0), (50.0, 4.0, 50.0), (50.0, 50.0, 4.0)] {
        let budget = BudgetConfig { host, source, session, ..BudgetConfig::default() };
        let mut world = World::with(Config { budget, log_capacity: 100_000, ..Config::default() });
        for _ in 0..40 {
            world.start(ask(Site::Segment).always(status(425)));
        }
        world.drive_until(MINUTE);
        assert_eq!(tokens(&retries(&world, &Hosts::new()), None), 4.0);
    }
}

#[test]
fn r36_an_episode_costs_a_bounded_number_of_retries_and_ends_in_the_verdict_budget() {
    let budget = BudgetConfig { episode: 30, ..BudgetConfig::default() };
    let mut world = World::with(Config { budget, log_capacity: 100_000, ..Config::default() });
    world.playback(None, Some(TARGET));
    let ids: Vec<u32> =
        (0..4).map(|_| world.start(ask(Site::Segment).always(status(500)))).collect();
    world.drive_until_idle();
    assert_eq!(world.sent.len(), 4 + 30);
    for id in ids {
        assert_eq!(world.failure(id).1.reason, Reason::Budget);
    }
}

#[test]
fn r36_a_success_begins_another_episode() {
    let budget = BudgetConfig { episode: 30, ..BudgetConfig::default() };
    let mut world = World::with(Config { budget, log_capacity: 100_000, ..Config::default() });
    world.playback(None, Some(TARGET));
    let held = world.start(ask(Site::Segment).always(status(500)));
    world.every(40_000.0, 240_000.0, &ask(Site::Segment).host(1));
    world.drive_until(250_000.0);
    assert_eq!(world.verdict(held), None);
    assert!(world.sent_at(held).len() > 31);
}

#[test]
fn r43_another_source_has_a_budget_of_its_own() {
    let budget = BudgetConfig { episode: 10, ..BudgetConfig::default() };
    let config = Config { budget, ..Config::default() };
    let mut world = World::with(config.clone());
    world.start(ask(Site::Segment).always(status(500)));
    world.drive_until_idle();
    world.engine.handle_source(config.into(), holdfast::core::Millis::new(world.now));
    let id = world.start(ask(Site::Segment).answers([status(500), ok(9.0)]));
    world.drive_until_idle();
    world.finished_at(id);
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        3 => Just(status(500)),
        3 => Just(status(425)),
        2 => Just(reject()),
        1 => Just(status(503).retry_after(1_000.0)),
        1 => Just(status(429)),
        1 => Just(hang()),
        1 => Just(status(404)),
        3 => Just(ok(1_000.0)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn r36_retries_cost_no_more_than_the_bucket_and_a_tenth_of_the_first_successes(
        seed in any::<u64>(),
        asked in vec((0.0..3_000.0, 0_usize..Site::COUNT, 0_u32..3, vec(answer(), 1..4)), 1..80),
    ) {
        let (mut world, mut hosts) = (World::seeded(seed), Hosts::new());
        world.playback(None, Some(TARGET));
        for (pause, site, host, answers) in asked {
            let id = world.start(ask(Site::ALL[site]).host(host).answers(answers));
            hosts.insert(id, host);
            world.drive_until(world.now + pause);
            // At every moment, not in the end only: what is earned later pays for nothing.
            let retries = retries(&world, &hosts);
            for host in 0..3 {
                let earned = earned(&world, &hosts, Some(host));
                let paid = tokens(&retries, Some(host));
                prop_assert!(paid <= 10.0 + earned + 1e-6, "host {host}: {paid}");
            }
            let paid = tokens(&retries, None);
            prop_assert!(paid <= 20.0 + earned(&world, &hosts, None) + 1e-6, "{paid}");
        }
    }
}
